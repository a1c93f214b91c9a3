#pragma once
// What damaged models are made from.

#include <vector>

#include "tests/planner/model_builder.hpp"

namespace fm {

constexpr const char* seed_weights = "weights.bin";
/// The external data of a seed, beside its model.
inline void write_seed_weights(const TemporaryFolder& folder) {
  write_file(folder.file(seed_weights), std::string(256, '\1'));
}

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

  ModelBuilder& transformer = models.emplace_back();
  transformer.input("x", {2, 4, 8}).scalar("two", 2).scalar("epsilon", 1e-5f).scalar("one", 1);
  transformer.node("ReduceMean", {"x"}, {"mean"}, {{"axes", Ints{-1}}});
  transformer.node("Sub", {"x", "mean"}, {"centred"}).node("Pow", {"centred", "two"}, {"square"});
  transformer.node("ReduceMean", {"square"}, {"variance"}, {{"axes", Ints{-1}}});
  transformer.node("Add", {"variance", "epsilon"}, {"above"}).node("Sqrt", {"above"}, {"spread"});
  transformer.node("Div", {"centred", "spread"}, {"normal"}).random_weight("gamma", {8});
  transformer.node("Mul", {"normal", "gamma"}, {"n"}).integers("heads", {0, 0, 2, 4});
  for (const char* part : {"q", "k", "v"}) {
    const std::string name = part;
    transformer.random_weight("w" + name, {8, 8}).node("MatMul", {"n", "w" + name}, {name + "0"});
    transformer.node("Reshape", {name + "0", "heads"}, {name + "1"});
    transformer.node("Transpose", {name + "1"}, {name},
                     {{"perm", name == "k" ? Ints{0, 2, 3, 1} : Ints{0, 2, 1, 3}}});
  }
  transformer.node("MatMul", {"q", "k"}, {"scores"}).node("Div", {"scores", "two"}, {"scaled"});
  transformer.node("Softmax", {"scaled"}, {"shares"}, {{"axis", std::int64_t{-1}}});
  transformer.node("MatMul", {"shares", "v"}, {"mixed"}).integers("flat", {2, 4, 8});
  transformer.node("Transpose", {"mixed"}, {"turned"}, {{"perm", Ints{0, 2, 1, 3}}});
  transformer.node("Reshape", {"turned", "flat"}, {"joined"}).random_weight("wide", {8, 64});
  transformer.node("MatMul", {"joined", "wide"}, {"h"}).scalar("root", 1.41421356f);
  transformer.node("Div", {"h", "root"}, {"d"}).node("Erf", {"d"}, {"erf"}).scalar("half", 0.5f);
  transformer.node("Add", {"erf", "one"}, {"plus"}).node("Mul", {"h", "plus"}, {"product"});
  transformer.node("Mul", {"product", "half"}, {"y"}).output("y");

  ModelBuilder& indexed = models.emplace_back();
  indexed.input("x", {2, 3, 4}).integers("pairs", {0, 2, 1, -1, 0, 0});
  indexed.proto().mutable_graph()->mutable_initializer(0)->clear_dims();
  for (const std::int64_t extent : {3, 2}) {
    indexed.proto().mutable_graph()->mutable_initializer(0)->add_dims(extent);
  }
  indexed.node("GatherND", {"x", "pairs"}, {"rows"})
      .node("ScatterND", {"x", "pairs", "rows"}, {"s"});
  indexed.node("ArgMax", {"s"}, {"at"}, {{"axis", std::int64_t{2}}});
  indexed.node("GatherElements", {"s", "at"}, {"g"}, {{"axis", std::int64_t{2}}});
  indexed.node("ScatterElements", {"s", "at", "g"}, {"e"}, {{"axis", std::int64_t{2}}});
  indexed.integers("lengths", {1, 2, 2}).node("ReverseSequence", {"e", "lengths"}, {"v"});
  indexed.integers("first", {0}).integers("last", {1}).integers("step", {1});
  indexed.node("Shape", {"v"}, {"shape"}).node("ConstantOfShape", {"shape"}, {"zeros"});
  indexed.node("Less", {"zeros", "v"}, {"more"}).node("Where", {"more", "v", "zeros"}, {"w"});
  indexed.node("LogSoftmax", {"w"}, {"l"}).output("l");

  ModelBuilder& normal = models.emplace_back(17);
  normal.input("x", {1, 4, 6, 6}).random_weight("a", {4}).random_weight("b", {4});
  normal.random_weight("m", {4}).random_weight("v", {4}, 0, 1);
  normal.node("BatchNormalization", {"x", "a", "b", "m", "v"}, {"n"});
  normal.node("InstanceNormalization", {"n", "a", "b"}, {"i"}).random_weight("t", {4, 2, 3, 3});
  normal.node("LRN", {"i"}, {"l"}, {{"size", std::int64_t{3}}});
  normal.node("ConvTranspose", {"l", "t"}, {"c"},
              {{"strides", Ints{2, 2}}, {"group", std::int64_t{2}}});
  normal.integers("sizes", {1, 4, 8, 9})
      .node("Resize", {"c", "", "", "sizes"}, {"r"}, {{"mode", "cubic"}});
  normal.node("DepthToSpace", {"r"}, {"d"}, {{"blocksize", std::int64_t{2}}});
  normal.node("MaxPool", {"d"}, {"p", "places"}, {{"kernel_shape", Ints{2, 2}}});
  normal.random_weight("scale", {17}).node("LayerNormalization", {"p", "scale"}, {"y"});
  normal.output("y").output("places");

  ModelBuilder& outside = models.emplace_back();
  outside.input("x", {2, 8}).node("MatMul", {"x", "w"}, {"h"}).node("HardSwish", {"h"}, {"y"});
  onnx::TensorProto* tensor = outside.initializer("w", {8, 8}, onnx::TensorProto::FLOAT);
  tensor->set_data_location(onnx::TensorProto::EXTERNAL);
  for (const auto& [key, value] : std::map<std::string, std::string>{
           {"location", seed_weights}, {"offset", "0"}, {"length", "256"}}) {
    onnx::StringStringEntryProto* entry = tensor->add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
  outside.output("y");
  return models;
}

}  // namespace fm
