// Models that no exporter should write: refused by name, before anything is allocated for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/weights_file.hpp"
#include "planner/pack.hpp"
#include "tests/core/error_message.hpp"
#include "tests/planner/test_plan.hpp"

namespace fm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::int64_t huge = std::int64_t{1} << 62;
constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();

/// What planning it is refused with; "" where it is planned.
std::string refusal(const ModelBuilder& model) {
  return user_error_of([&] { plan_of(model); });
}

struct AbsurdNode {
  std::string operation;
  std::vector<std::int64_t> integers;  ///< second input, unless empty
  std::map<std::string, TestAttribute> attributes;
  Shape input{1, 4, 6, 6};
};

std::vector<AbsurdNode> absurd_nodes() {
  std::vector<AbsurdNode> nodes;
  for (const std::int64_t extent : {huge, largest, smallest}) {
    nodes.push_back({"Reshape", {extent, 4}, {}});
    nodes.push_back({"Reshape", {extent, extent, -1}, {}});
    nodes.push_back({"Expand", {extent, 4, 6, 6}, {}});
    nodes.push_back({"Tile", {extent, extent, extent, 4}, {}});
    nodes.push_back({"Pad", {0, 0, extent, 0, 0, 0, extent, 0}, {}});
    nodes.push_back({"Squeeze", {extent}, {}});
    nodes.push_back({"Unsqueeze", {extent}, {}});
    nodes.push_back({"ReduceSum", {extent}, {}});
    nodes.push_back({"Split", {extent, extent}, {}});
    nodes.push_back({"Flatten", {}, {{"axis", extent}}});
    nodes.push_back({"Softmax", {}, {{"axis", extent}}});
    nodes.push_back({"Concat", {}, {{"axis", extent}}});
    nodes.push_back({"Gather", {extent}, {{"axis", std::int64_t{1}}}});
    nodes.push_back({"Gather", {0}, {{"axis", extent}}});
    nodes.push_back({"Transpose", {}, {{"perm", Ints{0, 1, 2, extent}}}});
    nodes.push_back({"DepthToSpace", {}, {{"blocksize", extent}}});
    nodes.push_back({"SpaceToDepth", {}, {{"blocksize", extent}}});
    nodes.push_back({"TopK", {extent}, {{"axis", std::int64_t{1}}}});
    nodes.push_back({"CumSum", {extent}, {}});
    for (const char* pool : {"MaxPool", "AveragePool"}) {
      nodes.push_back({pool, {}, {{"kernel_shape", Ints{extent, 2}}}});
      nodes.push_back({pool, {}, {{"kernel_shape", Ints{2, 2}}, {"dilations", Ints{extent, 1}}}});
      nodes.push_back(
          {pool, {}, {{"kernel_shape", Ints{2, 2}}, {"pads", Ints{extent, 0, extent, 0}}}});
    }
  }
  for (const char* pool : {"MaxPool", "AveragePool"}) {
    for (const std::int64_t stride : {std::int64_t{0}, std::int64_t{-1}, smallest}) {
      nodes.push_back({pool, {}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{stride, 1}}}});
    }
    nodes.push_back({pool, {}, {{"kernel_shape", Ints{0, 2}}}});
    nodes.push_back({pool, {}, {{"kernel_shape", Ints{2}}}});
  }
  nodes.push_back({"DepthToSpace", {}, {{"blocksize", std::int64_t{0}}}});
  nodes.push_back({"SpaceToDepth", {}, {{"blocksize", std::int64_t{0}}}});
  nodes.push_back({"Reshape", {0, 0, 0, 0, 0}, {}});
  nodes.push_back({"Reshape", {-1, -1}, {}});
  nodes.push_back({"Reshape", {-2, 4}, {}});
  nodes.push_back({"Expand", {-2, 4, 6, 6}, {}});
  nodes.push_back({"Tile", {-2, 1, 1, 1}, {}});
  nodes.push_back({"TopK", {-2}, {{"axis", std::int64_t{1}}}});
  nodes.push_back({"Transpose", {}, {{"perm", Ints{0, 0, 0, 0}}}});
  return nodes;
}

