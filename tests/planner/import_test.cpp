// Importing ONNX files: what is accepted, in which form, and how everything else is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "paths.hpp"
#include "planner/node_attributes.hpp"
#include "planner/onnx_import.hpp"
#include "tests/core/error_message.hpp"
#include "tests/planner/model_builder.hpp"

namespace fm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Import : public ::testing::Test {
 protected:
  ImportedModel import(const ModelBuilder& builder, const ShapeBindings& bindings = {}) {
    return import_model(builder.write(folder_), bindings);
  }
  std::string refusal(const ModelBuilder& builder, const ShapeBindings& bindings = {}) {
    return user_error_of([&] { import(builder, bindings); });
  }
  const GraphTensor& tensor(const ImportedModel& model, const std::string& name) {
    for (const GraphTensor& tensor : model.graph.tensors) {
      if (tensor.name == name) return tensor;
    }
    throw std::out_of_range(name);
  }
  TemporaryFolder folder_;
};

ModelBuilder relu_model(int opset = 14) {
  ModelBuilder model(opset);
  model.input("x", {2, 3}).node("Relu", {"x"}, {"y"}).output("y");
  return model;
}

TEST_F(Import, RefusesFilesThatAreNoModels) {
  EXPECT_THAT(user_error_of([&] { import_model(folder_.file("none.onnx"), {}); }),
              AllOf(HasSubstr("none.onnx"), HasSubstr("no such model file")));
  write_file(folder_.file("empty"), "");
  EXPECT_THAT(user_error_of([&] { import_model(folder_.file("empty"), {}); }), HasSubstr("empty"));
  write_file(folder_.file("text"), "this is no protobuf message at all");
  EXPECT_THAT(user_error_of([&] { import_model(folder_.file("text"), {}); }),
              HasSubstr("truncated or not an ONNX model"));
  EXPECT_THAT(user_error_of([&] { import_model(folder_.path(), {}); }),
              HasSubstr("no such model file"));
}

TEST_F(Import, RefusesTruncatedModelsAndSurvivesDamagedOnes) {
  const std::string whole = contents_of(FM_TEST_DATA "/ch_ppocr_mobile_v2.0_cls_infer.onnx");
  const std::string path = folder_.file("cut.onnx");
  ShapeBindings bindings;
  bindings.inputs["x"] = {1, 3, 48, 192};
  std::mt19937 generator(5);
  for (int trial = 0; trial < 40; ++trial) {
    write_file(path, whole.substr(0, 1 + generator() % (whole.size() - 1)));
    EXPECT_NE(user_error_of([&] { import_model(path, bindings); }), "");
  }
  for (int trial = 0; trial < 200; ++trial) {
    // The structure lies before, between and after the weights: flip bits everywhere.
    std::string damaged = whole;
    for (int flip = 0; flip < 8; ++flip) {
      damaged[generator() % damaged.size()] ^= static_cast<char>(1 << generator() % 8);
      damaged[generator() % 4000] ^= static_cast<char>(1 << generator() % 8);
    }
    write_file(path, damaged);
    try {
      import_model(path, bindings);  // what the flips hit may be weights only
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), HasSubstr("cut.onnx"));
    }
  }
}

TEST_F(Import, NamesAllUnsupportedOperators) {
  ModelBuilder model = relu_model();
  model.node("Einsum", {"x"}, {"e1"}).node("Einsum", {"x"}, {"e2"}).node("LSTM", {"x"}, {"l"});
  EXPECT_THAT(refusal(model),
              AllOf(HasSubstr("Einsum (node `Einsum:e1`, opset 14) and 1 more"),
                    HasSubstr("LSTM (node `LSTM:l`, opset 14)"), HasSubstr("m.onnx")));
}

