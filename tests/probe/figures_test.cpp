// Figures read off curves whose answers are known.
#include <gtest/gtest.h>

#include "tests/probe/synthetic_device.hpp"

namespace fm {
namespace {

using MicrobenchAxes = std::vector<std::pair<std::string, std::int64_t>>;

ProbeData device_of(MicrobenchCurve curve) {
  ProbeData data;
  data.device = "synthetic";
  data.clock_hertz = 1e9;
  data.cores = 4;
  data.curves.emplace(curve.name, std::move(curve));
  return data;
}

/// Two levels of caches before memory, as its structure; no figure of it is sought.
DeviceConfig two_levels() { return DeviceConfig::load("mali-g76"); }

Figures figures_of(MicrobenchCurve curve) {
  return figures_of(device_of(std::move(curve)), two_levels());
}

bool is_not_visible(const Figures& figures, const std::string& path) {
  const auto& all = figures.not_visible;
  return figures.find(path) == nullptr &&
         std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.path == path; });
}

TEST(Plateaus, OutliersMoveNoEdge) {
  std::vector<CurveSample> samples;
  for (int i = 1; i <= 40; ++i) samples.push_back({100.0 * i, i <= 20 ? 10.0 : 30.0});
  samples[7].y = 25;
  samples[30].y = 90;
  const auto plateaus = plateaus_of(samples, 0.02);
  ASSERT_EQ(plateaus.size(), 2u);
  EXPECT_EQ(plateaus[0].last, 2000);
  EXPECT_EQ(plateaus[0].next, 2100);
  EXPECT_EQ(plateaus[0].level, 10);
  EXPECT_EQ(plateaus[1].level, 30);
}

TEST(Plateaus, ASlopeHasNone) {
  std::vector<CurveSample> samples;
  for (int i = 1; i <= 40; ++i) samples.push_back({100.0 * i, 10.0 * i});
  EXPECT_TRUE(plateaus_of(samples, 0.02).empty());
}

struct TwoLevels {
  SyntheticLevel first, second;
};

class FiguresOfCaches : public testing::TestWithParam<TwoLevels> {};