TEST(BadModel, AbsurdSettingsOfANodeAreRefusedByItsName) {
  for (const AbsurdNode& absurd : absurd_nodes()) {
    ModelBuilder model;
    model.input("x", absurd.input);
    std::vector<std::string> inputs{"x"};
    if (!absurd.integers.empty()) {
      model.integers("s", absurd.integers);
      inputs.push_back("s");
    }
    model.node(absurd.operation, inputs, {"y"}, absurd.attributes).output("y");
    const std::string said = refusal(model);
    std::string settings;
    for (const std::int64_t value : absurd.integers) settings += " " + std::to_string(value);
    EXPECT_THAT(said, AllOf(HasSubstr("m.onnx"), HasSubstr(absurd.operation)))
        << absurd.operation << settings;
  }
}

TEST(BadModel, NodesWithoutInputsAreRefused) {
  for (const char* operation : {"Sum", "Max", "Min", "Concat", "Relu", "Conv", "Split", "If"}) {
    ModelBuilder model;
    model.input("x", {2}).node(operation, {}, {"y"}).output("y");
    EXPECT_THAT(refusal(model), AllOf(HasSubstr("m.onnx"), HasSubstr(operation)));
  }
}

TEST(BadModel, AbsurdWindowsOfConvolutionsAreRefused) {
  const auto said = [](const std::string& operation,
                       const std::map<std::string, TestAttribute>& attributes) {
    ModelBuilder model;
    model.input("x", {1, 4, 6, 6}).random_weight("w", {4, 4, 3, 3});
    model.node(operation, {"x", "w"}, {"y"}, attributes).output("y");
    return refusal(model);
  };
  for (const char* operation : {"Conv", "ConvTranspose"}) {
    for (const std::int64_t value : {huge, largest, smallest, std::int64_t{-1}, std::int64_t{0}}) {
      EXPECT_THAT(said(operation, {{"strides", Ints{value, 1}}}), HasSubstr(operation)) << value;
      EXPECT_THAT(said(operation, {{"dilations", Ints{value, 1}}}), HasSubstr(operation)) << value;
      EXPECT_THAT(said(operation, {{"group", value}}), HasSubstr(operation)) << value;
      if (value == 0) continue;
      EXPECT_THAT(said(operation, {{"pads", Ints{value, 0, value, 0}}}), HasSubstr(operation))
          << value;
    }
  }
}

TEST(BadModel, AbsurdResizesAreRefused) {
  const auto said = [](std::vector<float> scales, std::vector<std::int64_t> sizes) {
    ModelBuilder model;
    model.input("x", {1, 4, 6, 6});
    std::vector<std::string> inputs{"x", "", ""};
    if (!scales.empty()) {
      model.weight("scales", {static_cast<std::int64_t>(scales.size())}, scales);
      inputs[2] = "scales";
    } else {
      model.integers("sizes", sizes);
      inputs.push_back("sizes");
    }
    model.node("Resize", inputs, {"y"}, {{"mode", "nearest"}}).output("y");
    return refusal(model);
  };
  for (const float scale : {0.0f, -1.0f, 1e30f, NAN, INFINITY, -INFINITY}) {
    EXPECT_THAT(said({1, 1, scale, 1}, {}), HasSubstr("Resize")) << scale;
  }
  for (const std::int64_t size : {huge, largest, smallest, std::int64_t{0}, std::int64_t{-1}}) {
    EXPECT_THAT(said({}, {1, 4, size, size}), HasSubstr("Resize")) << size;
  }
  EXPECT_THAT(said({1, 1}, {}), HasSubstr("Resize"));
}

