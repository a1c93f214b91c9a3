#pragma once
// Computing a node on the host: constant folding of shape arithmetic and of weights.

#include <functional>
#include <optional>
#include <vector>

#include "core/graph.hpp"
#include "planner/host_tensor.hpp"

namespace fm {

/// The operation can be computed by evaluate().
bool can_evaluate(const std::string& operation);

/// The single output of a resolved node (operator_table.hpp) for these inputs. `type` and `shape`
/// are the output's, as resolved. Integer arithmetic is 64-bit; division truncates as ONNX's does.
HostTensor evaluate(const GraphNode& node, const std::vector<HostTensor>& inputs, ElementType type,
                    const Shape& shape);

/// Towards zero; the least integer for what is beyond 64 bits or no number.
std::int64_t integer_from(double value);

}  // namespace fm
