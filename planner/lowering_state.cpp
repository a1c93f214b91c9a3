#include "planner/lowering_state.hpp"

#include <stdexcept>

#include "core/diagnostics.hpp"
#include "planner/host_tensor.hpp"

namespace fm {
namespace {

/// A `channels` tensor of one pixel has the storage of rows of channels, and the other way round.
bool is_one_pixel(Layout layout, const Shape& shape) {
  return layout == Layout::channels && shape[2] == 1 && shape[3] == 1;
}

std::int64_t row_length(Layout layout, const Shape& shape) {
  return layout == Layout::channels ? shape[1] : shape.back();
}

}  // namespace

Shape at_least_one_dimension(const Shape& shape) { return shape.empty() ? Shape{1} : shape; }

bool is_whole_map(const IndexMap& map, std::int64_t element_total) {
  const auto view = map.strided();
  return view && is_whole(*view, element_total);
}

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
    values_[i].map = IndexMap(graph.tensors[i].shape);
    if (graph.tensors[i].constant) values_[i].constant = i;
  }
  if (options.eliminate) choices_ = choose_storage(graph, layouts_);
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
  // Integers in texels are numbers to compute with, in linear buffers they are indices.
  const bool index = layout == Layout::linear && !is_real(tensor.type);
  const DataType type = index ? DataType::i32 : storage_of(tensor.type);
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
  if (result.layout == Layout::linear && result.dtype == DataType::i32 &&
      is_whole_map(value.map, element_count(result.shape))) {
    result.shape = shape(tensor);
    return result;
  }
  const std::string& name = graph_.tensors[tensor].name;
  if (value.map.strided()) return copied(stored, value.map, Layout::linear, name, DataType::i32);
  const PlanTensor dense = mapped_operand(tensor, value.map, Layout::rows, Reads::once);
  const std::size_t copy =
      add(name, TensorRole::activation, DataType::i32, Layout::linear, shape(tensor));
  PlanTensor target = lowered_.tensors[copy];
  target.shape = dense.shape;
  emit_move(build_move(dense, target, dense_strides(target.shape)));
  return lowered_.tensors[copy];
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
  values_[tensor] = {std::nullopt, rows, IndexMap(shape(tensor))};
  gather.tensor = lowered_.tensors[rows].id;
  lowered_.gathers.push_back(std::move(gather));
}

PlanTensor LoweringState::temporary(const std::string& name, Layout layout, const Shape& wanted,
                                    ElementType type) {
  return lowered_.tensors[add(name, TensorRole::activation, storage_of(type), layout, wanted)];
}

void LoweringState::alias(TensorIndex tensor, TensorIndex source, const IndexMap& map) {
  values_[tensor] = values_[source];
  values_[tensor].map = map;
}

void LoweringState::define(TensorIndex tensor, const PlanTensor& stored, const IndexMap& map) {
  values_[tensor] = {std::nullopt, position_of(stored), map};
}

void LoweringState::emit(PlanLaunch launch, const GraphNode& node, std::uint64_t macs) {
  resolve(&launch);
  launch.operation = node.operation;
  launch.nodes = node.fused_from;
  launch.macs = macs;
  lowered_.launches.push_back(std::move(launch));
}

void LoweringState::emit_move(PlanLaunch launch) {
  resolve(&launch);
  launch.operation = "Move";
  if (current_) launch.nodes = current_->fused_from;
  lowered_.launches.push_back(std::move(launch));
}

}  // namespace fm
