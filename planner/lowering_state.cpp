#include "planner/lowering_state.hpp"

#include <stdexcept>

#include "core/diagnostics.hpp"
#include "planner/host_tensor.hpp"

namespace fm {
namespace {

/// `rows` has no scalars: they are one row of one element.
Shape at_least_one_dimension(const Shape& shape) { return shape.empty() ? Shape{1} : shape; }

/// A `channels` tensor of one pixel has the storage of rows of channels, and the other way round.
bool is_one_pixel(Layout layout, const Shape& shape) {
  return layout == Layout::channels && shape[2] == 1 && shape[3] == 1;
}

std::int64_t row_length(Layout layout, const Shape& shape) {
  return layout == Layout::channels ? shape[1] : shape.back();
}

}  // namespace

bool same_storage(const PlanTensor& stored, Layout layout, const Shape& shape) {
  if (element_count(stored.shape) != element_count(shape)) return false;
  if (stored.layout == layout && stored.shape == shape) return true;
  if (stored.layout == Layout::linear || layout == Layout::linear) return stored.layout == layout;
  const auto like_rows = [](Layout l, const Shape& s) {
    return l == Layout::rows || is_one_pixel(l, s);
  };
  if (!like_rows(stored.layout, stored.shape) || !like_rows(layout, shape)) return false;
  const std::int64_t a = row_length(stored.layout, stored.shape);
  const std::int64_t b = row_length(layout, shape);
  // Rows of whole texels follow each other without gaps in a buffer, so their length does not
  // matter.
  return a == b || (stored.placement == Placement::buffer && a % 4 == 0 && b % 4 == 0);
}

LoweringState::LoweringState(const Graph& graph, const LoweringOptions& options)
    : graph_(graph),
      options_(options),
      layouts_(preferred_layouts(graph)),
      values_(graph.tensors.size()) {
  for (TensorIndex i = 0; i < graph.tensors.size(); ++i) {
    values_[i].view = whole_view(graph.tensors[i].shape);
    if (graph.tensors[i].constant) values_[i].constant = i;
  }
  add_inputs();
}

void LoweringState::add_inputs() {
  for (TensorIndex input : graph_.inputs) {
    const GraphTensor& tensor = graph_.tensors[input];
    const DataType type = is_real(tensor.type) ? DataType::f32 : DataType::i32;
    values_[input].stored = add(tensor.name, TensorRole::input, type, Layout::linear, tensor.shape);
  }
}

std::size_t LoweringState::add(std::string name, TensorRole role, DataType type, Layout layout,
                               const Shape& shape) {
  PlanTensor tensor;
  tensor.id = "t" + std::to_string(lowered_.tensors.size());
  tensor.name = std::move(name);
  tensor.role = role;
  tensor.dtype = type;
  tensor.layout = layout;
  tensor.shape = layout == Layout::linear ? shape : at_least_one_dimension(shape);
  tensor.placement = options_.placement.of(role, layout, tensor.shape);
  tensor.bytes = storage_bytes(layout, type, tensor.shape);
  lowered_.tensors.push_back(std::move(tensor));
  return lowered_.tensors.size() - 1;
}

std::size_t LoweringState::stored_constant(TensorIndex constant, Layout layout,
                                           const Shape& shape) {
  const auto key = std::make_tuple(constant, layout, at_least_one_dimension(shape));
  if (const auto found = constants_.find(key); found != constants_.end()) return found->second;
  const GraphTensor& tensor = graph_.tensors[constant];
  // Integers in texels are numbers to compute with (an exponent), in linear buffers they are
  // indices.
  const bool index = layout == Layout::linear && !is_real(tensor.type);
  const DataType type = index ? DataType::i32 : options_.storage;
  const std::size_t stored = add(tensor.name, TensorRole::weight, type, layout, shape);
  constants_.emplace(key, stored);
  return stored;
}

PlanTensor LoweringState::index_operand(TensorIndex tensor) {
  const Value& value = values_[tensor];
  const std::size_t stored = value.constant
                                 ? stored_constant(*value.constant, Layout::linear, shape(tensor))
                                 : value.stored;
  PlanTensor result = lowered_.tensors[stored];
  if (result.layout != Layout::linear || result.dtype != DataType::i32 ||
      !is_whole(value.view, element_count(result.shape))) {
    throw UserError("indices `" + graph_.tensors[tensor].name +
                    "` must be constants or an integer input of the model");
  }
  return result;
}

void LoweringState::gather_rows(TensorIndex tensor, TensorIndex indices,
                                const std::vector<TensorIndex>& table) {
  WeightGather gather;
  gather.indices = index_operand(indices).id;
  for (const TensorIndex part : table) {
    const std::size_t stored = stored_constant(part, Layout::rows, shape(part));
    gather.table.push_back(lowered_.tensors[stored].id);
  }
  const std::size_t rows = add(graph_.tensors[tensor].name, TensorRole::gathered, options_.storage,
                               Layout::rows, shape(tensor));
  lowered_.tensors[rows].placement = Placement::buffer;
  values_[tensor].stored = rows;
  values_[tensor].view = whole_view(shape(tensor));
  gather.tensor = lowered_.tensors[rows].id;
  lowered_.gathers.push_back(std::move(gather));
}

std::vector<std::int64_t> LoweringState::constant_positions(TensorIndex tensor) const {
  const GraphTensor& given = graph_.tensors[tensor];
  if (!given.constant || given.constant->initializer) return {};
  return tensor_from_bytes(given.type, given.shape, given.constant->bytes.data(),
                           given.constant->bytes.size())
      .integers;
}

PlanTensor LoweringState::operand(TensorIndex tensor, Layout layout, const Shape& wanted) {
  if (const auto view = reshaped(values_[tensor].view, wanted)) {
    return viewed_operand(tensor, *view, layout);
  }
  define(tensor, dense_operand(tensor, wanted), whole_view(shape(tensor)));
  return viewed_operand(tensor, whole_view(wanted), layout);
}

PlanTensor LoweringState::dense_operand(TensorIndex tensor, const Shape& wanted) {
  const Value& value = values_[tensor];
  const bool texels_join = !wanted.empty() && !value.view.shape.empty() && wanted.back() % 4 == 0 &&
                           value.view.shape.back() % 4 == 0;
  if (value.constant || !texels_join) return viewed_operand(tensor, value.view, Layout::rows);
  return moved(value.stored, value.view, Layout::rows, graph_.tensors[tensor].name, true);
}

PlanTensor LoweringState::viewed_operand(TensorIndex tensor, const TensorView& view,
                                         Layout layout) {
  const Value& value = values_[tensor];
  TensorView seen = view;
  if (layout != Layout::linear && seen.shape.empty()) seen = *reshaped(view, {1});
  std::size_t stored = value.stored;
  if (value.constant) {
    const Shape& whole = shape(*value.constant);
    const bool dense = is_whole(seen, element_count(whole));
    stored =
        stored_constant(*value.constant, dense ? layout : Layout::rows, dense ? seen.shape : whole);
  }
  const PlanTensor& held = lowered_.tensors[stored];
  if (is_whole(seen, element_count(held.shape)) && same_storage(held, layout, seen.shape)) {
    PlanTensor result = held;
    result.shape = seen.shape;
    result.layout = layout;
    return result;
  }
  return moved(stored, seen, layout, graph_.tensors[tensor].name);
}

PlanTensor LoweringState::moved(std::size_t stored, const TensorView& view, Layout layout,
                                const std::string& name, bool in_buffer) {
  const ViewKey key{stored, view.shape, view.strides, view.offset, layout};
  if (const auto found = moved_.find(key); found != moved_.end()) {
    return lowered_.tensors[found->second];
  }
  const DataType type =
      lowered_.tensors[stored].dtype == DataType::i32 ? DataType::i32 : options_.storage;
  const std::size_t copy = add(name, TensorRole::activation, type, layout, view.shape);
  moved_.emplace(key, copy);
  if (in_buffer) lowered_.tensors[copy].placement = Placement::buffer;
  emit_move(
      build_move(lowered_.tensors[stored], lowered_.tensors[copy], view.strides, view.offset));
  return lowered_.tensors[copy];
}

void LoweringState::emit_move(PlanLaunch launch) {
  launch.operation = "Move";
  if (current_) launch.nodes = current_->fused_from;
  lowered_.launches.push_back(std::move(launch));
}

PlanTensor LoweringState::result(TensorIndex tensor, Layout layout, const Shape& wanted) {
  const std::size_t stored =
      add(graph_.tensors[tensor].name, TensorRole::activation, options_.storage, layout, wanted);
  values_[tensor].stored = stored;
  values_[tensor].view = whole_view(shape(tensor));
  return lowered_.tensors[stored];
}

PlanTensor LoweringState::temporary(const std::string& name, Layout layout, const Shape& wanted) {
  return lowered_.tensors[add(name, TensorRole::activation, options_.storage, layout, wanted)];
}

void LoweringState::alias(TensorIndex tensor, TensorIndex source, const TensorView& view) {
  values_[tensor] = values_[source];
  values_[tensor].view = view;
}

void LoweringState::define(TensorIndex tensor, const PlanTensor& stored, const TensorView& view) {
  const std::size_t index = std::stoul(stored.id.substr(1));
  values_[tensor] = {std::nullopt, index, view};
}

void LoweringState::emit(PlanLaunch launch, const GraphNode& node, std::uint64_t macs) {
  launch.operation = node.operation;
  launch.nodes = node.fused_from;
  launch.macs = macs;
  lowered_.launches.push_back(std::move(launch));
}

void LoweringState::store_outputs() {
  current_ = nullptr;
  for (TensorIndex output : graph_.outputs) {
    const GraphTensor& tensor = graph_.tensors[output];
    const PlanTensor source = [&] {
      const Value& value = values_[output];
      if (!value.constant) return lowered_.tensors[value.stored];
      return lowered_
          .tensors[stored_constant(*value.constant, Layout::rows, shape(*value.constant))];
    }();
    const std::size_t stored =
        add(tensor.name, TensorRole::output, DataType::f32, Layout::linear, tensor.shape);
    const TensorView view =
        tensor.shape.empty() ? *reshaped(values_[output].view, {1}) : values_[output].view;
    PlanTensor target = lowered_.tensors[stored];
    target.shape = view.shape;
    emit_move(build_move(source, target, view.strides, view.offset));
  }
}

}  // namespace fm
