#pragma once
// Operators that ONNX itself defines by others: their bodies, from its operator schemas.

#include <onnx/onnx_pb.h>

#include <optional>
#include <string>
#include <vector>

#include "core/graph.hpp"

namespace fm {

struct FunctionBody {
  std::vector<std::string> inputs, outputs;
  std::vector<onnx::NodeProto> nodes;
  int opset = 0;
};

/// Whether the operator has a body at this opset (for some types of its inputs).
bool has_function_body(const std::string& operation, int opset);

/// With the node's attributes filled in. `inputs`: null where the node has none. nullopt when there
/// is no body for these.
std::optional<FunctionBody> function_body(const onnx::NodeProto& node, int opset,
                                          const std::vector<const GraphTensor*>& inputs);

}  // namespace fm
