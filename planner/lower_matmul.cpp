// Matrix products: `rows` layout, batch dimensions in front.
#include "core/diagnostics.hpp"
#include "planner/lowering_state.hpp"
#include "planner/node_attributes.hpp"

namespace fm {
namespace {

const PlanTensor* pointer_to(const std::optional<PlanTensor>& tensor) {
  return tensor ? &*tensor : nullptr;
}

std::int64_t batch_of(const Shape& shape) {
  return shape.size() < 3 ? 1 : element_count({shape.begin(), shape.end() - 2});
}

/// [batch.., R, K] as [batch, R, K], or [R, K] for a batch of one.
Shape matrix_shape(std::int64_t batch, std::int64_t rows, std::int64_t columns) {
  return batch == 1 ? Shape{rows, columns} : Shape{batch, rows, columns};
}

/// An operand whose batch dimensions are broadcast is expanded.
IndexMap batched_map(const LoweringState& state, TensorIndex tensor, const Shape& shape,
                     const Shape& batch) {
  Shape wide = batch;
  wide.insert(wide.end(), shape.end() - 2, shape.end());
  return expanded(reshaped(state.map_of(tensor), shape), wide);
}

}  // namespace

void lower_matmul(LoweringState& state, const GraphNode& node) {
  const TensorIndex left = node.inputs[0].value(), right = node.inputs[1].value();
  const TensorIndex output = node.outputs[0];
  Shape a = state.shape(left), b = state.shape(right);
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  const bool turned_weight = attribute_int(node, "b_transposed", 0) != 0;
  if (turned_weight) std::swap(b[0], b[1]);
  const std::int64_t depth = a.back(), columns = b.back();
  const IndexMap b_map = state.map_of(right);
  const bool turned_view = !state.is_constant(right) && lies_transposed(b_map);
  const bool transposed_b = turned_weight || turned_view;
  const std::int64_t batch_a = batch_of(a), batch_b = batch_of(b);
  const std::int64_t total = element_count(state.shape(output)) / columns;  // rows of all batches
  Shape a_shape, b_shape, c_shape;
  std::optional<IndexMap> a_wide, b_wide;
  const Shape b_matrix = {b[b.size() - 2], b.back()};
  if (batch_b == 1) {
    a_shape = {total, depth};
    b_shape = b_matrix;
    c_shape = {total, columns};
  } else {
    const Shape batch = *broadcast_shape({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
    const std::int64_t count = element_count(batch);
    const std::int64_t rows = a[a.size() - 2];
    a_shape = matrix_shape(count, rows, depth);
    b_shape = matrix_shape(count, b_matrix[0], b_matrix[1]);
    c_shape = matrix_shape(count, rows, columns);
    if (batch_a != count) a_wide = batched_map(state, left, a, batch);
    if (batch_b != count) b_wide = batched_map(state, right, b, batch);
  }
  if (turned_weight) b_shape = state.shape(right);
  if (turned_view) {
    // A copy of whole texels, where turning it would take single elements.
    b_wide = with_last_two_swapped(b_wide.value_or(b_map));
    std::swap(b_shape[b_shape.size() - 1], b_shape[b_shape.size() - 2]);
  }
  const auto fetch = [&](TensorIndex tensor, const std::optional<IndexMap>& wide,
                         const Shape& shape) {
    if (!wide) return state.operand(tensor, Layout::rows, shape);
    PlanTensor copy = state.mapped_operand(tensor, *wide, Layout::rows);
    copy.shape = shape;
    return copy;
  };
  const PlanTensor a_tensor = fetch(left, a_wide, a_shape);
  const PlanTensor b_tensor = fetch(right, b_wide, b_shape);
  std::optional<PlanTensor> bias, residual;
  if (node.inputs.size() > 2 && node.inputs[2]) {
    bias = state.operand(*node.inputs[2], Layout::rows, {columns});
  }
  if (node.inputs.size() > 3 && node.inputs[3]) {
    residual = state.operand(*node.inputs[3], Layout::rows, c_shape, Reads::once);
  }
  // A vector operand leaves its dimension out of the output, whose rows are then longer than the
  // kernel's.
  const bool rows_fit = !state.shape(output).empty() && state.shape(output).back() == columns;
  PlanTensor c = state.result(output, Layout::rows, rows_fit ? state.shape(output) : c_shape);
  c.shape = c_shape;
  MatmulOperands operands{&a_tensor,
                          &b_tensor,
                          transposed_b,
                          pointer_to(bias),
                          attribute_float(node, "scale", 1),
                          &c,
                          epilogue_of(node)};
  operands.epilogue.residual = pointer_to(residual);
  state.emit(build_matmul(operands), node, static_cast<std::uint64_t>(total * columns * depth));
}

}  // namespace fm
