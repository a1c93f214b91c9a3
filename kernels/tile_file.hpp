#pragma once
// Tiles that were measured on a device (`fmexec tune`), as the file that `fmplan --tiles` reads.

#include <map>
#include <string>
#include <vector>

#include "core/diagnostics.hpp"
#include "kernels/launch_tiles.hpp"

namespace fm {

constexpr int tile_file_version = 1;

struct TunedTile {
  LaunchTile tile;
  double tile_ns = 0;     ///< a launch with it, as measured
  double default_ns = 0;  ///< the same with the tile that the plan had
  SourceLocation where;   ///< of the entry; not written
};

struct TileFile {
  std::string device, driver;
  std::string kernels;                     ///< tiled_kernels_digest() of the measured ones
  std::map<std::string, TunedTile> tiles;  ///< by tile_subject()
};

/// Digest of the sources of all kernels that have tiles: other sources, other times.
std::string tiled_kernels_digest();

/// Deterministic text; parse_tile_file() of it gives the same.
std::string to_yaml(const TileFile& file);
/// Throws UserError with file:line:column.
TileFile parse_tile_file(const std::string& yaml, const std::string& file_name);

}  // namespace fm
