#include "planner/passes/graph_editor.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "planner/onnx_tensor.hpp"

namespace fm {

GraphEditor::GraphEditor(Graph* graph, ConstantStore* constants)
    : graph_(graph), constants_(constants) {
  refresh();
}

void GraphEditor::refresh() {
  producers_.assign(graph_->tensors.size(), std::nullopt);
  readers_.assign(graph_->tensors.size(), {});
  for (NodeIndex i = 0; i < graph_->nodes.size(); ++i) {
    const GraphNode& node = graph_->nodes[i];
    if (node.operation.empty()) continue;
    for (TensorIndex output : node.outputs) producers_[output] = i;
    for (const auto& input : node.inputs) {
      if (input) readers_[*input].push_back(i);
    }
  }
}

bool GraphEditor::is_constant(std::optional<TensorIndex> tensor) const {
  return tensor && graph_->tensors[*tensor].constant.has_value();
}

bool GraphEditor::is_output(TensorIndex tensor) const {
  return std::count(graph_->outputs.begin(), graph_->outputs.end(), tensor) != 0;
}

std::optional<NodeIndex> GraphEditor::producer(std::optional<TensorIndex> tensor) const {
  return tensor ? producers_[*tensor] : std::nullopt;
}

std::optional<NodeIndex> GraphEditor::producer(std::optional<TensorIndex> tensor,
                                               const std::string& operation) const {
  const auto found = producer(tensor);
  return found && graph_->nodes[*found].operation == operation ? found : std::nullopt;
}

std::optional<NodeIndex> GraphEditor::sole_reader(TensorIndex tensor) const {
  if (readers_[tensor].size() != 1 || is_output(tensor)) return std::nullopt;
  return readers_[tensor][0];
}

std::optional<NodeIndex> GraphEditor::sole_reader(TensorIndex tensor,
                                                  const std::string& operation) const {
  const auto found = sole_reader(tensor);
  return found && graph_->nodes[*found].operation == operation ? found : std::nullopt;
}

std::optional<float> GraphEditor::scalar(std::optional<TensorIndex> tensor) const {
  if (!is_constant(tensor)) return std::nullopt;
  const GraphTensor& constant = graph_->tensors[*tensor];
  if (element_count(constant.shape) != 1 || !is_real(constant.type) ||
      constant.constant->initializer) {
    return std::nullopt;
  }
  return constants_->load(constant).reals[0];
}

std::optional<TensorIndex> GraphEditor::other_input(NodeIndex index, TensorIndex tensor) const {
  const GraphNode& node = graph_->nodes[index];
  if (node.inputs.size() != 2 || node.inputs[0] == node.inputs[1]) return std::nullopt;
  if (node.inputs[0] == tensor) return node.inputs[1];
  if (node.inputs[1] == tensor) return node.inputs[0];
  return std::nullopt;
}

std::optional<GraphEditor::ScaledInput> GraphEditor::with_scalar(NodeIndex index) const {
  const GraphNode& node = graph_->nodes[index];
  if (node.inputs.size() != 2) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto value = scalar(node.inputs[i]);
    if (value && !is_constant(node.inputs[1 - i])) {
      return ScaledInput{*node.inputs[1 - i], *value, i == 0};
    }
  }
  return std::nullopt;
}

void GraphEditor::fuse(const std::vector<NodeIndex>& absorbed, NodeIndex at,
                       GraphNode replacement) {
  std::set<NodeIndex> in_order(absorbed.begin(), absorbed.end());
  in_order.insert(at);
  replacement.fused_from.clear();
  for (NodeIndex index : in_order) {
    const std::vector<std::string>& names = graph_->nodes[index].fused_from;
    replacement.fused_from.insert(replacement.fused_from.end(), names.begin(), names.end());
  }
  if (replacement.outputs.empty()) replacement.outputs = graph_->nodes[at].outputs;
  for (NodeIndex index : absorbed) graph_->nodes[index].operation.clear();
  graph_->nodes[at] = std::move(replacement);
  refresh();
}

void GraphEditor::remove(NodeIndex node) {
  graph_->nodes[node].operation.clear();
  refresh();
}

void GraphEditor::replace_reads(TensorIndex from, TensorIndex to) {
  for (GraphNode& node : graph_->nodes) {
    std::replace(node.inputs.begin(), node.inputs.end(), std::make_optional(from),
                 std::make_optional(to));
  }
  refresh();
}

void GraphEditor::insert(NodeIndex before, GraphNode node) {
  graph_->nodes.insert(graph_->nodes.begin() + static_cast<std::ptrdiff_t>(before),
                       std::move(node));
  refresh();
}

void GraphEditor::set_input(NodeIndex node, std::size_t input, TensorIndex tensor) {
  std::vector<std::optional<TensorIndex>>& inputs = graph_->nodes[node].inputs;
  if (inputs.size() <= input) inputs.resize(input + 1);
  inputs[input] = tensor;
  refresh();
}

std::string GraphEditor::unique_name(const std::string& base_name) const {
  const auto taken = [&](const std::string& name) {
    return std::any_of(graph_->tensors.begin(), graph_->tensors.end(),
                       [&](const GraphTensor& tensor) { return tensor.name == name; });
  };
  std::string name = base_name;
  for (int n = 2; taken(name); ++n) name = base_name + "#" + std::to_string(n);
  return name;
}

TensorIndex GraphEditor::add_tensor(const std::string& base_name, const Shape& shape) {
  graph_->tensors.push_back({unique_name(base_name), ElementType::float32, shape, std::nullopt});
  refresh();
  return graph_->tensors.size() - 1;
}

TensorIndex GraphEditor::add_constant(const std::string& base_name, const HostTensor& values) {
  graph_->tensors.push_back(constant_from(values, unique_name(base_name)));
  refresh();
  return graph_->tensors.size() - 1;
}

TensorIndex GraphEditor::add_recipe(const std::string& base_name, const Shape& shape,
                                    ConstantStore::Recipe recipe) {
  const TensorIndex index = add_tensor(base_name, shape);
  graph_->tensors[index].constant.emplace();
  graph_->tensors[index].constant->initializer = constants_->add_recipe(std::move(recipe));
  return index;
}

void GraphEditor::finish() {
  std::vector<bool> wanted(graph_->tensors.size(), false);
  for (TensorIndex output : graph_->outputs) wanted[output] = true;
  std::vector<GraphNode> kept;
  for (auto node = graph_->nodes.rbegin(); node != graph_->nodes.rend(); ++node) {
    const bool read = std::any_of(node->outputs.begin(), node->outputs.end(),
                                  [&](TensorIndex output) { return wanted[output]; });
    if (node->operation.empty() || !read) continue;
    for (const auto& input : node->inputs) {
      if (input) wanted[*input] = true;
    }
    kept.push_back(std::move(*node));
  }
  std::reverse(kept.begin(), kept.end());
  graph_->nodes = std::move(kept);
  refresh();
}

bool is_close(float value, double wanted) {
  return std::fabs(static_cast<double>(value) - wanted) <= 1e-3 * std::fabs(wanted);
}

}  // namespace fm
