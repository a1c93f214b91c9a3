#pragma once
// Which tiles of a launch are worth measuring.

#include <cstddef>
#include <vector>

#include "kernels/launch_tiles.hpp"

namespace fm {

struct TileSearch {
  std::size_t most = 6;             ///< candidates, the best by estimate
  std::uint64_t compute_units = 1;  ///< work-groups that run at once
  bool sequential = false;          ///< work-items of a group run one after another: a CPU
  std::uint64_t group_limit = 256;  ///< work-items
};

/// Estimated time of the launch with this tile, in multiply-adds of one lane: by roofline, for what
/// its tiles compute (beyond the result too) and move, and for compute units without work.
double tile_estimate(const PlanLaunch& launch, const LaunchTile& tile, const TileSearch& search);

/// The best by estimate of all tiles that the kernel serves, each width of lanes in turn: what a
/// width is worth no estimate says. The launch's own is left out.
std::vector<LaunchTile> tile_candidates(const PlanLaunch& launch, const TileSearch& search);

}  // namespace fm
