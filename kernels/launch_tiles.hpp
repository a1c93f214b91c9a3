#pragma once
// Tiles of launches that are already built: what a work-item makes, how many lanes it computes at
// once, and its work-group. The same kernel and arguments serve every tile.

#include <string>

#include "core/plan.hpp"
#include "kernels/launch_draft.hpp"

namespace fm {

struct LaunchTile {
  std::int64_t rows = 1;      ///< of c; convolutions: outputs along W
  std::int64_t columns4 = 1;  ///< texels of c; convolutions: of output channels (depthwise: 1)
  std::int64_t vector = 4;    ///< lanes computed at once (VECTOR)
  LocalSize local{1, 1, 1};
  /// Products: tiles below each other that a work-item makes, block of K by block (BLOCK_M).
  std::int64_t blocks = 1;

  bool operator==(const LaunchTile& other) const {
    return rows == other.rows && columns4 == other.columns4 && vector == other.vector &&
           local == other.local && blocks == other.blocks;
  }
};
/// "6 x 12, 16 lanes, group 1 x 33 x 1", "8 x 12 in blocks of 16, 16 lanes, group 1 x 2 x 1"
std::string to_string(const LaunchTile& tile);

/// What decides a tile's worth: a tiled launch's extents, counted in outputs.
struct TiledWork {
  std::int64_t rows = 1;      ///< of c; convolutions: output width
  std::int64_t columns4 = 1;  ///< texels of a row of c; convolutions: of output channels
  std::int64_t repeats = 1;   ///< batches; convolutions: output rows of all images
  std::int64_t depth = 1;     ///< multiply-adds an output
  bool transposed = false;    ///< a matrix product whose b is [N, K]
};

/// Whether the launch's kernel has tiles: matmul, conv, depthwise.
bool has_tile(const PlanLaunch& launch);
LaunchTile tile_of(const PlanLaunch& launch);
TiledWork tiled_work(const PlanLaunch& launch);
/// Work-items that `tile` needs for `launch`.
std::array<std::int64_t, 3> tiled_extent(const PlanLaunch& launch, const LaunchTile& tile);
/// "" or why the kernel does not serve the launch with this tile.
std::string tile_refusal(const PlanLaunch& launch, const LaunchTile& tile);
/// The launch with another tile. Throws UserError with tile_refusal().
PlanLaunch with_tile(const PlanLaunch& launch, const LaunchTile& tile);

/// A work-group for a device that computes `tile.vector` lanes of a work-item at once, and
/// work-items one after another: those that share the larger operand follow each other.
LocalSize sequential_group(const PlanLaunch& launch, const LaunchTile& tile);
/// The tile for a device whose work-items compute `vector_width` lanes at once: the launch's own
/// for four, or where a tensor lies in an image.
LaunchTile default_tile(const Plan& plan, const PlanLaunch& launch, std::int64_t vector_width);

/// Names launches that one tile suits: kernel, extents, and how operands are stored.
/// "matmul 1 x 197 x 768 x 2304, buffer f32 x buffer f32".
std::string tile_subject(const Plan& plan, const PlanLaunch& launch);

}  // namespace fm
