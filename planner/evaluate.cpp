#include "planner/evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

#include "core/diagnostics.hpp"
#include "planner/node_attributes.hpp"
#include "planner/tensor_view.hpp"

namespace fm {
namespace {

using Inputs = std::vector<HostTensor>;
using Evaluator = HostTensor (*)(const GraphNode&, const Inputs&, ElementType, const Shape&);

HostTensor through_view(const HostTensor& input, const TensorView& view, ElementType type) {
  HostTensor result{type, view.shape, {}, {}};
  if (input.is_real()) {
    result.reals = gathered(view, input.reals);
  } else {
    result.integers = gathered(view, input.integers);
  }
  return result;
}

HostTensor evaluate_reshape(const GraphNode&, const Inputs& inputs, ElementType,
                            const Shape& shape) {
  HostTensor result = inputs[0];
  result.shape = shape;
  return result;
}

HostTensor evaluate_cast(const GraphNode&, const Inputs& inputs, ElementType type,
                         const Shape& shape) {
  const HostTensor& input = inputs[0];
  HostTensor result{type, shape, {}, {}};
  if (is_real(type)) {
    result.reals = input.is_real()
                       ? input.reals
                       : std::vector<float>(input.integers.begin(), input.integers.end());
  } else if (input.is_real()) {
    for (float value : input.reals) {
      result.integers.push_back(type == ElementType::boolean ? value != 0 : integer_from(value));
    }
  } else {
    result.integers = input.integers;
    if (type == ElementType::boolean) {
      for (std::int64_t& value : result.integers) value = value != 0;
    }
  }
  return result;
}

HostTensor evaluate_transpose(const GraphNode& node, const Inputs& inputs, ElementType type,
                              const Shape&) {
  const TensorView view = transposed(whole_view(inputs[0].shape), attribute_ints(node, "perm"));
  return through_view(inputs[0], view, type);
}

HostTensor evaluate_slice(const GraphNode& node, const Inputs& inputs, ElementType type,
                          const Shape& shape) {
  const TensorView view = sliced(whole_view(inputs[0].shape), attribute_ints(node, "starts"),
                                 attribute_ints(node, "steps"), shape);
  return through_view(inputs[0], view, type);
}

HostTensor evaluate_expand(const GraphNode&, const Inputs& inputs, ElementType type,
                           const Shape& shape) {
  return through_view(inputs[0], expanded(whole_view(inputs[0].shape), shape), type);
}

template <class T>
void append_block(const std::vector<T>& from, std::size_t begin, std::size_t count,
                  std::vector<T>* to) {
  if (from.empty()) return;
  to->insert(to->end(), from.begin() + static_cast<std::ptrdiff_t>(begin),
             from.begin() + static_cast<std::ptrdiff_t>(begin + count));
}

HostTensor evaluate_concat(const GraphNode& node, const Inputs& inputs, ElementType type,
                           const Shape& shape) {
  const auto axis = static_cast<std::size_t>(attribute_int(node, "axis", 0));
  const Shape outer(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis));
  const auto outer_total = static_cast<std::size_t>(element_count(outer));
  HostTensor result{type, shape, {}, {}};
  for (std::size_t o = 0; o < outer_total; ++o) {  // never entered with a divisor of zero
    for (const HostTensor& input : inputs) {
      const auto block = static_cast<std::size_t>(element_count(input.shape)) / outer_total;
      append_block(input.reals, o * block, block, &result.reals);
      append_block(input.integers, o * block, block, &result.integers);
    }
  }
  return result;
}

HostTensor evaluate_gather(const GraphNode& node, const Inputs& inputs, ElementType type,
                           const Shape& shape) {
  const HostTensor& data = inputs[0];
  const auto axis = static_cast<std::size_t>(attribute_int(node, "axis", 0));
  const Shape outer(data.shape.begin(), data.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  const auto outer_total = static_cast<std::size_t>(element_count(outer));
  const auto extent = static_cast<std::size_t>(data.shape[axis]);
  if (element_count(data.shape) == 0) {
    throw UserError("node `" + node.name + "` (Gather): takes from a tensor without elements");
  }
  const auto inner = static_cast<std::size_t>(element_count(data.shape)) / (outer_total * extent);
  HostTensor result{type, shape, {}, {}};
  for (std::size_t o = 0; o < outer_total; ++o) {
    for (std::int64_t index : inputs[1].integers) {
      const auto wrapped = static_cast<std::size_t>(index < 0 ? index + data.shape[axis] : index);
      if (wrapped >= extent) {
        throw UserError("node `" + node.name + "` (Gather): index " + std::to_string(index) +
                        " is outside the " + std::to_string(extent) + " elements of its axis");
      }
      const std::size_t begin = (o * extent + wrapped) * inner;
      append_block(data.reals, begin, inner, &result.reals);
      append_block(data.integers, begin, inner, &result.integers);
    }
  }
  return result;
}

HostTensor evaluate_constant_of_shape(const GraphNode& node, const Inputs&, ElementType type,
                                      const Shape& shape) {
  const auto count = static_cast<std::size_t>(element_count(shape));
  HostTensor result{type, shape, {}, {}};
  if (is_real(type)) {
    result.reals.assign(count, attribute_float(node, "value", 0));
  } else {
    result.integers.assign(count, attribute_int(node, "value", 0));
  }
  return result;
}

HostTensor evaluate_where(const GraphNode&, const Inputs& inputs, ElementType type,
                          const Shape& shape) {
  std::vector<HostTensor> wide;
  for (const HostTensor& input : inputs) {
    wide.push_back(through_view(input, expanded(whole_view(input.shape), shape), input.type));
  }
  HostTensor result{type, shape, {}, {}};
  for (std::size_t i = 0; i < wide[0].integers.size(); ++i) {
    const HostTensor& chosen = wide[0].integers[i] != 0 ? wide[1] : wide[2];
    if (is_real(type)) {
      result.reals.push_back(chosen.reals[i]);
    } else {
      result.integers.push_back(chosen.integers[i]);
    }
  }
  return result;
}

template <class T>
T power(T base, T exponent) {
  const double value = std::pow(static_cast<double>(base), static_cast<double>(exponent));
  if constexpr (std::is_integral_v<T>) return integer_from(value);
  return static_cast<T>(value);
}

template <class T>
T binary(const std::string& operation, T a, T b) {
  // Integers wrap around.
  using Wide = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
  const auto x = static_cast<Wide>(a), y = static_cast<Wide>(b);
  if (operation == "Add") return static_cast<T>(x + y);
  if (operation == "Sub") return static_cast<T>(x - y);
  if (operation == "Mul") return static_cast<T>(x * y);
  if (operation == "Div") {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) throw UserError("a folded integer division divides by zero");
      if (b == -1)
        return static_cast<T>(-x);  // also of the least number, which has no positive one
    }
    return a / b;
  }
  if (operation == "Pow") return power(a, b);
  if (operation == "Max") return std::max(a, b);
  if (operation == "Min") return std::min(a, b);
  if (operation == "Equal") return static_cast<T>(a == b);
  if (operation == "Less") return static_cast<T>(a < b);
  if (operation == "LessOrEqual") return static_cast<T>(a <= b);
  if (operation == "And") return static_cast<T>(a != 0 && b != 0);
  if (operation == "Or") return static_cast<T>(a != 0 || b != 0);
  if (operation == "Xor") return static_cast<T>((a != 0) != (b != 0));
  throw std::logic_error("no evaluator of " + operation);
}

