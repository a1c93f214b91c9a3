#pragma once
// How fast the flash delivers a request: its size, its place, and how many wait with it.

#include <cstdint>
#include <deque>
#include <vector>

#include "core/device_config.hpp"

namespace fm {

/// Where reads fall in the file. UFS devices keep a part of their mapping tables in SRAM, so that
/// random reads over a small range are faster than over a large one (PowerInfer-2, arXiv
/// 2406.06282, section 2).
class ReadPattern {
 public:
  struct Place {
    bool sequential = true;   ///< begins where the read before it ended, or is the first
    std::uint64_t range = 0;  ///< bytes from the first to the last of the newest 32 reads
  };
  Place add(std::uint64_t file_offset, Bytes bytes);

 private:
  struct Extent {
    std::uint64_t begin, end;
  };
  std::deque<Extent> newest_;  ///< at most 32, as many as a UFS queue holds (JEDEC JESD220)
};

/// Sustained bandwidth of a request, bytes per second. Sequential: storage.read_bandwidth of its
/// size. Random: that times storage.random_ratio of its size and storage.random_range of the range,
/// at most the best of storage.read_bandwidth; a sequential request is never slower than a random
/// one. Both times storage.depth_share of the commands in its queue, itself included.
class FlashTiming {
 public:
  /// `config` outlives it.
  explicit FlashTiming(const DeviceConfig& config);
  double bandwidth(const ReadPattern::Place& place, Bytes bytes, std::size_t depth) const;
  double best_bandwidth() const { return best_; }

 private:
  const std::vector<CurvePoint>&size_, &random_ratio_, &random_range_, &depth_share_;
  double best_ = 0;
};

}  // namespace fm
