#include "kernels/launch_tiles.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/diagnostics.hpp"
#include "kernels/catalogue.hpp"

namespace fm {
namespace {

const LaunchArgument& argument_of(const PlanLaunch& launch, const std::string& name) {
  const auto declared = catalogue_entry(launch.kernel).arguments(launch.parameters);
  for (std::size_t i = 0; i < declared.size(); ++i) {
    if (declared[i].name == name) return launch.arguments.at(i);
  }
  throw std::logic_error(launch.kernel + " has no argument " + name);
}

std::int64_t integer_of(const PlanLaunch& launch, const std::string& name) {
  return std::get<IntArgument>(argument_of(launch, name)).value;
}

const PlanTensor& tensor_of(const Plan& plan, const PlanLaunch& launch, const std::string& name) {
  return plan.tensor(std::get<TensorArgument>(argument_of(launch, name)).tensor);
}

std::int64_t parameter_of(const PlanLaunch& launch, const std::string& name,
                          std::int64_t otherwise) {
  const auto found = launch.parameters.find(name);
  return found == launch.parameters.end() ? otherwise : std::stoll(found->second);
}

bool is_matmul(const PlanLaunch& launch) { return launch.kernel == "matmul"; }
bool is_depthwise(const PlanLaunch& launch) { return launch.kernel == "depthwise"; }
const char* rows_parameter(const PlanLaunch& launch) {
  return is_matmul(launch) ? "TILE_M" : "TILE_W";
}
const char* columns_parameter(const PlanLaunch& launch) {
  return is_matmul(launch) ? "TILE_N4" : "TILE_O4";
}

/// The largest of `choices` (ascending) that is at most `limit`.
std::int64_t at_most(std::initializer_list<std::int64_t> choices, std::int64_t limit) {
  std::int64_t best = *choices.begin();
  for (const std::int64_t choice : choices) best = choice <= limit ? choice : best;
  return best;
}

/// The fewest equal parts of at most `limit` that make `extent`: their size.
std::int64_t equal_part(std::int64_t extent, std::int64_t limit) {
  return divided_up(extent, divided_up(extent, limit));
}

/// Of `choices`, the one that computes the least beyond `extent`, the largest of equal ones.
std::int64_t least_waste(std::initializer_list<std::int64_t> choices, std::int64_t extent) {
  std::int64_t best = 0, best_total = 0;
  for (const std::int64_t choice : choices) {
    if (choice > extent) continue;
    const std::int64_t total = divided_up(extent, choice) * choice;
    if (best == 0 || total <= best_total) {
      best = choice;
      best_total = total;
    }
  }
  return best;
}

LaunchTile wide_matmul_tile(const TiledWork& work, std::int64_t texels) {
  LaunchTile tile;
  if (work.transposed) {  // four columns of partial sums for every texel of c
    tile.columns4 = 1;
    tile.rows = at_most({1, 2, 4}, work.rows);
    return tile;
  }
  // Three registers of accumulators a row; two where that leaves less of the last tile over.
  tile.columns4 = least_waste({texels, 2 * texels, 3 * texels}, work.columns4);
  tile.rows = at_most({1, 2, 4, 6, 8}, work.rows);
  tile.blocks = at_most({1, 2, 4, 8, 16}, divided_up(work.rows, tile.rows));
  return tile;
}

std::string check_value(const PlanLaunch& launch, const std::string& name, std::int64_t value) {
  for (const ParameterRange& range : catalogue_entry(launch.kernel).parameters) {
    if (range.name != name) continue;
    const std::string word = std::to_string(value);
    if (std::find(range.values.begin(), range.values.end(), word) != range.values.end()) return "";
    return name + " = " + word + ": " + accepted_words(word, range.values);
  }
  return value == 1 ? "" : launch.kernel + " has no " + name;
}

}  // namespace

std::string to_string(const LaunchTile& tile) {
  return std::to_string(tile.rows) + " x " + std::to_string(tile.columns4) +
         (tile.blocks > 1 ? " in blocks of " + std::to_string(tile.blocks) : "") + ", " +
         std::to_string(tile.vector) + " lanes, group " + std::to_string(tile.local[0]) + " x " +
         std::to_string(tile.local[1]) + " x " + std::to_string(tile.local[2]);
}

bool has_tile(const PlanLaunch& launch) {
  return launch.kind == LaunchKind::kernel &&
         (is_matmul(launch) || launch.kernel == "conv" || is_depthwise(launch));
}

LaunchTile tile_of(const PlanLaunch& launch) {
  return {parameter_of(launch, rows_parameter(launch), 1),
          parameter_of(launch, columns_parameter(launch), 1), parameter_of(launch, "VECTOR", 4),
          launch.local, parameter_of(launch, "BLOCK_M", 1)};
}

TiledWork tiled_work(const PlanLaunch& launch) {
  TiledWork work;
  if (is_matmul(launch)) {
    work.rows = integer_of(launch, "rows");
    work.columns4 = integer_of(launch, "width");
    work.depth = integer_of(launch, "depth");
    work.repeats = static_cast<std::int64_t>(launch.global[2]);
    work.transposed = parameter_of(launch, "B_TRANSPOSED", 0) != 0;
    return work;
  }
  work.rows = integer_of(launch, "out_width");
  work.repeats = integer_of(launch, "out_rows");
  const bool window = is_depthwise(launch) || parameter_of(launch, "POINTWISE", 0) == 0;
  work.depth = window ? integer_of(launch, "kernel_h") * integer_of(launch, "kernel_w") : 1;
  if (is_depthwise(launch)) {
    work.columns4 = divided_up(integer_of(launch, "channels"), texel_lanes);
  } else {
    work.columns4 = divided_up(integer_of(launch, "out_channels"), texel_lanes);
    work.depth *= integer_of(launch, "in_channels4") * texel_lanes;
  }
  return work;
}

std::array<std::int64_t, 3> tiled_extent(const PlanLaunch& launch, const LaunchTile& tile) {
  const TiledWork work = tiled_work(launch);
  const std::int64_t rows = divided_up(work.rows, tile.rows * tile.blocks);
  const std::int64_t columns = divided_up(work.columns4, tile.columns4);
  if (is_matmul(launch)) return {columns, rows, work.repeats};
  return {rows, work.repeats, columns};
}

std::string tile_refusal(const PlanLaunch& launch, const LaunchTile& tile) {
  for (const auto& [name, value] :
       {std::pair<std::string, std::int64_t>{rows_parameter(launch), tile.rows},
        {columns_parameter(launch), tile.columns4},
        {"VECTOR", tile.vector},
        {"BLOCK_M", tile.blocks}}) {
    const std::string refusal = check_value(launch, name, value);
    if (!refusal.empty()) return refusal;
  }
  const TiledWork work = tiled_work(launch);
  const std::int64_t texels = tile.vector / texel_lanes;
  if (work.transposed && tile.blocks > 1) {
    return "BLOCK_M = " + std::to_string(tile.blocks) + ": b is transposed, whose blocks are 1";
  }
  // Wide values move back one by one along W, tiles of texels as a whole.
  const bool sums_along_k = work.transposed && texels > 1;
  const std::int64_t wide = is_matmul(launch) ? tile.columns4 : tile.rows;
  if (!sums_along_k && wide % texels != 0) {
    return "a tile of " + std::to_string(wide) + " texels is no multiple of " +
           std::to_string(tile.vector) + " lanes";
  }
  const bool moves_one_by_one = !is_matmul(launch) && texels > 1;
  if (work.rows < (moves_one_by_one ? texels : tile.rows) || work.columns4 < tile.columns4) {
    return "a tile of " + std::to_string(tile.rows) + " x " + std::to_string(tile.columns4) +
           " texels is larger than the result, " + std::to_string(work.rows) + " x " +
           std::to_string(work.columns4);
  }
  for (const std::uint64_t size : tile.local) {
    if (size == 0) return "local size 0: a work-group has at least one work-item";
  }
  return "";
}

PlanLaunch with_tile(const PlanLaunch& launch, const LaunchTile& tile) {
  const std::string refusal = tile_refusal(launch, tile);
  if (!refusal.empty()) throw UserError(launch.kernel + ": " + refusal);
  PlanLaunch changed = launch;
  changed.parameters[rows_parameter(launch)] = std::to_string(tile.rows);
  if (!is_depthwise(launch)) {
    changed.parameters[columns_parameter(launch)] = std::to_string(tile.columns4);
  }
  changed.parameters.erase("VECTOR");
  if (tile.vector != texel_lanes) changed.parameters["VECTOR"] = std::to_string(tile.vector);
  changed.parameters.erase("BLOCK_M");
  if (tile.blocks != 1) changed.parameters["BLOCK_M"] = std::to_string(tile.blocks);
  const auto extent = tiled_extent(launch, tile);
  changed.local = tile.local;
  for (std::size_t d = 0; d < 3; ++d) {
    const auto size = static_cast<std::int64_t>(tile.local[d]);
    changed.global[d] = static_cast<std::uint64_t>(divided_up(extent[d], size) * size);
  }
  return changed;
}

LocalSize sequential_group(const PlanLaunch& launch, const LaunchTile& tile) {
  const auto extent = tiled_extent(launch, tile);
  constexpr std::int64_t most_items = 32;
  if (is_matmul(launch)) {
    return {1, static_cast<std::uint64_t>(equal_part(extent[1], most_items)), 1};
  }
  const std::int64_t x = equal_part(extent[0], 8);
  const std::int64_t y = equal_part(extent[1], std::max<std::int64_t>(1, most_items / x));
  return {static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(y), 1};
}

LaunchTile default_tile(const Plan& plan, const PlanLaunch& launch, std::int64_t vector_width) {
  for (const LaunchArgument& argument : launch.arguments) {
    const auto* tensor = std::get_if<TensorArgument>(&argument);
    if (tensor && plan.tensor(tensor->tensor).placement == Placement::image2d) {
      return tile_of(launch);
    }
  }
  const TiledWork work = tiled_work(launch);
  const std::int64_t along = work.transposed     ? divided_up(work.depth, texel_lanes)
                             : is_matmul(launch) ? work.columns4
                                                 : work.rows;
  const std::int64_t vector = at_most({4, 8, 16}, std::min(vector_width, along * texel_lanes));
  const std::int64_t texels = vector / texel_lanes;
  if (texels == 1) return tile_of(launch);
  LaunchTile tile;
  if (is_matmul(launch)) {
    tile = wide_matmul_tile(work, texels);
  } else {
    tile.rows = work.rows > texels ? 2 * texels : texels;
    tile.columns4 = is_depthwise(launch) ? 1 : at_most({1, 2, 4, 8}, work.columns4);
  }
  tile.vector = vector;
  tile.local = sequential_group(launch, tile);
  return tile;
}

std::string tile_subject(const Plan& plan, const PlanLaunch& launch) {
  const TiledWork work = tiled_work(launch);
  const auto stored = [&](const std::string& argument) {
    const PlanTensor& tensor = tensor_of(plan, launch, argument);
    return to_string(tensor.placement) + " " + to_string(tensor.dtype);
  };
  std::string text = launch.kernel;
  if (is_matmul(launch)) {
    text += " " + std::to_string(work.repeats) + " x " + std::to_string(work.rows) + " x " +
            std::to_string(work.depth) + " x " + std::to_string(integer_of(launch, "columns")) +
            (work.transposed ? " transposed, " : ", ") + stored("a") + " x " + stored("b");
  } else {
    const bool window = is_depthwise(launch) || parameter_of(launch, "POINTWISE", 0) == 0;
    text += " " + std::to_string(work.columns4 * texel_lanes) + " x " +
            std::to_string(work.repeats) + " x " + std::to_string(work.rows) + " of " +
            std::to_string(work.depth);
    if (window) {
      text += ", window " + std::to_string(integer_of(launch, "kernel_h")) + " x " +
              std::to_string(integer_of(launch, "kernel_w"));
    }
    text += ", stride " + std::to_string(integer_of(launch, "stride_h")) + " x " +
            std::to_string(integer_of(launch, "stride_w")) + ", " + stored("x") + " x " +
            stored("filter");
  }
  return text + (plan.accumulate == DataType::f16 ? ", half sums" : "");
}

}  // namespace fm