TEST_F(Import, RefusesOpsetsAndDomainsItDoesNotKnow) {
  EXPECT_THAT(refusal(relu_model(18)), AllOf(HasSubstr("opset 18"), HasSubstr("1 to 17")));
  EXPECT_THAT(refusal(relu_model(1)), IsEmpty());
  EXPECT_THAT(refusal(relu_model(17)), IsEmpty());
  ModelBuilder model = relu_model();
  model.add_opset("com.example", 1);
  EXPECT_THAT(refusal(model), IsEmpty());  // imported and not used
  model.node("Relu", {"x"}, {"z"});
  model.proto().mutable_graph()->mutable_node(1)->set_domain("com.example");
  EXPECT_THAT(refusal(model), AllOf(HasSubstr("com.example"), HasSubstr("Relu:z")));
}

TEST_F(Import, BindsOpenDimensions) {
  ModelBuilder model;
  model.input("x", {-1, 3, -1, -2}).node("Relu", {"x"}, {"y"}).output("y");
  EXPECT_THAT(refusal(model),
              AllOf(HasSubstr("dimension 0 of input `x` (--dim d0=N)"), HasSubstr("--dim d2=N"),
                    HasSubstr("dimension 3 of input `x`"), HasSubstr("--shape x=")));
  ShapeBindings by_name;
  by_name.dimensions = {{"d0", 2}, {"d2", 5}};
  EXPECT_THAT(refusal(model, by_name),
              AllOf(HasSubstr("dimension 3"), Not(HasSubstr("dimension 0"))));
  ShapeBindings whole;
  whole.inputs["x"] = {2, 3, 5, 7};
  EXPECT_EQ(tensor(import(model, whole), "y").shape, (Shape{2, 3, 5, 7}));
  whole.inputs["x"] = {2, 4, 5, 7};
  EXPECT_THAT(refusal(model, whole), HasSubstr("the model fixes it at 3"));
  whole.inputs["x"] = {2, 3, 5};
  EXPECT_THAT(refusal(model, whole), HasSubstr("4 dimensions"));
  whole.inputs = {{"z", {2, 3, 5, 7}}};
  EXPECT_THAT(refusal(model, whole), HasSubstr("no input `z`"));
  by_name.dimensions["d9"] = 1;
  EXPECT_THAT(refusal(model, by_name), HasSubstr("no dimension `d9`"));
  by_name.dimensions = {{"d0", 0}, {"d2", 5}};
  EXPECT_THAT(refusal(model, by_name), HasSubstr("must be positive"));
}

TEST_F(Import, RefusesMissingValuesAndCycles) {
  ModelBuilder missing;
  missing.input("x", {2, 3}).node("Add", {"x", "w"}, {"y"}).output("y");
  EXPECT_THAT(refusal(missing), AllOf(HasSubstr("Add:y"), HasSubstr("`w`")));
  ModelBuilder cycle;
  cycle.input("x", {2, 3}).node("Add", {"x", "b"}, {"a"}).node("Relu", {"a"}, {"b"}).output("b");
  EXPECT_THAT(refusal(cycle), AllOf(HasSubstr("cycle"), HasSubstr("Add:a")));
  ModelBuilder output;
  output.input("x", {2, 3}).node("Relu", {"x"}, {"y"}).output("z");
  EXPECT_THAT(refusal(output), HasSubstr("output `z`"));
  ModelBuilder twice = relu_model();
  twice.node("Sigmoid", {"x"}, {"y"});
  EXPECT_THAT(refusal(twice), HasSubstr("`y` is produced twice"));
}

TEST_F(Import, SortsNodes) {
  ModelBuilder model;
  model.input("x", {2, 3}).node("Sigmoid", {"a"}, {"y"}).node("Relu", {"x"}, {"a"}).output("y");
  const ImportedModel imported = import(model);
  ASSERT_EQ(imported.graph.nodes.size(), 2u);
  EXPECT_EQ(imported.graph.nodes[0].operation, "Relu");
}

