// build_reduction, build_softmax and build_layer_norm: kernels in which a group of work-items
// shares a row.
#include <stdexcept>

#include "core/diagnostics.hpp"
#include "kernels/launch_draft.hpp"
#include "kernels/row_broadcast.hpp"

namespace fm {
namespace {

constexpr std::int64_t group_items = 64;

/// A row of `texels` is shared by the power of two of work-items that leaves each about four;
/// `rows_at_once` rows fill the group. Returns the local size.
LocalSize set_group(LaunchDraft& draft, std::int64_t texels) {
  std::int64_t group = 1, log = 0;
  while (group < group_items && group * 4 < texels) {
    group *= 2;
    ++log;
  }
  draft.parameter("GROUP", group).parameter("GROUP_LOG2", log);
  draft.parameter("GROUP_ROWS", group_items / group);
  return {static_cast<std::uint64_t>(group), static_cast<std::uint64_t>(group_items / group), 1};
}

std::string word_of(Reduction kind) {
  switch (kind) {
    case Reduction::sum:
      return "SUM";
    case Reduction::mean:
      return "MEAN";
    case Reduction::maximum:
      return "MAXIMUM";
    case Reduction::minimum:
      return "MINIMUM";
    case Reduction::product:
      return "PRODUCT";
    case Reduction::l2:
      return "L2";
    case Reduction::sum_square:
      return "SUM_SQUARE";
  }
  throw std::logic_error("unknown reduction");
}

}  // namespace

PlanLaunch build_reduction(const PlanTensor& x, const PlanTensor& y, Reduction kind) {
  LaunchDraft draft("reduction");
  draft.tensor("x", x).tensor("y", y).parameter("OPERATOR", word_of(kind));
  std::int64_t outputs = 1, count = 1;
  if (x.layout == Layout::channels) {
    const ChannelsView in = channels_view(x), out = channels_view(y);
    require_operand(
        out.batch == in.batch && out.channels == in.channels && out.height == 1 && out.width == 1,
        "Reduce", describe(y) + " is not " + describe(x) + " reduced over H and W");
    outputs = in.batch * in.channels4;
    count = in.height * in.width;
    draft.parameter("SPATIAL", 1).integer("elements", count).integer("columns", in.channels);
    draft.integer("blocks", in.channels4).integer("in_width", in.width);
    draft.integer("in_height", in.height);
  } else {
    const RowsView in = rows_view(x), out = rows_view(y);
    require_operand(out.rows == in.rows && out.columns == 1, "Reduce",
                    describe(y) + " is not " + describe(x) + " reduced over its last dimension");
    outputs = in.rows;
    count = in.width;
    draft.parameter("SPATIAL", 0).integer("elements", in.columns).integer("columns", in.columns);
    draft.integer("blocks", 1).integer("in_width", in.width).integer("in_height", in.rows);
  }
  const LocalSize local = set_group(draft, count);
  draft.integer("outputs", outputs).integer("count", count);
  return draft.finish({static_cast<std::int64_t>(local[0]), outputs, 1}, local);
}

PlanLaunch build_softmax(const PlanTensor& x, const PlanTensor* mask, float scale,
                         const PlanTensor& y) {
  const RowsView in = rows_view(x), out = rows_view(y);
  require_operand(in.rows == out.rows && in.columns == out.columns, "Softmax",
                  "shapes " + describe(x) + " and " + describe(y) + " differ");
  LaunchDraft draft("softmax");
  draft.tensor("x", x).tensor("y", y).parameter("MASK", mask ? 1 : 0);
  if (mask) {
    require_operand(rows_view(*mask).columns == in.columns, "Softmax",
                    "the mask " + describe(*mask) + " does not broadcast to " + describe(x));
    const RowBroadcast rows = row_broadcast(*mask, x);
    draft.tensor("mask", *mask);
    draft.integer("mask_quotient", rows.quotient).integer("mask_modulus", rows.modulus);
    draft.integer("mask_outer", rows.outer).integer("mask_remainder", rows.remainder);
    draft.integer("mask_inner", rows.inner);
  }
  const LocalSize local = set_group(draft, in.width);
  draft.integer("rows", in.rows).integer("columns", in.columns).integer("width", in.width);
  draft.real("scale", scale);
  return draft.finish({static_cast<std::int64_t>(local[0]), in.rows, 1}, local);
}

PlanLaunch build_layer_norm(const PlanTensor& x, const PlanTensor& scale, const PlanTensor* shift,
                            float epsilon, const PlanTensor& y) {
  const RowsView in = rows_view(x), out = rows_view(y);
  require_operand(
      in.rows == out.rows && in.columns == out.columns && rows_view(scale).columns == in.columns &&
          (!shift || rows_view(*shift).columns == in.columns),
      "LayerNormalization",
      "shapes of " + describe(x) + ", its scale, its shift and " + describe(y) + " do not fit");
  LaunchDraft draft("layer_norm");
  draft.tensor("x", x).tensor("weight", scale).tensor("y", y);
  draft.parameter("SHIFT", shift ? 1 : 0);
  if (shift) draft.tensor("shift", *shift);
  const LocalSize local = set_group(draft, in.width);
  draft.integer("rows", in.rows).integer("columns", in.columns).integer("width", in.width);
  draft.real("epsilon", epsilon);
  return draft.finish({static_cast<std::int64_t>(local[0]), in.rows, 1}, local);
}

}  // namespace fm
