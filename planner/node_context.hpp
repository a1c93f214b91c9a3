#pragma once
// What a resolver sees of one node: its inputs' facts, its constants, its attributes, and how to
// refuse it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/graph.hpp"
#include "planner/constant_store.hpp"

namespace fm {

/// Type and shape of a tensor.
struct TensorFacts {
  ElementType type = ElementType::float32;
  Shape shape;
};

class NodeContext {
 public:
  NodeContext(const Graph& graph, const ConstantStore& constants, GraphNode& seen)
      : node(seen), graph_(graph), constants_(constants) {}

  GraphNode& node;  ///< resolvers move constant inputs into attributes and drop them

  int opset() const { return graph_.opset; }
  std::size_t input_count() const { return node.inputs.size(); }
  bool has(std::size_t input) const { return input < node.inputs.size() && node.inputs[input]; }
  const Shape& shape(std::size_t input) const { return tensor(input).shape; }
  ElementType type(std::size_t input) const { return tensor(input).type; }
  std::int64_t rank(std::size_t input) const {
    return static_cast<std::int64_t>(shape(input).size());
  }

  /// Contents of a constant input; refuses the node when the input is not constant.
  std::vector<std::int64_t> constant_ints(std::size_t input) const;
  std::vector<float> constant_reals(std::size_t input) const;
  /// The only value of a constant input.
  std::int64_t constant_int(std::size_t input) const;
  float constant_real(std::size_t input) const;

  /// The ints given as attribute `key` (older opsets) or as constant input (newer); `fallback` when
  /// neither.
  std::vector<std::int64_t> ints(const std::string& key, std::size_t input,
                                 const std::vector<std::int64_t>& fallback = {}) const;

  /// Axis in [0, rank) from one that may be negative.
  std::int64_t axis(std::int64_t given, std::int64_t rank) const;
  std::vector<std::int64_t> axes(std::vector<std::int64_t> given, std::int64_t rank) const;

  void keep_inputs(std::size_t count) {
    if (node.inputs.size() > count) node.inputs.resize(count);
  }
  void require_rank(std::size_t input, std::int64_t rank) const;
  /// Throws UserError naming node, operator and opset.
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  const GraphTensor& tensor(std::size_t input) const;
  const Graph& graph_;
  const ConstantStore& constants_;
};

}  // namespace fm
