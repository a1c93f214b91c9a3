// Where a kernel writes: a tensor of its own, in its own form or its readers'; a part of a
// concatenation; an output of the graph.
#include "planner/lowering_state.hpp"

namespace fm {

PlanTensor LoweringState::result(TensorIndex tensor, Layout layout, const Shape& wanted) {
  if (const auto chosen = chosen_result(tensor, layout, wanted)) return *chosen;
  const std::size_t stored =
      add(graph_.tensors[tensor].name, TensorRole::activation, storage_of(tensor), layout, wanted);
  values_[tensor].stored = stored;
  values_[tensor].map = IndexMap(shape(tensor));
  return lowered_.tensors[stored];
}

std::optional<StorageForm> LoweringState::elementwise_form(const GraphNode& node) const {
  const auto found = choices_.results.find(node.outputs[0]);
  if (found == choices_.results.end() || !works_in_any_order(graph_, node)) return std::nullopt;
  return found->second.own;
}

PlanTensor LoweringState::result_in(const StorageForm& form, TensorIndex tensor) {
  const std::size_t stored = add(graph_.tensors[tensor].name, TensorRole::activation,
                                 storage_of(tensor), form.layout, form.shape);
  values_[tensor] = {std::nullopt, stored, form.map};
  return lowered_.tensors[stored];
}

std::optional<PlanTensor> LoweringState::chosen_result(TensorIndex tensor, Layout layout,
                                                       const Shape& wanted) {
  const auto found = choices_.results.find(tensor);
  if (found == choices_.results.end()) return std::nullopt;
  const StorageChoice& choice = found->second;
  const IndexMap& map = choice.own ? choice.own->map : choice.map;
  const Shape grid = at_least_one_dimension(wanted);
  if (choice.own) {
    PlanTensor stored;
    stored.layout = choice.own->layout;
    stored.shape = choice.own->shape;
    if (!texel_index(reshaped(map, grid), layout, stored).whole) return std::nullopt;
  }
  const std::size_t stored = choice.own
                                 ? add(graph_.tensors[tensor].name, TensorRole::activation,
                                       storage_of(tensor), choice.own->layout, choice.own->shape)
                             : choice.concat ? position_of(joined_storage(*choice.concat))
                                             : output_storage(*choice.output);
  const TexelIndex index = texel_index(reshaped(map, grid), layout, lowered_.tensors[stored]);
  if (!index.whole && !index.linear) return std::nullopt;
  values_[tensor] = {std::nullopt, stored, map};
  return view(stored, grid, layout, index);
}

PlanTensor LoweringState::joined_storage(TensorIndex joined) {
  const auto found = joined_.find(joined);
  if (found != joined_.end()) return lowered_.tensors[found->second];
  const std::size_t stored = choices_.joined_outputs.count(joined) != 0
                                 ? output_storage(joined)
                                 : add(graph_.tensors[joined].name, TensorRole::activation,
                                       storage_of(joined), joined_layout(joined), shape(joined));
  joined_.emplace(joined, stored);
  values_[joined] = {std::nullopt, stored, IndexMap(shape(joined))};
  return lowered_.tensors[stored];
}

bool LoweringState::lies_in(TensorIndex part, TensorIndex joined) const {
  const auto found = joined_.find(joined);
  return found != joined_.end() && !values_[part].constant && values_[part].stored == found->second;
}

PlanTensor LoweringState::region_of(const PlanTensor& stored, const IndexMap& map, Layout layout) {
  return view(position_of(stored), map.shape(), layout, texel_index(map, layout, stored));
}

std::size_t LoweringState::output_storage(TensorIndex output) {
  const GraphTensor& tensor = graph_.tensors[output];
  const std::size_t stored =
      add(tensor.name, TensorRole::output, DataType::f32, Layout::linear, tensor.shape);
  lowered_.tensors[stored].value_type = tensor.type;
  outputs_.emplace(output, stored);
  return stored;
}

void LoweringState::store_outputs() {
  current_ = nullptr;
  for (TensorIndex output : graph_.outputs) {
    if (outputs_.count(output) != 0) continue;  // written by its operator
    const Value& value = values_[output];
    const std::size_t source =
        value.constant ? stored_constant(*value.constant, Layout::rows, shape(*value.constant))
                       : value.stored;
    const IndexMap map = shape(output).empty() ? reshaped(value.map, {1}) : value.map;
    const std::size_t stored = output_storage(output);
    PlanTensor target = lowered_.tensors[stored];
    target.shape = map.shape();
    if (const auto strided = map.strided()) {
      emit_move(build_move(lowered_.tensors[source], target, strided->strides, strided->offset));
      continue;
    }
    const PlanTensor dense = mapped_operand(output, map, Layout::rows, Reads::once);
    if (!options_.eliminate) {
      emit_move(build_move(dense, target, dense_strides(target.shape)));
      continue;
    }
    const TexelIndex index =
        texel_index(IndexMap(map.shape()), Layout::rows, lowered_.tensors[stored]);
    emit_move(build_unary(dense, view(stored, map.shape(), Layout::rows, index), {}));
  }
}

}  // namespace fm
