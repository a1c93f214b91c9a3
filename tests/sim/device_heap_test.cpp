#include "sim/replay/device_heap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "core/diagnostics.hpp"

namespace fm {
namespace {

constexpr std::uint64_t page = 4096;

DeviceConfig config_with(const std::string& app_memory) {
  DeviceConfig config = DeviceConfig::load("mali-g715");
  config.set("mmu.page_size", "4 KiB");
  config.set("limits.max_allocation", "32 MiB");
  config.set("limits.app_memory", app_memory);
  return config;
}

trace::CreateObject buffer(std::uint64_t object, std::uint64_t bytes,
                           trace::MemoryClass memory_class) {
  trace::CreateObject create;
  create.set_object(object);
  create.set_bytes(bytes);
  create.set_memory_class(memory_class);
  create.set_name("tensor" + std::to_string(object));
  return create;
}

trace::ChangeClass change(std::uint64_t object, trace::MemoryClass from, trace::MemoryClass to,
                          std::uint64_t bytes) {
  trace::ChangeClass given;
  given.set_object(object);
  given.set_from(from);
  given.set_to(to);
  given.set_bytes(bytes);
  return given;
}

TEST(DeviceHeap, ObjectsTakeWholePagesAndNeverOverlap) {
  const DeviceConfig config = config_with("4 GiB");
  DeviceHeap heap(config);
  std::mt19937 random(7);
  std::map<std::uint64_t, std::uint64_t> alive;  // object -> bytes
  std::uint64_t expected = 0;
  for (std::uint64_t object = 1; object <= 400; ++object) {
    const std::uint64_t bytes = 1 + random() % 50000;
    heap.create(buffer(object, bytes, trace::ACTIVATIONS), Picoseconds(object));
    alive[object] = bytes;
    expected += round_up(bytes, page);
    if (random() % 2 == 0) {
      const auto victim =
          std::next(alive.begin(), static_cast<std::ptrdiff_t>(random() % alive.size()));
      expected -= round_up(victim->second, page);
      heap.release(victim->first, Picoseconds(object));
      alive.erase(victim);
    }
    ASSERT_EQ(heap.resident().total().count(), expected);
    std::map<std::uint64_t, std::uint64_t> ranges;
    for (const auto& [id, size] : alive) {
      EXPECT_EQ(heap.at(id).address.count() % page, 0u);
      ranges[heap.at(id).address.count()] = heap.at(id).allocated.count();
    }
    std::uint64_t end = 0;
    for (const auto& [address, size] : ranges) {
      ASSERT_GE(address, end);
      end = address + size;
    }
  }
}

TEST(DeviceHeap, ReusesReleasedAddresses) {
  const DeviceConfig config = config_with("4 GiB");
  DeviceHeap heap(config);
  heap.create(buffer(1, page, trace::ACTIVATIONS), Picoseconds(0));
  heap.create(buffer(2, page, trace::ACTIVATIONS), Picoseconds(0));
  const Address first = heap.at(1).address;
  heap.release(1, Picoseconds(1));
  heap.create(buffer(3, page, trace::ACTIVATIONS), Picoseconds(2));
  EXPECT_EQ(heap.at(3).address, first);
}

TEST(DeviceHeap, PaddingFollowsTheClassThatHoldsMost) {
  const DeviceConfig config = config_with("4 GiB");
  DeviceHeap heap(config);
  heap.create(buffer(1, page + 100, trace::STAGING), Picoseconds(0));
  EXPECT_EQ(heap.resident().bytes(trace::STAGING).count(), 2 * page);
  heap.change_class(change(1, trace::STAGING, trace::UM_IN_FLIGHT, 1000), Picoseconds(1000));
  EXPECT_EQ(heap.resident().bytes(trace::UM_IN_FLIGHT).count(), 1000u);
  EXPECT_EQ(heap.resident().bytes(trace::STAGING).count(), 2 * page - 1000);
  heap.change_class(change(1, trace::STAGING, trace::UM_IN_FLIGHT, page - 900), Picoseconds(2000));
  EXPECT_EQ(heap.resident().bytes(trace::UM_IN_FLIGHT).count(), 2 * page);
  EXPECT_EQ(heap.resident().bytes(trace::STAGING).count(), 0u);
  EXPECT_EQ(heap.resident().total().count(), 2 * page);
}

TEST(DeviceHeap, ImagesArePaddedToTheirLayout) {
  const DeviceConfig config = config_with("4 GiB");
  DeviceHeap heap(config);
  trace::CreateObject image = buffer(1, 8 * 17 * 3, trace::TM_IN_FLIGHT);
  image.set_image(true);
  image.set_width(17);
  image.set_height(3);
  image.set_texel_bytes(8);
  heap.create(image, Picoseconds(0));
  const Bytes layout = ImageLayout(TexelLayout::from(config), 17, 3, 8).allocated_bytes();
  EXPECT_GT(layout, Bytes(8 * 17 * 3));
  EXPECT_EQ(heap.at(1).allocated, round_up(layout, Bytes(page)));
}

TEST(DeviceHeap, OutOfMemorySaysWhatWasResident) {
  const DeviceConfig config = config_with("64 MiB");
  DeviceHeap heap(config);
  heap.create(buffer(1, 32 << 20, trace::PRELOADED), Picoseconds(0));
  heap.create(buffer(2, 32 << 20, trace::ACTIVATIONS), Picoseconds(0));
  try {
    heap.create(buffer(3, 1, trace::STAGING), Picoseconds(1'500'000'000));
    FAIL() << "one byte above the limit was given out";
  } catch (const UserError& error) {
    EXPECT_THAT(
        error.what(),
        testing::AllOf(testing::HasSubstr("out of memory on mali-g715 at 1.50 ms"),
                       testing::HasSubstr("`tensor3`"), testing::HasSubstr("limits.app_memory"),
                       testing::HasSubstr("preloaded 32.0 MiB"),
                       testing::HasSubstr("activations 32.0 MiB")));
  }
}

TEST(DeviceHeap, OutOfMemorySaysWhatWouldFitAndWhatIsLarge) {
  const DeviceConfig config = config_with("64 MiB");
  DeviceHeap heap(config);
  heap.create(buffer(1, 8 << 20, trace::PRELOADED), Picoseconds(0));
  heap.create(buffer(2, 32 << 20, trace::ACTIVATIONS), Picoseconds(0));
  heap.create(buffer(3, 16 << 20, trace::ACTIVATIONS), Picoseconds(0));
  heap.retire(3);
  try {
    heap.create(buffer(4, 9 << 20, trace::STAGING), Picoseconds(0));
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::HasSubstr("8.00 MiB would still fit"),
                               testing::HasSubstr("16.0 MiB of it released but not yet given back"),
                               testing::HasSubstr("`tensor2` 32.0 MiB, `tensor1` 8.00 MiB")));
  }
}

TEST(DeviceHeap, AnAddressSpaceInPiecesIsFragmentation) {
  DeviceConfig config = config_with("64 MiB");
  config.set("allocator.address_space", "32 MiB");
  config.set("limits.max_allocation", "32 MiB");
  DeviceHeap heap(config);
  const std::uint64_t mib = 1 << 20;
  for (std::uint64_t object = 1; object <= 4; ++object) {
    heap.create(buffer(object, 8 * mib, trace::ACTIVATIONS), Picoseconds(0));
  }
  heap.release(1, Picoseconds(1));
  heap.release(3, Picoseconds(1));
  try {
    heap.create(buffer(5, 9 * mib, trace::ACTIVATIONS), Picoseconds(2));
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("only because of fragmentation"),
                                             testing::HasSubstr("16.0 MiB of allocator"),
                                             testing::HasSubstr("largest hole is 8.00 MiB")));
  }
  heap.create(buffer(6, 8 * mib, trace::ACTIVATIONS), Picoseconds(3));
  try {
    heap.create(buffer(7, 9 * mib, trace::ACTIVATIONS), Picoseconds(4));
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("fragmentation")));
  }
}

