// Configs that extend others, and DRAM presets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/device_config.hpp"
#include "tests/core/error_message.hpp"
#include "tests/core/temporary_folder.hpp"

namespace fm {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// A config of a few lines, beside others in a folder of its own.
class ConfigFolder : public testing::Test {
 protected:
  std::string file(const std::string& name) const { return folder_.file(name); }
  void write(const std::string& name, const std::string& base, const std::string& body) const {
    std::filesystem::create_directories(std::filesystem::path(file(name)).parent_path());
    write_file(file(name), "schema: 1\nname: mine\ndescription: mine\nbase: " + base + "\n" + body);
  }
  std::string error_of(const std::string& name) const {
    return user_error_of([&] { DeviceConfig::load(file(name)); });
  }

 private:
  TemporaryFolder folder_;
};

const std::string small_l2 = "l2:\n  size: {value: 512 KiB, source: measured, cite: a probe}\n";

TEST_F(ConfigFolder, GivesOnlyWhatDiffers) {
  write("mine.yaml", "mali-g715", small_l2);
  const DeviceConfig mine = DeviceConfig::load(file("mine.yaml"));
  const DeviceConfig mali = DeviceConfig::load("mali-g715");
  EXPECT_EQ(mine.name(), "mine");
  EXPECT_EQ(mine.bytes("l2.size"), Bytes(512 * 1024));
  EXPECT_EQ(mine.values().at("l2.size").origin, "mine.yaml");
  for (const auto& [path, value] : mali.values()) {
    if (path == "l2.size") continue;
    EXPECT_EQ(mine.values().at(path).text, value.text) << path;
    EXPECT_EQ(mine.values().at(path).citation, value.citation) << path;
    EXPECT_EQ(mine.values().at(path).origin, value.origin) << path;
  }
}

TEST_F(ConfigFolder, ValuesSayWhichFileTheyCameFrom) {
  const DeviceConfig mali = DeviceConfig::load("mali-g715");
  EXPECT_EQ(mali.values().at("gpu.cores").origin, "mali-g715.yaml");
  EXPECT_EQ(mali.values().at("gpu.wave_width").origin, "base/mali-valhall.yaml");
  EXPECT_EQ(mali.values().at("local.kind").origin, "base/mali.yaml");
  EXPECT_EQ(mali.values().at("energy.dram_read_bit").origin, "base/mobile.yaml");
  EXPECT_EQ(mali.values().at("dram.tRCD").origin, "dram/lpddr5x-8533.yaml");
  EXPECT_THAT(mali.values().at("local.kind").where.to_string(), HasSubstr("base/mali.yaml:"));
  EXPECT_THAT(mali.to_yaml(), HasSubstr("from: \"base/mali.yaml\""));
}

TEST_F(ConfigFolder, ChainsAndRelativePaths) {
  write("first.yaml", "mali-g715", small_l2);
  write("deep/second.yaml", "../first.yaml", "gpu:\n  cores: {value: 3, source: spec, cite: x}\n");
  write("third.yaml", "deep/second.yaml", "");
  const DeviceConfig third = DeviceConfig::load(file("third.yaml"));
  EXPECT_EQ(third.count("gpu.cores"), 3U);
  EXPECT_EQ(third.bytes("l2.size"), Bytes(512 * 1024));
  write("fourth.yaml", "first", "");  // by name, beside it
  EXPECT_EQ(DeviceConfig::load(file("fourth.yaml")).bytes("l2.size"), Bytes(512 * 1024));
}

TEST_F(ConfigFolder, OwnVersionOfAShippedNameExtendsTheShippedOne) {
  write("mali-g715.yaml", "mali-g715", small_l2);
  EXPECT_EQ(DeviceConfig::load(file("mali-g715.yaml")).count("gpu.cores"), 7U);
}

TEST_F(ConfigFolder, CyclesAreErrorsThatNameTheFiles) {
  write("a.yaml", "b", "");
  write("b.yaml", "c.yaml", "");
  write("c.yaml", "a", "");
  EXPECT_THAT(error_of("a.yaml"), AllOf(StartsWith(file("c.yaml") + ":4:7: base: a cycle"),
                                        HasSubstr("a.yaml -> b.yaml -> c.yaml -> a.yaml")));
  write("own.yaml", "own", "");
  EXPECT_THAT(error_of("own.yaml"), HasSubstr("base: a cycle: own.yaml -> own.yaml"));
}

TEST_F(ConfigFolder, UnknownBasesAndErrorsInsideOnesNameTheirFileAndLine) {
  write("a.yaml", "mali-valhal", "");
  EXPECT_THAT(error_of("a.yaml"), AllOf(StartsWith(file("a.yaml") + ":4:7: no config to extend"),
                                        HasSubstr("'mali-valhall'")));
  write("a.yaml", "./none.yaml", "");
  EXPECT_THAT(error_of("a.yaml"), HasSubstr("there is no file"));
  write("b.yaml", "mali-g715", "l2:\n  size: {value: 1 GHz, source: spec, cite: x}\n");
  write("a.yaml", "b", "");
  EXPECT_THAT(error_of("a.yaml"), StartsWith(file("b.yaml") + ":6:17: "));
  write("b.yaml", "mali-g715", "l2:\n  ways: {value: 3, source: spec, cite: x}\n");
  EXPECT_THAT(error_of("a.yaml"), HasSubstr("contradicts l2.ways (3, b.yaml:6)"));
  write("b.yaml", "mali-g715", "l2:\n  wais: {value: 3, source: spec, cite: x}\n");
  EXPECT_THAT(error_of("a.yaml"), HasSubstr("did you mean 'ways'?"));
}

TEST_F(ConfigFolder, OnlyTheWholeMustBeComplete) {
  write("a.yaml", "mobile", small_l2);
  EXPECT_THAT(error_of("a.yaml"),
              AllOf(HasSubstr("missing: gpu.isa, gpu.cores"), HasSubstr("base/mobile.yaml"),
                    Not(HasSubstr("energy.dram_read_bit"))));
  write_file(file("b.yaml"), "schema: 1\nbase: mali-g715\n");
  EXPECT_THAT(error_of("b.yaml"), HasSubstr("the key 'name' is missing"));
}

TEST_F(ConfigFolder, BasesAreNoDevices) {
  const std::string error = user_error_of([] { DeviceConfig::load("mali-valhall"); });
  EXPECT_THAT(error,
              AllOf(HasSubstr("mali-g715"), Not(HasSubstr("mobile")), Not(HasSubstr("lpddr"))));
}

const std::string preset_body = R"(
dram:
  preset: {value: NAME, source: spec, cite: x}
  tRCD: {value: 20 ns, source: measured, cite: y}
)";

