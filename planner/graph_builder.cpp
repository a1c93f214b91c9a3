#include "planner/graph_builder.hpp"

#include <algorithm>
#include <set>

#include "core/diagnostics.hpp"
#include "planner/evaluate.hpp"
#include "planner/expansion.hpp"
#include "planner/node_attributes.hpp"
#include "planner/onnx_nodes.hpp"
#include "planner/onnx_tensor.hpp"
#include "planner/operator_table.hpp"
#include "planner/window_dimensions.hpp"

namespace fm {
namespace {

/// Folded constants up to this many elements are computed at once; larger ones when they are
/// packed.
constexpr std::int64_t largest_eager_fold = 4096;

/// Elements of a computed constant; integers take twice the memory of reals.
constexpr std::int64_t largest_folded_reals = std::int64_t{1} << 28;
constexpr std::int64_t largest_folded_integers = std::int64_t{1} << 26;

/// Elements computed for one constant together with all that it is computed from: contents are
/// never kept, and what is read twice is computed twice.
constexpr double most_folding_work = 1e10;

/// A large matrix turned for a product stays a node: its reader may take it as it lies
/// (fuse_embeddings, which folds the others).
bool is_turned_matrix(const GraphNode& node, const Shape& shape) {
  return node.operation == "Transpose" && shape.size() == 2 &&
         element_count(shape) > largest_eager_fold;
}

/// Integers that the device computes with are numbers of single precision.
constexpr std::int64_t largest_exact_integer = std::int64_t{1} << 24;

void check_exact(const HostTensor& values, const std::string& what) {
  for (const std::int64_t value : values.integers) {
    if (value >= -largest_exact_integer && value <= largest_exact_integer) continue;
    throw UserError(what + " holds " + std::to_string(value) +
                    ": integers beyond 2^24 are not exact on the device");
  }
}

/// Operators whose results are elements of their inputs: they keep small integers small.
bool takes_elements(const std::string& operation) {
  static const std::set<std::string> operations = {
      "Reshape", "Identity", "Transpose",      "Slice",        "Expand",       "Concat", "Gather",
      "Pad",     "Where",    "GatherElements", "DepthToSpace", "SpaceToDepth", "Max",    "Min"};
  return operations.count(operation) != 0;
}

}  // namespace

bool is_expanded_operator(const std::string& operation) {
  return operation == "Constant" || operation == "Split" || operation == "Sum" ||
         operation == "If" || operation == "Loop" || expanders().count(operation) != 0;
}

GraphBuilder::GraphBuilder(std::string name, int opset, std::string model_path,
                           ConstantStore* constants, std::set<std::string> read_values)
    : model_path_(std::move(model_path)),
      constants_(constants),
      read_values_(std::move(read_values)) {
  graph_.name = std::move(name);
  graph_.opset = opset;
}

TensorIndex GraphBuilder::add_tensor(GraphTensor tensor) {
  const TensorIndex index = graph_.tensors.size();
  if (!by_name_.emplace(tensor.name, index).second) {
    throw UserError("value `" + tensor.name + "` is given twice");
  }
  graph_.tensors.push_back(std::move(tensor));
  return index;
}

void GraphBuilder::check_extents(const std::string& name, const Shape& shape) const {
  if (is_possible(shape)) return;
  throw UserError("value `" + name + "` would have the impossible shape " + to_string(shape));
}

TensorIndex GraphBuilder::add_input(GraphTensor tensor) {
  check_extents(tensor.name, tensor.shape);
  graph_.inputs.push_back(add_tensor(std::move(tensor)));
  return graph_.inputs.back();
}

TensorIndex GraphBuilder::add_constant(GraphTensor tensor) { return add_tensor(std::move(tensor)); }

void GraphBuilder::add_output(const std::string& name) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) throw UserError("output `" + name + "` is produced by no node");
  const GraphTensor& tensor = graph_.tensors[found->second];
  const auto giver = operator_of_.find(name);
  const std::string what =
      "output `" + name + "`" + (giver == operator_of_.end() ? "" : " of " + giver->second);
  if (element_count(tensor.shape) == 0) throw UserError(what + " has no elements");
  if (tensor.constant && !is_real(tensor.type)) check_exact(constants_->load(tensor), what);
  graph_.outputs.push_back(found->second);
}

TensorIndex GraphBuilder::index_of(const std::string& name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) throw UserError("value `" + name + "` is produced by no node");
  return found->second;
}