TEST(DeviceHeap, FragmentationIsThatOfThePeak) {
  DeviceConfig config = config_with("64 MiB");
  config.set("allocator.address_space", "32 MiB");
  DeviceHeap heap(config);
  heap.create(buffer(1, 3 * page, trace::ACTIVATIONS), Picoseconds(0));
  heap.create(buffer(2, 1, trace::ACTIVATIONS), Picoseconds(0));
  heap.release(1, Picoseconds(1));
  heap.create(buffer(3, 5 * page - 10, trace::ACTIVATIONS), Picoseconds(2));  // past object 2
  const ResultFragmentation at_peak = heap.fragmentation_at_peak();
  EXPECT_EQ(at_peak.padding.count(), page - 1 + 10);
  EXPECT_EQ(at_peak.free.count(), (32 << 20) - 6 * page);
  EXPECT_EQ(at_peak.largest_hole.count(), (32 << 20) - 9 * page);
  EXPECT_NEAR(at_peak.share(), 3.0 * page / ((32 << 20) - 6 * page), 1e-12);
  heap.release(3, Picoseconds(3));
  EXPECT_EQ(heap.fragmentation_at_peak().free, at_peak.free);
}

TEST(AddressSpace, PlacesByPolicyAndAlignment) {
  const auto after_holes = [](HoleChoice choice) {
    AddressSpace space(Bytes(1000), choice);
    EXPECT_EQ(space.allocate(Bytes(100), Bytes(1))->count(), 0u);
    EXPECT_EQ(space.allocate(Bytes(10), Bytes(1))->count(), 100u);
    EXPECT_EQ(space.allocate(Bytes(50), Bytes(1))->count(), 110u);
    EXPECT_EQ(space.allocate(Bytes(10), Bytes(1))->count(), 160u);
    space.free(Address(0), Bytes(100));
    space.free(Address(110), Bytes(50));
    return space.allocate(Bytes(40), Bytes(1))->count();
  };
  EXPECT_EQ(after_holes(HoleChoice::first_fit), 0u);
  EXPECT_EQ(after_holes(HoleChoice::best_fit), 110u);

  AddressSpace space(Bytes(256), HoleChoice::first_fit);
  EXPECT_EQ(space.allocate(Bytes(1), Bytes(64))->count(), 0u);
  EXPECT_EQ(space.allocate(Bytes(64), Bytes(64))->count(), 64u);
  EXPECT_EQ(space.largest_hole().count(), 128u);
  EXPECT_FALSE(space.allocate(Bytes(129), Bytes(1)));
  EXPECT_FALSE(space.allocate(Bytes(128), Bytes(256)));
  EXPECT_EQ(space.allocate(Bytes(63), Bytes(1))->count(), 1u) << "what alignment skipped is free";
  EXPECT_EQ(space.free_bytes().count(), 128u);
}

