// The DRAM channel against other simulators on the same streams: tests/data/dram_golden.yaml.

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include "core/device_config.hpp"
#include "paths.hpp"
#include "sim/memory/dram_mapping.hpp"
#include "sim/memory/dram_stream.hpp"
#include "sim/memory/memory_parameters.hpp"

namespace fm {
namespace {

const YAML::Node& golden() {
  static const YAML::Node document =
      YAML::LoadFile(std::string(FM_TEST_DATA) + "/dram_golden.yaml");
  return document;
}

void set_all(const YAML::Node& settings, DeviceConfig* config) {
  for (const auto& setting : settings) {
    config->set(setting.first.as<std::string>(), setting.second.as<std::string>());
  }
}

DramStreamReport run(const YAML::Node& row) {
  DeviceConfig config = DeviceConfig::load(std::string(FM_CONFIGS) + "/mali-g715.yaml");
  config.set("dram.preset", row["preset"].as<std::string>());
  set_all(golden()["aligned"][row["aligned"].as<std::string>()], &config);
  if (row["set"]) set_all(row["set"], &config);
  config.check();
  DramParameters parameters = dram_parameters(config);
  EXPECT_TRUE(
      DramMapping::named(row["mapping"].as<std::string>(), &parameters.mapping, &parameters.hash));
  parameters.controller = 0;
  DramStream stream;
  stream.pattern = row["stream"].as<std::string>() == "seq" ? DramStream::Pattern::sequential
                                                            : DramStream::Pattern::random;
  const std::string window = row["window"].as<std::string>();
  stream.window = window == "full" ? 0 : row["window"].as<std::uint32_t>();
  stream.bytes = row["bytes"].as<std::uint32_t>();
  // A tenth of the stream has the same rate within 0.3 %.
  stream.requests = window == "full" ? 100000 : row["requests"].as<std::uint64_t>();
  return run_dram_stream(parameters, stream);
}

void expect_near(const char* what, double ours, double theirs, double tolerance,
                 const YAML::Node& deviation) {
  if (deviation && deviation[what]) {
    const double known = deviation[what].as<double>();
    EXPECT_GT(std::abs(known / theirs - 1), tolerance) << what << ": no deviation at all";
    EXPECT_NEAR(ours, known, 0.01 * known) << what << ": the known deviation changed";
    return;
  }
  EXPECT_NEAR(ours, theirs, tolerance * theirs) << what;
}

TEST(DramGolden, EveryRow) {
  const double tolerance = golden()["tolerance"].as<double>();
  const double latency_tolerance = golden()["latency_tolerance"].as<double>();
  ASSERT_GT(golden()["rows"].size(), 40u);
  for (const YAML::Node& row : golden()["rows"]) {
    SCOPED_TRACE(row["id"].as<std::string>());
    const DramStreamReport report = run(row);
    const bool full = row["window"].as<std::string>() == "full";
    expect_near("gbps", report.bytes_per_second * 1e-9, row["gbps"].as<double>(),
                full ? tolerance : latency_tolerance, row["deviation"]);
    if (!row["latency"]) continue;
    expect_near("latency", report.latency * report.clock, row["latency"].as<double>(),
                latency_tolerance, row["deviation"]);
  }
}

}  // namespace
}  // namespace fm