void GraphBuilder::add_constant_node(const onnx::NodeProto& proto, const std::string& name) {
  if (proto.output_size() != 1)
    throw UserError("node `" + name + "` (Constant) must have one output");
  const std::string& output = proto.output(0);
  if (const auto* value = find_attribute(proto, "value")) {
    add_constant(constant_from(value->t(), output, model_path_, constants_));
  } else if (const auto* real = find_attribute(proto, "value_float")) {
    add_constant(constant_from(real_tensor({}, {real->f()}), output));
  } else if (const auto* integer = find_attribute(proto, "value_int")) {
    add_constant(constant_from(integer_tensor({}, {integer->i()}), output));
  } else if (const auto* reals = find_attribute(proto, "value_floats")) {
    std::vector<float> values(reals->floats().begin(), reals->floats().end());
    add_constant(constant_from(real_tensor({reals->floats_size()}, std::move(values)), output));
  } else if (const auto* integers = find_attribute(proto, "value_ints")) {
    std::vector<std::int64_t> values(integers->ints().begin(), integers->ints().end());
    add_constant(constant_from(integer_tensor({integers->ints_size()}, std::move(values)), output));
  } else {
    throw UserError("node `" + name + "` (Constant) has no value of a supported kind");
  }
}

/// Split: one Slice an output.
void GraphBuilder::add_split(const onnx::NodeProto& proto, GraphNode node) {
  NodeContext context(graph_, *constants_, node);
  const std::int64_t axis = context.axis(attribute_int(node, "axis", 0), context.rank(0));
  const std::int64_t extent = context.shape(0)[static_cast<std::size_t>(axis)];
  const std::int64_t equal = (extent + proto.output_size() - 1) / proto.output_size();
  std::vector<std::int64_t> parts(static_cast<std::size_t>(proto.output_size()), equal);
  parts.back() = extent - equal * (proto.output_size() - 1);
  parts = context.ints("split", 1, parts);
  std::int64_t start = 0;
  for (std::int64_t part : parts) {
    if (part < 0 || part > extent) context.refuse("has a part of " + std::to_string(part));
    start += part;
  }
  if (parts.size() != static_cast<std::size_t>(proto.output_size()) || start != extent) {
    context.refuse("its parts do not add up to the " + std::to_string(extent) +
                   " elements of axis " + std::to_string(axis));
  }
  start = 0;
  for (int i = 0; i < proto.output_size(); ++i) {
    const std::int64_t end = start + parts[static_cast<std::size_t>(i)];
    using Ints = std::vector<std::int64_t>;
    GraphNode slice{node.name, "Slice", {node.inputs[0]}, {}, {}, {node.name}};
    slice.attributes = {{"starts", Ints{start}}, {"ends", Ints{end}}, {"axes", Ints{axis}}};
    append(std::move(slice), {proto.output(i)});
    start = end;
  }
}

/// A variadic operator as a chain of binary ones.
void GraphBuilder::add_chain(const onnx::NodeProto& proto, const GraphNode& node,
                             const std::string& operation) {
  if (node.inputs.empty()) {
    throw UserError("node `" + node.name + "` (" + proto.op_type() + ") has no inputs");
  }
  if (node.inputs.size() == 1) {
    append({node.name, "Identity", node.inputs, {}, {}, {node.name}}, {proto.output(0)});
    return;
  }
  std::optional<TensorIndex> sum = node.inputs[0];
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    const bool last = i + 1 == node.inputs.size();
    const std::string output = last ? proto.output(0) : proto.output(0) + "#" + std::to_string(i);
    append({node.name, operation, {sum, node.inputs[i]}, {}, {}, {node.name}}, {output});
    sum = index_of(output);
  }
}

void GraphBuilder::add_node(const onnx::NodeProto& proto, int index) {
  for (const std::string& output : proto.output()) operator_of_[output] = proto.op_type();
  if (!is_default_domain(proto.domain())) {  // in a body; check_operators() names the others
    throw UserError("domain `" + proto.domain() + "` is unknown: " + proto.op_type() + " (node `" +
                    node_name(proto, index) + "`)");
  }
  try {
    if (is_expanded_operator(proto.op_type()) || operator_table().count(proto.op_type()) != 0) {
      add_plain_node(proto, index);
    } else {
      add_function(proto);
    }
  } catch (const UserError& error) {
    const std::string message = error.what();
    if (message.find(proto.op_type()) != std::string::npos) throw;
    throw UserError("node `" + node_name(proto, index) + "` (" + proto.op_type() + "): " + message);
  }
}