TEST_F(Import, RefusesShapesThatDoNotFit) {
  const auto check = [&](const std::string& operation, const Shape& a, const Shape& b,
                         const std::map<std::string, TestAttribute>& attributes = {}) {
    ModelBuilder model;
    model.input("a", a).input("b", b).node(operation, {"a", "b"}, {"y"}, attributes).output("y");
    EXPECT_THAT(refusal(model),
                AllOf(HasSubstr("node `" + operation + ":y`"), HasSubstr("opset 14")));
  };
  check("MatMul", {2, 3}, {4, 5});
  check("Add", {2, 3}, {2, 4});
  check("Gemm", {2, 3}, {3, 5}, {{"transB", std::int64_t{1}}});
  check("Conv", {1, 3, 8, 8}, {4, 2, 3, 3});
  check("Conv", {1, 3, 8, 8}, {4, 3, 9, 9});
  check("Concat", {2, 3}, {3, 3}, {{"axis", std::int64_t{1}}});
  check("Concat", {2, 3}, {2, 3}, {{"axis", std::int64_t{2}}});
  ModelBuilder reshape;
  reshape.input("x", {2, 3}).integers("s", {4, 2}).node("Reshape", {"x", "s"}, {"y"}).output("y");
  EXPECT_THAT(refusal(reshape), HasSubstr("cannot reshape [2, 3] to [4, 2]"));
  ModelBuilder wrong = relu_model();
  wrong.initializer("w", {4}, onnx::TensorProto::FLOAT)->set_raw_data("12345678");
  EXPECT_THAT(refusal(wrong), AllOf(HasSubstr("`w`"), HasSubstr("do not fit shape [4]")));
}

TEST_F(Import, RefusesDataThatDecidesShapesAtRunTime) {
  ModelBuilder model;
  model.input("x", {2, 3}).input("s", {2}, onnx::TensorProto::INT64);
  model.node("Reshape", {"x", "s"}, {"y"}).output("y");
  EXPECT_THAT(refusal(model), HasSubstr("input `s` must be a constant"));
}

TEST_F(Import, ReadsEveryKindOfContents) {
  ModelBuilder model;
  model.input("x", {3});
  const std::uint16_t halves[] = {0x3C00, 0xC000, 0x3555};  // 1, -2, 0.333
  model.initializer("raw16", {3}, onnx::TensorProto::FLOAT16)->set_raw_data(halves, sizeof(halves));
  auto* coded = model.initializer("coded16", {3}, onnx::TensorProto::FLOAT16);
  for (std::uint16_t half : halves) coded->add_int32_data(half);
  auto* floats = model.initializer("floats", {3}, onnx::TensorProto::FLOAT);
  for (float value : {1.0f, -2.0f, 0.25f}) floats->add_float_data(value);
  model.output("x");
  const ImportedModel imported = import(model);
  for (const char* name : {"raw16", "coded16"}) {
    const HostTensor values = imported.constants.load(tensor(imported, name));
    EXPECT_EQ(values.type, ElementType::float16);
    EXPECT_THAT(values.reals, ElementsAre(1.0f, -2.0f, ::testing::FloatNear(0.3333f, 1e-3f)));
  }
  EXPECT_THAT(imported.constants.load(tensor(imported, "floats")).reals,
              ElementsAre(1.0f, -2.0f, 0.25f));
}

TEST_F(Import, LeavesLargeContentsInTheFile) {
  ModelBuilder model;
  model.input("x", {1}).random_weight("w", {1000}).output("x");
  const ImportedModel imported = import(model);
  const GraphTensor& weight = tensor(imported, "w");
  EXPECT_TRUE(weight.constant->bytes.empty());
  ASSERT_TRUE(weight.constant->initializer.has_value());
  const auto loaded = imported.constants.load(weight).reals;
  const std::string& raw = model.proto().graph().initializer(0).raw_data();
  ASSERT_EQ(loaded.size() * sizeof(float), raw.size());
  EXPECT_EQ(std::memcmp(loaded.data(), raw.data(), raw.size()), 0);
}