/// Against a space of single bytes: never two objects at one byte, free bytes exact, and what is
/// refused truly has no place.
TEST(AddressSpace, AgreesWithAMapOfBytes) {
  std::mt19937 random(11);
  for (const HoleChoice choice : {HoleChoice::first_fit, HoleChoice::best_fit}) {
    AddressSpace space(Bytes(512), choice);
    std::vector<bool> taken(512, false);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> alive;
    for (int step = 0; step < 3000; ++step) {
      if (!alive.empty() && random() % 2 == 0) {
        std::swap(alive[random() % alive.size()], alive.back());
        const auto [address, bytes] = alive.back();
        alive.pop_back();
        space.free(Address(address), Bytes(bytes));
        std::fill_n(taken.begin() + static_cast<std::ptrdiff_t>(address), bytes, false);
      } else {
        const std::uint64_t bytes = 1 + random() % 60, alignment = 1u << random() % 6;
        bool possible = false;
        for (std::uint64_t at = 0; at + bytes <= 512 && !possible; at += alignment) {
          possible = std::none_of(taken.begin() + static_cast<std::ptrdiff_t>(at),
                                  taken.begin() + static_cast<std::ptrdiff_t>(at + bytes),
                                  [](bool used) { return used; });
        }
        const auto address = space.allocate(Bytes(bytes), Bytes(alignment));
        ASSERT_EQ(address.has_value(), possible);
        if (!address) continue;
        ASSERT_EQ(address->count() % alignment, 0u);
        for (std::uint64_t i = 0; i < bytes; ++i) {
          ASSERT_FALSE(taken[address->count() + i]);
          taken[address->count() + i] = true;
        }
        alive.emplace_back(address->count(), bytes);
      }
      ASSERT_EQ(space.free_bytes().count(),
                static_cast<std::uint64_t>(std::count(taken.begin(), taken.end(), false)));
    }
  }
}

