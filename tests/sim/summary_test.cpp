#include "sim/stats/summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "sim/stats/lane_columns.hpp"
#include "sim/stats/summary_wide.hpp"

namespace fm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Nanoseconds us(std::uint64_t count) { return Nanoseconds(count * 1000); }

ResultLaunch launch(const std::string& kernel, Nanoseconds start, Nanoseconds end,
                    const std::string& bound, std::uint64_t macs, double nanojoules,
                    const std::map<std::string, double>& stalls, double clock_mhz = 500) {
  ResultLaunch launch;
  launch.kernel = kernel;
  launch.start = start;
  launch.end = end;
  launch.bound = bound;
  launch.macs = macs;
  launch.energy.total_nj = nanojoules;
  launch.stalls = stalls;
  launch.clock_mhz = clock_mhz;
  return launch;
}

MemorySample sample(Nanoseconds time, std::uint64_t preloaded, std::uint64_t driver) {
  MemorySample sample;
  sample.time = time;
  sample.claims.preloaded = Bytes(preloaded);
  sample.driver = Bytes(driver);
  return sample;
}

/// 600 us: sixty columns of 10 us.
Result small_run() {
  Result result;
  result.trace_file = "small.trace";
  result.latency.integrated = us(600);
  result.timeline = {
      {"host", "context", us(0), us(100)}, {"disk", "w1", us(100), us(203)},  // 3 us of column 20
      {"disk", "w2", us(150), us(180)},                                       // beside w1
      {"disk", "w4", us(214), us(218)},                                       // 4 us of column 21
      {"disk", "w3", us(229), us(230)},                                       // 1 us of column 22
      {"copy", "w1", us(220), us(227)},                                       // 7 us of column 22
      {"gpu", "L0", us(300), us(500)},     {"gpu", "L1", us(500), us(600)}};
  result.memory.peak = Bytes(1024);
  result.memory.over_time = {sample(us(50), 0, 100), sample(us(205), 800, 100),
                             sample(us(207), 924, 100), sample(us(209), 500, 12),
                             sample(us(590), 0, 0)};
  result.launches = {
      launch("matmul", us(300), us(500), "latency", 2'000'000, 3e6, {{"busy", 0.1}, {"load", 0.9}}),
      launch("softmax", us(500), us(550), "", 0, 5e5, {{"busy", 1}}, 1000),
      launch("matmul", us(550), us(600), "latency", 3'000'000, 1e6, {}),
      launch("matmul", us(600), us(600), "texture", 0, 0, {})};
  return result;
}

void count(Result* result, const std::string& name, double value) {
  result->counters[name] = {value, "", ""};
}

DeviceConfig phone() {
  DeviceConfig config = DeviceConfig::load("mali-g715");
  for (const auto& [path, value] :
       std::map<std::string, std::string>{{"load_store.cache_size", "16KiB"},
                                          {"load_store.line", "64B"},
                                          {"texture.cache_size", "32KiB"},
                                          {"texture.line", "128B"},
                                          {"l2.size", "2MiB"},
                                          {"l2.line", "64B"},
                                          {"slc.size", "8MiB"},
                                          {"slc.line", "64B"},
                                          {"dram.burst_length", "16"},
                                          {"dram.channel_width_bits", "16"}}) {
    config.set(path, value);
  }
  return config;
}

std::vector<std::string> lines_after(const std::string& text, const std::string& title) {
  std::istringstream lines(text.substr(text.find("\n" + title) + 1));
  std::vector<std::string> found;
  for (std::string line; std::getline(lines, line) && !line.empty();) found.push_back(line);
  return found;
}

TEST(WideSummary, LanesAreBusyWhereTheirEventsAre) {
  EXPECT_THAT(
      lines_after(wide_summary_of(small_run(), phone()), "Lanes"),
      ElementsAre(
          "Lanes over time, a column is 10.0 us",
          "  disk   |          ##########.:.                                     |   18.0 %",
          "  copy   |                      #                                     |   1.17 %",
          "  gpu    |                              ##############################|   50.0 %",
          "  host   |##########                                                  |   16.7 %",
          "  memory |     000000000000000#55555555555555555555555555555555555555 | 1.00 KiB",
          "  busy . less than 1/3 of a column, : less than 2/3, # more; right: of the run",
          "  memory at most, in tenths of its peak, which is # and on the right"));
}

TEST(WideSummary, OtherLanesOfTheTimelineComeLast) {
  Result result = small_run();
  result.timeline.push_back({"reader", "thread 1", us(0), us(600)});
  const auto lines = lines_after(wide_summary_of(result, phone()), "Lanes");
  EXPECT_EQ(lines.at(5), "  reader |" + std::string(60, '#') + "|    100 %");
}