TEST_F(Import, ReadsExternalDataInsideTheModelsFolderOnly) {
  const float values[] = {0, 1, 2, 3, 4, 5};
  write_file(folder_.file("data.bin"),
             std::string(reinterpret_cast<const char*>(values), sizeof(values)));
  const auto external = [&](const std::string& location, const std::string& offset) {
    ModelBuilder model;
    model.input("x", {1}).output("x");
    auto* tensor = model.initializer("w", {2, 2}, onnx::TensorProto::FLOAT);
    tensor->set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] :
         {std::pair{"location", location}, std::pair{"offset", offset}}) {
      auto* entry = tensor->add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    return model;
  };
  const ImportedModel imported = import(external("data.bin", "8"));
  EXPECT_THAT(imported.constants.load(tensor(imported, "w")).reals, ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(refusal(external("data.bin", "12")), AllOf(HasSubstr("`w`"), HasSubstr("too short")));
  EXPECT_THAT(refusal(external("data.bin", "x")), HasSubstr("is no number"));
  EXPECT_THAT(refusal(external("../data.bin", "0")), HasSubstr("outside the model's folder"));
  EXPECT_THAT(refusal(external("/etc/passwd", "0")), HasSubstr("outside the model's folder"));
  EXPECT_THAT(refusal(external("none.bin", "0")), HasSubstr("is missing"));
  std::filesystem::create_symlink("/etc/passwd", folder_.file("link"));
  EXPECT_THAT(refusal(external("link", "0")), HasSubstr("outside the model's folder"));
}

TEST_F(Import, PlansSkeletonsButHasNoContents) {
  const ImportedModel imported = import_model(FM_MODELS "/resnet50.onnx", {});
  const std::string message =
      user_error_of([&] { imported.constants.load(tensor(imported, "conv1.weight")); });
  EXPECT_THAT(message, AllOf(HasSubstr("conv1.weight"), HasSubstr("fmplan fill")));
}

TEST_F(Import, FoldsShapeArithmetic) {
  ModelBuilder model;
  model.input("x", {4, 6}).integers("last", {-1}).integers("two", {2}).integers("three", {3});
  model.integers("zero", {0});
  model.node("Shape", {"x"}, {"s"}).node("Gather", {"s", "last"}, {"k"});
  model.node("Add", {"k", "two"}, {"k2"})
      .node("Div", {"k2", "three"}, {"part"});  // (6 + 2) / 3 = 2
  model.node("Slice", {"x", "zero", "part", "last"}, {"head"}).output("head");
  const ImportedModel imported = import(model);
  EXPECT_THAT(imported.constants.load(tensor(imported, "part")).integers, ElementsAre(2));
  EXPECT_EQ(tensor(imported, "head").shape, (Shape{4, 2}));
  EXPECT_EQ(imported.graph.nodes.size(), 1u);
}

TEST_F(Import, FoldsTheExpandOfAClassToken) {
  ModelBuilder model;
  model.input("x", {1, 2, 4}).random_weight("token", {1, 1, 4}).integers("three", {3});
  model.integers("wanted", {1, -1, -1}).integers("minus", {-1});
  model.node("ConstantOfShape", {"three"}, {"ones"});
  auto* value = model.proto().mutable_graph()->mutable_node(0)->add_attribute();
  value->set_name("value");
  value->set_type(onnx::AttributeProto::TENSOR);
  value->mutable_t()->set_data_type(onnx::TensorProto::INT64);
  value->mutable_t()->add_dims(1);
  value->mutable_t()->add_int64_data(1);
  model.node("Mul", {"ones", "minus"}, {"negative"})
      .node("Equal", {"wanted", "negative"}, {"open"});
  model.node("Where", {"open", "ones", "wanted"}, {"shape"})
      .node("Expand", {"token", "shape"}, {"wide"});
  model.node("Concat", {"wide", "x"}, {"y"}, {{"axis", std::int64_t{1}}}).output("y");
  const ImportedModel imported = import(model);
  EXPECT_THAT(imported.constants.load(tensor(imported, "shape")).integers, ElementsAre(1, 1, 1));
  EXPECT_EQ(tensor(imported, "y").shape, (Shape{1, 3, 4}));
  EXPECT_TRUE(tensor(imported, "wide").constant.has_value());
}

TEST_F(Import, SplitsAndChains) {
  ModelBuilder model;
  model.input("x", {2, 7}).integers("parts", {3, 4});
  model.node("Split", {"x", "parts"}, {"a", "b"}, {{"axis", std::int64_t{1}}});
  model.node("Sum", {"b", "b", "b"}, {"y"}).output("a").output("y");
  const ImportedModel imported = import(model);
  EXPECT_EQ(tensor(imported, "a").shape, (Shape{2, 3}));
  EXPECT_EQ(tensor(imported, "b").shape, (Shape{2, 4}));
  std::vector<std::string> names;
  for (const GraphNode& node : imported.graph.nodes) names.push_back(node.operation);
  EXPECT_THAT(names, ElementsAre("Slice", "Slice", "Add", "Add"));
}

