// Runs, and loads and unloads, leave no memory behind.
#include <gtest/gtest.h>

#include "executor/model_io.hpp"
#include "executor/plan_executor.hpp"
#include "executor/process_memory.hpp"
#include "tests/executor/small_network.hpp"

namespace fm {
namespace {

using test::NetworkOptions;
using test::SmallNetwork;
using test::TemporaryFolder;

std::int64_t resident() {
  return_freed_memory();
  const ProcessMemory memory = read_process_memory();
  return static_cast<std::int64_t>((memory.resident_anonymous + memory.resident_file).count());
}

/// Sanitizers keep freed memory.
constexpr bool memory_is_the_programs_own =
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    false;
#else
    true;
#endif

class FlatMemory : public ::testing::TestWithParam<NetworkOptions> {
 protected:
  FlatMemory() : network_(GetParam()) {
    network_.write_weights(folder_.file("w.fmw"));
    index_ = open_weights_for(network_.plan(), folder_.file("w.fmw"));
  }
  void SetUp() override {
    if (!memory_is_the_programs_own) GTEST_SKIP() << "a sanitizer keeps freed memory";
  }
  void expect_growth_below(std::int64_t most, std::int64_t before) {
    const std::int64_t growth = resident() - before;
    RecordProperty("growth_bytes", std::to_string(growth));
    EXPECT_LT(growth, most);
  }
  std::unique_ptr<PlanExecutor> loaded() {
    return std::make_unique<PlanExecutor>(
        network_.plan(), index_, folder_.file("w.fmw"), select_device(""),
        ExecutorOptions{std::nullopt, folder_.file("cache"), false});
  }
  void run(PlanExecutor& executor) {
    const PlanTensor& input = network_.plan().tensor("x");
    executor.poison();
    executor.write_input(input, to_device_bytes(input, {input.shape, network_.input()}));
    executor.run([](std::size_t, std::size_t) {});
    executor.recorder().stop_keeping();
  }

  SmallNetwork network_;
  TemporaryFolder folder_;
  WeightsIndex index_;
};

TEST_P(FlatMemory, TwoHundredRuns) {
  const auto executor = loaded();
  constexpr int warm_up = 40, runs = 200;
  constexpr std::int64_t most = 512 << 10;  // bytes, 3 KiB a run
  for (int i = 0; i < warm_up; ++i) run(*executor);
  const std::int64_t before = resident();
  for (int i = warm_up; i < runs; ++i) run(*executor);
  expect_growth_below(most, before);
}

TEST_P(FlatMemory, TwentyLoadsAndUnloads) {
  constexpr int warm_up = 5, cycles = 20;
  constexpr std::int64_t most = 1 << 20;  // bytes, 70 KiB a cycle
  for (int i = 0; i < warm_up; ++i) run(*loaded());
  const std::int64_t before = resident();
  for (int i = warm_up; i < cycles; ++i) run(*loaded());
  expect_growth_below(most, before);
}

NetworkOptions preloaded(Placement placement) {
  NetworkOptions options;
  options.weights = options.activations = placement;
  options.width = 96;
  return options;
}

NetworkOptions streamed(Placement placement) {
  NetworkOptions options = preloaded(placement);
  options.stream = true;
  options.ring = Bytes(96 * 96 * 4);
  return options;
}

INSTANTIATE_TEST_SUITE_P(Policies, FlatMemory,
                         ::testing::Values(preloaded(Placement::buffer),
                                           streamed(Placement::buffer),
                                           streamed(Placement::image2d)));

}  // namespace
}  // namespace fm