TEST(WideSummary, KernelsAddUpTheirLaunches) {
  // 5 M MACs in 250 us are 20 G a second; two of matmul's three launches say latency.
  EXPECT_THAT(
      lines_after(wide_summary_of(small_run(), phone()), "Kernels"),
      ElementsAre("Kernels",
                  "  kernel                launches      time GPU time  GMAC/s   energy  bound",
                  "  matmul                       3    250 us   83.3 %    20.0  4.00 mJ  latency",
                  "  softmax                      1   50.0 us   16.7 %       -   500 uJ  -"));
}

TEST(WideSummary, LevelsMoveTheirLinesAndDramItsBursts) {
  Result result = small_run();
  count(&result, "load_store.read_lookups", 2000);
  count(&result, "load_store.read_hits", 500);
  count(&result, "load_store.fetches", 16);
  count(&result, "load_store.writes_below", 32);
  count(&result, "texture.read_lookups", 0);
  count(&result, "texture.fetches", 8);
  count(&result, "l2.read_lookups", 1'000'000);
  count(&result, "l2.read_hits", 999'000);
  count(&result, "l2.fetches", 1024);
  count(&result, "l2.writes_below", 0);
  count(&result, "slc.read_lookups", 40);
  count(&result, "slc.read_hits", 30);
  count(&result, "slc.fetches", 77);  // lines; bytes are those of DRAM's bursts
  count(&result, "dram.read_bursts", 64);
  count(&result, "dram.write_bursts", 32);
  count(&result, "dram.row_hits", 60);
  count(&result, "dram.row_misses", 20);
  count(&result, "dram.row_conflicts", 40);
  EXPECT_THAT(
      lines_after(wide_summary_of(result, phone()), "Memory hierarchy"),
      ElementsAre("Memory hierarchy, reads and bytes from and to the level below",
                  "  level                       size    reads     hits     fetched     written",
                  "  load/store L1           16.0 KiB   2.00 k   25.0 %    1.00 KiB    2.00 KiB",
                  "  texture cache           32.0 KiB       0         -    1.00 KiB           -",
                  "  L2                      2.00 MiB   1.00 M   99.9 %    64.0 KiB         0 B",
                  "  system-level cache      8.00 MiB    40.0    75.0 %    2.00 KiB    1.00 KiB",
                  "  DRAM (hits: of rows)           -    64.0    50.0 %           -           -"));
}

TEST(WideSummary, StallsAreWeighedByCoreCycles) {
  // 200 us at 500 MHz and 50 us at 1 GHz: two thirds and one third of the cycles.
  EXPECT_THAT(lines_after(wide_summary_of(small_run(), phone()), "Issue slots"),
              ElementsAre("Issue slots of all launches, by what they went to",
                          "  load                          60.0 %",
                          "  busy                          40.0 %"));
}

TEST(WideSummary, AnEmptyRunHasNeitherLanesNorKernels) {
  const std::string text = wide_summary_of(Result{}, phone());
  for (const char* title : {"Lanes", "Kernels", "Issue slots"}) {
    EXPECT_THAT(text, testing::Not(HasSubstr(title)));
  }
}

TEST(LaneColumns, AShortRunHasAsManyColumnsAsNanoseconds) {
  const TimeColumns few(Nanoseconds(7), 60), some(Nanoseconds(61), 60);
  EXPECT_EQ(few.count, 7u);
  EXPECT_EQ(some.count, 31u);
  EXPECT_EQ(some.width.count(), 2u);
  // The last column is half as long: busy for all of it.
  EXPECT_EQ(
      busy_row(busy_times({{"gpu", "L0", Nanoseconds(60), Nanoseconds(61)}}, "gpu", some), some),
      std::string(30, ' ') + "#");
}

TEST(Summary, FitsATerminalWhateverTheNames) {
  Result result = small_run();
  const std::string name(100, 'n');
  result.trace_file = "folder/" + name + ".trace";
  for (ResultLaunch& launch : result.launches) {
    launch.id = launch.operation = launch.kernel = name;
    launch.bound = "load_store";
  }
  result.launches.push_back(launch("copy", us(0), us(1), "launch", 0, 0, {}));
  result.sampling_mode = "auto";
  result.sampling_error_bound = 0.0123;
  result.models = {{name, us(1), us(2), us(3), Bytes(1023 << 20)}};
  result.roofline = {1, {}, 1234, 2345, "load_store"};
  result.energy.total_nj = 1;
  result.energy.average_power_mw = 999;
  result.energy.by_component = {{name, 1}};
  result.power_over_time = {PowerSample{}};
  result.checks = {{name, 1e15, 2e15}};
  result.timeline.push_back({name, name, us(0), us(1)});
  std::istringstream lines(summary_of(result, phone(), 12345) + wide_summary_of(result, phone()));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 80u) << line;
    for (const char letter : line) EXPECT_TRUE(letter >= ' ' && letter <= '~') << line;
  }
  EXPECT_THAT(summary_of(result, phone(), 1), HasSubstr("nnn.trace: 4 launches, 1 copies\n"));
}

}  // namespace
}  // namespace fm
