#include "core/device_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "paths.hpp"
#include "tests/core/error_message.hpp"
#include "tests/core/temporary_folder.hpp"

namespace fm {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// A config in one file, without a preset that would stand in for missing values.
std::string mali() {
  std::string yaml = DeviceConfig::load("mali-g715").to_yaml();
  const std::size_t preset = yaml.find("  preset:");
  yaml.erase(preset, yaml.find('\n', preset) + 1 - preset);
  return yaml;
}

/// The error of parsing the Mali config after replacing one line (found by its key) with another.
std::string error_with(const std::string& line_start, const std::string& replacement) {
  std::string yaml = mali();
  const std::size_t start = yaml.find(line_start);
  EXPECT_NE(start, std::string::npos) << line_start;
  yaml.replace(start, yaml.find('\n', start) - start, replacement);
  return user_error_of([&] { DeviceConfig::parse(yaml, "x.yaml"); });
}

std::string error_after_set(const std::string& path, const std::string& value) {
  DeviceConfig config = DeviceConfig::load("mali-g715");
  return user_error_of([&] {
    config.set(path, value);
    config.check();
  });
}

TEST(DeviceConfigSchema, EveryParameterIsDescribedOnce) {
  std::set<std::string> paths;
  for (const ParameterSchema& schema : device_config_schema()) {
    EXPECT_TRUE(paths.insert(schema.path).second) << schema.path;
    EXPECT_FALSE(schema.description.empty()) << schema.path;
    const bool any_text = schema.path == "dram.mapping";
    EXPECT_EQ(schema.words.empty(), schema.kind != QuantityKind::word || any_text) << schema.path;
    const bool ranged = schema.kind != QuantityKind::word;
    EXPECT_EQ(schema.minimum < schema.maximum, ranged) << schema.path;
    const bool curve = schema.kind == QuantityKind::curve;
    EXPECT_EQ(schema.curve_x_minimum < schema.curve_x_maximum, curve) << schema.path;
    EXPECT_FALSE(schema.range().empty()) << schema.path;
  }
}

/// Every device of configs/.
std::vector<std::string> shipped_devices() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(FM_MODELS "/../configs")) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class ShippedConfigs : public testing::TestWithParam<std::string> {};

TEST_P(ShippedConfigs, GiveEveryParameterWithASource) {
  const DeviceConfig config = DeviceConfig::load(GetParam());
  EXPECT_EQ(config.name(), GetParam());
  EXPECT_EQ(config.values().size(), device_config_schema().size());
  for (const auto& [path, value] : config.values()) {
    EXPECT_GT(value.citation.size(), 2U) << path;
    EXPECT_GT(value.where.line, 0) << path;
  }
}

