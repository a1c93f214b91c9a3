#include "planner/onnx_nodes.hpp"

#include <map>
#include <set>

#include "core/diagnostics.hpp"
#include "planner/function_bodies.hpp"
#include "planner/graph_builder.hpp"
#include "planner/operator_table.hpp"

namespace fm {
namespace {

std::string described(const onnx::NodeProto& node, int index, int opset) {
  return node.op_type() + " (node `" + node_name(node, index) + "`, opset " +
         std::to_string(opset) + ")";
}

std::set<std::string> given_values(const onnx::GraphProto& graph) {
  std::set<std::string> given;
  for (const onnx::TensorProto& initializer : graph.initializer()) given.insert(initializer.name());
  for (const onnx::ValueInfoProto& input : graph.input()) given.insert(input.name());
  return given;
}

std::map<std::string, int> producers(const onnx::GraphProto& graph,
                                     const std::set<std::string>& given) {
  std::map<std::string, int> result;
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const std::string& output : graph.node(i).output()) {
      if (output.empty()) continue;
      if (given.count(output) != 0 || !result.emplace(output, i).second) {
        throw UserError("value `" + output + "` is produced twice");
      }
    }
  }
  return result;
}

}  // namespace

bool is_default_domain(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

void check_operators(const onnx::GraphProto& graph, int opset) {
  std::map<std::string, std::pair<std::string, int>> unsupported;
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx::NodeProto& node = graph.node(i);
    if (!is_default_domain(node.domain())) {
      throw UserError("domain `" + node.domain() + "` is unknown: " + described(node, i, opset));
    }
    if (operator_table().count(node.op_type()) != 0 || is_expanded_operator(node.op_type()) ||
        has_function_body(node.op_type(), opset)) {
      continue;
    }
    auto& entry = unsupported.emplace(node.op_type(), std::make_pair(described(node, i, opset), 0))
                      .first->second;
    ++entry.second;
  }
  if (unsupported.empty()) return;
  std::string message = "unsupported operators: ";
  for (const auto& [name, entry] : unsupported) {
    if (message.back() != ' ') message += ", ";
    message += entry.first;
    if (entry.second > 1) message += " and " + std::to_string(entry.second - 1) + " more";
  }
  throw UserError(message);
}

std::vector<int> topological_order(const onnx::GraphProto& graph) {
  const std::set<std::string> given = given_values(graph);
  const std::map<std::string, int> producer = producers(graph, given);
  std::vector<int> waiting(static_cast<std::size_t>(graph.node_size()), 0);
  std::vector<std::vector<int>> followers(waiting.size());
  std::set<int> ready;
  for (int i = 0; i < graph.node_size(); ++i) {
    const auto slot = static_cast<std::size_t>(i);
    for (const std::string& input : values_of_branches(graph.node(i))) {
      const auto found = producer.find(input);
      if (found == producer.end()) continue;  // a branch's own
      ++waiting[slot];
      followers[static_cast<std::size_t>(found->second)].push_back(i);
    }
    for (const std::string& input : graph.node(i).input()) {
      if (input.empty() || given.count(input) != 0) continue;
      const auto found = producer.find(input);
      if (found == producer.end()) {
        throw UserError("node `" + node_name(graph.node(i), i) + "` (" + graph.node(i).op_type() +
                        ") reads `" + input + "`, which no node, input or initializer gives");
      }
      ++waiting[slot];
      followers[static_cast<std::size_t>(found->second)].push_back(i);
    }
    if (waiting[slot] == 0) ready.insert(i);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int next = *ready.begin();
    ready.erase(ready.begin());
    order.push_back(next);
    for (int follower : followers[static_cast<std::size_t>(next)]) {
      if (--waiting[static_cast<std::size_t>(follower)] == 0) ready.insert(follower);
    }
  }
  for (int i = 0; i < graph.node_size(); ++i) {
    if (waiting[static_cast<std::size_t>(i)] > 0) {
      throw UserError("the graph has a cycle through node `" + node_name(graph.node(i), i) + "` (" +
                      graph.node(i).op_type() + ")");
    }
  }
  return order;
}

std::string node_name(const onnx::NodeProto& node, int index) {
  return node.name().empty() ? node.op_type() + "_" + std::to_string(index) : node.name();
}

std::map<std::string, AttributeValue> plain_attributes(const onnx::NodeProto& node) {
  std::map<std::string, AttributeValue> result;
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    switch (attribute.type()) {
      case onnx::AttributeProto::FLOAT:
        result[attribute.name()] = attribute.f();
        break;
      case onnx::AttributeProto::INT:
        result[attribute.name()] = static_cast<std::int64_t>(attribute.i());
        break;
      case onnx::AttributeProto::STRING:
        result[attribute.name()] = attribute.s();
        break;
      case onnx::AttributeProto::FLOATS:
        result[attribute.name()] =
            std::vector<float>(attribute.floats().begin(), attribute.floats().end());
        break;
      case onnx::AttributeProto::INTS:
        result[attribute.name()] =
            std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end());
        break;
      default:
        break;
    }
  }
  return result;
}

std::set<std::string> values_of_branches(const onnx::NodeProto& node) {
  std::set<std::string> names;
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (!attribute.has_g()) continue;
    for (const onnx::NodeProto& inner : attribute.g().node()) {
      names.insert(inner.input().begin(), inner.input().end());
      names.merge(values_of_branches(inner));
    }
    for (const onnx::ValueInfoProto& output : attribute.g().output()) names.insert(output.name());
  }
  return names;
}

std::string reader_of(const onnx::GraphProto& graph, const std::string& value) {
  for (const onnx::NodeProto& node : graph.node()) {
    for (const std::string& input : node.input()) {
      if (input == value) return " (read by " + node.op_type() + ")";
    }
    if (values_of_branches(node).count(value) != 0) return " (read by " + node.op_type() + ")";
  }
  return "";
}

const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, const std::string& name) {
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

}  // namespace fm
