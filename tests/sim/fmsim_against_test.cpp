// fmsim --against: one question about a device.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/sim/fmsim_process.hpp"

namespace fm {
namespace {

using test::Outcome;
using testing::HasSubstr;
using testing::Not;

class Against : public test::FmsimProcess {
 protected:
  nlohmann::json row(const nlohmann::json& difference, const std::string& name) const {
    for (const auto& one : difference["headline"]) {
      if (one["name"] == name) return one;
    }
    return {};
  }
};

TEST_F(Against, SaysWhatEachRunAloneSays) {
  const std::string slow = " --set storage.read_bandwidth=100MB/s";
  const Outcome outcome = run(replay() + slow + " --against adreno-750 --json --jobs 2");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto difference = nlohmann::json::parse(outcome.out);
  const auto latency = row(difference, "integrated latency");
  const auto now = nlohmann::json::parse(run(replay() + slow + " --json").out);
  const auto against =
      nlohmann::json::parse(run("--config adreno-750 --trace " + trace() + " --json").out);
  EXPECT_EQ(latency["now"], now["latency"]["integrated_ns"]);
  EXPECT_EQ(latency["against"], against["latency"]["integrated_ns"]);
}

TEST_F(Against, TheSameDeviceDoesNotDiffer) {
  const Outcome outcome = run(replay() + " --against mali-g715");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("integrated latency"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("Counters")));
  for (const std::string& name : files()) EXPECT_THAT(name, Not(HasSubstr("json")));
}

TEST_F(Against, AssumptionsDoNotTurnASlowerDisk) {
  const Outcome outcome = run(replay() +
                              " --set storage.read_bandwidth=100MB/s --against mali-g715 --json "
                              "--assumed-within 25% --jobs 2");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto latency = row(nlohmann::json::parse(outcome.out), "integrated latency");
  EXPECT_GT(latency["now"], latency["against"]);
  EXPECT_TRUE(latency["sign_known"]);
}

TEST_F(Against, ALargerCacheIsSlowerToReachWhenScaled) {
  const std::string larger = replay() + " --set l2.size=4MiB";
  const Outcome plain = run(larger + " --json"),
                scaled = run(larger + " --json --capacities scaled");
  ASSERT_EQ(scaled.status, 0) << scaled.err;
  EXPECT_THAT(plain.err, HasSubstr("iso-latency: l2.size changes"));
  EXPECT_THAT(scaled.err, Not(HasSubstr("iso-latency")));
  const auto energy = [](const Outcome& outcome) {
    return nlohmann::json::parse(outcome.out)["energy"]["total_nj"].get<double>();
  };
  EXPECT_GT(energy(scaled), energy(plain));
}

TEST_F(Against, WhatDoesNotGoTogetherIsRefused) {
  expect_refused(replay() + " --against mali-g716", {"mali-g716", "mali-g715"});
  expect_refused(replay() + " --against mali-g715 --config adreno-750", {"--against", "one"});
  expect_refused(replay() + " --against mali-g715 --chrome-trace " + path("c.json"),
                 {"--chrome-trace"});
  expect_refused(replay() + " --against mali-g715 --set l2.sise=4MiB", {"l2.size"});
  expect_refused(replay() + " --assumed-within 25%", {"--against"});
  expect_refused(replay() + " --against mali-g715 --assumed-within 200%", {"--assumed-within"});
  expect_refused(replay() + " --against mali-g715 --assumed-within much", {"--assumed-within"});
  expect_refused(replay() + " --capacities larger", {"iso-latency", "scaled"});
  expect_refused("--config mali-g715 --trace none.trace --against mali-g715", {"none.trace"});
}

}  // namespace
}  // namespace fm