void GraphBuilder::add_plain_node(const onnx::NodeProto& proto, int index) {
  if (proto.output().empty()) return;  // nobody reads it
  GraphNode node;
  node.name = node_name(proto, index);
  if (proto.op_type() == "Constant") return add_constant_node(proto, node.name);
  node.operation = proto.op_type();
  node.fused_from = {node.name};
  node.attributes = plain_attributes(proto);
  for (const std::string& input : proto.input()) {
    node.inputs.push_back(input.empty() ? std::nullopt : std::make_optional(index_of(input)));
  }
  while (!node.inputs.empty() && !node.inputs.back()) node.inputs.pop_back();
  if (proto.op_type() == "If") return add_branch(proto, &node);
  if (proto.op_type() == "Loop") return add_loop(proto, &node);
  if (is_windowed(node.operation)) check_window(NodeContext(graph_, *constants_, node));
  if (expand(proto, node)) return;
  if (proto.op_type() == "Split") return add_split(proto, std::move(node));
  if (proto.op_type() == "Sum") return add_chain(proto, node, "Add");
  if ((proto.op_type() == "Max" || proto.op_type() == "Min") && node.inputs.size() != 2) {
    return add_chain(proto, node, proto.op_type());
  }
  if (const auto* value = find_attribute(proto, "value");
      value && proto.op_type() == "ConstantOfShape") {
    const HostTensor fill =
        constants_->load(constant_from(value->t(), node.name + ".value", model_path_, constants_));
    if (element_count(fill.shape) != 1) {
      throw UserError("node `" + node.name + "` (ConstantOfShape): its value must be one number");
    }
    node.attributes["value_type"] = static_cast<std::int64_t>(fill.type);
    if (fill.is_real()) {
      node.attributes["value"] = fill.reals[0];
    } else {
      node.attributes["value"] = fill.integers[0];
    }
  }
  std::vector<std::string> outputs(proto.output().begin(), proto.output().end());
  while (!outputs.empty() && read_values_.count(outputs.back()) == 0) outputs.pop_back();
  if (outputs.empty()) return;  // nobody reads it
  node.outputs.resize(outputs.size());
  append(std::move(node), outputs);
}

void GraphBuilder::append(GraphNode node, const std::vector<std::string>& outputs) {
  NodeContext context(graph_, *constants_, node);
  const OperatorSpec& spec = operator_table().at(node.operation);
  if (node.inputs.size() < spec.minimum_inputs || node.inputs.size() > spec.maximum_inputs) {
    context.refuse("has " + std::to_string(node.inputs.size()) + " inputs");
  }
  for (std::size_t i = 0; i < spec.minimum_inputs; ++i) context.shape(i);  // refuses a missing one
  const std::vector<TensorFacts> facts = spec.resolve(context);
  if (outputs.size() > facts.size()) context.refuse("only its first output is supported");
  for (const TensorFacts& fact : facts) check_extents(outputs[0], fact.shape);
  if (outputs.size() == 1 && fold(node, facts, outputs[0])) return;
  if (spec.folded_only) context.refuse("is only supported where its inputs are constants");
  check_values(node, facts);
  if (node.operation == "Gather") wrap_indices(&node);
  if (node.operation == "Pad") {
    const HostTensor fill = real_tensor({1}, {attribute_float(node, "value", 0)});
    node.inputs.push_back(add_constant(constant_from(fill, outputs[0] + "#fill")));
  }
  node.outputs.clear();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    node.outputs.push_back(add_tensor({outputs[i], facts[i].type, facts[i].shape, std::nullopt}));
  }
  graph_.nodes.push_back(std::move(node));
}

/// What the device can hold: tensors with elements, and integers that are exact.
void GraphBuilder::check_values(const GraphNode& node, const std::vector<TensorFacts>& facts) {
  GraphNode seen = node;
  const NodeContext context(graph_, *constants_, seen);
  if (element_count(facts[0].shape) == 0) context.refuse("its result has no elements");
  const bool small = facts[0].type == ElementType::int8 || facts[0].type == ElementType::uint8;
  if (small && !takes_elements(node.operation)) {
    context.refuse("computes " + to_string(facts[0].type) + ", which is not supported");
  }
  for (const auto& input : node.inputs) {
    if (!input) continue;
    const GraphTensor& tensor = graph_.tensors[*input];
    if (element_count(tensor.shape) == 0) {
      context.refuse("its input `" + tensor.name + "` has no elements");
    }
    if (!tensor.constant || is_real(tensor.type)) continue;
    check_exact(constants_->load(tensor),
                "node `" + node.name + "` (" + node.operation + "): `" + tensor.name + "`");
  }
}

