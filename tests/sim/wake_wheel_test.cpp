// The calendar of waves against a sorted map.

#include "sim/gpu/wake_wheel.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace fm {
namespace {

std::set<std::uint32_t> members(WaveSet waves) {
  std::set<std::uint32_t> found;
  while (!waves.empty()) found.insert(waves.take_lowest());
  return found;
}

TEST(WakeWheel, WakesEveryWaveAtItsCycle) {
  std::mt19937_64 random(1);
  WakeWheel wheel;
  std::map<Cycle, std::set<std::uint32_t>> expected;
  std::set<std::uint32_t> sleeping;
  Cycle now = 5;
  for (int i = 0; i < 100000; ++i) {
    const auto wave = static_cast<std::uint32_t>(random() % maximum_waves);
    if (random() % 3 != 0 && sleeping.insert(wave).second) {
      const Cycle cycle = now + 1 + random() % (random() % 4 != 0 ? 60 : 1000);
      wheel.insert(wave, cycle, now);
      expected[cycle].insert(wave);
      continue;
    }
    ASSERT_EQ(wheel.next(now), expected.empty() ? no_cycle : expected.begin()->first);
    if (expected.empty()) continue;
    now = expected.begin()->first;
    ASSERT_EQ(members(wheel.take(now)), expected.begin()->second);
    for (const std::uint32_t woken : expected.begin()->second) sleeping.erase(woken);
    expected.erase(expected.begin());
  }
}

}  // namespace
}  // namespace fm
