// Random valid configs x random small traces: every run drains and keeps every conservation law.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "sim/replay/simulation.hpp"
#include "tests/core/temporary_folder.hpp"
#include "tests/sim/random_trace.hpp"

namespace fm {
namespace {

/// Broken laws of one run, the seed and config named; empty when all hold.
std::string faults_of(std::uint32_t seed) {
  test::Draw draw(seed);
  const DeviceConfig config = test::random_config(draw);
  std::string faults;
  try {
    const TemporaryFolder folder;
    write_trace(folder.file("a.trace"), test::RandomTraceMaker(seed).make());
    // Read back: only traces that a reader accepts count.
    const Trace trace = read_trace(folder.file("a.trace"));
    SimulationOptions options;
    options.interval = Picoseconds(seed % 4 == 0 ? 1000000000 : 0);
    const Result result = simulate(config, trace, options);
    for (const ResultCheck& check : result.checks) {
      if (check.holds()) continue;
      faults += "\n  " + check.law + ": " + std::to_string(check.left) + " and " +
                std::to_string(check.right);
    }
    if (result.checks.size() < 30) faults += "\n  too few laws checked";
    if (seed % 8 == 0 && to_json(simulate(config, trace, options)) != to_json(result)) {
      faults += "\n  a second run gives another result";
    }
  } catch (const std::exception& error) {
    faults += std::string("\n  ") + error.what();
  }
  if (!faults.empty())
    faults = "seed " + std::to_string(seed) + ":" + faults + "\n" + config.to_yaml();
  return faults;
}

/// Seeds that once failed, or that reach what others seldom do. New failures are added here.
TEST(SimulationProperty, CorpusOfSeedsDrainsAndKeepsTheLaws) {
  for (const std::uint32_t seed : {0u, 1u, 2u, 3u, 5u, 8u, 13u, 21u, 34u, 55u, 89u, 144u}) {
    EXPECT_EQ(faults_of(seed), "");
  }
}

/// FM_PROPERTY_SEED=N starts elsewhere, FM_PROPERTY_CASES=N runs more.
TEST(SimulationProperty, RandomConfigsAndTracesDrainAndKeepTheLaws) {
  const char* const first = std::getenv("FM_PROPERTY_SEED");
  const char* const cases = std::getenv("FM_PROPERTY_CASES");
  const std::uint32_t start =
      first == nullptr ? 1000 : static_cast<std::uint32_t>(std::atoi(first));
  const std::uint32_t count = cases == nullptr ? 300 : static_cast<std::uint32_t>(std::atoi(cases));
  for (std::uint32_t seed = start; seed < start + count; ++seed) {
    const std::string faults = faults_of(seed);
    ASSERT_EQ(faults, "");
  }
}

}  // namespace
}  // namespace fm
