#include "sim/storage/flash_timing.hpp"

#include <algorithm>

namespace fm {
namespace {

constexpr std::size_t remembered_reads = 32;

}  // namespace

ReadPattern::Place ReadPattern::add(std::uint64_t file_offset, Bytes bytes) {
  Place place;
  place.sequential = newest_.empty() || newest_.back().end == file_offset;
  newest_.push_back({file_offset, file_offset + bytes.count()});
  if (newest_.size() > remembered_reads) newest_.pop_front();
  Extent all = newest_.front();
  for (const Extent& extent : newest_) {
    all.begin = std::min(all.begin, extent.begin);
    all.end = std::max(all.end, extent.end);
  }
  place.range = all.end - all.begin;
  return place;
}

FlashTiming::FlashTiming(const DeviceConfig& config)
    : size_(config.curve("storage.read_bandwidth")),
      random_ratio_(config.curve("storage.random_ratio")),
      random_range_(config.curve("storage.random_range")),
      depth_share_(config.curve("storage.depth_share")) {
  for (const CurvePoint& point : size_) best_ = std::max(best_, point.y);
}

double FlashTiming::bandwidth(const ReadPattern::Place& place, Bytes bytes,
                              std::size_t depth) const {
  const auto size = static_cast<double>(bytes.count());
  const double sequential = curve_at(size_, size);
  const double random =
      std::min(best_, sequential * curve_at(random_ratio_, size) *
                          curve_at(random_range_, static_cast<double>(place.range)));
  return (place.sequential ? std::max(sequential, random) : random) *
         curve_at(depth_share_, static_cast<double>(depth));
}

}  // namespace fm
