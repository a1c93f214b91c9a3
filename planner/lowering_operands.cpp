// What a kernel reads: stored tensors, views of them through index functions, and copies.
#include "kernels/catalogue.hpp"
#include "kernels/index_function.hpp"
#include "planner/lowering_state.hpp"

namespace fm {
namespace {

/// Index functions see texels or real numbers.
bool can_be_viewed(const PlanTensor& stored, Layout layout) {
  return stored.dtype != DataType::i32 && (layout == Layout::rows || layout == Layout::channels) &&
         (stored.layout == Layout::linear || stored.layout == Layout::rows ||
          stored.layout == Layout::channels);
}

/// Single elements are read instead of texels only where each is read a few times: a copy costs as
/// much once.
bool is_worth_it(const TexelIndex& index, Reads times) {
  return index.whole || times <= Reads::thrice;
}

bool has_whole_texels(const Shape& shape) { return !shape.empty() && shape.back() % 4 == 0; }

std::string key_of(std::size_t stored, const IndexMap& map, Layout layout, DataType type) {
  std::string key = std::to_string(stored) + " " + to_string(layout) + " " + to_string(type);
  for (const TensorView& view : map.stages()) {
    key += " " + to_string(view.shape) + to_string(view.strides) + std::to_string(view.offset);
  }
  return key;
}

}  // namespace

PlanTensor LoweringState::operand(TensorIndex tensor, Layout layout, const Shape& wanted,
                                  Reads times) {
  return mapped_operand(tensor, reshaped(values_[tensor].map, wanted), layout, times);
}

PlanTensor LoweringState::mapped_operand(TensorIndex tensor, const IndexMap& map, Layout layout,
                                         Reads times) {
  const Value& value = values_[tensor];
  const bool scalar = layout != Layout::linear && map.shape().empty();
  const IndexMap seen = scalar ? reshaped(map, {1}) : map;
  std::size_t stored = value.stored;
  if (value.constant) {
    const Shape& whole = shape(*value.constant);
    const bool dense = is_whole_map(seen, element_count(whole));
    stored = stored_constant(*value.constant, dense ? layout : Layout::rows,
                             dense ? seen.shape() : whole);
  }
  const PlanTensor held = lowered_.tensors[stored];
  if (is_whole_map(seen, element_count(held.shape)) && same_storage(held, layout, seen.shape())) {
    PlanTensor result = held;
    result.shape = seen.shape();
    result.layout = layout;
    return result;
  }
  if (options_.eliminate && can_be_viewed(held, layout)) {
    const TexelIndex index = texel_index(seen, layout, held);
    if (is_worth_it(index, times)) return view(stored, seen.shape(), layout, index);
  }
  return copied(stored, seen, layout, graph_.tensors[tensor].name, storage_of(tensor));
}

PlanTensor LoweringState::view(std::size_t stored, const Shape& shape, Layout layout,
                               const TexelIndex& index) {
  PlanTensor result = lowered_.tensors[stored];
  result.id = "view" + std::to_string(views_.size());
  result.shape = at_least_one_dimension(shape);
  result.layout = layout;
  result.bytes = storage_bytes(layout, result.dtype, result.shape);
  views_[result.id] = {stored, index};
  return result;
}

void LoweringState::resolve(PlanLaunch* launch) const {
  const std::vector<KernelArgument> arguments =
      catalogue_entry(launch->kernel).arguments(launch->parameters);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    auto* argument = std::get_if<TensorArgument>(&launch->arguments[i]);
    if (argument == nullptr) continue;
    const auto found = views_.find(argument->tensor);
    if (found == views_.end()) continue;
    const PlanTensor& stored = lowered_.tensors[found->second.stored];
    const GridExtent grid = grid_extent(stored.layout, stored.shape);
    argument->tensor = stored.id;
    // The texels of a row follow the tensor.
    launch->arguments[i + 1] = IntArgument{static_cast<std::int32_t>(grid.width)};
    const TexelIndex& index = found->second.index;
    if (!index.plain) launch->parameters[index_parameter(arguments[i].name)] = index.text();
  }
}

PlanTensor LoweringState::copied(std::size_t stored, const IndexMap& map, Layout layout,
                                 const std::string& name, DataType type, bool in_buffer) {
  const std::string key = key_of(stored, map, layout, type);
  if (const auto found = copies_.find(key); found != copies_.end()) {
    return lowered_.tensors[found->second];
  }
  const bool one_launch = options_.eliminate && can_be_viewed(lowered_.tensors[stored], layout);
  if (!map.strided() && !one_launch) {
    // View after view: a dense copy through the first one, for all others.
    const TensorView& first = map.stages()[0];
    const TensorView& second = map.stages()[1];
    IndexMap rest{IndexMap(first.shape)};
    for (std::size_t s = 1; s < map.stages().size(); ++s) rest = rest.through(map.stages()[s]);
    const PlanTensor dense =
        copied(stored, IndexMap(first), Layout::rows, name, type,
               has_whole_texels(first.shape) && has_whole_texels(second.shape));
    const std::size_t base = copies_.at(key_of(stored, IndexMap(first), Layout::rows, type));
    if (is_whole_map(rest, element_count(dense.shape)) &&
        same_storage(dense, layout, rest.shape())) {
      PlanTensor result = dense;
      result.shape = rest.shape();
      result.layout = layout;
      return result;
    }
    return copied(base, rest, layout, name, type);
  }
  const std::size_t copy = add(name, TensorRole::activation, type, layout, map.shape());
  copies_.emplace(key, copy);
  if (in_buffer) lowered_.tensors[copy].placement = Placement::buffer;
  const PlanTensor target = lowered_.tensors[copy];
  if (const auto strided = map.strided()) {
    emit_move(build_move(lowered_.tensors[stored], target, strided->strides, strided->offset));
  } else {
    const TexelIndex index = texel_index(map, layout, lowered_.tensors[stored]);
    const PlanTensor source = view(stored, map.shape(), layout, index);
    emit_move(build_unary(source, target, {}));
  }
  return target;
}

}  // namespace fm
