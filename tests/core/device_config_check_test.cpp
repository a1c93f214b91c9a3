// Values out of range, and keys that contradict each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/device_config.hpp"
#include "tests/core/error_message.hpp"

namespace fm {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using Settings = std::vector<std::pair<const char*, const char*>>;

std::string error_after(const Settings& settings) {
  DeviceConfig config = DeviceConfig::load("mali-g715");
  return user_error_of([&] {
    for (const auto& [path, value] : settings) config.set(path, value);
    config.check();
  });
}

/// `number` in the canonical unit of `kind`, without rounding.
std::string exact(double number, QuantityKind kind) { return quantity_text(number, kind); }

TEST(DeviceConfigRanges, EveryNumberHasALeastAndAMostThatAreHeld) {
  for (const ParameterSchema& schema : device_config_schema()) {
    if (schema.kind == QuantityKind::word || schema.kind == QuantityKind::flag) continue;
    const bool curve = schema.kind == QuantityKind::curve;
    const QuantityKind kind = curve ? schema.curve_y : schema.kind;
    const std::string least_x = curve ? exact(schema.curve_x_minimum, schema.curve_x) : "";
    const auto refused = [&](double number) {
      const std::string value = exact(number, kind);
      DeviceConfig config = DeviceConfig::load("mali-g715");
      return user_error_of(
          [&] { config.set(schema.path, curve ? "[[" + least_x + ", " + value + "]]" : value); });
    };
    const double least = schema.minimum, most = schema.maximum;
    const double below = least - 1;
    EXPECT_EQ(refused(least), "") << schema.path;
    EXPECT_EQ(refused(most), "") << schema.path;
    EXPECT_THAT(refused(below), HasSubstr("outside its range")) << schema.path;
    EXPECT_THAT(refused(most * 2 + 1), HasSubstr("outside its range")) << schema.path;
  }
}

TEST(DeviceConfigRanges, QuantitiesAreWrittenAsPeopleDo) {
  EXPECT_EQ(quantity_text(2097152, QuantityKind::bytes), "2 MiB");
  EXPECT_EQ(quantity_text(1000, QuantityKind::bytes), "1000 B");
  EXPECT_EQ(quantity_text(50e6, QuantityKind::frequency), "50 MHz");
  EXPECT_EQ(quantity_text(0.25, QuantityKind::ratio), "0.25");
  EXPECT_EQ(quantity_text(100, QuantityKind::time), "100 ps");
  EXPECT_EQ(quantity_text(60e12, QuantityKind::time), "60 s");
  EXPECT_EQ(quantity_text(0, QuantityKind::cycles), "0 cycles");
}

struct Contradiction {
  Settings settings;
  std::vector<const char*> named;  ///< keys the message must name; the first is where it points
};

/// One case a rule: what a person could write, and what must be said about it.
const std::vector<Contradiction>& contradictions() {
  static const std::vector<Contradiction> all{
      {{{"gpu.fma_per_clock", "256"}},
       {"gpu.fma_per_clock", "gpu.issue_per_clock", "gpu.wave_width"}},
      {{{"gpu.special_per_clock", "256"}}, {"gpu.special_per_clock", "gpu.issue_per_clock"}},
      {{{"gpu.convert_per_clock", "256"}}, {"gpu.convert_per_clock", "gpu.issue_per_clock"}},
      {{{"gpu.integer_per_clock", "256"}}, {"gpu.integer_per_clock", "gpu.issue_per_clock"}},
      {{{"gpu.special_per_clock", "12"}}, {"gpu.special_per_clock", "gpu.issue_per_clock"}},
      {{{"gpu.registers_per_core", "1024"}},
       {"gpu.waves_per_core", "gpu.registers_per_core", "gpu.wave_width"}},
      {{{"load_store.line", "1 KiB"}, {"load_store.cache_size", "512 B"}},
       {"load_store.line", "load_store.cache_size"}},
      {{{"texture.line", "1 KiB"},
        {"texture.cache_size", "512 B"},
        {"texture.block_bytes", "1 KiB"}},
       {"texture.line", "texture.cache_size"}},
      {{{"load_store.ways", "3"}}, {"load_store.cache_size", "load_store.ways", "load_store.line"}},
      {{{"texture.ways", "3"}}, {"texture.cache_size", "texture.ways", "texture.line"}},
      {{{"texture.block_bytes", "32 B"}}, {"texture.block_bytes", "texture.line"}},
      {{{"texture.bytes_per_clock", "16 B"}},
       {"texture.texels_per_clock", "texture.bytes_per_clock"}},
      {{{"texture.pitch_alignment", "4096"}, {"limits.image_width", "2048"}},
       {"texture.pitch_alignment", "limits.image_width"}},
      {{{"texture.row_alignment", "4096"}, {"limits.image_height", "2048"}},
       {"texture.row_alignment", "limits.image_height"}},
      {{{"local.bytes_per_clock", "128 B"}}, {"local.bytes_per_clock", "local.banks"}},
      {{{"l2.slices", "3"}}, {"l2.size", "l2.ways", "l2.line", "l2.slices"}},
      {{{"l2.line", "32 B"}, {"l2.bytes_per_clock", "32 B"}}, {"l2.line", "load_store.line"}},
      {{{"l2.line", "32 B"}, {"l2.bytes_per_clock", "32 B"}, {"load_store.line", "32 B"}},
       {"l2.line", "texture.line"}},
      {{{"l2.bytes_per_clock", "128 B"}}, {"l2.bytes_per_clock", "l2.line"}},
      {{{"cluster.size", "3000 B"}}, {"cluster.size", "cluster.ways", "cluster.line"}},
      {{{"cluster.size", "64 KiB"}, {"cluster.cores", "8"}}, {"cluster.cores", "gpu.cores"}},
      {{{"mmu.tlb_ways", "5"}}, {"mmu.tlb_entries", "mmu.tlb_ways"}},
      {{{"mmu.core_tlb_ways", "5"}}, {"mmu.core_tlb_entries", "mmu.core_tlb_ways"}},
      {{{"slc.line", "32 B"}}, {"slc.line", "l2.line"}},
      {{{"slc.ways", "7"}}, {"slc.size", "slc.ways", "slc.line", "dram.channels"}},
      {{{"dram.channels", "3"}}, {"slc.size", "dram.channels"}},
      {{{"slc.gpu_share", "0.01"}}, {"slc.gpu_share", "slc.ways"}},
      {{{"slc.bandwidth", "900 GB/s"}},
       {"slc.bandwidth", "l2.bytes_per_clock", "l2.slices", "gpu.clock"}},
      {{{"mmu.page_size", "64 MiB"}, {"limits.max_allocation", "32 MiB"}},
       {"mmu.page_size", "limits.max_allocation"}},
      {{{"limits.max_allocation", "5 GiB"}}, {"limits.max_allocation", "limits.app_memory"}},
      {{{"host.copy_bandwidth", "100 GB/s"}},
       {"host.copy_bandwidth", "dram.data_rate", "dram.channels", "dram.channel_width_bits"}},
      {{{"allocator.zeroing_bandwidth", "100 GB/s"}},
       {"allocator.zeroing_bandwidth", "dram.data_rate"}},
      {{{"allocator.address_space", "1 GiB"}},
       {"limits.max_allocation", "allocator.address_space"}},
      {{{"host.transfer_bandwidth", "100 GB/s"}}, {"host.transfer_bandwidth", "dram.data_rate"}},
      {{{"storage.read_bandwidth", "[[4 KiB, 100 GB/s]]"}},
       {"storage.read_bandwidth", "dram.channels"}},
      {{{"dram.bank_groups", "32"}}, {"dram.banks", "dram.bank_groups"}},
      {{{"dram.interleave", "16 B"}}, {"dram.interleave", "dram.burst_length"}},
      {{{"dram.interleave", "32 B"}}, {"slc.line", "dram.interleave"}},
      {{{"dram.burst_length", "64"}}, {"l2.line", "dram.burst_length", "dram.channel_width_bits"}},
      {{{"dram.tRCD", "50 ns"}}, {"dram.tRCD", "dram.tRAS"}},
      {{{"dram.transfers_per_clock", "3"}}, {"dram.burst_length", "dram.transfers_per_clock"}},
      {{{"dram.tRP", "50 ns"}}, {"dram.tRP", "dram.tRPab"}},
      {{{"dram.tRRD_S", "50 ns"}}, {"dram.tRRD_S", "dram.tRRD_L"}},
      {{{"dram.tRRD_S", "50 ns"}, {"dram.tRRD_L", "50 ns"}}, {"dram.tRRD_S", "dram.tFAW"}},
      {{{"dram.tCCD_S", "9"}}, {"dram.tCCD_S", "dram.tCCD_L"}},
      {{{"dram.tWTR_S", "50 ns"}}, {"dram.tWTR_S", "dram.tWTR_L"}},
      {{{"dram.tRFCab", "4 us"}}, {"dram.tRFCab", "dram.tREFI"}},
      {{{"dram.tREFI", "1 us"}, {"dram.tRFCab", "1 us"}}, {"dram.tRFCab", "dram.tREFI"}},
      {{{"dram.refresh", "per_bank"}, {"dram.refresh_sets", "0"}},
       {"dram.refresh", "dram.refresh_sets"}},
      {{{"dram.tRFCpb", "3 us"}}, {"dram.tRFCpb", "dram.refresh_sets", "dram.tREFI"}},
      {{{"dram.write_low", "0.9"}, {"dram.write_high", "0.5"}},
       {"dram.write_low", "dram.write_high"}},
      {{{"dram.refresh_sets", "3"}}, {"dram.banks", "dram.refresh_sets"}},
      {{{"governor.down_threshold", "0.9"}, {"governor.up_threshold", "0.5"}},
       {"governor.down_threshold", "governor.up_threshold"}},
      {{{"traffic.display_bandwidth", "90 GB/s"}},
       {"traffic.display_bandwidth", "traffic.background_bandwidth", "dram.data_rate"}},
      {{{"load_store.cache_size", "0 B"}}, {"load_store.cache_size", "load_store.write_policy"}},
      {{{"load_store.cache_size", "0 B"}, {"load_store.write_policy", "write_through"}},
       {"load_store.cache_size", "local.kind"}},
      {{{"dram.tCCD_S", "1"}}, {"dram.tCCD_S", "dram.transfers_per_clock", "dram.burst_length"}},
  };
  return all;
}

TEST(DeviceConfigContradictions, NameEveryKeyItsPlaceAndARemedy) {
  for (const Contradiction& contradiction : contradictions()) {
    const std::string error = error_after(contradiction.settings);
    const std::string first = contradiction.named.front();
    EXPECT_THAT(error, HasSubstr(": " + first + " (")) << first;
    EXPECT_THAT(error, HasSubstr(" contradicts "));
    EXPECT_THAT(error, HasSubstr("; ")) << "no remedy";
    for (const char* key : contradiction.named) {
      EXPECT_THAT(error, HasSubstr(std::string(key) + " (")) << first;
    }
  }
}

TEST(DeviceConfigContradictions, PowersOfTwo) {
  for (const char* path : {"gpu.wave_width", "texture.pitch_alignment", "texture.row_alignment"}) {
    EXPECT_THAT(error_after({{path, "24"}}), HasSubstr("must be a power of two")) << path;
  }
  for (const char* path : {"load_store.line", "texture.line", "texture.block_bytes", "l2.line",
                           "slc.line", "dram.row_size", "dram.interleave"}) {
    EXPECT_THAT(error_after({{path, "768 B"}}), HasSubstr("must be a power of two")) << path;
  }
  for (const char* path :
       {"mmu.page_size", "allocator.buffer_alignment", "allocator.image_alignment"}) {
    EXPECT_THAT(error_after({{path, "5000 B"}}), HasSubstr("must be a power of two")) << path;
  }
  for (const char* path : {"dram.banks", "dram.bank_groups"}) {
    EXPECT_THAT(error_after({{path, "12"}}), HasSubstr("must be a power of two")) << path;
  }
  EXPECT_THAT(error_after({{"gpu.operating_points", "[[0.5, 0.6 V]]"}}),
              HasSubstr("must end with the share 1"));
}

TEST(DeviceConfigContradictions, SayWhereBothValuesStand) {
  const std::string own =
      "schema: 1\nname: mine\ndescription: mine\nbase: mali-g715\n"
      "gpu:\n  wave_width: {value: 8, source: spec, cite: x}\n";
  const std::string error = user_error_of([&] { DeviceConfig::parse(own, "mine.yaml"); });
  EXPECT_THAT(error, HasSubstr("mali-g715.yaml:"));
  EXPECT_THAT(error, HasSubstr(": gpu.fma_per_clock (128) contradicts gpu.issue_per_clock (8, "
                               "mali-g715.yaml:"));
  EXPECT_THAT(error, HasSubstr("gpu.wave_width (8, mine.yaml:6): more than can be issued; at most "
                               "64 can be"));
  EXPECT_THAT(error_after({{"l2.bytes_per_clock", "128 B"}}),
              StartsWith("--set l2.bytes_per_clock=128 B:1:1: l2.bytes_per_clock (128 B) "
                         "contradicts l2.line (64 B, base/mali.yaml:"));
}

}  // namespace
}  // namespace fm
