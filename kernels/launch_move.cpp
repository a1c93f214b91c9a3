// build_move, build_place and build_gather: data from one place to another.
#include <algorithm>
#include <cstdlib>

#include "core/diagnostics.hpp"
#include "kernels/launch_draft.hpp"

namespace fm {
namespace {

constexpr std::size_t move_rank = 6;

std::string layout_word(const PlanTensor& tensor) {
  switch (tensor.layout) {
    case Layout::linear:
      return "LINEAR";
    case Layout::rows:
      return "ROWS";
    case Layout::channels:
      return "CHANNELS";
    case Layout::conv_filter:
    case Layout::depthwise_filter:
      break;
  }
  throw UserError("move: " + describe(tensor) + " has layout " + to_string(tensor.layout) +
                  "; supported are linear, rows and channels");
}

/// One dimension of y: its extent, and the distance in x between neighbours along it.
struct Axis {
  std::int64_t extent = 1, stride = 0;
};

/// Neighbouring dimensions that x also runs through in one stride become one; ones disappear.
std::vector<Axis> merged(const std::vector<Axis>& axes) {
  std::vector<Axis> out;
  for (const Axis& axis : axes) {
    if (axis.extent == 1) continue;
    if (!out.empty() && out.back().stride == axis.stride * axis.extent) {
      out.back() = {out.back().extent * axis.extent, axis.stride};
    } else {
      out.push_back(axis);
    }
  }
  return out;
}

struct MoveAxes {
  std::array<Axis, move_rank> axes;  ///< the last `rank` count
  std::size_t rank = 1;
};

MoveAxes move_axes(const PlanTensor& y, const std::vector<std::int64_t>& strides) {
  std::vector<Axis> all;
  for (std::size_t d = 0; d < y.shape.size(); ++d) all.push_back({y.shape[d], strides[d]});
  MoveAxes result;
  if (y.layout == Layout::channels) {
    result.rank = 4;
    std::copy(all.begin(), all.end(), result.axes.begin() + 2);
    return result;
  }
  Axis last;
  if (y.layout == Layout::rows && !all.empty()) {
    last = all.back();
    all.pop_back();
  }
  std::vector<Axis> axes = merged(all);
  if (y.layout == Layout::rows) axes.push_back(last);
  if (axes.empty()) axes.push_back({1, 0});
  require_operand(axes.size() <= move_rank, "move",
                  describe(y) + " needs more than " + std::to_string(move_rank) + " strides");
  result.rank = axes.size();
  std::copy(axes.begin(), axes.end(), result.axes.end() - static_cast<std::ptrdiff_t>(axes.size()));
  return result;
}

/// x as move.cl sees it.
struct Source {
  std::int64_t inner = 1, height = 1, channels = 1, batch = 1;
};
Source source_of(const PlanTensor& x) {
  if (x.layout == Layout::linear) return {element_count(x.shape), 1, 1, 1};
  if (x.layout == Layout::rows) return {rows_view(x).columns, 1, 1, 1};
  const ChannelsView view = channels_view(x);
  return {view.width, view.height, view.channels, view.batch};
}

/// Whether the lanes of every texel of y are those of one texel of x.
bool moves_whole_texels(const PlanTensor& x, const PlanTensor& y, const MoveAxes& move,
                        std::int64_t offset) {
  if (x.layout == Layout::linear || y.layout == Layout::linear) return false;
  const Source source = source_of(x);
  const std::size_t lane_axis = y.layout == Layout::channels ? 3 : move_rank - 1;
  std::vector<Axis> others;
  for (std::size_t d = 0; d < move_rank; ++d) {
    if (move.axes[d].extent > 1 && d != lane_axis) others.push_back(move.axes[d]);
  }
  const std::int64_t apart = move.axes[lane_axis].stride;
  if (x.layout == Layout::rows) {
    return apart == 1 && source.inner % texel_lanes == 0 && offset % texel_lanes == 0 &&
           std::all_of(others.begin(), others.end(), [](const Axis& axis) {
             return axis.stride >= 0 && axis.stride % texel_lanes == 0;
           });
  }
  // Channels are a plane apart; the others stay within a plane or go by whole texels.
  const std::int64_t plane = source.inner * source.height;
  if (apart != plane || (source.channels % texel_lanes != 0 && source.batch > 1)) return false;
  std::int64_t within = offset % plane;
  if (offset - within != 0 && (offset - within) % (texel_lanes * plane) != 0) return false;
  for (const Axis& axis : others) {
    if (axis.stride < 0) return false;
    if (axis.stride % (texel_lanes * plane) == 0) continue;
    within += axis.stride * (axis.extent - 1);
  }
  return within < plane;
}

void check_inside(const PlanTensor& x, const PlanTensor& y,
                  const std::vector<std::int64_t>& strides, std::int64_t offset) {
  std::int64_t lowest = offset, highest = offset;
  for (std::size_t d = 0; d < strides.size(); ++d) {
    (strides[d] < 0 ? lowest : highest) += strides[d] * (y.shape[d] - 1);
  }
  require_operand(lowest >= 0 && highest < element_count(x.shape), "move",
                  describe(y) + " reaches outside " + describe(x));
}

std::array<std::int64_t, 3> set_grid(LaunchDraft& draft, const PlanTensor& tensor) {
  const GridExtent grid = grid_of(tensor);
  const auto width = static_cast<std::int64_t>(grid.width);
  const auto height = static_cast<std::int64_t>(grid.height);
  draft.integer("width", width).integer("height", height);
  return {width, height, 1};
}

std::int64_t product_of(const Shape& shape, std::size_t begin, std::size_t end) {
  std::int64_t product = 1;
  for (std::size_t d = begin; d < end; ++d) product *= shape[d];
  return product;
}

std::size_t checked_axis(const PlanTensor& x, int axis, const std::string& operation) {
  require_operand(axis >= 0 && static_cast<std::size_t>(axis) < x.shape.size(), operation,
                  "axis " + std::to_string(axis) + " of " + describe(x));
  return static_cast<std::size_t>(axis);
}

/// Pieces of `from` units each go to pieces of `to` units, `start` units in.
struct Region {
  std::int64_t from = 1, to = 1, start = 0;
};

void place_in_channels(const PlanTensor& x, const PlanTensor& y, std::size_t axis,
                       std::int64_t start, Region& columns, Region& rows) {
  const ChannelsView in = channels_view(x), out = channels_view(y);
  columns = {in.width, out.width, 0};
  rows = {in.height, out.height, 0};
  if (axis == 0) rows.start = start * out.height;
  if (axis == 1) {
    require_operand(start % texel_lanes == 0, "place",
                    "channel " + std::to_string(start) + " of " + describe(y) +
                        " is no multiple of 4; go through a linear tensor");
    columns.start = start / texel_lanes * out.width;
  }
  if (axis == 2) rows.start = start;
  if (axis == 3) columns.start = start;
}

void place_in_rows(const PlanTensor& x, const PlanTensor& y, std::size_t axis, std::int64_t start,
                   Region& columns, Region& rows) {
  const std::size_t last = x.shape.size() - 1;
  columns = {rows_view(x).width, rows_view(y).width, 0};
  if (axis == last) {
    require_operand(start % texel_lanes == 0, "place",
                    "column " + std::to_string(start) + " of " + describe(y) +
                        " is no multiple of 4; go through a linear tensor");
    columns.start = start / texel_lanes;
    return;
  }
  const std::int64_t inner = product_of(x.shape, axis + 1, last);
  rows = {x.shape[axis] * inner, y.shape[axis] * inner, start * inner};
}

/// Lanes beyond x's end along the lane dimension would be overwritten with zeros.
void check_lanes(const PlanTensor& x, const PlanTensor& y, std::size_t axis, std::int64_t start) {
  const std::size_t lane_axis = x.layout == Layout::channels ? 1 : x.shape.size() - 1;
  if (x.layout == Layout::linear || axis != lane_axis) return;
  require_operand(
      x.shape[axis] % texel_lanes == 0 || start + x.shape[axis] == y.shape[axis], "place",
      describe(x) + " ends inside a texel of " + describe(y) + "; go through a linear tensor");
}

}  // namespace

PlanLaunch build_move(const PlanTensor& x, const PlanTensor& y,
                      const std::vector<std::int64_t>& strides, std::int64_t offset) {
  require_operand(strides.size() == y.shape.size(), "move",
                  std::to_string(strides.size()) + " strides for " + describe(y));
  check_inside(x, y, strides, offset);
  const MoveAxes move = move_axes(y, strides);
  const Source source = source_of(x);
  LaunchDraft draft("move");
  draft.parameter("X_LAYOUT", layout_word(x)).parameter("Y_LAYOUT", layout_word(y));
  draft.parameter("RANK", static_cast<std::int64_t>(move.rank));
  draft.parameter("WHOLE", moves_whole_texels(x, y, move, offset) ? 1 : 0);
  draft.tensor("x", x).tensor("y", y).integer("offset", offset);
  draft.integer("x_inner", source.inner).integer("x_height", source.height);
  draft.integer("x_channels", source.channels);
  for (std::size_t d = 0; d < move_rank; ++d) {
    draft.integer("d" + std::to_string(d), move.axes[d].extent);
    draft.integer("s" + std::to_string(d), move.axes[d].stride);
  }
  const auto extent = set_grid(draft, y);
  return draft.finish(extent, choose_local(extent));
}

PlanLaunch build_place(const PlanTensor& x, const PlanTensor& y, int axis_index,
                       std::int64_t start) {
  const std::size_t axis = checked_axis(x, axis_index, "place");
  require_operand(x.layout == y.layout && x.shape.size() == y.shape.size(), "place",
                  describe(x) + " and " + describe(y) + " must have one layout and rank");
  for (std::size_t d = 0; d < x.shape.size(); ++d) {
    require_operand(
        d == axis ? start >= 0 && start + x.shape[d] <= y.shape[d] : x.shape[d] == y.shape[d],
        "place", describe(x) + " does not fit into " + describe(y));
  }
  check_lanes(x, y, axis, start);
  Region columns, rows{static_cast<std::int64_t>(grid_of(x).height), 1, 0};
  if (x.layout == Layout::linear) {
    const std::int64_t inner = product_of(x.shape, axis + 1, x.shape.size());
    columns = {x.shape[axis] * inner, y.shape[axis] * inner, start * inner};
  } else if (x.layout == Layout::rows) {
    place_in_rows(x, y, axis, start, columns, rows);
  } else {
    place_in_channels(x, y, axis, start, columns, rows);
  }
  LaunchDraft draft("place");
  draft.tensor("x", x).tensor("y", y).parameter("LINEAR", x.layout == Layout::linear ? 1 : 0);
  draft.integer("x_from", columns.from)
      .integer("x_to", columns.to)
      .integer("x_start", columns.start);
  draft.integer("y_from", rows.from).integer("y_to", rows.to).integer("y_start", rows.start);
  const auto extent = set_grid(draft, x);
  return draft.finish(extent, choose_local(extent));
}

PlanLaunch build_gather(const PlanTensor& x, const PlanTensor& indices, const PlanTensor& y,
                        int axis_index) {
  const std::size_t axis = checked_axis(x, axis_index, "Gather");
  const bool linear = x.layout == Layout::linear;
  require_operand(x.layout == y.layout && (linear || x.layout == Layout::rows), "Gather",
                  describe(x) + " and " + describe(y) + " must both be linear or both rows");
  require_operand(indices.layout == Layout::linear && indices.dtype == DataType::i32, "Gather",
                  "the indices " + describe(indices) + " must be linear i32");
  require_operand(linear || axis + 1 < x.shape.size(), "Gather",
                  "along the last dimension of " + describe(x) + " only linear tensors are served");
  const std::size_t end = linear ? x.shape.size() : x.shape.size() - 1;
  const std::int64_t picks = element_count(indices.shape);
  const std::int64_t inner = product_of(x.shape, axis + 1, end);
  require_operand(element_count(y.shape) * x.shape[axis] == element_count(x.shape) * picks,
                  "Gather",
                  describe(y) + " is not " + describe(x) + " taken at " + describe(indices));
  LaunchDraft draft("gather");
  draft.tensor("x", x)
      .tensor("indices", indices)
      .tensor("y", y)
      .parameter("LINEAR", linear ? 1 : 0)
      .parameter("PER_ELEMENT", 0);
  draft.integer("choices", x.shape[axis]).integer("picks", picks).integer("inner", inner);
  const auto extent = set_grid(draft, y);
  return draft.finish(extent, choose_local(extent));
}

namespace {

/// A linear tensor seen as [outer, extent, inner] around an axis.
struct AxisView {
  std::int64_t outer = 1, extent = 1, inner = 1;
};

AxisView axis_view(const PlanTensor& x, int axis_index, const std::string& operation) {
  require_operand(x.layout == Layout::linear, operation, describe(x) + " must be linear");
  const std::size_t axis = checked_axis(x, axis_index, operation);
  return {product_of(x.shape, 0, axis), x.shape[axis],
          product_of(x.shape, axis + 1, x.shape.size())};
}

}  // namespace

PlanLaunch build_gather_elements(const PlanTensor& x, const PlanTensor& indices,
                                 const PlanTensor& y, int axis) {
  const AxisView in = axis_view(x, axis, "GatherElements");
  const AxisView out = axis_view(y, axis, "GatherElements");
  require_operand(
      in.outer == out.outer && in.inner == out.inner && indices.shape == y.shape &&
          indices.layout == Layout::linear && indices.dtype == DataType::i32,
      "GatherElements",
      describe(y) + " is not " + describe(x) + " taken at each of " + describe(indices));
  LaunchDraft draft("gather");
  draft.tensor("x", x).tensor("indices", indices).tensor("y", y);
  draft.parameter("LINEAR", 1).parameter("PER_ELEMENT", 1);
  draft.integer("choices", in.extent).integer("picks", out.extent).integer("inner", in.inner);
  const auto extent = set_grid(draft, y);
  return draft.finish(extent, choose_local(extent));
}

PlanLaunch build_scatter(const PlanTensor& x, const PlanTensor& indices, const PlanTensor& updates,
                         const PlanTensor& y, int axis, ScatterCombination combination) {
  const AxisView whole = axis_view(x, axis, "Scatter");
  const AxisView part = axis_view(updates, axis, "Scatter");
  const bool per_element = indices.shape == updates.shape;
  require_operand(x.shape == y.shape && y.layout == Layout::linear && whole.outer == part.outer &&
                      whole.inner == part.inner && indices.layout == Layout::linear &&
                      (per_element || element_count(indices.shape) == part.extent),
                  "Scatter",
                  describe(updates) + " at " + describe(indices) + " do not fit " + describe(x));
  const char* const words[] = {"REPLACE", "ADD", "MULTIPLY"};
  LaunchDraft draft("scatter");
  draft.tensor("x", x).tensor("indices", indices).tensor("updates", updates).tensor("y", y);
  draft.parameter("COMBINE", words[static_cast<std::size_t>(combination)]);
  draft.parameter("PER_ELEMENT", per_element ? 1 : 0);
  const std::int64_t count = element_count(y.shape);
  draft.integer("count", count).integer("choices", whole.extent);
  draft.integer("picks", part.extent).integer("inner", whole.inner);
  return draft.finish({count, 1, 1}, choose_local({count, 1, 1}));
}

PlanLaunch build_scan(const PlanTensor& x, const PlanTensor& y, int axis, bool exclusive,
                      bool reverse) {
  const AxisView view = axis_view(x, axis, "CumSum");
  require_operand(x.shape == y.shape && y.layout == Layout::linear, "CumSum",
                  describe(x) + " and " + describe(y) + " must be alike");
  LaunchDraft draft("scan");
  draft.tensor("x", x).tensor("y", y);
  draft.parameter("EXCLUSIVE", exclusive ? 1 : 0).parameter("REVERSE", reverse ? 1 : 0);
  const std::int64_t lines = view.outer * view.inner;
  draft.integer("lines", lines).integer("length", view.extent).integer("inner", view.inner);
  return draft.finish({lines, 1, 1}, choose_local({lines, 1, 1}));
}

}  // namespace fm
