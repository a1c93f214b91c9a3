#pragma once
// Runs hand-written traces and looks into their results.

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sim/replay/simulation.hpp"
#include "tests/sim/trace_builder.hpp"

namespace fm::test {

using Settings = std::vector<std::pair<std::string, std::string>>;

/// mali-g715 without what creating an object and asking the disk cost the CPU: tests of other
/// things would have to add it every time.
inline DeviceConfig config_with(const Settings& settings = {}) {
  DeviceConfig config = DeviceConfig::load("mali-g715");
  for (const char* path : {"allocator.base_cost", "allocator.page_cost", "host.disk_request_cpu"}) {
    config.set(path, "0 us");
  }
  config.set("allocator.zero_pages", "false");
  for (const auto& [path, value] : settings) config.set(path, value);
  return config;
}

/// Simulates and requires that every conservation law holds.
inline Result run(const TraceBuilder& builder, const DeviceConfig& config = config_with()) {
  Result result = simulate(config, builder.trace());
  EXPECT_FALSE(result.checks.empty());
  for (const ResultCheck& check : result.checks) {
    EXPECT_TRUE(check.holds()) << check.law << ": " << check.left << " and " << check.right;
  }
  return result;
}

inline const ResultLaunch& launch(const Result& result, const std::string& id) {
  for (const ResultLaunch& candidate : result.launches) {
    if (candidate.id == id) return candidate;
  }
  throw std::out_of_range("no launch " + id);
}

inline std::vector<TimelineEvent> lane(const Result& result, const std::string& name) {
  std::vector<TimelineEvent> events;
  for (const TimelineEvent& event : result.timeline) {
    if (event.lane == name) events.push_back(event);
  }
  return events;
}

inline double counter(const Result& result, const std::string& name) {
  return result.counters.at(name).value;
}

}  // namespace fm::test