TEST(DeviceHeap, RefusesObjectsTooLargeForTheDevice) {
  DeviceConfig config = config_with("4 GiB");
  config.set("limits.max_allocation", "64 MiB");
  config.set("limits.image_width", "4096");
  DeviceHeap heap(config);
  EXPECT_THROW(heap.create(buffer(1, (64 << 20) + 1, trace::PRELOADED), Picoseconds(0)), UserError);
  trace::CreateObject image = buffer(2, 8 * 4097, trace::TM_IN_FLIGHT);
  image.set_image(true);
  image.set_height(1);
  image.set_texel_bytes(8);
  image.set_width(4097);
  EXPECT_THROW(heap.create(image, Picoseconds(0)), UserError);
  image.set_width(4096);
  heap.create(image, Picoseconds(0));
  image.set_object(3);
  image.set_texel_bytes(12);
  EXPECT_THROW(heap.create(image, Picoseconds(0)), UserError);
}

TEST(DeviceHeap, RefusesWhatATraceWithMissingCausesWouldDo) {
  const DeviceConfig config = config_with("4 GiB");
  DeviceHeap heap(config);
  EXPECT_THROW(heap.at(1), UserError);
  EXPECT_THROW(heap.release(1, Picoseconds(0)), UserError);
  heap.create(buffer(1, 100, trace::STAGING), Picoseconds(0));
  EXPECT_THROW(heap.create(buffer(1, 100, trace::STAGING), Picoseconds(0)), UserError);
  EXPECT_THROW(heap.change_class(change(1, trace::STAGING, trace::PRELOADED, 101), Picoseconds(0)),
               UserError);
  EXPECT_THROW(heap.change_class(change(1, trace::PRELOADED, trace::STAGING, 1), Picoseconds(0)),
               UserError);
}

TEST(ResidentMemory, AveragesOverTimeAndKeepsEachClassPeak) {
  ResidentMemory memory;
  memory.add(trace::PRELOADED, Bytes(100), Picoseconds(0));
  memory.add(trace::STAGING, Bytes(300), Picoseconds(10'000));
  memory.remove(trace::STAGING, Bytes(300), Picoseconds(20'000));
  const ResultMemory summary = memory.summary(Picoseconds(40'000));
  EXPECT_EQ(summary.peak.count(), 400u);
  EXPECT_EQ(summary.average.count(), (100u * 40 + 300u * 10) / 40);
  EXPECT_EQ(summary.peak_by_class.preloaded.count(), 100u);
  EXPECT_EQ(summary.peak_by_class.staging.count(), 300u);
  ASSERT_EQ(summary.over_time.size(), 3u);
  EXPECT_EQ(summary.over_time[1].time.count(), 10u);
  EXPECT_EQ(summary.over_time[1].claims.total().count(), 400u);
  EXPECT_THROW(memory.remove(trace::STAGING, Bytes(1), Picoseconds(30'000)), std::logic_error);
}

TEST(ResidentMemory, ARepetitionCountsFromItsOwnBeginning) {
  ResidentMemory memory;
  memory.add(trace::PRELOADED, Bytes(100), Picoseconds(0));
  memory.add(trace::STAGING, Bytes(900), Picoseconds(10'000));
  memory.remove(trace::STAGING, Bytes(900), Picoseconds(20'000));
  memory.restart(Picoseconds(50'000));
  memory.add(trace::ACTIVATIONS, Bytes(200), Picoseconds(60'000));
  const ResultMemory summary = memory.summary(Picoseconds(70'000));
  EXPECT_EQ(summary.peak.count(), 300u);
  EXPECT_EQ(summary.average.count(), 200u);
  EXPECT_EQ(summary.peak_by_class.staging.count(), 0u);
  ASSERT_EQ(summary.over_time.size(), 2u);
  EXPECT_EQ(summary.over_time[0].time.count(), 0u);
  EXPECT_EQ(summary.over_time[0].claims.total().count(), 100u);
  EXPECT_EQ(summary.over_time[1].time.count(), 10u);
}

}  // namespace
}  // namespace fm