TEST_P(ShippedConfigs, SurviveTheRoundTrip) {
  const DeviceConfig config = DeviceConfig::load(GetParam());
  const DeviceConfig back = DeviceConfig::parse(config.to_yaml(), "back.yaml");
  EXPECT_EQ(back.to_yaml(), config.to_yaml());
  EXPECT_EQ(back.description(), config.description());
  for (const auto& [path, value] : config.values()) {
    const ConfigValue& other = back.values().at(path);
    EXPECT_EQ(other.number, value.number) << path;
    EXPECT_EQ(other.word, value.word) << path;
    EXPECT_EQ(other.curve.size(), value.curve.size()) << path;
    EXPECT_EQ(other.source, value.source) << path;
    EXPECT_EQ(other.citation, value.citation) << path;
    EXPECT_EQ(other.origin, value.origin) << path;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ShippedConfigs, testing::ValuesIn(shipped_devices()));

TEST(DeviceConfig, GivesPublishedFiguresInCanonicalUnits) {
  const DeviceConfig config = DeviceConfig::load("mali-g715");
  EXPECT_EQ(config.word("gpu.isa"), "valhall");
  EXPECT_EQ(config.count("gpu.cores"), 7U);
  EXPECT_EQ(config.hertz("gpu.clock"), 890e6);
  EXPECT_EQ(config.bytes("texture.cache_size"), Bytes(32768));
  EXPECT_EQ(config.time("dram.tRCD"), Picoseconds(18000));
  EXPECT_EQ(config.cycles("texture.latency"), Cycles(66));
  EXPECT_EQ(config.ratio("texture.wide_texel_ratio"), 2);
  EXPECT_EQ(config.bytes_per_second("slc.bandwidth"), 57e9);
  EXPECT_EQ(config.picojoules("energy.dram_activate"), 4100);
  EXPECT_EQ(config.milliwatts("energy.cpu_active"), 1000);
  EXPECT_FALSE(config.flag("queue.copy_overlaps_compute"));
  const std::vector<CurvePoint>& curve = config.curve("storage.read_bandwidth");
  ASSERT_EQ(curve.size(), 3U);
  EXPECT_EQ(curve[0].x, 4096);
  EXPECT_EQ(curve[0].y, 225e6);
  EXPECT_THROW(config.count("gpu.clock"), std::logic_error);
  EXPECT_THROW(config.bytes("gpu.colour"), std::logic_error);
}

TEST(DeviceConfig, FindsNamesAndExplainsUnknownOnes) {
  const TemporaryFolder folder;
  write_file(folder.file("mine.yaml"), mali());
  EXPECT_EQ(DeviceConfig::load(folder.file("mine.yaml")).name(), "mali-g715");
  EXPECT_THAT(user_error_of([] { DeviceConfig::load("mali-g751"); }),
              HasSubstr("did you mean 'mali-g715'?"));
  EXPECT_THAT(user_error_of([&] { DeviceConfig::load(folder.file("no.yaml")); }),
              HasSubstr("cannot be opened"));
}

TEST(DeviceConfig, UnknownAndMisspeltKeysAreErrors) {
  EXPECT_THAT(error_with("  tlb_entries:", "  tlb_entires: {value: 9, source: assumed, cite: x}"),
              HasSubstr("tlb_entires: unknown key: did you mean 'tlb_entries'?"));
  EXPECT_THAT(error_with("mmu:", "mmuu:"), HasSubstr("mmuu: unknown key: did you mean 'mmu'?"));
  EXPECT_THAT(error_with("  cores:", "  cores: {value: 7, sourc: assumed, cite: x}"),
              HasSubstr("'source' is missing"));
  EXPECT_THAT(error_with("  cores:", "  cores: {value: 7, source: assumed, cite: x, note: y}"),
              HasSubstr("note: unknown key"));
  EXPECT_THAT(error_with("  cores:", "  cores: {value: 7, source: guessed, cite: x}"),
              HasSubstr("accepted: spec, measured, derived, assumed"));
  EXPECT_THAT(error_with("  cores:", "  cores: {value: 7, source: spec, cite: ''}"),
              HasSubstr("every number has a source"));
  EXPECT_THAT(error_with("  cores:", "  cores: 7"), HasSubstr("needs {value: .."));
}

TEST(DeviceConfig, MissingKeysAreNamedTogether) {
  std::string yaml = mali();
  for (const char* key : {"  cores:", "  tRCD:"}) {
    const std::size_t start = yaml.find(key);
    yaml.erase(start, yaml.find('\n', start) + 1 - start);
  }
  EXPECT_THAT(user_error_of([&] { DeviceConfig::parse(yaml, "x.yaml"); }),
              HasSubstr("missing: gpu.cores, dram.tRCD"));
}

TEST(DeviceConfig, EveryKeyIsNeeded) {
  const std::string yaml = mali();
  for (const ParameterSchema& schema : device_config_schema()) {
    const std::size_t dot = schema.path.find('.');
    const std::size_t section = yaml.find("\n" + schema.path.substr(0, dot) + ":\n");
    const std::size_t start = yaml.find("\n  " + schema.path.substr(dot + 1) + ": ", section);
    ASSERT_NE(start, std::string::npos) << schema.path;
    std::string shorter = yaml;
    shorter.erase(start, yaml.find('\n', start + 1) - start);
    EXPECT_THAT(user_error_of([&] { DeviceConfig::parse(shorter, "x.yaml"); }),
                HasSubstr(schema.path));
  }
}

TEST(DeviceConfig, WrongUnitsAndImpossibleValuesSayWhere) {
  EXPECT_THAT(error_with("  clock:", "  clock: {value: 890 MB, source: spec, cite: x}"),
              StartsWith("x.yaml:7:18: '890 MB' has the unit 'MB'"));
  EXPECT_THAT(error_with("  clock:", "  clock: {value: 890, source: spec, cite: x}"),
              HasSubstr("has no unit"));
  EXPECT_THAT(error_with("  clock:", "  clock: {value: 890 THz, source: spec, cite: x}"),
              HasSubstr("accepted: Hz, kHz, MHz, GHz, MT/s, GT/s"));
  EXPECT_THAT(error_with("  clock:", "  clock: {value: 890 GHz, source: spec, cite: x}"),
              HasSubstr("outside its range: 50 MHz to 5 GHz"));
  EXPECT_THAT(error_with("  cores:", "  cores: {value: 0, source: spec, cite: x}"),
              HasSubstr("outside its range"));
  EXPECT_THAT(error_with("  banks:", "  banks: {value: 0, source: spec, cite: x}"),
              HasSubstr("local.banks: '0' is outside"));
  EXPECT_THAT(error_with("  cores:", "  cores: {value: -5, source: spec, cite: x}"),
              HasSubstr("outside its range"));
  EXPECT_THAT(error_with("  cores:", "  cores: {value: 32abc, source: spec, cite: x}"),
              HasSubstr("has the unit 'abc'"));
  EXPECT_THAT(error_with("  isa:", "  isa: {value: valhal, source: spec, cite: x}"),
              HasSubstr("did you mean 'valhall'?"));
  EXPECT_THAT(error_with("  copy_overlaps_compute:",
                         "  copy_overlaps_compute: {value: maybe, source: spec, cite: x}"),
              HasSubstr("needs true or false"));
}

TEST(DeviceConfig, CurvesRise) {
  const auto with = [](const std::string& curve) {
    return error_with("  read_bandwidth:",
                      "  read_bandwidth: {value: " + curve + ", source: spec, cite: x}");
  };
  EXPECT_EQ(with("[[4 KiB, 1 GB/s]]"), "");
  EXPECT_THAT(with("[]"), HasSubstr("has no points"));
  EXPECT_THAT(with("[[4 KiB, 1 GB/s], [4 KiB, 2 GB/s]]"), HasSubstr("must rise"));
  EXPECT_THAT(with("[[4 KiB]]"), HasSubstr("a pair [x, y]"));
  EXPECT_THAT(with("[[4 KiB, 1 GB]]"), HasSubstr("a bandwidth"));
  EXPECT_THAT(with("[[4 KiB, 0 GB/s]]"), HasSubstr("outside its range"));
  EXPECT_THAT(with("1 GB/s"), HasSubstr("needs a list"));
}

TEST(DeviceConfig, OtherDocumentsAndVersionsAreRefused) {
  EXPECT_THAT(error_with("schema: 1", "schema: 2"), HasSubstr("version 2 is newer"));
  EXPECT_THAT(error_with("schema: 1", "# none"), HasSubstr("not a device config"));
  EXPECT_THAT(user_error_of([] { DeviceConfig::parse("a: [", "x.yaml"); }),
              HasSubstr("not valid YAML"));
}

TEST(DeviceConfig, SetReplacesAValueAndItsSource) {
  DeviceConfig config = DeviceConfig::load("mali-g715");
  config.set("l2.size", "2MiB");
  config.set("texture.layout", "linear");
  config.set("queue.copy_overlaps_compute", "true");
  config.set("storage.read_bandwidth", "[[4 KiB, 1 GB/s], [1 MiB, 1.5 GB/s]]");
  config.check();
  EXPECT_EQ(config.bytes("l2.size"), Bytes(2097152));
  EXPECT_EQ(config.word("texture.layout"), "linear");
  EXPECT_TRUE(config.flag("queue.copy_overlaps_compute"));
  EXPECT_EQ(config.curve("storage.read_bandwidth")[1].y, 1.5e9);
  EXPECT_EQ(config.values().at("l2.size").source, SourceKind::assumed);
  EXPECT_EQ(config.values().at("l2.size").citation, "command line");
  EXPECT_EQ(DeviceConfig::parse(config.to_yaml(), "x").bytes("l2.size"), Bytes(2097152));
}

TEST(DeviceConfig, OneBandwidthScalesACurve) {
  DeviceConfig config = DeviceConfig::load("mali-g715");
  config.set("storage.read_bandwidth", "[[4 KiB, 1 GB/s], [256 KiB, 4 GB/s], [1 MiB, 3 GB/s]]");
  config.set("storage.read_bandwidth", "2 GB/s");
  const std::vector<CurvePoint>& curve = config.curve("storage.read_bandwidth");
  ASSERT_EQ(curve.size(), 3u);
  EXPECT_EQ(curve[0].y, 0.5e9);
  EXPECT_EQ(curve[1].y, 2e9);
  EXPECT_EQ(curve[2].y, 1.5e9);
  EXPECT_EQ(curve[2].x, 1048576);
  const DeviceConfig again = DeviceConfig::parse(config.to_yaml(), "x");
  EXPECT_EQ(again.curve("storage.read_bandwidth")[0].y, 0.5e9);
  EXPECT_THAT(error_after_set("storage.read_bandwidth", "2"), HasSubstr("2"));
  EXPECT_THAT(error_after_set("storage.read_bandwidth", "1 B/s"), HasSubstr("outside its range"));
  EXPECT_THAT(error_after_set("storage.random_range", "2"), HasSubstr("needs a list"));
}

TEST(DeviceConfig, SetExplainsItsErrors) {
  EXPECT_THAT(error_after_set("l2.sise", "2 MiB"), HasSubstr("did you mean 'l2.size'?"));
  EXPECT_THAT(error_after_set("l2", "2 MiB"), HasSubstr("unknown key"));
  EXPECT_THAT(error_after_set("l2.size", "2 MB"), HasSubstr("--set l2.size=2 MB"));
  EXPECT_THAT(error_after_set("l2.size", ""), HasSubstr("l2.size"));
  EXPECT_THAT(error_after_set("l2.size", "[2 MiB]"), HasSubstr("needs a single value"));
}

}  // namespace
}  // namespace fm