TEST_F(Import, OldAndNewFormsOfAnOperatorAreOne) {
  for (int opset : {9, 11, 13}) {
    ModelBuilder model(opset);
    model.input("x", {2, 1, 8});
    if (opset == 9) {
      model.node("Slice", {"x"}, {"s"},
                 {{"starts", Ints{1}}, {"ends", Ints{-1}}, {"axes", Ints{2}}});
      model.node("Clip", {"s"}, {"c"}, {{"min", -1.0f}, {"max", 2.0f}});
    } else {
      model.integers("one", {1}).integers("minus", {-1}).integers("two", {2});
      model.node("Slice", {"x", "one", "minus", "two"}, {"s"}).scalar("low", -1).scalar("high", 2);
      model.node("Clip", {"s", "low", "high"}, {"c"});
    }
    if (opset == 13) {
      model.node("Squeeze", {"c", "one"}, {"q"});
    } else {
      model.node("Squeeze", {"c"}, {"q"}, {{"axes", Ints{1}}});
    }
    model.output("q");
    const ImportedModel imported = import(model);
    EXPECT_EQ(tensor(imported, "q").shape, (Shape{2, 6})) << opset;
    const Graph& graph = imported.graph;
    ASSERT_EQ(graph.nodes.size(), 3u);
    EXPECT_THAT(attribute_ints(graph.nodes[0], "starts"), ElementsAre(0, 0, 1));
    EXPECT_FLOAT_EQ(attribute_float(graph.nodes[1], "min", 0), -1);
    EXPECT_FLOAT_EQ(attribute_float(graph.nodes[1], "max", 0), 2);
    EXPECT_EQ(graph.nodes[2].operation, "Reshape");
  }
}

TEST_F(Import, WindowsFollowTheOnnxFormulas) {
  const auto extent = [&](const std::string& operation, std::int64_t size,
                          std::map<std::string, TestAttribute> attributes) {
    ModelBuilder model;
    model.input("x", {1, 4, size, size}).random_weight("w", {4, 4, 3, 3});
    std::vector<std::string> inputs = {"x"};
    if (operation.find("Conv") == 0) {
      inputs.push_back("w");
    } else {
      attributes["kernel_shape"] = Ints{3, 3};
    }
    model.node(operation, inputs, {"y"}, attributes).output("y");
    return tensor(import(model), "y").shape[2];
  };
  EXPECT_EQ(extent("Conv", 9, {}), 7);
  EXPECT_EQ(extent("Conv", 9, {{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}}), 5);
  EXPECT_EQ(extent("Conv", 9, {{"dilations", Ints{2, 2}}}), 5);
  EXPECT_EQ(extent("Conv", 10, {{"auto_pad", "SAME_UPPER"}, {"strides", Ints{3, 3}}}), 4);
  EXPECT_EQ(extent("ConvTranspose", 5, {{"strides", Ints{2, 2}}}), 11);
  EXPECT_EQ(
      extent("ConvTranspose", 5,
             {{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}, {"output_padding", Ints{1, 1}}}),
      10);
  EXPECT_EQ(extent("MaxPool", 10, {{"strides", Ints{2, 2}}}), 4);
  EXPECT_EQ(extent("MaxPool", 10, {{"strides", Ints{2, 2}}, {"ceil_mode", std::int64_t{1}}}), 5);
  // The last window would start in the trailing padding: it does not count.
  EXPECT_EQ(
      extent("MaxPool", 3,
             {{"strides", Ints{4, 4}}, {"pads", Ints{0, 0, 3, 3}}, {"ceil_mode", std::int64_t{1}}}),
      1);
}

