// build_unary and build_binary.
#include <stdexcept>

#include "core/diagnostics.hpp"
#include "kernels/launch_draft.hpp"
#include "kernels/row_broadcast.hpp"

namespace fm {
namespace {

/// Texel columns [i * block, (i + 1) * block) of a tensor hold lanes 4 i .. 4 i + 3 of `extent`.
struct LaneRule {
  std::int64_t block = 1, extent = 1;
};

LaneRule lane_rule(const PlanTensor& tensor) {
  if (tensor.layout == Layout::channels) {
    const ChannelsView view = channels_view(tensor);
    return {view.width, view.channels};
  }
  return {1, rows_view(tensor).columns};
}

std::array<std::int64_t, 3> set_grid(LaunchDraft& draft, const PlanTensor& y) {
  const GridExtent grid = grid_of(y);
  const LaneRule rule = lane_rule(y);
  const auto width = static_cast<std::int64_t>(grid.width);
  const auto height = static_cast<std::int64_t>(grid.height);
  draft.integer("width", width).integer("height", height);
  draft.integer("block", rule.block).integer("extent", rule.extent);
  return {width, height, 1};
}

std::string word_of(BinaryOperator op) {
  switch (op) {
    case BinaryOperator::add:
      return "ADD";
    case BinaryOperator::subtract:
      return "SUBTRACT";
    case BinaryOperator::multiply:
      return "MULTIPLY";
    case BinaryOperator::divide:
      return "DIVIDE";
    case BinaryOperator::maximum:
      return "MAXIMUM";
    case BinaryOperator::minimum:
      return "MINIMUM";
    case BinaryOperator::power:
      return "POWER";
    case BinaryOperator::equal:
      return "EQUAL";
    case BinaryOperator::less:
      return "LESS";
    case BinaryOperator::less_or_equal:
      return "LESS_OR_EQUAL";
    case BinaryOperator::logical_and:
      return "LOGICAL_AND";
    case BinaryOperator::logical_or:
      return "LOGICAL_OR";
    case BinaryOperator::logical_xor:
      return "LOGICAL_XOR";
    case BinaryOperator::prelu:
      return "PRELU";
    case BinaryOperator::integer_divide:
      return "INTEGER_DIVIDE";
    case BinaryOperator::integer_power:
      return "INTEGER_POWER";
    case BinaryOperator::modulo:
      return "MODULO";
    case BinaryOperator::remainder:
      return "REMAINDER";
    case BinaryOperator::pick:
      return "PICK";
    case BinaryOperator::pick_other:
      return "PICK_OTHER";
  }
  throw std::logic_error("unknown binary operator");
}

/// See binary.cl: x = i * block + j * inner, y by `rows`.
struct Broadcast {
  std::string mode = "SAME";
  std::int64_t block = 0, inner = 0;
  RowBroadcast rows;
};

[[noreturn]] void refuse(const PlanTensor& x, const PlanTensor& y) {
  throw UserError("binary operator: " + describe(x) + " does not broadcast to " + describe(y));
}

/// The shape of `x` with ones in front, as long as that of `y`; every dimension 1 or y's.
Shape aligned_shape(const PlanTensor& x, const PlanTensor& y) {
  if (x.shape.size() > y.shape.size()) refuse(x, y);
  Shape shape(y.shape.size() - x.shape.size(), 1);
  shape.insert(shape.end(), x.shape.begin(), x.shape.end());
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != 1 && shape[d] != y.shape[d]) refuse(x, y);
  }
  return shape;
}

Broadcast channels_broadcast(const PlanTensor& x, const PlanTensor& y) {
  const Shape shape = aligned_shape(x, y);
  const ChannelsView out = channels_view(y);
  Broadcast broadcast;
  broadcast.mode = shape[1] == 1 && out.channels > 1 ? "SPLAT" : "BROADCAST";
  broadcast.block = shape[1] == 1 ? 0 : shape[3];
  broadcast.inner = shape[3] == 1 ? 0 : 1;
  broadcast.rows.quotient = broadcast.rows.remainder = out.height;
  broadcast.rows.modulus = out.batch;
  broadcast.rows.outer = shape[0] == 1 ? 0 : shape[2];
  broadcast.rows.inner = shape[2] == 1 ? 0 : 1;
  return broadcast;
}

Broadcast rows_broadcast(const PlanTensor& x, const PlanTensor& y) {
  const Shape shape = aligned_shape(x, y);
  Broadcast broadcast;
  const bool splat = !shape.empty() && shape.back() == 1 && y.shape.back() > 1;
  broadcast.mode = splat ? "SPLAT" : "BROADCAST";
  broadcast.block = splat ? 0 : 1;
  broadcast.rows = row_broadcast(x, y);
  return broadcast;
}

void set_operand(LaunchDraft& draft, const std::string& index, const PlanTensor& x,
                 const PlanTensor& y) {
  const std::string name = "x" + index;
  if (x.layout != y.layout) {
    throw UserError("binary operator: " + describe(x) + " and " + describe(y) +
                    " must have one layout");
  }
  draft.tensor(name, x);
  Broadcast broadcast;
  if (aligned_shape(x, y) != y.shape) {
    broadcast = y.layout == Layout::channels ? channels_broadcast(x, y) : rows_broadcast(x, y);
  }
  draft.parameter("MODE" + index, broadcast.mode);
  draft.integer(name + "_block", broadcast.block).integer(name + "_inner", broadcast.inner);
  draft.integer(name + "_quotient", broadcast.rows.quotient);
  draft.integer(name + "_modulus", broadcast.rows.modulus);
  draft.integer(name + "_outer", broadcast.rows.outer);
  draft.integer(name + "_remainder", broadcast.rows.remainder);
  draft.integer(name + "_row", broadcast.rows.inner);
}

}  // namespace

PlanLaunch build_unary(const PlanTensor& x, const PlanTensor& y, const Epilogue& epilogue) {
  require_operand(x.layout == y.layout && grid_of(x) == grid_of(y), "unary operator",
                  describe(x) + " and " + describe(y) + " must have one shape and layout");
  LaunchDraft draft("unary");
  draft.tensor("x", x).tensor("y", y).epilogue(epilogue, y);
  const auto extent = set_grid(draft, y);
  return draft.finish(extent, choose_local(extent));
}

PlanLaunch build_binary(const PlanTensor& x0, const PlanTensor& x1, const PlanTensor& y,
                        BinaryOperator op, const Epilogue& epilogue) {
  LaunchDraft draft("binary");
  draft.tensor("y", y).parameter("OPERATOR", word_of(op)).epilogue(epilogue, y);
  set_operand(draft, "0", x0, y);
  set_operand(draft, "1", x1, y);
  const auto extent = set_grid(draft, y);
  return draft.finish(extent, choose_local(extent));
}

}  // namespace fm
