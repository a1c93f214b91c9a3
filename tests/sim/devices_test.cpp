// Every device config this project ships: it loads (complete, valid, every number with its source)
// and simulates a small trace that uses each part of the device, with all conservation laws
// holding.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "paths.hpp"
#include "sim/replay/simulation.hpp"
#include "tests/sim/trace_builder.hpp"

namespace fm {
namespace {

using trace::GROUP_X, trace::LOCAL_X, trace::LOOP;

std::vector<std::string> shipped_devices() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(FM_CONFIGS)) {
    if (entry.is_regular_file()) names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class ShippedDevice : public testing::TestWithParam<std::string> {
 protected:
  DeviceConfig config_ = DeviceConfig::load(std::string(FM_CONFIGS) + "/" + GetParam() + ".yaml");
};

/// 64 items a group, `groups` of them: a row of texels of argument 0 through local memory into
/// argument 1, several times.
trace::AccessProgram through_every_path(std::uint32_t groups) {
  auto program = test::empty_program({64, 1, 1}, {groups, 1, 1});
  program.add_local_arrays()->set_bytes(64 * 16);
  auto* body = test::add_loop(program.mutable_body(), 0, test::expression(0), test::expression(8));
  test::add_access(&program, body, trace::IMAGE, false, 8, 0,
                   test::expression(0, {{1, LOCAL_X}, {64, LOOP, 0}}),
                   test::expression(0, {{1, GROUP_X}}));
  test::add_arithmetic(body, trace::FMA, 16);
  test::add_arithmetic(body, trace::SPECIAL, 4);
  test::add_access(&program, body, trace::LOCAL, true, 16, 0, test::expression(0, {{16, LOCAL_X}}));
  body->Add()->mutable_barrier();
  test::add_access(&program, body, trace::LOCAL, false, 16, 0,
                   test::expression(63 * 16, {{-16, LOCAL_X}}));
  body->Add()->mutable_barrier();
  test::add_access(&program, body, trace::GLOBAL, true, 16, 1,
                   test::expression(0, {{16, LOCAL_X}, {1024, LOOP, 0}, {8192, GROUP_X}}));
  return program;
}

TEST_P(ShippedDevice, IsNamedAfterItsFileAndCitesEveryValue) {
  EXPECT_EQ(config_.name(), GetParam());
  EXPECT_EQ(config_.values().size(), device_config_schema().size());
  for (const auto& [path, value] : config_.values()) {
    EXPECT_FALSE(value.citation.empty()) << path;
    if (value.source == SourceKind::assumed) {
      EXPECT_GE(value.citation.size(), 7u) << path << ": an assumed value states its rule";
    }
  }
}

TEST_P(ShippedDevice, DrainsASmallTraceWithAllLawsHolding) {
  constexpr std::uint32_t groups = 32;
  constexpr std::uint64_t mib = 1 << 20;
  test::TraceBuilder trace;
  const auto program = trace.add_program(through_every_path(groups));
  const auto weights = trace.buffer(1, mib, trace::UM_IN_FLIGHT);
  const auto texels = trace.image(2, 512, groups);
  trace.buffer(3, mib);
  const auto read = trace.read(1, mib, {weights});
  const auto copied = trace.copy(1, 2, 0, groups, 8 * 512 * groups, 0, "L1", {read, texels});
  trace.wait({trace.launch("L1", program, {2, 3}, {copied}, 1000)});

  const Result result = simulate(config_, trace.trace());
  EXPECT_FALSE(result.checks.empty());
  for (const ResultCheck& check : result.checks) {
    EXPECT_TRUE(check.holds()) << check.law << ": " << check.left << " and " << check.right;
  }
  ASSERT_EQ(result.launches.size(), 2u) << "the copy and the kernel";
  for (const ResultLaunch& launch : result.launches) EXPECT_GT(launch.end, launch.start);
}

INSTANTIATE_TEST_SUITE_P(Devices, ShippedDevice, testing::ValuesIn(shipped_devices()),
                         [](const testing::TestParamInfo<std::string>& device) {
                           std::string name = device.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(ShippedDevices, AreThoseOfTheDocumentation) {
  EXPECT_THAT(shipped_devices(),
              testing::IsSupersetOf({"adreno-540", "adreno-640", "adreno-660", "adreno-730",
                                     "adreno-740", "adreno-750", "mali-g52", "mali-g57",
                                     "mali-g610", "mali-g715", "mali-g76", "pocl-host"}));
}

}  // namespace
}  // namespace fm
