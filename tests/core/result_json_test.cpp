#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/device_config.hpp"
#include "core/result.hpp"
#include "paths.hpp"
#include "tests/core/json_schema.hpp"
#include "tests/core/temporary_folder.hpp"

namespace fm {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

Result full_result() {
  Result result;
  result.tool = "fmsim 0.1.0";
  result.config_yaml = DeviceConfig::load("mali-g715").to_yaml();
  result.trace_file = "vit.trace";
  result.trace_digest = "xxh3:12";
  result.latency = {Nanoseconds(100), Nanoseconds(10), Nanoseconds(20), Nanoseconds(80)};
  result.floor = {Nanoseconds(1), Nanoseconds(2), Nanoseconds(3)};
  result.memory.peak = Bytes(1000);
  result.memory.average = Bytes(500);
  result.memory.peak_by_class = {Bytes(1), Bytes(2), Bytes(3), Bytes(4), Bytes(5)};
  result.memory.peak_driver = Bytes(6);
  result.memory.over_time = {
      {Nanoseconds(7), {Bytes(1), Bytes(0), Bytes(0), Bytes(2), Bytes(0)}, Bytes(3)}};
  result.timeline = {{"gpu", "L0", Nanoseconds(20), Nanoseconds(1520)},
                     {"dma", "C0", Nanoseconds(5), Nanoseconds(9)}};
  result.peaks = {{"dram", 0.5}};
  result.energy.total_nj = 12.5;
  result.energy.average_power_mw = 0.125;
  result.energy.by_component = {{"dram", 10}, {"alu", 2.5}};
  result.roofline = {1000, {{"dram", 0.5}}, 10, 16.5, "dram"};
  result.memory.fragmentation = ResultFragmentation{Bytes(10), Bytes(100), Bytes(75)};
  ResultLaunch launch;
  launch.id = "L0";
  launch.kernel = "matmul";
  launch.bound = "dram";
  launch.stalls = {{"memory", 0.75}, {"idle", 0.25}};
  launch.peaks = {{"alu", 0.25}};
  launch.roofline = result.roofline;
  launch.energy = result.energy;
  result.launches = {launch};
  result.counters = {{"L2_READ_LOOKUP", {42, "requests", "reads"}}};
  result.intervals = {
      Nanoseconds(60), {Nanoseconds(60), Nanoseconds(100)}, {{"L2_READ_LOOKUP", {40, 2}}}};
  result.checks = {{"l2 balance", 5, 5}, {"dram balance", 5, 6}};
  return result;
}

json schema() {
  return json::parse(contents_of(std::string(FM_TEST_DATA) + "/../../core/result.schema.json"));
}

SchemaErrors errors_of(const json& result) {
  SchemaErrors errors;
  check_schema(result, schema(), "", errors);
  return errors;
}

TEST(ResultJson, FullAndEmptyResultsFollowTheSchema) {
  EXPECT_THAT(errors_of(json::parse(to_json(full_result()))), IsEmpty());
  EXPECT_THAT(errors_of(json::parse(to_json(Result{}))), IsEmpty());
}

TEST(ResultJson, TheSchemaCheckCanFail) {
  json result = json::parse(to_json(full_result()));
  result["latency"].erase("init_ns");
  result["launches"][0]["bound"] = "weather";
  result["extra"] = 1;
  result["memory"]["peak_bytes"] = -1;
  EXPECT_THAT(errors_of(result),
              ElementsAre(": has the unknown key extra", "/latency: lacks init_ns",
                          "/launches/0/bound: not among the accepted words",
                          "/memory/peak_bytes: too small"));
}

TEST(ResultJson, CarriesTheValues) {
  const json result = json::parse(to_json(full_result()));
  EXPECT_EQ(result["schema_version"], 1);
  EXPECT_EQ(result["config"]["name"], "mali-g715");
  EXPECT_EQ(result["config"]["gpu"]["cores"]["value"], 7);
  EXPECT_EQ(result["config"]["l2"]["size"]["value"], "1 MiB");
  EXPECT_EQ(result["latency"]["startup_ns"], 10);
  EXPECT_EQ(result["floor"]["dram_ns"], 3);
  EXPECT_EQ(result["memory"]["by_class"]["tm_in_flight"], 3);
  EXPECT_EQ(result["memory"]["by_class"]["driver"], 6);
  EXPECT_EQ(result["memory"]["over_time"][0]["activations"], 2);
  EXPECT_EQ(result["launches"][0]["stalls"]["memory"], 0.75);
  EXPECT_EQ(result["counters"]["L2_READ_LOOKUP"]["unit"], "requests");
  EXPECT_EQ(result["intervals"]["end_ns"], json({60, 100}));
  EXPECT_EQ(result["intervals"]["counters"]["L2_READ_LOOKUP"], json({40, 2}));
  EXPECT_FALSE(json::parse(to_json(Result{})).contains("intervals"));
  EXPECT_TRUE(result["checks"][0]["holds"]);
  EXPECT_FALSE(result["checks"][1]["holds"]);
}

TEST(ResultJson, ModelsOfAQueueAreReadOffTheirKernels) {
  Result result;
  const auto launch = [&](const std::string& model, const std::string& kernel, std::uint64_t start,
                          std::uint64_t end) {
    ResultLaunch one;
    one.model = model, one.kernel = kernel;
    one.start = Nanoseconds(start), one.end = Nanoseconds(end);
    result.launches.push_back(one);
  };
  EXPECT_THAT(models_of(result), IsEmpty());
  launch("", "matmul", 0, 1);
  EXPECT_THAT(models_of(result), IsEmpty());
  launch("a", "matmul", 10, 20);
  launch("b", "copy", 12, 21);  // b's weights arrive while a runs
  launch("a", "softmax", 20, 30);
  launch("b", "matmul", 31, 50);
  const auto sample = [&](std::uint64_t time, std::uint64_t bytes) {
    MemorySample one;
    one.time = Nanoseconds(time);
    one.claims.preloaded = Bytes(bytes);
    one.driver = Bytes(1);
    result.memory.over_time.push_back(one);
  };
  sample(0, 5), sample(15, 4), sample(30, 8), sample(40, 7);
  result.models = models_of(result);
  ASSERT_EQ(result.models.size(), 2U);
  EXPECT_EQ(result.models[0].name, "a");
  EXPECT_EQ(result.models[0].start, Nanoseconds(10));
  EXPECT_EQ(result.models[0].integrated, Nanoseconds(30));
  EXPECT_EQ(result.models[0].peak, Bytes(9));
  EXPECT_EQ(result.models[1].start, Nanoseconds(31));
  EXPECT_EQ(result.models[1].end, Nanoseconds(50));
  EXPECT_EQ(result.models[1].peak, Bytes(9));  // there since before it started
  const json written = json::parse(to_json(result));
  EXPECT_THAT(errors_of(written), IsEmpty());
  EXPECT_EQ(written["models"][1]["integrated_ns"], 50);
  EXPECT_EQ(written["launches"][1]["model"], "a");
}

TEST(ResultJson, IsTheSameTextEveryTime) {
  EXPECT_EQ(to_json(full_result()), to_json(full_result()));
  EXPECT_EQ(to_chrome_trace(full_result()), to_chrome_trace(full_result()));
}

TEST(ResultJson, TakesNamesThatAreNotUtf8) {
  Result result = full_result();
  result.launches[0].operation = "\xff\xfe";
  EXPECT_THAT(errors_of(json::parse(to_json(result))), IsEmpty());
}

TEST(ChromeTrace, HasALaneForEachKindOfWorkAndTheMemory) {
  const json trace = json::parse(to_chrome_trace(full_result()));
  std::map<std::string, int> lanes;
  std::size_t bars = 0, samples = 0;
  std::vector<std::pair<double, double>> movements;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "M" && event["name"] == "thread_name")
      lanes[event["args"]["name"]] = event["tid"];
    if (event["ph"] == "C" && event["name"] == "L2_READ_LOOKUP") {
      movements.push_back({event["ts"], event["args"]["requests"]});
    } else if (event["ph"] == "C") {
      ++samples;
      EXPECT_EQ(event["args"]["driver"], 3);
      EXPECT_EQ(event["ts"], 0.007);
    }
    if (event["ph"] == "X" && event["name"] == "L0") {
      EXPECT_EQ(event["tid"], lanes["gpu"]);
      EXPECT_EQ(event["ts"], 0.02);
      EXPECT_EQ(event["dur"], 1.5);
    }
    if (event["ph"] == "X" && event["name"] == "C0") {
      EXPECT_EQ(event["tid"], lanes["dma"]);
    }
    bars += event["ph"] == "X";
  }
  EXPECT_EQ(bars, 2U);
  EXPECT_EQ(samples, 1U);
  EXPECT_THAT(movements, ElementsAre(testing::Pair(0, 40), testing::Pair(0.06, 2)));
  EXPECT_EQ(lanes.size(), 5U);
}

TEST(ChromeTrace, GivesBarsOfOneLaneThatOverlapRowsOfTheirOwn) {
  Result result;
  result.timeline = {{"disk", "read a", Nanoseconds(0), Nanoseconds(20)},
                     {"disk", "read b", Nanoseconds(10), Nanoseconds(30)},
                     {"disk", "read c", Nanoseconds(20), Nanoseconds(40)}};
  std::map<std::string, int> rows;
  const json trace = json::parse(to_chrome_trace(result));
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") rows[event["name"]] = event["tid"];
  }
  EXPECT_NE(rows["read a"], rows["read b"]);
  EXPECT_EQ(rows["read a"], rows["read c"]);
}

}  // namespace
}  // namespace fm
