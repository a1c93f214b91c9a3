// Nodes that stand for the nodes of a body: functions, branches and loops whose course is known
// when planning.
#include <optional>

#include "core/diagnostics.hpp"
#include "planner/function_bodies.hpp"
#include "planner/graph_builder.hpp"
#include "planner/onnx_nodes.hpp"
#include "planner/onnx_tensor.hpp"

namespace fm {
namespace {

/// Iterations; a loop that goes on longer is no loop of a network's layers.
constexpr std::int64_t longest_loop = 1024;

/// Gives the values that a body reads from around it their names there; its own keep theirs.
void rename_outer_values(onnx::GraphProto* body, std::map<std::string, std::string> names) {
  for (const onnx::TensorProto& initializer : body->initializer()) names.erase(initializer.name());
  for (const onnx::ValueInfoProto& input : body->input()) names.erase(input.name());
  for (const onnx::NodeProto& node : body->node()) {
    for (const std::string& output : node.output()) names.erase(output);
  }
  const auto rename = [&](std::string* name) {
    if (const auto found = names.find(*name); found != names.end()) *name = found->second;
  };
  for (onnx::NodeProto& node : *body->mutable_node()) {
    for (std::string& input : *node.mutable_input()) rename(&input);
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) rename_outer_values(attribute.mutable_g(), names);
    }
  }
  for (onnx::ValueInfoProto& output : *body->mutable_output()) rename(output.mutable_name());
}

}  // namespace

template <class Nodes>
void GraphBuilder::add_nodes(const Nodes& nodes, const std::string& prefix, Names* names) {
  for (const onnx::NodeProto& node : nodes) {
    for (const std::string& output : node.output()) {
      if (!output.empty()) names->emplace(output, prefix + output);
    }
    for (const std::string& input : node.input()) read_values_.insert(input);
    read_values_.merge(values_of_branches(node));
  }
  for (const auto& [inner, outer] : *names) {
    if (read_values_.count(inner) != 0) read_values_.insert(outer);
  }
  const auto renamed = [&](const std::string& name) {
    const auto found = names->find(name);
    return found == names->end() ? name : found->second;
  };
  int index = 0;
  for (const onnx::NodeProto& node : nodes) {
    onnx::NodeProto copy = node;
    for (std::string& input : *copy.mutable_input()) input = renamed(input);
    for (std::string& output : *copy.mutable_output()) output = renamed(output);
    for (onnx::AttributeProto& attribute : *copy.mutable_attribute()) {
      if (attribute.has_g()) rename_outer_values(attribute.mutable_g(), *names);
    }
    copy.set_name(prefix + node_name(node, index));
    add_node(copy, index++);
  }
}

void GraphBuilder::add_function(const onnx::NodeProto& proto) {
  std::vector<const GraphTensor*> inputs;
  for (const std::string& input : proto.input()) {
    inputs.push_back(input.empty() ? nullptr : &graph_.tensors[index_of(input)]);
  }
  const auto body = function_body(proto, graph_.opset, inputs);
  if (!body) throw UserError("is not supported");
  Names names;
  for (std::size_t i = 0; i < body->inputs.size(); ++i) {
    const int slot = static_cast<int>(i);
    names[body->inputs[i]] = slot < proto.input_size() ? proto.input(slot) : std::string();
  }
  const std::string prefix = fresh_name(proto.op_type()) + "/";
  for (std::size_t i = 0; i < body->outputs.size(); ++i) {
    const int slot = static_cast<int>(i);
    const bool given = slot < proto.output_size() && !proto.output(slot).empty();
    names[body->outputs[i]] = given ? proto.output(slot) : prefix + body->outputs[i];
  }
  const int opset = graph_.opset;
  graph_.opset = body->opset;
  add_nodes(body->nodes, prefix, &names);
  graph_.opset = opset;
}

std::vector<TensorIndex> GraphBuilder::add_subgraph(const onnx::GraphProto& subgraph,
                                                    const GraphNode& node, Names names) {
  const std::string prefix = fresh_name(node.name) + "/";
  for (const onnx::TensorProto& initializer : subgraph.initializer()) {
    names[initializer.name()] = prefix + initializer.name();
    add_constant(constant_from(initializer, prefix + initializer.name(), model_path_, constants_));
  }
  for (const onnx::ValueInfoProto& output : subgraph.output()) {
    const auto kind = output.type().value_case();
    if (kind != onnx::TypeProto::kTensorType && kind != onnx::TypeProto::VALUE_NOT_SET) {
      throw UserError("node `" + node.name + "` (" + node.operation + "): its output `" +
                      output.name() + "` is no tensor");
    }
    read_values_.insert(output.name());
  }
  add_nodes(subgraph.node(), prefix, &names);
  std::vector<TensorIndex> outputs;
  for (const onnx::ValueInfoProto& output : subgraph.output()) {
    const auto found = names.find(output.name());
    outputs.push_back(index_of(found == names.end() ? output.name() : found->second));
  }
  return outputs;
}