TEST_F(Import, IgnoresOutputsNobodyReads) {
  ModelBuilder model(10);
  model.input("x", {2, 3})
      .node("Softmax", {"x"}, {"d", "unknown"})
      .node("Relu", {"d"}, {"y"})
      .output("y");
  EXPECT_THAT(refusal(model), IsEmpty());
  model.output("unknown");
  EXPECT_THAT(refusal(model), HasSubstr("Softmax"));
}

/// y = carried after `trips` of (next = carried + carried), and all of next beside it.
ModelBuilder doubling_loop(const std::vector<std::string>& inputs = {"trips", "", "x"},
                           const std::vector<std::string>& outputs = {"y", "all"},
                           std::vector<std::int64_t> trips = {3}) {
  ModelBuilder model;
  model.input("x", {2}).integers("trips", std::move(trips)).node("Loop", inputs, outputs);
  model.output(outputs.back());
  ModelBuilder body;
  body.input("trip", {}, onnx::TensorProto::INT64).input("goes_on", {}, onnx::TensorProto::BOOL);
  body.input("carried", {2}).node("Identity", {"goes_on"}, {"still"});
  body.node("Add", {"carried", "carried"}, {"next"}).node("Relu", {"next"}, {"kept"});
  body.output("still").output("next").output("kept");
  onnx::AttributeProto* attribute = model.proto().mutable_graph()->mutable_node(0)->add_attribute();
  attribute->set_name("body");
  attribute->set_type(onnx::AttributeProto::GRAPH);
  *attribute->mutable_g() = body.proto().graph();
  return model;
}

TEST_F(Import, LoopsOfKnownLengthAreTheirBodyOnceAnIteration) {
  const ImportedModel model = import(doubling_loop());
  EXPECT_EQ(tensor(model, "all").shape, (Shape{3, 2}));
  int sums = 0;
  for (const GraphNode& node : model.graph.nodes) sums += node.operation == "Add";
  EXPECT_EQ(sums, 3);
  EXPECT_THAT(refusal(doubling_loop({"trips", "", "x"}, {"y"})), IsEmpty());  // one is left out
}

TEST_F(Import, RefusesLoopsThatDoNotFitTheirBody) {
  const auto loop = HasSubstr("Loop");
  EXPECT_THAT(refusal(doubling_loop({"trips"})), AllOf(loop, HasSubstr("body does not fit")));
  EXPECT_THAT(refusal(doubling_loop({"trips", ""})), AllOf(loop, HasSubstr("body does not fit")));
  EXPECT_THAT(refusal(doubling_loop({"trips", "", "", "x"})), loop);
  EXPECT_THAT(refusal(doubling_loop({"trips", "", "x"}, {"y", "all", "more"})),
              AllOf(loop, HasSubstr("body does not fit")));
  EXPECT_THAT(refusal(doubling_loop({"trips", "", "x"}, {"y", "all"}, {})),
              AllOf(loop, HasSubstr("`trips` must be one whole number")));
  EXPECT_THAT(refusal(doubling_loop({"trips", "", "x"}, {"y", "all"}, {2000})),
              AllOf(loop, HasSubstr("more than 1024 times")));
  EXPECT_THAT(refusal(doubling_loop({"trips", "", "x"}, {"y", "all"}, {0})),
              AllOf(loop, HasSubstr("no elements")));
  ModelBuilder bodiless = doubling_loop();
  bodiless.proto().mutable_graph()->mutable_node(0)->clear_attribute();
  EXPECT_THAT(refusal(bodiless), AllOf(loop, HasSubstr("body does not fit")));
  ModelBuilder computed = doubling_loop();
  onnx::GraphProto* body =
      computed.proto().mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  body->mutable_node(0)->set_input(0, "carried");  // whether it goes on depends on x
  EXPECT_THAT(refusal(computed), AllOf(loop, HasSubstr("must be a constant")));
}

TEST_F(Import, RefusesSettingsThatAreNoSingleNumber) {
  ModelBuilder sorted;
  sorted.input("x", {4}).integers("k", {}).node("TopK", {"x", "k"}, {"y", "at"}).output("y");
  EXPECT_THAT(refusal(sorted), AllOf(HasSubstr("TopK"), HasSubstr("`k` must be one whole number")));
}

}  // namespace
}  // namespace fm
