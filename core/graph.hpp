#pragma once
// Graph IR: the network as the planner sees it. Nodes are in topological order and name tensors by
// index.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/tensor_layout.hpp"

namespace fm {

/// Element type of a value in the model (what is stored on the device is the plan's decision).
enum class ElementType { float32, float16, int64, int32, int8, uint8, boolean, float64 };
std::string to_string(ElementType type);

using TensorIndex = std::size_t;

/// A constant's contents: where they are (lazily read from the model) or what they are (small,
/// folded).
struct ConstantData {
  std::vector<std::uint8_t> bytes;  ///< row-major little-endian; empty when `load` is to be used
  std::optional<std::size_t> initializer;  ///< index into the imported model's initializers
};

struct GraphTensor {
  std::string name;
  ElementType type = ElementType::float32;
  Shape shape;
  std::optional<ConstantData> constant;
};

using AttributeValue =
    std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>>;

struct GraphNode {
  std::string name;       ///< ONNX node name, or "<op>_<index>" when the model gives none
  std::string operation;  ///< ONNX operator, or a fused one ("LayerNormalization", "Gelu", ...)
  std::vector<std::optional<TensorIndex>> inputs;
  std::vector<TensorIndex> outputs;
  std::map<std::string, AttributeValue> attributes;
  std::vector<std::string> fused_from;  ///< names of the ONNX nodes this one stands for
};

struct Graph {
  std::string name;
  int opset = 0;
  std::vector<GraphTensor> tensors;
  std::vector<GraphNode> nodes;
  std::vector<TensorIndex> inputs;
  std::vector<TensorIndex> outputs;
};

}  // namespace fm