std::string with_preset(const std::string& name) {
  std::string body = preset_body;
  return body.replace(body.find("NAME"), 4, name);
}

TEST_F(ConfigFolder, PresetsAreTheLowestBaseOfDram) {
  write("a.yaml", "mali-g715", with_preset("lpddr5x-9600"));
  const DeviceConfig config = DeviceConfig::load(file("a.yaml"));
  EXPECT_EQ(config.hertz("dram.data_rate"), 9600e6);
  EXPECT_EQ(config.values().at("dram.data_rate").origin, "dram/lpddr5x-9600.yaml");
  EXPECT_EQ(config.time("dram.tRCD"), Picoseconds(20000));
  EXPECT_EQ(config.values().at("dram.queue_depth").origin, "base/mobile.yaml");
  EXPECT_EQ(config.dram_preset()->word, "lpddr5x-9600");
  const DeviceConfig back = DeviceConfig::parse(config.to_yaml(), "back.yaml");
  EXPECT_EQ(back.to_yaml(), config.to_yaml());
}

TEST_F(ConfigFolder, PresetsOfOnesOwn) {
  std::filesystem::create_directory(file("dram"));
  write_file(file("dram/mine.yaml"),
             "schema: 1\nbase: lpddr5x-9600\ndram:\n"
             "  tRP: {value: 19 ns, source: spec, cite: x}\n");
  write("a.yaml", "mali-g715", with_preset("mine"));
  EXPECT_EQ(DeviceConfig::load(file("a.yaml")).time("dram.tRP"), Picoseconds(19000));
  EXPECT_EQ(DeviceConfig::load(file("a.yaml")).hertz("dram.data_rate"), 9600e6);
}

TEST_F(ConfigFolder, WrongPresetsAreErrors) {
  write("a.yaml", "mali-g715", with_preset("lpddr5x-9601"));
  EXPECT_THAT(error_of("a.yaml"), AllOf(StartsWith(file("a.yaml") + ":7:19: no DRAM preset"),
                                        HasSubstr("did you mean 'lpddr5x-9600'?")));
  std::filesystem::create_directory(file("dram"));
  write_file(file("dram/mine.yaml"), "schema: 1\n" + small_l2);
  write("a.yaml", "mali-g715", with_preset("mine"));
  EXPECT_THAT(error_of("a.yaml"), HasSubstr("a DRAM preset gives dram.* only"));
  write("a.yaml", "mali-g715", "dram:\n  preset: lpddr5x-9600\n");
  EXPECT_THAT(error_of("a.yaml"), HasSubstr("dram.preset: needs {value: .."));
}

TEST_F(ConfigFolder, SetExchangesThePreset) {
  write("a.yaml", "mali-g715", with_preset("lpddr5x-8533"));
  DeviceConfig config = DeviceConfig::load(file("a.yaml"));
  config.set("dram.preset", "lpddr5x-9600");
  EXPECT_EQ(config.hertz("dram.data_rate"), 9600e6);
  EXPECT_EQ(config.time("dram.tRCD"), Picoseconds(20000));  // the file's own, not the preset's
  EXPECT_THAT(user_error_of([&] { config.set("dram.preset", "ddr9"); }),
              AllOf(HasSubstr("--set dram.preset=ddr9"), HasSubstr("no DRAM preset")));
}

}  // namespace
}  // namespace fm
