#include "planner/expansion.hpp"

#include <numeric>

#include "planner/graph_builder.hpp"

namespace fm {

NodeContext Expansion::context() { return builder_.context(&node); }
int Expansion::opset() const { return builder_.graph().opset; }

TensorIndex Expansion::input(std::size_t slot) {
  if (!has(slot)) context().shape(slot);  // refuses
  return *node.inputs[slot];
}

Shape Expansion::shape(TensorIndex tensor) const { return builder_.graph().tensors[tensor].shape; }
ElementType Expansion::type(TensorIndex tensor) const {
  return builder_.graph().tensors[tensor].type;
}
bool Expansion::is_constant(TensorIndex tensor) const {
  return builder_.graph().tensors[tensor].constant.has_value();
}

TensorIndex Expansion::add(const std::string& operation, const Inputs& inputs,
                           const Attributes& attributes) {
  return builder_.add_operation({node.name, operation, inputs, {}, attributes, {node.name}},
                                builder_.fresh_name(node.name));
}

TensorIndex Expansion::reshape(TensorIndex value, const Shape& wanted) {
  if (shape(value) == wanted) return value;
  return add("Reshape", {value, integers({static_cast<std::int64_t>(wanted.size())}, wanted)});
}

TensorIndex Expansion::transpose(TensorIndex value, const Ints& permutation) {
  return add("Transpose", {value}, {{"perm", permutation}});
}

TensorIndex Expansion::slice(TensorIndex value, std::int64_t axis, std::int64_t start,
                             std::int64_t end, std::int64_t step) {
  return add(
      "Slice", {value},
      {{"starts", Ints{start}}, {"ends", Ints{end}}, {"axes", Ints{axis}}, {"steps", Ints{step}}});
}

void Expansion::check_constant(const Shape& shape) {
  constexpr std::int64_t largest_constant = 1 << 28;
  if (is_possible(shape) && element_count(shape) <= largest_constant) return;
  context().refuse("needs a constant of shape " + to_string(shape) + ", more than 2^28 elements");
}

TensorIndex Expansion::reals(const Shape& shape, std::vector<float> values) {
  return builder_.add_values(real_tensor(shape, std::move(values)), node.name);
}

TensorIndex Expansion::integers(const Shape& shape, Ints values, ElementType type) {
  HostTensor tensor = integer_tensor(shape, std::move(values));
  tensor.type = type;
  return builder_.add_values(tensor, node.name);
}

TensorIndex Expansion::number(double value, ElementType type) {
  if (!is_real(type)) return integers({}, {static_cast<std::int64_t>(value)}, type);
  HostTensor tensor = real_tensor({}, {static_cast<float>(value)});
  tensor.type = type;
  return builder_.add_values(tensor, node.name);
}

TensorIndex Expansion::counting(std::int64_t extent, std::int64_t axis, std::int64_t rank,
                                ElementType type) {
  Shape shape(static_cast<std::size_t>(rank), 1);
  if (rank > 0) shape[static_cast<std::size_t>(axis)] = extent;
  check_constant({extent});
  Ints values(static_cast<std::size_t>(extent));
  std::iota(values.begin(), values.end(), std::int64_t{0});
  if (!is_real(type)) return integers(shape, values, type);
  HostTensor tensor = real_tensor(shape, std::vector<float>(values.begin(), values.end()));
  tensor.type = type;
  return builder_.add_values(tensor, node.name);
}

void Expansion::give(std::size_t output, const std::string& operation, const Inputs& inputs,
                     const Attributes& attributes) {
  if (!wants(output)) return;
  builder_.add_operation({node.name, operation, inputs, {}, attributes, {node.name}},
                         outputs_[output]);
}

const ExpanderTable& expanders() {
  static const ExpanderTable table = [] {
    ExpanderTable entries;
    add_elementwise_expanders(&entries);
    add_reduction_expanders(&entries);
    add_normalisation_expanders(&entries);
    add_selection_expanders(&entries);
    add_convolution_expanders(&entries);
    add_pool_expanders(&entries);
    add_resize_expanders(&entries);
    return entries;
  }();
  return table;
}

}  // namespace fm