HostTensor evaluate_range(const GraphNode&, const Inputs& inputs, ElementType type,
                          const Shape& shape) {
  HostTensor result{type, shape, {}, {}};
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    if (is_real(type)) {
      result.reals.push_back(inputs[0].reals[0] + static_cast<float>(i) * inputs[2].reals[0]);
    } else {
      result.integers.push_back(
          binary("Add", inputs[0].integers[0], binary("Mul", i, inputs[2].integers[0])));
    }
  }
  return result;
}

/// The input broadcast to `shape`; integers become real where the other operand is (an exponent of
/// Pow).
HostTensor operand(const HostTensor& input, const Shape& shape, bool real) {
  HostTensor wide = through_view(input, expanded(whole_view(input.shape), shape), input.type);
  if (real && !wide.is_real()) {
    wide.reals.assign(wide.integers.begin(), wide.integers.end());
    wide.type = ElementType::float32;
    wide.integers.clear();
  }
  return wide;
}

HostTensor evaluate_binary(const GraphNode& node, const Inputs& inputs, ElementType type,
                           const Shape& shape) {
  const bool real = inputs[0].is_real() || inputs[1].is_real();
  const HostTensor a = operand(inputs[0], shape, real), b = operand(inputs[1], shape, real);
  HostTensor result{type, shape, {}, {}};
  for (std::size_t i = 0; i < a.reals.size(); ++i) {
    const float value = binary(node.operation, a.reals[i], b.reals[i]);
    if (is_real(type)) {
      result.reals.push_back(value);
    } else {
      result.integers.push_back(integer_from(value));
    }
  }
  for (std::size_t i = 0; i < a.integers.size(); ++i) {
    result.integers.push_back(binary(node.operation, a.integers[i], b.integers[i]));
  }
  return result;
}

float unary(const std::string& operation, float x) {
  if (operation == "Sqrt") return std::sqrt(x);
  if (operation == "Exp") return std::exp(x);
  if (operation == "Log") return std::log(x);
  if (operation == "Reciprocal") return 1 / x;
  if (operation == "Neg") return -x;
  if (operation == "Abs") return std::fabs(x);
  if (operation == "Floor") return std::floor(x);
  if (operation == "Ceil") return std::ceil(x);
  if (operation == "Relu") return std::max(x, 0.0f);
  throw std::logic_error("no evaluator of " + operation);
}