TEST(BadModel, FoldedIntegersThatFillTheMemoryAreRefused) {
  for (const std::int64_t extent : {std::int64_t{1} << 39, std::int64_t{1} << 30}) {
    for (const char* reader : {"Reshape", "Add", "Gather", "Tile"}) {
      ModelBuilder model;
      model.input("x", {1}, onnx::TensorProto::INT64).integers("one", {1}).integers("s", {extent});
      model.node("Expand", {"one", "s"}, {"c"}).node(reader, {"x", "c"}, {"y"}).output("y");
      EXPECT_THAT(refusal(model), AllOf(HasSubstr("Expand"), HasSubstr("too large to compute")))
          << reader;
    }
  }
}

TEST(BadModel, ConstantsThatDoubleTheirWorkWithEveryNodeAreRefused) {
  ModelBuilder model;
  model.input("x", {5000}).random_weight("c0", {5000});
  for (int i = 0; i < 40; ++i) {
    const std::string from = "c" + std::to_string(i);
    model.node("Add", {from, from}, {"c" + std::to_string(i + 1)});
  }
  model.node("Add", {"x", "c40"}, {"y"}).output("y");
  EXPECT_THAT(refusal(model), AllOf(HasSubstr("Add"), HasSubstr("too many times")));
}

TEST(BadModel, AbsurdConstantsAreRefused) {
  const auto filled = [](const std::vector<std::int64_t>& shape) {
    ModelBuilder model;
    model.input("x", {1}).integers("s", shape).node("ConstantOfShape", {"s"}, {"c"});
    model.node("Add", {"x", "c"}, {"y"}).output("y");
    return refusal(model);
  };
  EXPECT_THAT(filled({huge, 4}), HasSubstr("ConstantOfShape"));
  EXPECT_THAT(filled({-1}), HasSubstr("ConstantOfShape"));
  EXPECT_THAT(filled({std::int64_t{1} << 39}), HasSubstr("too large to compute"));
  const auto range = [](std::int64_t start, std::int64_t limit, std::int64_t step) {
    ModelBuilder model;
    model.input("x", {1});
    for (const auto& [name, value] :
         {std::pair{"a", start}, std::pair{"b", limit}, std::pair{"c", step}}) {
      model.initializer(name, {}, onnx::TensorProto::INT64)->add_int64_data(value);
    }
    model.node("Range", {"a", "b", "c"}, {"r"})
        .node("Cast", {"r"}, {"f"}, {{"to", std::int64_t{1}}});
    model.node("Add", {"x", "f"}, {"y"}).output("y");
    return refusal(model);
  };
  EXPECT_THAT(range(0, largest, 1), HasSubstr("Range"));
  EXPECT_THAT(range(smallest, largest, 1), HasSubstr("Range"));
  EXPECT_THAT(range(0, 5, 0), HasSubstr("Range"));
  EXPECT_THAT(range(largest, smallest, -1), HasSubstr("Range"));
}

TEST(BadModel, AbsurdDimensionsOfInputsAndInitializersAreRefused) {
  for (const Shape& shape : {Shape{huge, huge}, Shape{largest}}) {
    ModelBuilder model;
    model.input("x", shape).node("Relu", {"x"}, {"y"}).output("y");
    EXPECT_THAT(refusal(model), AllOf(HasSubstr("m.onnx"), HasSubstr("x"))) << shape[0];
  }
  for (const Shape& shape : {Shape{-4}, Shape{huge, 4}, Shape{-2, -2}, Shape{smallest, smallest},
                             Shape{largest, largest, largest}}) {
    ModelBuilder model;
    model.input("x", {4}).node("Add", {"x", "w"}, {"y"}).output("y");
    model.initializer("w", shape, onnx::TensorProto::FLOAT)->set_raw_data("0123456789abcdef");
    EXPECT_THAT(refusal(model), AllOf(HasSubstr("m.onnx"), HasSubstr("`w`"))) << shape[0];
  }
}

