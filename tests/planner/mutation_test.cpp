// Damaged models: whatever the bytes, the planner makes a plan or says what is wrong with the file.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/diagnostics.hpp"
#include "tests/fuzz/model_mutator.hpp"
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
  const TemporaryFolder folder;
  write_seed_weights(folder);
  for (const ModelBuilder& model : seed_models()) {
    EXPECT_GT(make_plan(model.write(folder), test_config(), {}).launches.size(), 0u);
  }
}

TEST(Mutations, DamagedBytesAreRefusedOrPlanned) {
  const TemporaryFolder folder;
  write_seed_weights(folder);
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
  write_seed_weights(folder);
  const DeviceConfig config = test_config();
  std::size_t seed = 0;
  for (const ModelBuilder& model : seed_models()) {
    for (std::uint32_t trial = 0; trial < 500; ++trial) {
      ModelMutator mutator(trial);
      onnx::ModelProto proto = model.proto();
      for (std::uint32_t times = 1 + trial % 3; times > 0; --times) mutator.mutate(&proto);
      plan_or_refuse(proto.SerializeAsString(), folder, config,
                     "graph" + std::to_string(seed) + "-" + std::to_string(trial));
    }
    ++seed;
  }
}

}  // namespace
}  // namespace fm
