#include "sim/sampling/touched_memory.hpp"

#include <algorithm>
#include <vector>

namespace fm {

void touch_arguments(const GpuLaunch& launch, MemorySystem& memory) {
  // Long streams first: what is small is used again and again until the end, results come last.
  std::vector<TouchedRange> ranges = launch.touched;
  std::stable_sort(ranges.begin(), ranges.end(), [](const TouchedRange& a, const TouchedRange& b) {
    return a.write != b.write ? b.write : a.bytes.count() > b.bytes.count();
  });
  for (const TouchedRange& range : ranges) {
    const bool texture = range.image && !range.write;
    memory.touch(range.address, range.bytes,
                 texture ? MemoryClient::texture : MemoryClient::load_store, range.write);
  }
}

}  // namespace fm
