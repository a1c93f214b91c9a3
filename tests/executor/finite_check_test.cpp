// Where the first value that is no finite number comes from.
#include "executor/finite_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/diagnostics.hpp"
#include "tests/executor/small_network.hpp"

namespace fm {
namespace {

using test::NetworkOptions;
using test::SmallNetwork;
using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

TEST(FiniteFacts, CountsEachKindAndTheLargestOfTheRest) {
  const FiniteFacts facts = finite_facts({1, -INFINITY, NAN, -3, -INFINITY, 2});
  EXPECT_FALSE(facts.all_finite());
  EXPECT_FALSE(facts.has(NonFinite::infinity));
  EXPECT_EQ(facts.largest, 3);
  EXPECT_EQ(describe(facts, {3, 2}),
            "nan at [1, 0] (1 of 6 values), -inf at [0, 1] (2 of 6 values)");
  EXPECT_TRUE(finite_facts({}).all_finite());
  EXPECT_EQ(describe(finite_facts({NAN}), {}), "nan at [] (1 of 1 values)");
}

/// Runs the network on x with a check; returns its summary.
std::string check(const SmallNetwork& network, const std::vector<float>& x) {
  const TemporaryFolder folder;
  network.write_weights(folder.file("w.fmw"));
  const WeightsIndex index = open_weights_for(network.plan(), folder.file("w.fmw"));
  PlanExecutor executor(network.plan(), index, folder.file("w.fmw"), select_device(""), {});
  const PlanTensor& input = network.plan().tensor("x");
  const ArraysByTensor inputs{{"x", {input.shape, x}}};
  FiniteCheck finite(network.plan(), executor, inputs, folder.file("w.fmw"));
  EXPECT_THAT(finite.notes(), IsEmpty());
  executor.poison();
  executor.write_input(input, to_device_bytes(input, inputs.at("x")));
  executor.run([](std::size_t, std::size_t) {}, &finite);
  return finite.summary();
}

class Checked : public ::testing::TestWithParam<std::tuple<Placement, bool>> {
 protected:
  static SmallNetwork network() {
    NetworkOptions options;
    options.storage = DataType::f16;
    options.enqueue_ahead = 1;
    std::tie(options.weights, options.stream) = GetParam();
    options.activations = options.weights;
    return SmallNetwork(options);
  }
};

TEST_P(Checked, FindsTheLaunchWhereHalfOverflows) {
  const SmallNetwork small = network();
  std::vector<float> x = small.input();
  EXPECT_THAT(check(small, x), HasSubstr("5 launches, values up to "));
  for (float& value : x) value = std::copysign(3e4f, value);
  const auto message = [&] { check(small, x); };
  EXPECT_THAT(message, ThrowsMessage<VerificationError>(
                           AllOf(HasSubstr("launch L0 (matmul"), HasSubstr("`/small/h0`, inf at"),
                                 HasSubstr("at most 30000 (input `/small/x`)"))));
  x[49] = 1e5f;
  EXPECT_THAT(message, ThrowsMessage<VerificationError>(
                           HasSubstr("in f16 it is inf at [0, 1, 1] (1 of 240 values)")));
}

INSTANTIATE_TEST_SUITE_P(All, Checked,
                         ::testing::Combine(::testing::Values(Placement::buffer,
                                                              Placement::image2d),
                                            ::testing::Bool()));

}  // namespace
}  // namespace fm