HostTensor evaluate_unary(const GraphNode& node, const Inputs& inputs, ElementType type,
                          const Shape& shape) {
  HostTensor result{type, shape, inputs[0].reals, inputs[0].integers};
  for (float& value : result.reals) value = unary(node.operation, value);
  for (std::int64_t& value : result.integers) {
    if (node.operation == "Not") {
      value = value == 0;
    } else if (node.operation == "Neg") {
      value = binary<std::int64_t>("Sub", 0, value);
    } else if (node.operation == "Abs" && value < 0) {
      value = binary<std::int64_t>("Sub", 0, value);
    }
  }
  return result;
}

HostTensor evaluate_reduction(const GraphNode& node, const Inputs& inputs, ElementType type,
                              const Shape& shape) {
  const HostTensor& x = inputs[0];
  const std::vector<std::int64_t> axes = attribute_ints(node, "axes");
  std::vector<std::int64_t> order;
  Shape kept, reduced;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(x.shape.size()); ++d) {
    if (std::count(axes.begin(), axes.end(), d) == 0) {
      order.push_back(d);
      kept.push_back(x.shape[static_cast<std::size_t>(d)]);
    }
  }
  for (std::int64_t d : axes) {
    order.push_back(d);
    reduced.push_back(x.shape[static_cast<std::size_t>(d)]);
  }
  const HostTensor sorted = through_view(x, transposed(whole_view(x.shape), order), x.type);
  const auto outer = static_cast<std::size_t>(element_count(kept));
  const auto inner = static_cast<std::size_t>(element_count(reduced));
  const std::map<std::string, std::string> steps = {{"ReduceSum", "Add"},
                                                    {"ReduceMean", "Add"},
                                                    {"ReduceProd", "Mul"},
                                                    {"ReduceMax", "Max"},
                                                    {"ReduceMin", "Min"}};
  const std::string& step = steps.at(node.operation);
  HostTensor result{type, shape, {}, {}};
  for (std::size_t o = 0; o < outer && inner != 0; ++o) {
    if (x.is_real()) {
      float value = sorted.reals[o * inner];
      for (std::size_t i = 1; i < inner; ++i)
        value = binary(step, value, sorted.reals[o * inner + i]);
      result.reals.push_back(node.operation == "ReduceMean" ? value / static_cast<float>(inner)
                                                            : value);
    } else {
      std::int64_t value = sorted.integers[o * inner];
      for (std::size_t i = 1; i < inner; ++i) {
        value = binary(step, value, sorted.integers[o * inner + i]);
      }
      result.integers.push_back(value);
    }
  }
  return result;
}

const std::map<std::string, Evaluator>& evaluators() {
  static const std::map<std::string, Evaluator> table = [] {
    std::map<std::string, Evaluator> entries = {{"Identity", evaluate_reshape},
                                                {"Reshape", evaluate_reshape},
                                                {"Cast", evaluate_cast},
                                                {"Truncate", evaluate_cast},
                                                {"Nonzero", evaluate_cast},
                                                {"Transpose", evaluate_transpose},
                                                {"Slice", evaluate_slice},
                                                {"Expand", evaluate_expand},
                                                {"Concat", evaluate_concat},
                                                {"Gather", evaluate_gather},
                                                {"Range", evaluate_range},
                                                {"Where", evaluate_where},
                                                {"ConstantOfShape", evaluate_constant_of_shape}};
    for (const char* name : {"Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Equal", "Less",
                             "LessOrEqual", "And", "Or", "Xor"}) {
      entries[name] = evaluate_binary;
    }
    for (const char* name :
         {"Sqrt", "Exp", "Log", "Reciprocal", "Neg", "Abs", "Floor", "Ceil", "Relu", "Not"}) {
      entries[name] = evaluate_unary;
    }
    for (const char* name : {"ReduceSum", "ReduceMean", "ReduceProd", "ReduceMax", "ReduceMin"}) {
      entries[name] = evaluate_reduction;
    }
    return entries;
  }();
  return table;
}

}  // namespace

std::int64_t integer_from(double value) {
  constexpr double beyond = 9223372036854775808.0;  // 2^63
  return value >= -beyond && value < beyond ? static_cast<std::int64_t>(value)
                                            : std::numeric_limits<std::int64_t>::min();
}

bool can_evaluate(const std::string& operation) { return evaluators().count(operation) != 0; }

HostTensor evaluate(const GraphNode& node, const std::vector<HostTensor>& inputs, ElementType type,
                    const Shape& shape) {
  HostTensor result = evaluators().at(node.operation)(node, inputs, type, shape);
  const auto count = static_cast<std::size_t>(element_count(shape));
  if (result.reals.size() != (is_real(type) ? count : 0) ||
      result.integers.size() != (is_real(type) ? 0 : count)) {
    throw UserError("node `" + node.name + "` (" + node.operation +
                    "): its inputs do not fit each other");
  }
  return result;
}

}  // namespace fm
