// build_attention: tiles, batches and geometry of softmax(scale * Q K^T + mask) V.
#include <algorithm>

#include "core/diagnostics.hpp"
#include "kernels/launch_draft.hpp"
#include "kernels/row_broadcast.hpp"

namespace fm {
namespace {

const std::string operation = "Attention";
constexpr int most_team_items = 16;

struct Attention {
  std::int64_t batch = 1, queries = 1, keys = 1;
  RowsView query, y;
};

/// [.., R, C] without R and C.
Shape leading(const Shape& shape) {
  return {shape.begin(), shape.end() - std::min<std::ptrdiff_t>(2, shape.end() - shape.begin())};
}

Attention attention_of(const AttentionOperands& operands) {
  const Shape& query = operands.query->shape;
  const Shape& key = operands.key->shape;
  const Shape& value = operands.value->shape;
  const Shape& y = operands.y->shape;
  Attention attention;
  attention.query = rows_view(*operands.query);
  attention.y = rows_view(*operands.y);
  attention.batch = matrix_count(query);
  attention.queries = matrix_rows(query);
  attention.keys = matrix_rows(key);
  const bool batches = leading(key) == leading(query) && leading(value) == leading(query) &&
                       matrix_count(y) == attention.batch;
  require_operand(batches && key.back() == query.back() && matrix_rows(value) == attention.keys &&
                      y.back() == value.back() && matrix_rows(y) == attention.queries,
                  operation,
                  "shapes " + describe(*operands.query) + ", " + describe(*operands.key) + ", " +
                      describe(*operands.value) + " and " + describe(*operands.y) + " do not fit");
  rows_view(*operands.key);
  rows_view(*operands.value);
  return attention;
}

/// `shape` without its second last dimension.
PlanTensor without_rows(PlanTensor tensor) {
  if (tensor.shape.size() >= 2) tensor.shape.erase(tensor.shape.end() - 2);
  return tensor;
}

void set_mask(LaunchDraft& draft, const AttentionOperands& operands, const Attention& attention) {
  const PlanTensor& mask = *operands.mask;
  const std::int64_t rows = matrix_rows(mask.shape);
  PlanTensor scores = *operands.query;
  scores.name = "scores";
  scores.shape.back() = attention.keys;
  require_operand(
      rows_view(mask).columns == attention.keys && (rows == 1 || rows == attention.queries),
      operation, "the mask " + describe(mask) + " does not broadcast to " + describe(scores));
  const RowBroadcast batches = row_broadcast(without_rows(mask), without_rows(scores));
  draft.tensor("mask", mask);
  draft.integer("mask_quotient", batches.quotient).integer("mask_modulus", batches.modulus);
  draft.integer("mask_outer", batches.outer * rows);
  draft.integer("mask_remainder", batches.remainder).integer("mask_inner", batches.inner * rows);
  draft.integer("mask_row", rows == 1 ? 0 : 1);
}

std::int64_t power_of_two_up_to(std::int64_t limit) {
  std::int64_t power = 1;
  while (2 * power <= limit) power *= 2;
  return power;
}

/// Zeros replaced. Images: a team as wide as a row of y, each work-item one texel of it (or two,
/// ..), since accumulators cost a phone's core work-items. Buffers: a quarter of that, and small
/// groups, since a work-item there shares fewer of its loads with the others.
AttentionTile tile_for(const AttentionOperands& operands, std::int64_t width, AttentionTile tile) {
  const bool images = operands.key->placement == Placement::image2d;
  const std::int64_t texels = images ? width : divided_up(width, 4);
  const int team = static_cast<int>(
      std::clamp<std::int64_t>(power_of_two_up_to(2 * texels - 1), 4, most_team_items));
  if (tile.queries == 0) tile.queries = 4;
  if (tile.keys4 == 0) tile.keys4 = images ? 1 : 2;
  if (tile.group_x == 0) tile.group_x = team;
  if (tile.group_y == 0) tile.group_y = std::max(1, (images ? 64 : 16) / tile.group_x);
  return tile;
}

}  // namespace

PlanLaunch build_attention(const AttentionOperands& operands, const AttentionTile& tile) {
  const Attention attention = attention_of(operands);
  const std::int64_t width = attention.y.width;
  const AttentionTile chosen = tile_for(operands, width, tile);
  const std::int64_t rows =
      power_of_two_up_to(std::min<std::int64_t>(chosen.queries, attention.queries));
  const std::int64_t teams = std::min<std::int64_t>(chosen.group_y, attention.queries / rows);
  LaunchDraft draft("attention");
  draft.tensor("query", *operands.query).tensor("key", *operands.key);
  draft.tensor("value", *operands.value).tensor("y", *operands.y);
  draft.parameter("MASK", operands.mask ? 1 : 0);
  if (operands.mask) set_mask(draft, operands, attention);
  draft.parameter("BAND", operands.band ? 1 : 0);
  if (operands.band) {
    draft.integer("behind", operands.band->behind).integer("ahead", operands.band->ahead);
  }
  draft.parameter("HALF_LOCAL", operands.query->dtype == DataType::f16 ? 1 : 0);
  draft.parameter("TILE_Q", rows).parameter("TILE_K", chosen.keys4);
  draft.parameter("TILE_V", divided_up(width, chosen.group_x));
  draft.parameter("GROUP_X", chosen.group_x).parameter("GROUP_Y", teams);
  draft.parameter("DEPTH4", attention.query.width);
  draft.integer("queries", attention.queries).integer("keys", attention.keys);
  draft.integer("columns", attention.y.columns).integer("width", width);
  draft.real("scale", operands.scale);
  const std::int64_t macs = attention.batch * attention.queries * attention.keys *
                            (attention.query.columns + attention.y.columns);
  return draft.finish(
      {chosen.group_x, divided_up(attention.queries, rows), attention.batch},
      {static_cast<std::uint64_t>(chosen.group_x), static_cast<std::uint64_t>(teams), 1}, macs);
}

}  // namespace fm
