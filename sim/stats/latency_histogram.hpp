#pragma once
// How long reads took, counted in bins.

#include <array>
#include <cstdint>
#include <vector>

namespace fm {

/// Bins by powers of two of cycles: [0, 1), [1, 2), [2, 4), ... the last without end.
class LatencyHistogram {
 public:
  static constexpr std::size_t bins = 20;
  void record(std::uint64_t cycles) {
    const std::size_t width =
        cycles == 0 ? 0 : 64 - static_cast<std::size_t>(__builtin_clzll(cycles));
    ++counts_[width < bins ? width : bins - 1];
  }
  const std::array<std::uint64_t, bins>& counts() const { return counts_; }
  void add(const LatencyHistogram& other) {
    for (std::size_t bin = 0; bin < bins; ++bin) counts_[bin] += other.counts_[bin];
  }
  /// First cycle of each bin.
  static std::vector<std::uint64_t> bounds() {
    std::vector<std::uint64_t> bounds = {0};
    for (std::size_t bin = 1; bin < bins; ++bin) bounds.push_back(std::uint64_t{1} << (bin - 1));
    return bounds;
  }

 private:
  std::array<std::uint64_t, bins> counts_{};
};

/// The bins in which Mali GPUs count the latency of external reads (Arm libGPUCounters,
/// L2_EXT_RRESP_0_127 ... L2_EXT_RRESP_320_383), in GPU cycles.
class ExternalReadHistogram {
 public:
  static constexpr std::size_t bins = 6;
  void record(std::uint64_t cycles) {
    const std::size_t bin = cycles < 128 ? 0 : static_cast<std::size_t>(cycles / 64 - 1);
    ++counts_[bin < bins ? bin : bins - 1];
  }
  const std::array<std::uint64_t, bins>& counts() const { return counts_; }
  void add(const ExternalReadHistogram& other) {
    for (std::size_t bin = 0; bin < bins; ++bin) counts_[bin] += other.counts_[bin];
  }
  static std::vector<std::uint64_t> bounds() { return {0, 128, 192, 256, 320, 384}; }

 private:
  std::array<std::uint64_t, bins> counts_{};
};

}  // namespace fm
