// fmprobe on the OpenCL device of this machine.
#include <gtest/gtest.h>

#include <set>

#include "core/diagnostics.hpp"
#include "executor/probe/probe_compare.hpp"
#include "executor/probe/probe_config.hpp"
#include "executor/probe/probe_run.hpp"

namespace fm {
namespace {

const auto no_progress = [](std::size_t, std::size_t) {};

TEST(Probe, MeasuresEveryPointOfACurve) {
  ProbeDevice device(select_device(""));
  ProbeOptions options;
  options.only = {"local_memory", "launch_latency", "map"};
  options.seconds = 20;
  const ProbeData data = probe(device, options, no_progress);
  std::set<std::string> names;
  for (const auto& [name, curve] : data.curves) names.insert(name);
  EXPECT_EQ(names, (std::set<std::string>{"local_memory", "launch_latency", "enqueue", "map"}));
  EXPECT_EQ(data.curves.at("local_memory").points.size(), 14u);
  for (const auto& [name, curve] : data.curves) {
    for (const MicrobenchPoint& point : curve.points) EXPECT_GT(point.value, 0) << name;
  }
  EXPECT_FALSE(data.reference_ns.empty());
}

TEST(Probe, TimeUpBeforeAnythingIsADeviceError) {
  ProbeDevice device(select_device(""));
  ProbeOptions options;
  options.only = {"map"};
  options.seconds = 1e-9;
  EXPECT_THROW(probe(device, options, no_progress), DeviceError);
}

TEST(Probe, ACurveNobodyKnowsIsRefusedWithTheNames) {
  try {
    check_curves({"wave_wdith"});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("wave_width"), std::string::npos);
  }
}

ProbeData two_points(double first, double second) {
  ProbeData data;
  data.device = "d";
  data.clock_hertz = 1e9;
  data.cores = 1;
  data.curves["map"] = {
      "map", "ns/map", {{{{"bytes", 4096}}, first, 0.01}, {{{"bytes", 8192}}, second, 0.02}}};
  return data;
}

TEST(Probe, ComparisonCountsPointsFartherApart) {
  const ProbeComparison comparison = compare(two_points(100, 100), two_points(105, 125), 0.1);
  EXPECT_EQ(comparison.points, 2u);
  EXPECT_EQ(comparison.apart, 1u);
  EXPECT_NE(comparison.text.find("25.0 %"), std::string::npos);
}

TEST(Probe, FiguresThatContradictTheBaseAreLeftOutAndSaid) {
  const DeviceConfig base = DeviceConfig::load("mali-g76");
  Figures figures;
  figures.found.push_back({"load_store.cache_size", 4096, {}, 0, "test"});
  figures.found.push_back({"l2.line", 32, {}, 0, "test"});  // the L1's is 64 B
  const DeviceConfig config = with_figures(base, &figures);
  EXPECT_EQ(config.bytes("load_store.cache_size"), Bytes(4096));
  EXPECT_EQ(config.bytes("l2.line"), Bytes(64));
  ASSERT_EQ(figures.not_visible.size(), 1u);
  EXPECT_EQ(figures.not_visible[0].path, "l2.line");
  EXPECT_NE(figures.not_visible[0].reason.find("contradicts"), std::string::npos);
  EXPECT_EQ(figures.found.size(), 1u);
}

}  // namespace
}  // namespace fm
