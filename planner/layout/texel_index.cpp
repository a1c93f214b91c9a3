#include "planner/layout/texel_index.hpp"

#include <optional>

namespace fm {
namespace {

constexpr std::int64_t lanes = 4;

/// A tensor's texel grid: the packed dimension, and the others as expressions of x and y.
struct Grid {
  Shape shape;
  std::size_t packed = 0;              ///< dimension whose elements share a texel
  std::int64_t across = 1;             ///< texels along x from one group of four to the next
  IndexExpression group;               ///< four elements of the packed dimension
  IndexExpression x, y;                ///< the texel
  std::vector<IndexExpression> index;  ///< of the dimensions; the packed one's is to be filled in
};

/// Indices of the first `count` dimensions from the row-major number `row` over them.
void split_rows(const IndexExpression& row, std::size_t count, Grid* grid) {
  std::int64_t stride = 1;
  for (std::size_t d = count; d-- > 0;) {
    grid->index[d] = remainder(quotient(row, stride), grid->shape[d]);
    stride *= grid->shape[d];
  }
}

IndexExpression grid_variable(const std::string& name, std::uint64_t extent) {
  return IndexExpression::variable(name, static_cast<std::int64_t>(extent));
}

Grid grid_of(Layout layout, const Shape& given) {
  Grid grid;
  grid.shape = given.empty() ? Shape{1} : given;
  const Shape& s = grid.shape;
  grid.index.resize(s.size());
  const GridExtent extent = grid_extent(layout, s);
  const IndexExpression x = grid.x = grid_variable("x", extent.width);
  const IndexExpression y = grid.y = grid_variable("y", extent.height);
  if (layout == Layout::channels) {
    grid.packed = 1;
    grid.across = s[3];
    grid.group = quotient(x, s[3]);
    grid.index[0] = quotient(y, s[2]);
    grid.index[2] = remainder(y, s[2]);
    grid.index[3] = remainder(x, s[3]);
    return grid;
  }
  grid.packed = s.size() - 1;
  grid.group = x;
  split_rows(y, s.size() - 1, &grid);
  return grid;
}

/// An element of the stored tensor as place in the packed dimension and the rest of its texel.
struct Place {
  IndexExpression packed;     ///< index in the packed dimension
  IndexExpression column, y;  ///< texel: across * (packed / 4) + column, y
};

Place place_of(const IndexExpression& element, const PlanTensor& stored) {
  const Shape shape = stored.shape.empty() ? Shape{1} : stored.shape;
  if (stored.layout == Layout::channels) {
    const std::int64_t channels = shape[1], height = shape[2], width = shape[3];
    const IndexExpression plane = quotient(element, width * height);
    return {remainder(plane, channels), remainder(element, width),
            quotient(plane, channels) * height + remainder(quotient(element, width), height)};
  }
  return {remainder(element, shape.back()), IndexExpression(0), quotient(element, shape.back())};
}

IndexExpression element_at(const IndexMap& map, const Grid& grid, const IndexExpression& packed) {
  std::vector<IndexExpression> index = grid.index;
  index[grid.packed] = packed;
  if (map.shape().empty()) index.clear();
  return map.element(index);
}

std::int64_t packed_extent(const PlanTensor& stored) {
  if (stored.layout == Layout::channels) return stored.shape[1];
  return stored.shape.empty() ? 1 : stored.shape.back();
}
std::int64_t across_of(const PlanTensor& stored) {
  return stored.layout == Layout::channels ? stored.shape[3] : 1;
}

/// Both pack the same dimension, and end it in the same texel, whatever its extent: padding lies
/// alike.
std::optional<TexelIndex> same_packing(const IndexMap& map, const Grid& grid,
                                       const PlanTensor& stored) {
  const std::int64_t extent = grid.shape[grid.packed];
  const std::int64_t start = packed_extent(stored) - extent;
  if (start < 0 || start % lanes != 0) return std::nullopt;
  const IndexExpression packed = IndexExpression::variable("k", extent);
  const Place place = place_of(element_at(map, grid, packed), stored);
  if (place.packed != packed + IndexExpression(start)) return std::nullopt;
  if (place.column.uses("k") || place.y.uses("k")) return std::nullopt;
  TexelIndex result;
  result.whole = true;
  result.x = (grid.group + IndexExpression(start / lanes)) * across_of(stored) + place.column;
  result.y = place.y;
  return result;
}

/// Whole texels lie in whole texels; only where padding does not matter.
std::optional<TexelIndex> same_lanes(const Place& place, const IndexExpression& lane,
                                     const PlanTensor& stored) {
  if (remainder(place.packed, lanes) != lane) return std::nullopt;
  TexelIndex result;
  result.whole = true;
  result.x = quotient(place.packed, lanes) * across_of(stored) + place.column;
  result.y = place.y;
  if (result.x.uses("lane") || result.y.uses("lane")) return std::nullopt;
  return result;
}

}  // namespace

std::string TexelIndex::text() const {
  if (whole) return x.to_string() + ", " + y.to_string();
  if (linear) return x.to_string() + ", " + valid.to_string();
  return x.to_string() + ", " + y.to_string() + ", " + lane.to_string() + ", " + valid.to_string();
}

TexelIndex texel_index(const IndexMap& map, Layout layout, const PlanTensor& stored) {
  const Grid grid = grid_of(layout, map.shape());
  const std::int64_t extent = grid.shape[grid.packed];
  const IndexExpression lane = IndexExpression::variable("lane", lanes);
  const IndexExpression element = element_at(map, grid, grid.group * lanes + lane);
  const IndexExpression valid =
      extent % lanes == 0 ? IndexExpression(lanes) : IndexExpression(extent) + grid.group * -lanes;
  if (stored.layout == Layout::linear) {
    TexelIndex result;
    result.x = element;
    result.valid = valid;
    result.linear = true;
    return result;
  }
  const Place place = place_of(element, stored);
  std::optional<TexelIndex> whole = same_packing(map, grid, stored);
  if (!whole && extent % lanes == 0) whole = same_lanes(place, lane, stored);
  if (whole) {
    whole->plain = whole->x == grid.x && whole->y == grid.y;
    return *whole;
  }
  TexelIndex result;
  result.x = quotient(place.packed, lanes) * across_of(stored) + place.column;
  result.y = place.y;
  result.lane = remainder(place.packed, lanes);
  result.valid = valid;
  return result;
}

}  // namespace fm
