// Activations and residual additions into the operator that computes their operand.
#include <algorithm>
#include <set>

#include "planner/lowering_state.hpp"
#include "planner/node_attributes.hpp"
#include "planner/passes/passes.hpp"

namespace fm {
namespace {

bool is_binary(const std::string& operation) {
  static const std::set<std::string> operations = {"Add", "Sub", "Mul", "Div", "Max", "Min", "Pow"};
  return operations.count(operation) != 0;
}

bool has_activation(const GraphNode& node) { return node.attributes.count("activation") != 0; }

bool has_residual(const GraphNode& node) { return has_epilogue(node) && node.inputs.size() > 3; }

bool stays_unfused(const GraphNode& node, const UnfusedNodes& unfused) {
  return std::any_of(node.fused_from.begin(), node.fused_from.end(),
                     [&](const std::string& name) { return unfused.count(name) != 0; });
}

}  // namespace

std::vector<EpilogueSplit> epilogue_splits(const Graph& graph) {
  std::vector<EpilogueSplit> splits;
  for (const GraphNode& node : graph.nodes) {
    if (!has_epilogue(node) && !is_binary(node.operation)) continue;
    if (!has_activation(node) && !has_residual(node)) continue;
    if (node.fused_from.size() > 1) splits.push_back({node.name, node.fused_from.back()});
  }
  return splits;
}

void fuse_activations(GraphEditor* editor, const UnfusedNodes& unfused) {
  for (NodeIndex i = 0; i < editor->node_count(); ++i) {
    const auto activation = activation_of(editor->node(i));
    if (!activation || stays_unfused(editor->node(i), unfused)) continue;
    const auto value = editor->node(i).inputs[0];
    const auto source = editor->producer(value);
    if (!source || !editor->sole_reader(*value)) continue;
    GraphNode fused = editor->node(*source);
    if (!has_epilogue(fused) && !is_binary(fused.operation)) continue;
    if (has_activation(fused)) continue;
    fused.outputs.clear();
    set_activation(&fused, activation->word, activation->alpha, activation->beta);
    if (has_residual(fused)) fused.attributes["activation_after_residual"] = std::int64_t{1};
    editor->fuse({*source}, i, std::move(fused));
  }
  editor->finish();
}

namespace {

/// The operator behind `value`, seen through one reshape that keeps the last dimension.
struct Source {
  NodeIndex node = 0;
  std::optional<NodeIndex> reshape;
};

std::optional<Source> source_of(GraphEditor* editor, std::optional<TensorIndex> value) {
  auto node = editor->producer(value);
  if (!node || !editor->sole_reader(*value)) return std::nullopt;
  Source source{*node, std::nullopt};
  if (editor->node(*node).operation == "Reshape") {
    const auto inner = editor->node(*node).inputs[0];
    const auto behind = editor->producer(inner);
    if (!behind || !editor->sole_reader(*inner)) return std::nullopt;
    const Shape& before = editor->shape(*inner);
    const Shape& after = editor->shape(*value);
    if (before.empty() || after.empty() || before.back() != after.back()) return std::nullopt;
    const std::string& operation = editor->node(*behind).operation;
    if (operation != "MatMul" && operation != "Gemm") return std::nullopt;
    source = {*behind, *node};
  }
  const GraphNode& found = editor->node(source.node);
  if (!has_epilogue(found) || has_residual(found)) return std::nullopt;
  return source;
}

/// `node` with the other operand of `add` as residual, and the activation that follows the sum.
GraphNode with_residual(const GraphNode& node, TensorIndex residual, const GraphNode& add) {
  GraphNode fused = node;
  fused.inputs.resize(4);
  fused.inputs[3] = residual;
  fused.outputs.clear();
  if (has_activation(add)) {
    fused.attributes.insert(add.attributes.begin(), add.attributes.end());
    fused.attributes["activation_after_residual"] = std::int64_t{1};
  }
  return fused;
}

/// Add(reshape(product), other) -> reshape(product + reshape(other)): both reshapes are views.
void fuse_through_reshape(GraphEditor* editor, const Source& source, TensorIndex other,
                          NodeIndex* add) {
  const GraphNode product = editor->node(source.node);
  const TensorIndex inner = product.outputs[0];
  const Shape shape = editor->shape(inner);
  const std::string name = editor->tensor(other).name;
  const TensorIndex flat = editor->add_tensor(name + ".flat", shape);
  editor->insert(*add, {editor->node(*add).name + ".flat", "Reshape", {other}, {flat}, {}, {}});
  ++*add;
  const TensorIndex sum = editor->add_tensor(editor->tensor(inner).name + ".sum", shape);
  GraphNode fused = with_residual(product, flat, editor->node(*add));
  fused.outputs = {sum};
  GraphNode reshape{
      editor->node(*source.reshape).name, "Reshape", {sum},
      editor->node(*add).outputs,         {},        editor->node(*source.reshape).fused_from};
  editor->fuse({source.node, *source.reshape}, *add, std::move(fused));
  editor->insert(*add + 1, std::move(reshape));
}

}  // namespace

void fuse_residuals(GraphEditor* editor, const UnfusedNodes& unfused) {
  for (NodeIndex i = 0; i < editor->node_count(); ++i) {
    if (editor->node(i).operation != "Add" || stays_unfused(editor->node(i), unfused)) continue;
    const auto inputs = editor->node(i).inputs;
    if (inputs[0] == inputs[1] || editor->is_constant(inputs[0]) ||
        editor->is_constant(inputs[1]) || editor->shape(*inputs[0]) != editor->shape(*inputs[1])) {
      continue;
    }
    // The later of two candidates, so that the other operand is there already.
    std::vector<std::pair<Source, TensorIndex>> candidates;
    for (std::size_t side = 0; side < 2; ++side) {
      const auto source = source_of(editor, inputs[side]);
      // One activation is all an epilogue has.
      if (source &&
          !(has_activation(editor->node(source->node)) && has_activation(editor->node(i)))) {
        candidates.push_back({*source, *inputs[1 - side]});
      }
    }
    if (candidates.empty()) continue;
    const auto& [source, other] =
        *std::max_element(candidates.begin(), candidates.end(),
                          [](const auto& a, const auto& b) { return a.first.node < b.first.node; });
    if (source.reshape) {
      fuse_through_reshape(editor, source, other, &i);
    } else {
      editor->fuse({source.node}, i,
                   with_residual(editor->node(source.node), other, editor->node(i)));
    }
  }
  editor->finish();
}

}  // namespace fm
