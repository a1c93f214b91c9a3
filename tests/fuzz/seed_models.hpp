#pragma once
// What damaged models are made from.

#include <vector>

#include "tests/planner/model_builder.hpp"

namespace fm {

/// Models that between them take the importer's ways: constants of every kind, expansions, folding,
/// branches and loops.
inline std::vector<ModelBuilder> seed_models() {
  std::vector<ModelBuilder> models;
  ModelBuilder& vision = models.emplace_back();
  vision.input("x", {1, 4, 6, 6}).random_weight("w", {4, 4, 3, 3}).random_weight("b", {4});
  vision.node("Conv", {"x", "w", "b"}, {"c"},
              {{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 2}}});
  vision.node("MaxPool", {"c"}, {"p"}, {{"kernel_shape", Ints{2, 2}}});
  vision.weight("scales", {4}, {1, 1, 2, 2}).node("Resize", {"p", "", "scales"}, {"r"});
  vision.integers("pads", {0, 0, 1, 0, 0, 0, 0, 1}).node("Pad", {"r", "pads"}, {"q"});
  vision.node("GlobalAveragePool", {"q"}, {"g"}).node("Flatten", {"g"}, {"f"});
  vision.random_weight("v", {4, 8}).node("Gemm", {"f", "v"}, {"y"}).output("y");

  ModelBuilder& language = models.emplace_back();
  language.input("ids", {2, 3}, onnx::TensorProto::INT64).random_weight("table", {11, 8});
  language.node("Gather", {"table", "ids"}, {"e"}).node("Shape", {"e"}, {"shape"});
  language.integers("at", {0}).node("Gather", {"shape", "at"}, {"batch"});
  language.integers("rest", {-1, 4, 2})
      .node("Concat", {"batch", "rest"}, {"to"}, {{"axis", std::int64_t{0}}});
  language.node("Reshape", {"e", "to"}, {"h"})
      .node("Transpose", {"h"}, {"t"}, {{"perm", Ints{0, 2, 1, 3}}});
  language.node("Softmax", {"t"}, {"s"}, {{"axis", std::int64_t{-1}}});
  language.node("ReduceMean", {"s"}, {"m"}, {{"axes", Ints{-1}}, {"keepdims", std::int64_t{0}}});
  language.output("m");

  ModelBuilder& selection = models.emplace_back();
  selection.input("x", {3, 8}).integers("one", {1}).integers("end", {-1}).integers("two", {2});
  selection.node("Slice", {"x", "one", "end", "one", "two"}, {"a"});
  selection.integers("repeats", {2, 3}).node("Tile", {"a", "repeats"}, {"b"});
  selection.integers("parts", {4, 2}).node("Split", {"b", "parts"}, {"c", "d"});
  selection.integers("wide", {2, 2, 9}).node("Expand", {"d", "wide"}, {"g"});
  selection.node("TopK", {"c", "two"}, {"k", "i"}).node("CumSum", {"k", "at"}, {"u"});
  selection.initializer("at", {}, onnx::TensorProto::INT32)->add_int32_data(1);
  selection.node("Trilu", {"u"}, {"l"}).node("OneHot", {"i", "two", "values"}, {"o"});
  selection.weight("values", {2}, {0, 1}).output("g").output("l").output("o");

  ModelBuilder& branches = models.emplace_back();
  branches.input("x", {2, 3}).integers("trips", {3});
  branches.initializer("yes", {}, onnx::TensorProto::BOOL)->add_int32_data(1);
  ModelBuilder then_branch, body;
  then_branch.node("Relu", {"x"}, {"z"}).output("z");
  body.input("trip", {}, onnx::TensorProto::INT64).input("goes_on", {}, onnx::TensorProto::BOOL);
  body.input("carried", {2, 3}).node("Identity", {"goes_on"}, {"still"});
  body.node("Add", {"carried", "z0"}, {"next"}).output("still").output("next");
  branches.node("If", {"yes"}, {"z0"}).node("Loop", {"trips", "", "x"}, {"y"}).output("y");
  const auto attach = [&](int node, const char* name, const ModelBuilder& graph) {
    auto* attribute = branches.proto().mutable_graph()->mutable_node(node)->add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::GRAPH);
    *attribute->mutable_g() = graph.proto().graph();
  };
  attach(0, "then_branch", then_branch);
  attach(1, "body", body);
  return models;
}

}  // namespace fm
