#include "planner/layout/operator_class.hpp"

#include <array>
#include <map>
#include <set>
#include <stdexcept>

namespace fm {
namespace {

constexpr auto ild_variable = LayoutClass::dependent_variable;
constexpr auto ili_variable = LayoutClass::independent_variable;
constexpr auto ild_fixed = LayoutClass::dependent_fixed;
constexpr auto ili_fixed = LayoutClass::independent_fixed;

/// Operators that are not elementwise.
const std::map<std::string, LayoutClass>& classes() {
  static const std::map<std::string, LayoutClass> table = [] {
    std::map<std::string, LayoutClass> entries;
    for (const char* name : {"Conv",
                             "ConvTranspose",
                             "MatMul",
                             "Gemm",
                             "Attention",
                             "LayerNormalization",
                             "Softmax",
                             "MaxPool",
                             "AveragePool",
                             "GlobalAveragePool",
                             "GlobalMaxPool",
                             "Resize",
                             "ReduceMean",
                             "ReduceSum",
                             "ReduceMax",
                             "ReduceMin",
                             "ReduceProd",
                             "ReduceL2",
                             "ReduceSumSquare",
                             "GatherElements",
                             "ScatterElements",
                             "CumSum"}) {
      entries[name] = ild_variable;
    }
    for (const char* name : {"Reshape", "Transpose", "DepthToSpace", "SpaceToDepth"}) {
      entries[name] = ild_fixed;
    }
    for (const char* name :
         {"Gather", "GatherRows", "Slice", "Expand", "Identity", "Concat", "Pad"}) {
      entries[name] = ili_fixed;
    }
    return entries;
  }();
  return table;
}

std::size_t row(LayoutClass layout_class) { return static_cast<std::size_t>(layout_class); }

}  // namespace

std::string to_string(LayoutClass layout_class) {
  constexpr std::array words{"ILD-Variable", "ILI-Variable", "ILD-Fixed", "ILI-Fixed"};
  return words.at(row(layout_class));
}

std::string to_string(PairAction action) {
  constexpr std::array words{"keep both", "try fuse", "eliminate 2nd", "eliminate 1st",
                             "eliminate both"};
  return words.at(static_cast<std::size_t>(action));
}

LayoutClass layout_class(const std::string& operation, bool broadcasts) {
  const auto found = classes().find(operation);
  if (found != classes().end()) return found->second;
  return broadcasts ? ild_variable : ili_variable;
}

LayoutClass layout_class(const Graph& graph, const GraphNode& node) {
  bool broadcasts = false;
  for (const auto& input : node.inputs) {
    if (!input || graph.tensors[*input].constant) continue;
    broadcasts = broadcasts || graph.tensors[*input].shape != graph.tensors[node.outputs[0]].shape;
  }
  return layout_class(node.operation, broadcasts);
}

PairAction pair_action(LayoutClass first, LayoutClass second) {
  using Action = PairAction;
  // Rows: the first operator; columns: the second; both in the order of LayoutClass.
  constexpr std::array<std::array<Action, 4>, 4> table{{
      {Action::keep_both, Action::try_fuse, Action::eliminate_second, Action::eliminate_second},
      {Action::try_fuse, Action::try_fuse, Action::eliminate_second, Action::eliminate_second},
      {Action::eliminate_first, Action::eliminate_first, Action::eliminate_both,
       Action::eliminate_both},
      {Action::eliminate_first, Action::eliminate_first, Action::eliminate_both,
       Action::eliminate_both},
  }};
  return table[row(first)][row(second)];
}

LayoutSearch layout_search(LayoutClass first, LayoutClass second) {
  const auto fixed = [](LayoutClass c) { return c == ild_fixed || c == ili_fixed; };
  if (first == ild_variable && second == ild_variable) return LayoutSearch::both;
  if (first != ild_variable && second != ild_variable) return LayoutSearch::none;
  return fixed(first) || fixed(second) ? LayoutSearch::survivor : LayoutSearch::fused;
}

bool is_movement(const std::string& operation) {
  static const std::set<std::string> operations = {
      "Reshape", "Transpose", "DepthToSpace", "SpaceToDepth", "Slice", "Expand", "Identity"};
  return operations.count(operation) != 0;
}

}  // namespace fm