TEST_P(FiguresOfCaches, AreFoundUnderNoise) {
  const auto& [first, second] = GetParam();
  for (const double spread : {0.0, 0.003}) {
    SCOPED_TRACE(spread);
    const Figures figures = figures_of(walked_curve({first, second}, 200, spread));
    EXPECT_EQ(figures.number_or("load_store.cache_size", 0), static_cast<double>(first.bytes));
    EXPECT_EQ(figures.number_or("l2.size", 0), static_cast<double>(second.bytes));
    EXPECT_EQ(figures.number_or("load_store.line", 0), static_cast<double>(first.line));
    EXPECT_EQ(figures.number_or("load_store.ways", 0), static_cast<double>(first.ways));
    // Clock of 1 GHz: nanoseconds are cycles; five of them are the loop's.
    EXPECT_NEAR(figures.number_or("load_store.latency", 0), first.hit_ns - 5, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Caches, FiguresOfCaches,
                         testing::Values(TwoLevels{{4096, 64, 4, 20}, {65536, 64, 16, 60}},
                                         TwoLevels{{1024, 32, 16, 40}, {32768, 64, 8, 100}},
                                         TwoLevels{{8192, 16, 8, 30}, {65536, 64, 8, 80}}));

TEST(Figures, MissingLevelsAreSaid) {
  const Figures figures = figures_of(walked_curve({{4096, 64, 4, 20}}, 200, 0));
  EXPECT_EQ(figures.number_or("load_store.cache_size", 0), 4096);
  EXPECT_TRUE(is_not_visible(figures, "l2.size"));
  EXPECT_TRUE(is_not_visible(figures, "l2.latency"));
}

TEST(Figures, FlatLatencyShowsNoCapacity) {
  MicrobenchCurve curve = walked_curve({{1 << 20, 64, 16, 20}}, 200, 0.002);
  const Figures figures = figures_of(curve);
  EXPECT_TRUE(is_not_visible(figures, "load_store.cache_size"));
  EXPECT_NE(figures.find("load_store.latency"), nullptr);
}

TEST(Figures, NoiseAboveTheStepsHidesThem) {
  MicrobenchCurve curve = walked_curve({{4096, 64, 4, 20}, {65536, 64, 16, 21}}, 22, 0.1);
  const Figures figures = figures_of(curve);
  EXPECT_TRUE(is_not_visible(figures, "load_store.cache_size"));
}

MicrobenchCurve wave_curve(double width, double spread) {
  Noise noise(spread);
  MicrobenchCurve curve{"wave_width", "ns/round", {}};
  for (const int threads :
       {1, 4, 8, 9, 12, 16, 17, 24, 32, 33, 48, 64, 65, 96, 128, 129, 192, 256}) {
    curve.points.push_back(
        {{{"threads", threads}}, noise(50 + 1000 * std::ceil(threads / width)), spread});
  }
  return curve;
}

TEST(Figures, WaveWidthIsThatOfTheSteps) {
  for (const double width : {4.0, 8.0, 16.0, 32.0, 64.0, 128.0}) {
    EXPECT_EQ(figures_of(wave_curve(width, 0)).number_or("gpu.wave_width", 0), width);
  }
  // One work-item after another, as on a CPU.
  EXPECT_TRUE(is_not_visible(figures_of(wave_curve(1, 0.01)), "gpu.wave_width"));
}

TEST(Figures, ArithmeticRateIsThatOfTheFullestWaves) {
  // 240 groups of 256 work-items do 64 multiply-adds each in 32,050 ns, on 4 cores at 1 GHz.
  const Figures figures = figures_of(wave_curve(8, 0));
  EXPECT_NEAR(figures.number_or("gpu.fma_per_clock", 0), 240.0 * 256 * 64 / 32050 / 4, 3);
}

TEST(Figures, RatesByTypeNeedWaves) {
  for (const double width : {8.0, 1.0}) {
    ProbeData data = device_of(wave_curve(width, 0));
    // Of 256 work-items: integers at 16 operations a clock and core of 4, half at twice fp32.
    MicrobenchCurve integers{"rate_integer", "ns/round", {}}, halves = integers;
    integers.points.push_back({{{"threads", 256}}, 240 * 256 * 128 / 16.0 / 4});
    data.curves["rate_integer"] = integers;
    halves.points.push_back({{{"threads", 256}}, 32050 / 2.0});
    data.curves["rate_half"] = halves;
    const Figures figures = figures_of(data, two_levels());
    if (width == 1) {
      EXPECT_TRUE(is_not_visible(figures, "gpu.integer_per_clock"));
      continue;
    }
    EXPECT_NEAR(figures.number_or("gpu.integer_per_clock", 0), 16, 2);  // whole engines
    EXPECT_EQ(figures.number_or("gpu.fp16_ratio", 0), 2);
  }
}

/// A device of two cores at 2 GHz, as a CPU's config describes it.
ProbeData cpu_data() {
  ProbeData data;
  data.device = "a CPU";
  data.clock_hertz = 2e9;
  data.cores = 2;
  data.order = RingOrder::shuffled;
  data.facts = {{"l1_bytes", "32768"},  {"l1_ways", "8"},  {"l1_line", "64"},
                {"l2_bytes", "524288"}, {"l2_ways", "16"}, {"l2_line", "64"},
                {"l3_bytes", "8388608"}};
  return data;
}

void add_points(ProbeData* data, const std::string& curve,
                const std::vector<std::pair<MicrobenchAxes, double>>& points) {
  data->curves[curve].name = curve;
  for (const auto& [axes, value] : points) data->curves[curve].points.push_back({axes, value});
}

TEST(CpuFigures, RatesAreThoseOfVectorsIndicesAndExponentials) {
  ProbeData data = cpu_data();
  // A round of 240 groups of 64 work-items, at so many operations a nanosecond of both cores.
  const auto round = [](double operations, double a_nanosecond) {
    return 240 * 64 * operations / a_nanosecond;
  };
  add_points(&data, "rate_vector", {{{{"threads", 64}}, round(512, 2 * 2 * 20)}});
  add_points(&data, "rate_index", {{{{"threads", 64}}, round(192, 2 * 2 * 0.5)}});
  add_points(&data, "rate_exponential", {{{{"threads", 64}}, round(64, 2 * 2 * 0.25)}});
  const Figures figures = figures_of(data, DeviceConfig::load("pocl-host"));
  EXPECT_NEAR(figures.number_or("gpu.fma_per_clock", 0), 20, 1e-9);
  EXPECT_NEAR(figures.number_or("gpu.integer_per_clock", 0), 0.5, 1e-9);
  EXPECT_NEAR(figures.number_or("gpu.special_per_clock", 0), 0.25, 1e-9);
  EXPECT_EQ(figures.find("gpu.wave_width"), nullptr);
}

TEST(CpuFigures, WhatAWorkItemTakesBeyondItsAccesses) {
  ProbeData data = cpu_data();
  // Half an access a clock and core, of whatever width: 2 GB/s for each byte of it.
  add_points(&data, "bandwidth_buffer",
             {{{{"footprint", 1024}, {"width", 4}}, 2.0 * 4},
              {{{"footprint", 1024}, {"width", 16}}, 2.0 * 16},
              {{{"footprint", 1024}, {"width", 32}}, 2.0 * 16}});
  // 12 cycles a work-item of one core: 3 ns of two; four of them are its two accesses.
  add_points(&data, "elementwise", {{{{"footprint", 1 << 20}}, 3.0}});
  add_points(&data, "bandwidth_image", {{{{"texel", 8}, {"footprint", 1024}}, 0.1}});
  const Figures figures = figures_of(data, DeviceConfig::load("pocl-host"));
  EXPECT_NEAR(figures.number_or("load_store.lanes_per_clock", 0), 0.5, 1e-9);
  EXPECT_NEAR(figures.number_or("gpu.work_item_start", 0), 8, 1e-9);
  EXPECT_NEAR(figures.number_or("texture.texels_per_clock", 0), 0.05, 1e-9);
}

TEST(CpuFigures, CapacitiesAreTheOperatingSystemsAndLatenciesLieWithinThem) {
  ProbeData data = cpu_data();
  const auto hop = [](std::int64_t footprint) {
    if (footprint <= 32 << 10) return 3.0;
    if (footprint <= 512 << 10) return 12.0;
    return footprint <= 8 << 20 ? 30.0 : 90.0;
  };
  std::vector<std::pair<MicrobenchAxes, double>> points;
  for (std::int64_t footprint = 1024; footprint <= 64 << 20; footprint *= 2) {
    points.push_back({{{"footprint", footprint}, {"stride", 64}}, hop(footprint)});
  }
  add_points(&data, "pointer_chase_buffer", points);
  const Figures figures = figures_of(data, DeviceConfig::load("pocl-host"));
  EXPECT_EQ(figures.number_or("load_store.cache_size", 0), 32 << 10);
  EXPECT_EQ(figures.number_or("texture.ways", 0), 8);
  EXPECT_EQ(figures.number_or("l2.size", 0), 1 << 20) << "one a core";
  EXPECT_EQ(figures.number_or("slc.size", 0), 8 << 20);
  EXPECT_EQ(figures.number_or("load_store.latency", 0), 1) << "6 cycles, 5 of them the loop's";
  EXPECT_EQ(figures.number_or("slc.latency", 0), 18e3) << "picoseconds beyond the L2";
  EXPECT_EQ(figures.find("load_store.cache_size")->source, SourceKind::spec);
}

MicrobenchCurve local_curve(int banks, double odd_share) {
  MicrobenchCurve curve{"local_memory", "B/ns", {}};
  for (const int stride : {1, 2, 3, 4, 7, 8, 16, 17, 32, 33}) {
    const int even = stride & -stride;
    const double share =
        1.0 / std::min(even, banks) * (stride % 2 == 1 && stride > 1 ? odd_share : 1);
    curve.points.push_back({{{"width", 4}, {"stride", stride}}, 4 * 64 * share});
  }
  return curve;
}

TEST(Figures, BanksAreWhereConflictsGrowNoMore) {
  for (const int banks : {4, 8, 16}) {
    EXPECT_EQ(figures_of(local_curve(banks, 1)).number_or("local.banks", 0), banks);
  }
  EXPECT_TRUE(is_not_visible(figures_of(local_curve(32, 1)), "local.banks"));
  EXPECT_TRUE(is_not_visible(figures_of(local_curve(16, 0.4)), "local.banks"));
  EXPECT_TRUE(is_not_visible(figures_of(local_curve(1, 1)), "local.banks"));
}

MicrobenchCurve occupancy_curve(double step) {
  MicrobenchCurve curve{"occupancy", "ns/round", {}};
  for (const int registers : {24, 32, 33, 48, 64, 96}) {
    curve.points.push_back(
        {{{"registers", registers}, {"local_bytes", 256}}, registers > 32 ? step * 100 : 100});
  }
  return curve;
}

TEST(Figures, OccupancyHalvesAtAStep) {
  EXPECT_EQ(figures_of(occupancy_curve(2)).number_or("gpu.full_occupancy_registers", 0), 32);
  EXPECT_TRUE(is_not_visible(figures_of(occupancy_curve(1)), "gpu.full_occupancy_registers"));
}

TEST(Figures, DriftIsThatOfTheSecondHalf) {
  EXPECT_NEAR(drift_of({100, 101, 99, 100, 110, 111, 109, 110}), 0.1, 0.001);
  EXPECT_EQ(drift_of({100, 200}), 0);
}

}  // namespace
}  // namespace fm
