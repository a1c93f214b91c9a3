// Operators that sum over dimensions: matrix products, reductions, normalisations, softmax.
#include <algorithm>
#include <numeric>

#include "planner/node_attributes.hpp"
#include "planner/operator_table.hpp"
#include "planner/tensor_view.hpp"

namespace fm {
namespace {

std::vector<TensorFacts> resolve_matmul(NodeContext& context) {
  Shape a = context.shape(0), b = context.shape(1);
  if (a.empty() || b.empty()) context.refuse("scalars cannot be multiplied as matrices");
  const bool vector_a = a.size() == 1, vector_b = b.size() == 1;
  if (vector_a) a.insert(a.begin(), 1);
  if (vector_b) b.push_back(1);
  const auto batch = broadcast_shape({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
  if (!batch || a.back() != b[b.size() - 2]) {
    context.refuse("cannot multiply " + to_string(context.shape(0)) + " by " +
                   to_string(context.shape(1)));
  }
  Shape shape = *batch;
  if (!vector_a) shape.push_back(a[a.size() - 2]);
  if (!vector_b) shape.push_back(b.back());
  return {{context.type(0), shape}};
}

std::vector<TensorFacts> resolve_gemm(NodeContext& context) {
  context.require_rank(0, 2);
  context.require_rank(1, 2);
  Shape a = context.shape(0), b = context.shape(1);
  if (attribute_int(context.node, "transA", 0) != 0) std::swap(a[0], a[1]);
  if (attribute_int(context.node, "transB", 0) != 0) std::swap(b[0], b[1]);
  const Shape shape = {a[0], b[1]};
  if (a[1] != b[0]) {
    context.refuse("cannot multiply " + to_string(context.shape(0)) + " by " +
                   to_string(context.shape(1)) + " as transposed");
  }
  if (context.has(2) && broadcast_shape(context.shape(2), shape) != shape) {
    context.refuse("C of " + to_string(context.shape(2)) + " does not broadcast to " +
                   to_string(shape));
  }
  return {{context.type(0), shape}};
}

/// Becomes ascending non-negative `axes` and `keepdims`.
std::vector<TensorFacts> resolve_reduction(NodeContext& context) {
  const std::int64_t rank = context.rank(0);
  std::vector<std::int64_t> axes = context.ints("axes", 1);
  const bool none_given = axes.empty();
  if (none_given && attribute_int(context.node, "noop_with_empty_axes", 0) == 0) {
    axes.resize(static_cast<std::size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
  }
  axes = context.axes(axes, rank);
  const std::int64_t keep = attribute_int(context.node, "keepdims", 1);
  Shape shape;
  for (std::int64_t d = 0; d < rank; ++d) {
    const bool reduced = std::count(axes.begin(), axes.end(), d) != 0;
    if (!reduced) shape.push_back(context.shape(0)[static_cast<std::size_t>(d)]);
    if (reduced && keep != 0) shape.push_back(1);
  }
  context.node.attributes = {{"axes", axes}, {"keepdims", keep}};
  context.keep_inputs(1);
  return {{context.type(0), shape}};
}

std::vector<TensorFacts> resolve_softmax(NodeContext& context) {
  const std::int64_t given = attribute_int(context.node, "axis", context.opset() < 13 ? 1 : -1);
  // Before opset 13 all dimensions from the axis on are normalised together.
  const std::int64_t flattened = context.opset() < 13 ? 1 : 0;
  context.node.attributes = {{"axis", context.axis(given, context.rank(0))},
                             {"flattened", flattened}};
  return {{context.type(0), context.shape(0)}};
}

std::vector<TensorFacts> resolve_batch_norm(NodeContext& context) {
  if (attribute_int(context.node, "training_mode", 0) != 0) {
    context.refuse("training mode is not supported");
  }
  if (context.rank(0) < 2) context.refuse("input has no channels");
  const Shape channels = {context.shape(0)[1]};
  for (std::size_t i = 1; i < 5; ++i) {
    if (context.shape(i) != channels) {
      context.refuse("input " + std::to_string(i) + " has shape " + to_string(context.shape(i)) +
                     ", but " + to_string(channels) + " is wanted");
    }
  }
  context.node.attributes = {{"epsilon", attribute_float(context.node, "epsilon", 1e-5f)}};
  return {{context.type(0), context.shape(0)}};
}

std::vector<TensorFacts> resolve_layer_norm(NodeContext& context) {
  const std::int64_t rank = context.rank(0);
  const std::int64_t axis = context.axis(attribute_int(context.node, "axis", -1), rank);
  const Shape normalised(context.shape(0).begin() + axis, context.shape(0).end());
  for (std::size_t i = 1; i < context.input_count(); ++i) {
    if (context.has(i) && element_count(context.shape(i)) != element_count(normalised)) {
      context.refuse("scale and bias must have shape " + to_string(normalised));
    }
  }
  context.node.attributes = {{"axis", axis},
                             {"epsilon", attribute_float(context.node, "epsilon", 1e-5f)}};
  return {{context.type(0), context.shape(0)}};
}

}  // namespace

void add_contraction_operators(OperatorTable* table) {
  (*table)["MatMul"] = {2, 2, resolve_matmul, false};
  (*table)["Gemm"] = {2, 3, resolve_gemm, false};
  for (const char* name : {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd",
                           "ReduceL2", "ReduceSumSquare"}) {
    (*table)[name] = {1, 2, resolve_reduction, false};
  }
  (*table)["Softmax"] = {1, 1, resolve_softmax, false};
  (*table)["BatchNormalization"] = {5, 5, resolve_batch_norm, false};
  (*table)["LayerNormalization"] = {2, 3, resolve_layer_norm, false};
}

}  // namespace fm
