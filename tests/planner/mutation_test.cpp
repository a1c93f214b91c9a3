// Damaged models: whatever the bytes, the planner makes a plan or says what is wrong with the file.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/diagnostics.hpp"
#include "tests/fuzz/seed_models.hpp"
#include "tests/planner/test_plan.hpp"

namespace fm {
namespace {

using Bits = std::mt19937;

std::size_t below(std::size_t end, Bits& bits) { return bits() % std::max<std::size_t>(end, 1); }

/// Flipped bits, other bytes, a cut, or a piece that is there twice or not at all.
std::string damaged(std::string text, Bits& bits) {
  for (std::size_t times = 1 + below(3, bits); times > 0 && !text.empty(); --times) {
    const std::size_t at = below(text.size(), bits);
    const std::size_t count = std::min(1 + below(40, bits), text.size() - at);
    switch (below(6, bits)) {
      case 0:
        text[at] = static_cast<char>(text[at] ^ (1 << below(8, bits)));
        break;
      case 1:
        text[at] = static_cast<char>(bits());
        break;
      case 2:
        text[at] = static_cast<char>(below(16, bits));
        break;
      case 3:
        text.erase(at, count);
        break;
      case 4:
        text.insert(below(text.size(), bits), text.substr(at, count));
        break;
      default:
        text.resize(at);
    }
  }
  return text;
}

template <class Items>
void damage_numbers(Items* items, Bits& bits) {
  static const std::int64_t numbers[] = {
      0,         1,        -1, 2, 3, -3, 7, 1 << 20, std::int64_t{1} << 40, std::int64_t{1} << 62,
      INT64_MAX, INT64_MIN};
  if (items->empty() || below(4, bits) == 0) {
    items->Add(numbers[below(12, bits)]);
  } else if (below(4, bits) == 0) {
    items->RemoveLast();
  } else {
    items->Set(static_cast<int>(below(static_cast<std::size_t>(items->size()), bits)),
               numbers[below(12, bits)]);
  }
}

/// Still a well-formed message, but with values, dimensions, settings or operators exchanged.
void damage_graph(onnx::GraphProto* graph, Bits& bits) {
  static const char* const operations[] = {"Conv",        "ConvTranspose", "MaxPool",
                                           "AveragePool", "Resize",        "Pad",
                                           "Reshape",     "Concat",        "Gather",
                                           "GatherND",    "ScatterND",     "Slice",
                                           "Split",       "Squeeze",       "Tile",
                                           "Transpose",   "ReduceSum",     "Softmax",
                                           "MatMul",      "Gemm",          "Where",
                                           "OneHot",      "Expand",        "TopK",
                                           "Range",       "EyeLike",       "Unsqueeze",
                                           "Cast",        "Add",           "DepthToSpace",
                                           "CumSum",      "Flatten",       "LayerNormalization",
                                           "Sum"};
  constexpr std::size_t operation_count = sizeof(operations) / sizeof(operations[0]);
  const auto some = [&](auto* items) {
    return items->Mutable(static_cast<int>(below(static_cast<std::size_t>(items->size()), bits)));
  };
  if (graph->node().empty()) return;
  onnx::NodeProto* node = some(graph->mutable_node());
  switch (below(8, bits)) {
    case 0:
      node->set_op_type(operations[below(operation_count, bits)]);
      break;
    case 1: {
      const onnx::NodeProto* other = some(graph->mutable_node());
      if (!other->input().empty()) node->add_input(other->input(0));
      break;
    }
    case 2:
      if (!node->input().empty()) node->mutable_input()->RemoveLast();
      break;
    case 3:
      if (below(2, bits) == 0) {
        node->add_output("more");
      } else if (!node->output().empty()) {
        node->mutable_output()->RemoveLast();
      }
      break;
    case 4:
      if (!graph->initializer().empty()) {
        onnx::TensorProto* tensor = some(graph->mutable_initializer());
        damage_numbers(tensor->mutable_dims(), bits);
      }
      break;
    case 5:
      if (!graph->initializer().empty()) {  // other contents of the same size
        onnx::TensorProto* tensor = some(graph->mutable_initializer());
        for (char& byte : *tensor->mutable_raw_data()) {
          if (below(4, bits) == 0) byte = static_cast<char>(bits());
        }
      }
      break;
    case 6:
      if (!graph->input().empty()) {
        auto* shape = some(graph->mutable_input())->mutable_type()->mutable_tensor_type();
        if (shape->shape().dim().empty() || below(3, bits) == 0) {
          shape->mutable_shape()->add_dim()->set_dim_value(1);
        } else {
          some(shape->mutable_shape()->mutable_dim())->set_dim_value(below(9, bits));
        }
      }
      break;
    default:
      if (node->attribute().empty()) return;
      onnx::AttributeProto* attribute = some(node->mutable_attribute());
      if (attribute->has_g()) return damage_graph(attribute->mutable_g(), bits);
      damage_numbers(attribute->mutable_ints(), bits);
      attribute->set_i(attribute->ints().empty() ? 0 : attribute->ints(0));
  }
}

/// A fault shows as another exception or as a crash.
void plan_or_refuse(const std::string& bytes, const TemporaryFolder& folder,
                    const DeviceConfig& config, const std::string& what) {
  write_file(folder.file("m.onnx"), bytes);
  try {
    make_plan(folder.file("m.onnx"), config, {});
  } catch (const UserError&) {
  } catch (const std::exception& error) {
    ADD_FAILURE() << what << ": " << error.what();
  }
}

TEST(Mutations, SeedsArePlanned) {
  for (const ModelBuilder& model : seed_models()) EXPECT_GT(plan_of(model).launches.size(), 0u);
}

TEST(Mutations, DamagedBytesAreRefusedOrPlanned) {
  const TemporaryFolder folder;
  const DeviceConfig config = test_config();
  std::size_t seed = 0;
  for (const ModelBuilder& model : seed_models()) {
    const std::string whole = model.proto().SerializeAsString();
    for (std::uint32_t trial = 0; trial < 250; ++trial) {
      Bits bits(trial);
      plan_or_refuse(damaged(whole, bits), folder, config,
                     "bytes" + std::to_string(seed) + "-" + std::to_string(trial));
    }
    ++seed;
  }
}

TEST(Mutations, DamagedGraphsAreRefusedOrPlanned) {
  const TemporaryFolder folder;
  const DeviceConfig config = test_config();
  std::size_t seed = 0;
  for (const ModelBuilder& model : seed_models()) {
    for (std::uint32_t trial = 0; trial < 500; ++trial) {
      Bits bits(trial);
      onnx::ModelProto proto = model.proto();
      for (std::size_t times = 1 + below(3, bits); times > 0; --times) {
        damage_graph(proto.mutable_graph(), bits);
      }
      plan_or_refuse(proto.SerializeAsString(), folder, config,
                     "graph" + std::to_string(seed) + "-" + std::to_string(trial));
    }
    ++seed;
  }
}

}  // namespace
}  // namespace fm