void GraphBuilder::give_value(const GraphNode& node, TensorIndex value, const std::string& output) {
  if (read_values_.count(output) == 0) return;
  append({node.name, "Identity", {value}, {}, {}, {node.name}}, {output});
}

/// An If whose condition is known is its branch.
void GraphBuilder::add_branch(const onnx::NodeProto& proto, GraphNode* node) {
  const NodeContext context(graph_, *constants_, *node);
  const bool taken = context.constant_int(0) != 0;
  const auto* attribute = find_attribute(proto, taken ? "then_branch" : "else_branch");
  if (attribute == nullptr || attribute->g().output_size() != proto.output_size()) {
    context.refuse("its branches do not give its outputs");
  }
  const std::vector<TensorIndex> values = add_subgraph(attribute->g(), *node, {});
  for (int i = 0; i < proto.output_size(); ++i) {
    give_value(*node, values[static_cast<std::size_t>(i)], proto.output(i));
  }
}

/// A Loop whose number of iterations is known is its body, once for each.
void GraphBuilder::add_loop(const onnx::NodeProto& proto, GraphNode* node) {
  const NodeContext context(graph_, *constants_, *node);
  const auto* attribute = find_attribute(proto, "body");
  const std::size_t carried = node->inputs.size() < 2 ? 0 : node->inputs.size() - 2;
  const auto given = static_cast<std::size_t>(proto.output_size());
  const auto results =
      attribute == nullptr ? 0 : static_cast<std::size_t>(attribute->g().output_size());
  if (results < carried + 1 || given + 1 > results ||
      static_cast<std::size_t>(attribute->g().input_size()) != carried + 2) {
    context.refuse("its body does not fit its inputs and outputs");
  }
  LoopValues values;
  for (std::size_t i = 0; i < carried; ++i) {
    context.shape(i + 2);  // refuses a missing one
    values.carried.push_back(*node->inputs[i + 2]);
  }
  values.scanned.resize(results - 1 - carried);
  const std::int64_t trips = context.has(0) ? context.constant_int(0) : longest_loop + 1;
  bool goes_on = !context.has(1) || context.constant_int(1) != 0;
  for (std::int64_t trip = 0; goes_on && trip < trips; ++trip) {
    if (trip >= longest_loop) {
      context.refuse("runs more than " + std::to_string(longest_loop) + " times");
    }
    goes_on = add_iteration(attribute->g(), *node, trip, &values);
  }
  for (std::size_t i = 0; i < given; ++i) {
    const std::string& output = proto.output(static_cast<int>(i));
    if (i < carried) {
      give_value(*node, values.carried[i], output);
    } else if (read_values_.count(output) != 0) {
      const auto& parts = values.scanned[i - carried];
      if (parts.empty()) context.refuse("its result has no elements");
      append({node->name, "Concat", parts, {}, {{"axis", std::int64_t{0}}}, {node->name}},
             {output});
    }
  }
}

bool GraphBuilder::add_iteration(const onnx::GraphProto& body, const GraphNode& node,
                                 std::int64_t trip, LoopValues* values) {
  const auto number = [&](std::int64_t value, ElementType type) {
    HostTensor tensor = integer_tensor({}, {value});
    tensor.type = type;
    return graph_.tensors[add_values(tensor, node.name)].name;
  };
  Names names{{body.input(0).name(), number(trip, ElementType::int64)},
              {body.input(1).name(), number(1, ElementType::boolean)}};
  const std::size_t carried = values->carried.size();
  for (std::size_t i = 0; i < carried; ++i) {
    names[body.input(static_cast<int>(i) + 2).name()] = graph_.tensors[values->carried[i]].name;
  }
  const std::vector<TensorIndex> results = add_subgraph(body, node, names);
  for (std::size_t i = 0; i < carried; ++i) values->carried[i] = results[i + 1];
  for (std::size_t i = 0; i < values->scanned.size(); ++i) {
    GraphNode part{node.name, "Unsqueeze", {results[1 + carried + i]}, {}, {}, {node.name}};
    part.attributes["axes"] = std::vector<std::int64_t>{0};
    values->scanned[i].push_back(add_operation(std::move(part), fresh_name(node.name)));
  }
  GraphNode condition = node;
  condition.inputs = {results[0]};
  return NodeContext(graph_, *constants_, condition).constant_int(0) != 0;
}

}  // namespace fm
