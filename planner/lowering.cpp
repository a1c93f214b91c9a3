#include "planner/lowering.hpp"

#include <map>
#include <set>

#include "core/diagnostics.hpp"
#include "planner/lowering_state.hpp"

namespace fm {
namespace {

using NodeLowering = void (*)(LoweringState&, const GraphNode&);

const std::map<std::string, NodeLowering>& lowerings() {
  static const std::map<std::string, NodeLowering> table = [] {
    std::map<std::string, NodeLowering> entries = {{"Conv", lower_convolution},
                                                   {"ConvTranspose", lower_transposed_convolution},
                                                   {"MaxPool", lower_pool},
                                                   {"AveragePool", lower_pool},
                                                   {"GlobalAveragePool", lower_global_pool},
                                                   {"GlobalMaxPool", lower_global_pool},
                                                   {"Resize", lower_resize},
                                                   {"MatMul", lower_matmul},
                                                   {"Gemm", lower_matmul},
                                                   {"Attention", lower_attention},
                                                   {"Softmax", lower_softmax},
                                                   {"LayerNormalization", lower_layer_norm},
                                                   {"Concat", lower_concat},
                                                   {"Pad", lower_pad},
                                                   {"Gather", lower_gather},
                                                   {"GatherRows", lower_gather_rows},
                                                   {"GatherElements", lower_gather_elements},
                                                   {"ScatterElements", lower_scatter},
                                                   {"CumSum", lower_scan},
                                                   {"Where", lower_where}};
    for (const char* name :
         {"Reshape", "Transpose", "Slice", "Expand", "Identity", "DepthToSpace", "SpaceToDepth"}) {
      entries[name] = lower_view;
    }
    for (const char* name : {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd",
                             "ReduceL2", "ReduceSumSquare"}) {
      entries[name] = lower_reduction;
    }
    for (const char* name : {"Add", "Sub", "Mul", "Div", "Max", "Min", "Pow", "Mod", "Equal",
                             "Less", "LessOrEqual", "And", "Or", "Xor", "PRelu"}) {
      entries[name] = lower_binary;
    }
    return entries;
  }();
  return table;
}

bool is_spatial(const std::string& operation) {
  static const std::set<std::string> operations = {
      "Conv",          "ConvTranspose", "MaxPool", "AveragePool", "GlobalAveragePool",
      "GlobalMaxPool", "Resize"};
  return operations.count(operation) != 0;
}

/// Operators whose operands share one layout.
bool joins_layouts(const GraphNode& node) {
  static const std::set<std::string> operations = {"Add", "Sub", "Mul", "Div",    "Max",
                                                   "Min", "Pow", "Pad", "Concat", "Identity"};
  return operations.count(node.operation) != 0 || activation_of(node).has_value();
}

bool has_four_dimensions(const Graph& graph, TensorIndex tensor) {
  return graph.tensors[tensor].shape.size() == 4;
}

}  // namespace

std::vector<Layout> preferred_layouts(const Graph& graph) {
  std::vector<Layout> layouts(graph.tensors.size(), Layout::rows);
  const auto for_each_map = [&](const GraphNode& node, auto&& action) {
    for (const auto& input : node.inputs) {
      if (input && !graph.tensors[*input].constant && has_four_dimensions(graph, *input))
        action(*input);
    }
    for (TensorIndex output : node.outputs) {
      if (has_four_dimensions(graph, output)) action(output);
    }
  };
  for (const GraphNode& node : graph.nodes) {
    if (is_spatial(node.operation)) {
      for_each_map(node, [&](TensorIndex tensor) { layouts[tensor] = Layout::channels; });
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const GraphNode& node : graph.nodes) {
      if (!joins_layouts(node)) continue;
      bool any = false;
      for_each_map(node, [&](TensorIndex t) { any = any || layouts[t] == Layout::channels; });
      if (!any) continue;
      for_each_map(node, [&](TensorIndex t) {
        changed = changed || layouts[t] != Layout::channels;
        layouts[t] = Layout::channels;
      });
    }
  }
  return layouts;
}

LoweredNetwork lower(const Graph& graph, const LoweringOptions& options) {
  LoweringState state(graph, options);
  for (const GraphNode& node : graph.nodes) {
    state.begin_node(node);
    try {
      const auto found = lowerings().find(node.operation);
      if (found != lowerings().end()) {
        found->second(state, node);
      } else if (activation_of(node)) {
        lower_unary(state, node);
      } else {
        throw UserError("no kernel computes it");
      }
    } catch (const UserError& error) {
      throw UserError("node `" + node.name + "` (" + node.operation + ", opset " +
                      std::to_string(graph.opset) + "): " + error.what());
    }
  }
  state.store_outputs();
  return state.take();
}

}  // namespace fm
