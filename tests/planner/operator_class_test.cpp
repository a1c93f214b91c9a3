// Operator classes and what becomes of pairs: SmartMem tables 3 to 6, as printed.
#include "planner/layout/operator_class.hpp"

#include <gtest/gtest.h>

namespace fm {
namespace {

constexpr LayoutClass classes[] = {LayoutClass::dependent_variable,
                                   LayoutClass::independent_variable, LayoutClass::dependent_fixed,
                                   LayoutClass::independent_fixed};

TEST(OperatorClass, OfThePapersExamples) {
  for (const char* name : {"Conv", "MatMul", "LayerNormalization", "Softmax"}) {
    EXPECT_EQ(to_string(layout_class(name)), "ILD-Variable") << name;
  }
  for (const char* name : {"Reshape", "Transpose", "DepthToSpace", "SpaceToDepth"}) {
    EXPECT_EQ(to_string(layout_class(name)), "ILD-Fixed") << name;
  }
  for (const char* name : {"Relu", "Sigmoid", "Add"}) {
    EXPECT_EQ(to_string(layout_class(name)), "ILI-Variable") << name;
  }
  for (const char* name : {"Gather", "Slice"}) {
    EXPECT_EQ(to_string(layout_class(name)), "ILI-Fixed") << name;
  }
}

TEST(OperatorClass, ABroadcastDependsOnTheLayoutsOfItsOperands) {
  Graph graph;
  for (const Shape& shape : {Shape{2, 8}, Shape{2, 8}, Shape{2, 1}}) {
    graph.tensors.push_back({"t", ElementType::float32, shape, std::nullopt});
  }
  EXPECT_EQ(layout_class(graph, {"a", "Add", {0, 0}, {1}, {}, {}}),
            LayoutClass::independent_variable);
  EXPECT_EQ(layout_class(graph, {"a", "Add", {0, 2}, {1}, {}, {}}),
            LayoutClass::dependent_variable);
}

TEST(OperatorClass, PairActionsAreTheFifthTable) {
  const char* const printed[4][4] = {
      {"keep both", "try fuse", "eliminate 2nd", "eliminate 2nd"},
      {"try fuse", "try fuse", "eliminate 2nd", "eliminate 2nd"},
      {"eliminate 1st", "eliminate 1st", "eliminate both", "eliminate both"},
      {"eliminate 1st", "eliminate 1st", "eliminate both", "eliminate both"}};
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      EXPECT_EQ(to_string(pair_action(classes[i], classes[j])), printed[i][j]);
    }
  }
}

TEST(OperatorClass, OnlyDependentVariableOperatorsHaveTheirLayoutSearched) {
  using Search = LayoutSearch;
  const Search printed[4][4] = {{Search::both, Search::fused, Search::survivor, Search::survivor},
                                {Search::fused, Search::none, Search::none, Search::none},
                                {Search::survivor, Search::none, Search::none, Search::none},
                                {Search::survivor, Search::none, Search::none, Search::none}};
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      EXPECT_EQ(layout_search(classes[i], classes[j]), printed[i][j]) << i << " " << j;
    }
  }
}

}  // namespace
}  // namespace fm