TEST(BadModel, ExternalDataOfAbsurdPlacesIsRefused) {
  const TemporaryFolder folder;
  write_file(folder.file("data.bin"), std::string(64, '\0'));
  std::filesystem::create_directory(folder.file("sub"));
  std::filesystem::create_directory_symlink(folder.path() + "/..", folder.file("sub/up"));
  std::filesystem::create_symlink(folder.file("loop"), folder.file("loop"));
  const auto said = [&](const std::string& location, const std::string& offset,
                        const std::string& length) {
    ModelBuilder model;
    model.input("x", {4}).node("Add", {"x", "w"}, {"y"}).output("y");
    auto* tensor = model.initializer("w", {4}, onnx::TensorProto::FLOAT);
    tensor->set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] : {std::pair{"location", location}, std::pair{"offset", offset},
                                     std::pair{"length", length}}) {
      auto* entry = tensor->add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    return user_error_of([&] { make_plan(model.write(folder), test_config(), {}); });
  };
  EXPECT_THAT(said("data.bin", "0", "16"), IsEmpty());
  EXPECT_THAT(said("./sub/../data.bin", "48", "16"), IsEmpty());
  EXPECT_THAT(said("data.bin", "49", "16"), HasSubstr("too short"));
  const auto names_it = AllOf(HasSubstr("m.onnx"), HasSubstr("`w`"));
  for (const char* number : {"18446744073709551615", "9223372036854775807", "-1", "1e3", " 8",
                             "999999999999999999", "0x10"}) {
    EXPECT_THAT(said("data.bin", number, "16"), names_it) << number;
    EXPECT_THAT(said("data.bin", "0", number), names_it) << number;
  }
  EXPECT_THAT(said("data.bin", "0", "12"), HasSubstr("do not fit shape [4]"));
  for (const std::string& location :
       {std::string(".."), std::string("../m.onnx"), std::string("sub/../../data.bin"),
        std::string("sub/up/data.bin"), std::string("/etc/passwd"), std::string("")}) {
    EXPECT_THAT(said(location, "0", "16"), AllOf(names_it, HasSubstr("outside the model's folder")))
        << location;
  }
  for (const std::string& location :
       {std::string("sub"), std::string("."), std::string("loop"), std::string("sub\0data.bin", 12),
        std::string(5000, 'a'), std::string("data.bin/more"), std::string("\xff\xfe")}) {
    EXPECT_THAT(said(location, "0", "16"), names_it) << location;
  }
}

TEST(BadModel, WeightsThatAreNoNumbersArePlannedAndPacked) {
  ModelBuilder model;
  std::vector<float> values(64 * 64, 1);
  values[0] = NAN;
  values[1] = INFINITY;
  values[2] = -INFINITY;
  values[3] = 1e30f;  // beyond half
  model.input("x", {4, 64})
      .weight("w", {64, 64}, values)
      .weight("b", {64}, {values.begin(), values.begin() + 64});
  model.node("MatMul", {"x", "w"}, {"m"}).node("Add", {"m", "b"}, {"a"});
  model.node("Clip", {"a", "b0", "b1"}, {"c"}).scalar("b0", -INFINITY).scalar("b1", NAN);
  model.node("Softmax", {"c"}, {"y"}).output("y");
  const TemporaryFolder folder;
  const std::string path = model.write(folder);
  const Plan plan = make_plan(path, test_config(), {});
  EXPECT_EQ(to_yaml(parse_plan(to_yaml(plan), "plan.yaml")), to_yaml(plan));
  pack_weights(plan, {path}, folder.file("w.fmw"));
  EXPECT_EQ(open_weights_for(plan, folder.file("w.fmw")).entries.size(), plan.weights.size());
}

TEST(BadModel, OperatorSetsOfAbsurdVersions) {
  for (const std::int64_t version :
       {std::int64_t{-1}, std::int64_t{18}, largest, smallest, (std::int64_t{1} << 32) + 14}) {
    ModelBuilder model;
    model.proto().mutable_opset_import(0)->set_version(version);
    model.input("x", {2}).node("Relu", {"x"}, {"y"}).output("y");
    EXPECT_THAT(refusal(model), AllOf(HasSubstr("m.onnx"), HasSubstr("opset"))) << version;
  }
  ModelBuilder none;
  none.proto().clear_opset_import();
  none.input("x", {2}).node("Relu", {"x"}, {"y"}).output("y");
  EXPECT_THAT(refusal(none), HasSubstr("imports no operator set"));
}

