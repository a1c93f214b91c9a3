// Figures read off curves whose answers are known.
#include <gtest/gtest.h>

#include "tests/probe/synthetic_device.hpp"

namespace fm {
namespace {

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

Figures figures_of(MicrobenchCurve curve) { return figures_of(device_of(curve), two_levels()); }

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
