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
  const bool taken = context.constant_ints(0).at(0) != 0;
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
  const std::size_t carried_count = node->inputs.size() < 2 ? 0 : node->inputs.size() - 2;
  if (attribute == nullptr ||
      static_cast<std::size_t>(attribute->g().input_size()) != carried_count + 2 ||
      attribute->g().output_size() != proto.output_size() + 1) {
    context.refuse("its body does not fit its inputs and outputs");
  }
  const onnx::GraphProto& body = attribute->g();
  const std::int64_t trips = context.has(0) ? context.constant_ints(0).at(0) : longest_loop + 1;
  bool goes_on = !context.has(1) || context.constant_ints(1).at(0) != 0;
  std::vector<TensorIndex> carried;
  for (std::size_t i = 0; i < carried_count; ++i) carried.push_back(node->inputs[i + 2].value());
  std::vector<std::vector<std::optional<TensorIndex>>> scanned(
      static_cast<std::size_t>(proto.output_size()) - carried_count);
  for (std::int64_t trip = 0; goes_on && trip < trips; ++trip) {
    if (trip >= longest_loop) {
      context.refuse("runs more than " + std::to_string(longest_loop) + " times");
    }
    const auto given = [&](std::int64_t value, ElementType type) {
      HostTensor number = integer_tensor({}, {value});
      number.type = type;
      return graph_.tensors[add_values(number, node->name)].name;
    };
    Names names{{body.input(0).name(), given(trip, ElementType::int64)},
                {body.input(1).name(), given(1, ElementType::boolean)}};
    for (std::size_t i = 0; i < carried_count; ++i) {
      names[body.input(static_cast<int>(i) + 2).name()] = graph_.tensors[carried[i]].name;
    }
    const std::vector<TensorIndex> values = add_subgraph(body, *node, names);
    const GraphTensor condition = graph_.tensors[values[0]];
    if (!condition.constant) context.refuse("its condition is computed from the model's inputs");
    goes_on = constants_->load(condition).integers.at(0) != 0;
    for (std::size_t i = 0; i < carried_count; ++i) carried[i] = values[i + 1];
    for (std::size_t i = 0; i < scanned.size(); ++i) {
      scanned[i].push_back(add_operation({node->name,
                                          "Unsqueeze",
                                          {values[1 + carried_count + i]},
                                          {},
                                          {{"axes", std::vector<std::int64_t>{0}}},
                                          {node->name}},
                                         fresh_name(node->name)));
    }
  }
  for (std::size_t i = 0; i < carried_count; ++i) {
    give_value(*node, carried[i], proto.output(static_cast<int>(i)));
  }
  for (std::size_t i = 0; i < scanned.size(); ++i) {
    const std::string& output = proto.output(static_cast<int>(carried_count + i));
    if (read_values_.count(output) == 0) continue;
    if (scanned[i].empty()) context.refuse("its result has no elements");
    append({node->name, "Concat", scanned[i], {}, {{"axis", std::int64_t{0}}}, {node->name}},
           {output});
  }
}

}  // namespace fm