onnx::AttributeProto* subgraph(onnx::NodeProto* node, const std::string& name,
                               const ModelBuilder& body) {
  onnx::AttributeProto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::GRAPH);
  *attribute->mutable_g() = body.proto().graph();
  return attribute;
}

/// y = If(true): inner = Relu(x); If(true): inner + x or inner - x.
ModelBuilder nested_branches() {
  ModelBuilder innermost, other;
  innermost.node("Add", {"inner", "x"}, {"sum"}).output("sum");
  other.node("Sub", {"inner", "x"}, {"difference"}).output("difference");
  ModelBuilder outer;
  outer.node("Relu", {"x"}, {"inner"}).node("If", {"yes"}, {"chosen"}).output("chosen");
  onnx::NodeProto* node = outer.proto().mutable_graph()->mutable_node(1);
  subgraph(node, "then_branch", innermost);
  subgraph(node, "else_branch", other);
  ModelBuilder model;
  model.input("x", {2, 3}).initializer("yes", {}, onnx::TensorProto::BOOL)->add_int32_data(1);
  model.node("If", {"yes"}, {"y"}).output("y");
  node = model.proto().mutable_graph()->mutable_node(0);
  subgraph(node, "then_branch", outer);
  subgraph(node, "else_branch", other);
  return model;
}

TEST(BadModel, ABranchReadsValuesOfTheBranchAroundIt) {
  const TemporaryFolder folder;
  const Graph graph = import_model(nested_branches().write(folder), {}).graph;
  std::vector<std::string> operations;
  for (const GraphNode& node : graph.nodes) operations.push_back(node.operation);
  EXPECT_THAT(operations, ::testing::ElementsAre("Relu", "Add", "Identity", "Identity"));
  EXPECT_EQ(graph.nodes[1].inputs[0], graph.nodes[0].outputs[0]);
}

TEST(BadModel, ABranchThatGivesAValueOfTheBranchAroundIt) {
  ModelBuilder model = nested_branches();
  onnx::GraphProto* outer =
      model.proto().mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  onnx::GraphProto* inner = outer->mutable_node(1)->mutable_attribute(0)->mutable_g();
  inner->clear_node();
  inner->mutable_output(0)->set_name("inner");
  EXPECT_THAT(refusal(model), IsEmpty());
}

TEST(BadModel, AnInnerNameIsNotThatOfTheBranchAroundIt) {
  ModelBuilder model = nested_branches();
  onnx::GraphProto* outer =
      model.proto().mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  onnx::GraphProto* inner = outer->mutable_node(1)->mutable_attribute(0)->mutable_g();
  // The innermost branch has an `inner` of its own.
  onnx::NodeProto* own = inner->add_node();
  own->set_op_type("Sigmoid");
  own->add_input("x");
  own->add_output("inner");
  inner->mutable_node()->SwapElements(0, 1);
  const TemporaryFolder folder;
  const Graph graph = import_model(model.write(folder), {}).graph;
  const GraphNode& sum = graph.nodes[2];
  EXPECT_EQ(sum.operation, "Add");
  EXPECT_EQ(sum.inputs[0], graph.nodes[1].outputs[0]);
}

TEST(BadModel, DomainsAndCyclesInsideABranchAreRefused) {
  ModelBuilder model = nested_branches();
  onnx::GraphProto* outer =
      model.proto().mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  outer->mutable_node(0)->set_domain("com.example");
  EXPECT_THAT(refusal(model), AllOf(HasSubstr("m.onnx"), HasSubstr("com.example")));
  outer->mutable_node(0)->clear_domain();
  outer->mutable_node(0)->set_input(0, "chosen");
  EXPECT_THAT(refusal(model), AllOf(HasSubstr("m.onnx"), HasSubstr("If")));
}

}  // namespace
}  // namespace fm
