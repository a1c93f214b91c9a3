// Operators that map element by element, with broadcasting.
#include <limits>

#include "planner/node_attributes.hpp"
#include "planner/operator_table.hpp"
#include "planner/tensor_view.hpp"

namespace fm {
namespace {

std::vector<TensorFacts> same_as_input(NodeContext& context) {
  return {{context.type(0), context.shape(0)}};
}

/// Functions of real numbers.
std::vector<TensorFacts> real_as_input(NodeContext& context) {
  if (!is_real(context.type(0))) {
    context.refuse("its input must be real, not " + to_string(context.type(0)));
  }
  return same_as_input(context);
}

std::vector<TensorFacts> resolve_not(NodeContext& context) {
  if (context.type(0) != ElementType::boolean) context.refuse("its input must be boolean");
  return same_as_input(context);
}

std::vector<TensorFacts> resolve_identity(NodeContext& context) {
  context.node.operation = "Identity";
  context.keep_inputs(1);
  return same_as_input(context);
}

std::vector<TensorFacts> resolve_cast(NodeContext& context) {
  // TensorProto.DataType values
  static const std::map<std::int64_t, ElementType> types = {
      {1, ElementType::float32},  {2, ElementType::uint8},   {3, ElementType::int8},
      {6, ElementType::int32},    {7, ElementType::int64},   {9, ElementType::boolean},
      {10, ElementType::float16}, {11, ElementType::float64}};
  const auto found = types.find(attribute_int(context.node, "to", 0));
  if (found == types.end()) context.refuse("casts to a type that is not supported");
  const bool from_real = is_real(context.type(0));
  if (found->second == ElementType::boolean && context.type(0) != ElementType::boolean) {
    context.node.operation = "Nonzero";
  } else if (from_real && !is_real(found->second)) {
    context.node.operation = "Truncate";
  }
  return {{found->second, context.shape(0)}};
}

std::vector<TensorFacts> resolve_test(NodeContext& context) {
  return {{ElementType::boolean, context.shape(0)}};
}

std::vector<TensorFacts> resolve_clip(NodeContext& context) {
  float low = attribute_float(context.node, "min", std::numeric_limits<float>::lowest());
  float high = attribute_float(context.node, "max", std::numeric_limits<float>::max());
  if (context.has(1)) low = context.constant_real(1);
  if (context.has(2)) high = context.constant_real(2);
  context.node.attributes = {{"min", low}, {"max", high}};
  context.keep_inputs(1);
  return same_as_input(context);
}

ElementType result_type(NodeContext& context) {
  const ElementType type = context.type(0);
  if (context.type(1) != type) {
    context.refuse("inputs are " + to_string(type) + " and " + to_string(context.type(1)));
  }
  return type;
}

Shape broadcast(NodeContext& context, std::size_t a, std::size_t b) {
  const auto shape = broadcast_shape(context.shape(a), context.shape(b));
  if (!shape) {
    context.refuse("shapes " + to_string(context.shape(a)) + " and " + to_string(context.shape(b)) +
                   " do not broadcast");
  }
  return *shape;
}

std::vector<TensorFacts> resolve_binary(NodeContext& context) {
  return {{result_type(context), broadcast(context, 0, 1)}};
}

/// Pow's exponent may have another type than its base.
std::vector<TensorFacts> resolve_power(NodeContext& context) {
  return {{context.type(0), broadcast(context, 0, 1)}};
}

std::vector<TensorFacts> resolve_comparison(NodeContext& context) {
  result_type(context);
  std::string& operation = context.node.operation;
  if (operation == "Greater" || operation == "GreaterOrEqual") {
    std::swap(context.node.inputs[0], context.node.inputs[1]);
    operation = operation == "Greater" ? "Less" : "LessOrEqual";
  }
  return {{ElementType::boolean, broadcast(context, 0, 1)}};
}

std::vector<TensorFacts> resolve_where(NodeContext& context) {
  if (context.type(0) != ElementType::boolean || context.type(1) != context.type(2)) {
    context.refuse("needs a boolean condition and values of one type");
  }
  const Shape values = broadcast(context, 1, 2);
  const auto shape = broadcast_shape(values, context.shape(0));
  if (!shape) context.refuse("condition " + to_string(context.shape(0)) + " does not broadcast");
  return {{context.type(1), *shape}};
}

}  // namespace

void add_elementwise_operators(OperatorTable* table) {
  for (const char* name : {"Sigmoid", "Tanh", "HardSigmoid", "HardSwish", "LeakyRelu", "Exp", "Log",
                           "Sqrt", "Reciprocal", "Erf", "Floor", "Ceil", "Elu", "Softplus"}) {
    (*table)[name] = {1, 1, real_as_input, false};
  }
  for (const char* name :
       {"Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh",
        "Round", "Selu", "Celu", "ThresholdedRelu", "Softsign", "Shrink"}) {
    (*table)[name] = {1, 1, real_as_input, false};
  }
  for (const char* name : {"IsNaN", "IsInf"}) (*table)[name] = {1, 1, resolve_test, false};
  for (const char* name : {"Relu", "Neg", "Abs", "Sign"})
    (*table)[name] = {1, 1, same_as_input, false};
  for (const char* name : {"Add", "Sub", "Mul", "Div", "Max", "Min", "Mod", "PRelu"}) {
    (*table)[name] = {2, 2, resolve_binary, false};
  }
  (*table)["Pow"] = {2, 2, resolve_power, false};
  (*table)["Identity"] = {1, 1, resolve_identity, false};
  (*table)["Dropout"] = {1, 3, resolve_identity, false};
  (*table)["Cast"] = {1, 1, resolve_cast, false};
  (*table)["Clip"] = {1, 3, resolve_clip, false};
  for (const char* name :
       {"Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "And", "Or", "Xor"}) {
    (*table)[name] = {2, 2, resolve_comparison, false};
  }
  (*table)["Where"] = {3, 3, resolve_where, false};
  (*table)["Not"] = {1, 1, resolve_not, false};
}

}  // namespace fm