TensorIndex GraphBuilder::add_operation(GraphNode node, const std::string& output) {
  node.outputs.resize(1);
  append(std::move(node), {output});
  return index_of(output);
}

TensorIndex GraphBuilder::add_values(const HostTensor& values, const std::string& base_name) {
  return add_constant(constant_from(values, fresh_name(base_name)));
}

std::string GraphBuilder::fresh_name(const std::string& base_name) {
  std::string name;
  do {
    name = base_name + "#" + std::to_string(fresh_names_++);
  } while (has(name));
  return name;
}

bool GraphBuilder::expand(const onnx::NodeProto& proto, const GraphNode& node) {
  const auto found = expanders().find(proto.op_type());
  if (found == expanders().end()) return false;
  std::vector<std::string> outputs;
  for (const std::string& output : proto.output()) {
    outputs.push_back(read_values_.count(output) != 0 ? output : std::string());
  }
  Expansion expansion(*this, node, std::move(outputs));
  return found->second(expansion);
}

/// Constant indices of a Gather that runs on the device count from the front and lie inside.
void GraphBuilder::wrap_indices(GraphNode* node) {
  const NodeContext context(graph_, *constants_, *node);
  const GraphTensor given = graph_.tensors[node->inputs[1].value()];
  if (!given.constant) return;
  const auto axis = static_cast<std::size_t>(attribute_int(*node, "axis", 0));
  const std::int64_t extent = context.shape(0)[axis];
  HostTensor indices = constants_->load(given);
  bool wrapped = false;
  for (std::int64_t& index : indices.integers) {
    if (index < -extent || index >= extent) {
      context.refuse("index " + std::to_string(index) + " is outside the " +
                     std::to_string(extent) + " elements of axis " + std::to_string(axis));
    }
    wrapped = wrapped || index < 0;
    if (index < 0) index += extent;
  }
  if (wrapped) node->inputs[1] = add_constant(constant_from(indices, node->name + ".indices"));
}

double GraphBuilder::check_folding(const GraphNode& node, const std::vector<GraphTensor>& inputs,
                                   const TensorFacts& result) const {
  GraphNode seen = node;
  const NodeContext context(graph_, *constants_, seen);
  const std::int64_t count = element_count(result.shape);
  if (count > (is_real(result.type) ? largest_folded_reals : largest_folded_integers)) {
    context.refuse("gives a constant of shape " + to_string(result.shape) +
                   ", too large to compute while planning");
  }
  double work = static_cast<double>(count);
  for (const GraphTensor& input : inputs) {
    work += static_cast<double>(element_count(input.shape));
    if (!input.constant->initializer) continue;
    const auto found = folding_work_.find(*input.constant->initializer);
    if (found != folding_work_.end()) work += found->second;
  }
  if (work > most_folding_work) {
    context.refuse("is computed from constants that are computed from each other too many times");
  }
  return work;
}

bool GraphBuilder::fold(const GraphNode& node, const std::vector<TensorFacts>& facts,
                        const std::string& output) {
  if (node.operation == "Shape" || node.operation == "Size") {
    HostTensor shape = integer_tensor(facts[0].shape, attribute_ints(node, "value"));
    add_constant(constant_from(shape, output));
    return true;
  }
  if (!can_evaluate(node.operation) || is_turned_matrix(node, facts[0].shape)) return false;
  std::vector<GraphTensor> inputs;
  bool in_memory = element_count(facts[0].shape) <= largest_eager_fold;
  for (const auto& input : node.inputs) {
    if (!input || !graph_.tensors[*input].constant) return false;
    inputs.push_back(graph_.tensors[*input]);
    in_memory = in_memory && !inputs.back().constant->initializer;
  }
  const auto compute = [node, inputs, facts](const ConstantStore& constants) {
    std::vector<HostTensor> values;
    for (const GraphTensor& input : inputs) values.push_back(constants.load(input));
    return evaluate(node, values, facts[0].type, facts[0].shape);
  };
  if (in_memory) {
    add_constant(constant_from(compute(*constants_), output));
    return true;
  }
  const double work = check_folding(node, inputs, facts[0]);
  GraphTensor tensor{output, facts[0].type, facts[0].shape, ConstantData{}};
  tensor.constant->initializer = constants_->add_recipe(compute);
  folding_work_[*tensor.constant->initializer] = work;
  add_constant(std::move(tensor));
  return true;
}

}  // namespace fm
