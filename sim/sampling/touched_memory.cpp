#include "sim/sampling/touched_memory.hpp"

#include <algorithm>
#include <vector>

namespace fm {

namespace {

/// Results are written while other work-groups still read: the ranges go by in so many parts.
constexpr std::uint64_t parts = 16;

void touch_part(const TouchedRange& range, std::uint64_t part, MemorySystem& memory) {
  const MemoryClient client =
      range.image && !range.write ? MemoryClient::texture : MemoryClient::load_store;
  // All segments as one row of bytes, of which the part is a piece.
  const std::uint64_t all = range.bytes.count() * range.segments;
  const std::uint64_t end = all * (part + 1) / parts;
  for (std::uint64_t at = all * part / parts; at < end;) {
    const std::uint64_t segment = at / range.bytes.count(), inside = at % range.bytes.count();
    const std::uint64_t bytes = std::min(range.bytes.count() - inside, end - at);
    memory.touch(range.address + range.pitch * segment + Bytes(inside), Bytes(bytes), client,
                 range.write);
    at += bytes;
  }
}

}  // namespace

void touch_arguments(const GpuLaunch& launch, MemorySystem& memory) {
  // Long streams first: what is small is used again and again until the end.
  std::vector<TouchedRange> ranges = launch.touched;
  std::stable_sort(ranges.begin(), ranges.end(), [](const TouchedRange& a, const TouchedRange& b) {
    return a.write != b.write ? b.write : a.bytes * a.segments > b.bytes * b.segments;
  });
  for (std::uint64_t part = 0; part < parts; ++part) {
    for (const TouchedRange& range : ranges) touch_part(range, part, memory);
  }
}

}  // namespace fm
