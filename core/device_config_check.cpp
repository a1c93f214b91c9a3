// Contradictions between parameters of the shader core, and the order in which all are looked for.
#include <cmath>

#include "core/device_config_rules.hpp"

namespace fm {
namespace {

void check_issue(const ConfigRules& rules) {
  rules.power_of_two("gpu.wave_width");
  const double lanes = rules.number("gpu.issue_per_clock") * rules.number("gpu.wave_width");
  for (const char* rate : {"gpu.fma_per_clock", "gpu.special_per_clock", "gpu.convert_per_clock",
                           "gpu.integer_per_clock"}) {
    rules.require(rules.number(rate) <= lanes, rate, {"gpu.issue_per_clock", "gpu.wave_width"},
                  "more than can be issued",
                  "at most " + std::to_string(static_cast<long long>(lanes)) + " can be");
    // Less than a lane an engine: engines take turns at one unit. One engine may have any rate.
    const double engines = rules.number("gpu.issue_per_clock");
    if (rules.number(rate) < engines || engines == 1) continue;
    rules.multiple(rate, "gpu.issue_per_clock", "every engine has the same lanes");
  }
}

void check_residency(const ConfigRules& rules) {
  const double waves = rules.number("gpu.waves_per_core");
  const double fitting = rules.number("gpu.registers_per_core") / rules.number("gpu.wave_width");
  rules.require(waves <= fitting, "gpu.waves_per_core",
                {"gpu.registers_per_core", "gpu.wave_width"},
                "more waves than there are registers for, even at one register a work-item",
                "at most " + std::to_string(static_cast<long long>(fitting)) + " fit");
}

/// Load/store units without a cache: nothing may need it.
void check_load_store(const ConfigRules& rules) {
  if (rules.number("load_store.cache_size") != 0) return;
  rules.require(rules.word("load_store.write_policy") != "write_back", "load_store.cache_size",
                {"load_store.write_policy"}, "there is no cache to keep what is written",
                "give it a cache or write_through");
  rules.require(rules.word("local.kind") == "dedicated", "load_store.cache_size", {"local.kind"},
                "there is no cache to back local memory", "give it a cache or dedicated memory");
}

void check_texture(const ConfigRules& rules) {
  rules.power_of_two("texture.block_bytes");
  rules.power_of_two("texture.pitch_alignment");
  rules.power_of_two("texture.row_alignment");
  rules.multiple("texture.block_bytes", "texture.line", "a block of texels is whole lines");
  rules.at_most("texture.pitch_alignment", "limits.image_width", "no image could be as wide");
  rules.at_most("texture.row_alignment", "limits.image_height", "no image could be as high");
  constexpr double texel = 4;  // the widest that counts as one
  rules.require(
      rules.number("texture.texels_per_clock") * texel <= rules.number("texture.bytes_per_clock"),
      "texture.texels_per_clock", {"texture.bytes_per_clock"},
      "texels of 4 bytes do not pass that fast",
      "give texture.bytes_per_clock at least 4 B a texel");
}

/// Keys are for the fastest clock; governors move between operating points.
void check_clocks(const ConfigRules& rules) {
  for (const char* path :
       {"gpu.operating_points", "dram.operating_points", "host.operating_points"}) {
    rules.require(rules.curve(path).back().x == 1, path,
                  "must end with the share 1, the clock that all other keys are for");
  }
  rules.at_most("governor.down_threshold", "governor.up_threshold",
                "a governor would go down and up at once");
  rules.at_most("governor.dram_down_threshold", "governor.dram_up_threshold",
                "a governor would go down and up at once");
  for (const CurvePoint& point : rules.curve("dram.operating_points")) {
    rules.require(std::abs(1 / point.x - std::round(1 / point.x)) < 1e-9, "dram.operating_points",
                  "must have the shares 1, 1/2, 1/3, .. of the data rate");
  }
}

}  // namespace

void check_core_rules(const ConfigRules& rules) {
  for (const char* line : {"load_store.line", "texture.line"}) rules.power_of_two(line);
  check_issue(rules);
  check_residency(rules);
  check_load_store(rules);
  check_texture(rules);
  if (rules.number("load_store.cache_size") != 0) {
    rules.whole_sets("load_store.cache_size", "load_store.ways", "load_store.line", {});
  }
  rules.whole_sets("texture.cache_size", "texture.ways", "texture.line", {});
  rules.require(rules.number("local.bytes_per_clock") <= 4 * rules.number("local.banks"),
                "local.bytes_per_clock", {"local.banks"}, "a bank gives 4 bytes a clock",
                "lower local.bytes_per_clock or raise local.banks");
}

void DeviceConfig::check() const {
  const ConfigRules rules(*this);
  check_core_rules(rules);
  check_memory_rules(rules);
  check_dram_rules(rules);
  check_clocks(rules);
  rules.at_most("limits.max_allocation", "limits.app_memory",
                "the application would be killed before it had it");
  rules.at_most("limits.max_allocation", "allocator.address_space", "no address could hold it");
}

}  // namespace fm
