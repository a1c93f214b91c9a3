#include "sim/sampling/touched_memory.hpp"

#include <algorithm>
#include <vector>

namespace fm {

namespace {

/// Results are written while other work-groups still read: the ranges go by in so many parts.
constexpr std::uint64_t parts = 16;

void touch_part(const TouchedRange& range, std::uint64_t part, MemorySystem& memory) {
  const std::uint64_t first = range.bytes.count() * part / parts;
  const std::uint64_t last = range.bytes.count() * (part + 1) / parts;
  const bool texture = range.image && !range.write;
  memory.touch(range.address + Bytes(first), Bytes(last - first),
               texture ? MemoryClient::texture : MemoryClient::load_store, range.write);
}

}  // namespace

void touch_arguments(const GpuLaunch& launch, MemorySystem& memory) {
  // Long streams first: what is small is used again and again until the end.
  std::vector<TouchedRange> ranges = launch.touched;
  std::stable_sort(ranges.begin(), ranges.end(), [](const TouchedRange& a, const TouchedRange& b) {
    return a.write != b.write ? b.write : a.bytes.count() > b.bytes.count();
  });
  for (std::uint64_t part = 0; part < parts; ++part) {
    for (const TouchedRange& range : ranges) touch_part(range, part, memory);
  }
}

}  // namespace fm
