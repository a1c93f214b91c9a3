#include "kernels/tile_candidates.hpp"

#include <algorithm>
#include <map>

namespace fm {
namespace {

/// Accumulators of a tile, in values of `vector` lanes: more than this leave the registers.
constexpr std::int64_t most_accumulators = 28;
/// Multiply-adds of one lane in the time in which one element is loaded: assumed.
constexpr double multiplications_a_load = 4;

std::int64_t items(const LocalSize& local) {
  return static_cast<std::int64_t>(local[0] * local[1] * local[2]);
}

/// Values of `vector` lanes that a tile accumulates in; of four columns each where it sums along K.
std::int64_t accumulators(const LaunchTile& tile, const TiledWork& work) {
  const std::int64_t texels = tile.rows * tile.columns4;
  if (work.transposed) return tile.vector > texel_lanes ? texels * texel_lanes : texels;
  return divided_up(texels * texel_lanes, tile.vector);
}

std::vector<LocalSize> groups_of(const PlanLaunch& launch, const LaunchTile& tile,
                                 const TileSearch& search) {
  if (!search.sequential) return {launch.local};
  const LocalSize group = sequential_group(launch, tile);
  if (items(group) == 1) return {group};
  return {group, {1, 1, 1}};
}

/// Extents of tiles to try: the kernels accept fewer, tile_refusal() says which.
constexpr std::int64_t row_choices[] = {1, 2, 4, 5, 6, 8, 16, 32};
constexpr std::int64_t column_choices[] = {1, 2, 3, 4, 6, 8, 12, 16};
constexpr std::int64_t vector_choices[] = {4, 8, 16};
constexpr std::int64_t block_choices[] = {1, 2, 4, 8, 16, 32};

std::vector<LaunchTile> served_tiles(const PlanLaunch& launch, const TileSearch& search) {
  const TiledWork work = tiled_work(launch);
  std::vector<LaunchTile> served;
  for (const std::int64_t vector : vector_choices) {
    for (const std::int64_t rows : row_choices) {
      for (const std::int64_t columns4 : column_choices) {
        for (const std::int64_t blocks : block_choices) {
          LaunchTile tile{rows, columns4, vector, {1, 1, 1}, blocks};
          if (!tile_refusal(launch, tile).empty()) continue;
          if (accumulators(tile, work) > most_accumulators) continue;
          if (blocks > 1 && blocks / 2 * rows >= work.rows) continue;  // half of them do as well
          for (const LocalSize& local : groups_of(launch, tile, search)) {
            if (items(local) > static_cast<std::int64_t>(search.group_limit)) continue;
            tile.local = local;
            served.push_back(tile);
          }
        }
      }
    }
  }
  return served;
}

}  // namespace

double tile_estimate(const PlanLaunch& launch, const LaunchTile& tile, const TileSearch& search) {
  const TiledWork work = tiled_work(launch);
  const auto extent = tiled_extent(launch, tile);
  double work_items = 1, groups = 1;
  for (std::size_t d = 0; d < extent.size(); ++d) {
    const auto local = static_cast<std::int64_t>(tile.local[d]);
    work_items *= static_cast<double>(extent[d]);
    groups *= static_cast<double>(divided_up(extent[d], local));
  }
  // A block's part of the columns is loaded once for all tiles below each other.
  const double rows = static_cast<double>(tile.rows), blocks = static_cast<double>(tile.blocks);
  const double columns = static_cast<double>(tile.columns4 * texel_lanes);
  const double tiles = static_cast<double>(std::min(tile.blocks, divided_up(work.rows, tile.rows)));
  const double computed = rows * tiles * columns;
  const double loaded = rows * tiles + columns * (blocks > 1 ? 1 : tiles);
  // One depth's loads hide behind its arithmetic, or the other way round.
  const double item = static_cast<double>(work.depth) *
                      std::max(computed, multiplications_a_load * loaded) /
                      static_cast<double>(tile.vector);
  // The last groups to run leave units without work.
  const auto units = static_cast<double>(search.compute_units);
  const double turns = static_cast<double>(
      divided_up(static_cast<std::int64_t>(groups), static_cast<std::int64_t>(units)));
  return item * work_items * (turns * units / groups);
}

std::vector<LaunchTile> tile_candidates(const PlanLaunch& launch, const TileSearch& search) {
  std::map<std::int64_t, std::vector<std::pair<double, LaunchTile>>> by_width;
  const LaunchTile own = tile_of(launch);
  for (const LaunchTile& tile : served_tiles(launch, search)) {
    if (tile == own) continue;
    by_width[tile.vector].emplace_back(tile_estimate(launch, tile, search), tile);
  }
  std::size_t longest = 0;
  for (auto& [vector, ranked] : by_width) {
    // Of equal ones the larger, which was found later.
    std::reverse(ranked.begin(), ranked.end());
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& left, const auto& right) { return left.first < right.first; });
    longest = std::max(longest, ranked.size());
  }
  std::vector<LaunchTile> best;
  for (std::size_t place = 0; place < longest; ++place) {
    for (const auto& [vector, ranked] : by_width) {
      if (place < ranked.size() && best.size() < search.most) best.push_back(ranked[place].second);
    }
  }
  return best;
}

}  // namespace fm
