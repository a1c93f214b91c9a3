#include "kernels/tile_file.hpp"

#include <iomanip>
#include <sstream>

#include "core/digest.hpp"
#include "core/yaml_text.hpp"
#include "core/yaml_value.hpp"
#include "kernels/catalogue.hpp"

namespace fm {
namespace {

constexpr std::int64_t largest_extent = 1024;  ///< of a tile or a work-group, in each direction

LocalSize read_local(const YamlValue& value) {
  const std::vector<YamlValue> sizes = value.sequence();
  LocalSize local{1, 1, 1};
  if (sizes.size() != local.size()) value.fail("needs three numbers, e.g. [1, 8, 1]");
  for (std::size_t d = 0; d < local.size(); ++d) {
    local[d] = sizes[d].unsigned_integer(1, largest_extent);
  }
  return local;
}

double read_time(const YamlValue& value) {
  const float time = value.real();
  if (!(time > 0)) value.fail("needs nanoseconds above 0");
  return time;
}

TunedTile read_tile(const YamlValue& value) {
  YamlMap map = value.map();
  TunedTile tuned;
  tuned.where = value.where();
  tuned.tile.rows = map.required("rows").integer(1, largest_extent);
  tuned.tile.columns4 = map.required("columns4").integer(1, largest_extent);
  tuned.tile.vector = map.required("vector").integer(1, largest_extent);
  tuned.tile.blocks = map.required("blocks").integer(1, largest_extent);
  tuned.tile.local = read_local(map.required("local"));
  tuned.tile_ns = read_time(map.required("tile_ns"));
  tuned.default_ns = read_time(map.required("default_ns"));
  map.reject_unknown();
  return tuned;
}

}  // namespace

std::string tiled_kernels_digest() {
  std::string sources;
  for (const char* kernel : {"matmul", "conv", "depthwise"}) sources += kernel_source(kernel);
  return digest_of(sources);
}

std::string to_yaml(const TileFile& file) {
  std::ostringstream text;
  text << "tile_file: " << tile_file_version << "\ndevice: " << yaml_quoted(file.device)
       << "\ndriver: " << yaml_quoted(file.driver) << "\nkernels: " << yaml_quoted(file.kernels)
       << "\ntiles:" << (file.tiles.empty() ? " {}" : "") << "\n"
       << std::fixed << std::setprecision(0);
  for (const auto& [subject, tuned] : file.tiles) {
    const LaunchTile& tile = tuned.tile;
    text << "  " << yaml_quoted(subject) << ":\n    {rows: " << tile.rows
         << ", columns4: " << tile.columns4 << ", vector: " << tile.vector
         << ", blocks: " << tile.blocks << ", local: [" << tile.local[0] << ", " << tile.local[1]
         << ", " << tile.local[2] << "], tile_ns: " << tuned.tile_ns
         << ", default_ns: " << tuned.default_ns << "}\n";
  }
  return text.str();
}

TileFile parse_tile_file(const std::string& yaml, const std::string& file_name) {
  YamlMap map = parse_yaml_document(yaml, file_name).map();
  map.required("tile_file").unsigned_integer(tile_file_version, tile_file_version);
  TileFile file;
  file.device = map.required("device").text();
  file.driver = map.required("driver").text();
  file.kernels = map.required("kernels").text();
  const YamlMap tiles = map.required("tiles").map();
  map.reject_unknown();
  for (const auto& [subject, value] : tiles.entries()) {
    file.tiles.emplace(subject, read_tile(value));
  }
  return file;
}

}  // namespace fm
