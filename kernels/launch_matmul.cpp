// build_matmul: tiles, batches and geometry of the matrix product.
#include <algorithm>

#include "core/diagnostics.hpp"
#include "kernels/launch_draft.hpp"

namespace fm {
namespace {

const std::string operation = "MatMul";

struct Product {
  std::int64_t batch = 1, rows = 1, depth = 1, columns = 1, width = 1;
  std::int64_t a_batch = 0, b_batch = 0;  ///< rows from one batch to the next
};

Product product_of(const MatmulOperands& operands) {
  const RowsView a = rows_view(*operands.a), b = rows_view(*operands.b), c = rows_view(*operands.c);
  const std::int64_t a_count = matrix_count(operands.a->shape);
  const std::int64_t b_count = matrix_count(operands.b->shape);
  Product product;
  product.depth = a.columns;
  product.columns = c.columns;
  product.width = c.width;
  const std::int64_t b_rows = operands.b_transposed ? product.columns : product.depth;
  require_operand(b.columns == (operands.b_transposed ? product.depth : product.columns) &&
                      b.rows == b_rows * b_count,
                  operation,
                  "shapes " + describe(*operands.a) + ", " + describe(*operands.b) + " and " +
                      describe(*operands.c) + " do not fit");
  if (b_count == 1) {
    product.rows = a.rows;
  } else {
    require_operand(
        a_count == b_count || a_count == 1, operation,
        "batches of " + describe(*operands.a) + " and " + describe(*operands.b) + " differ");
    product.batch = b_count;
    product.rows = matrix_rows(operands.a->shape);
    product.a_batch = a_count == 1 ? 0 : product.rows;
    product.b_batch = b_rows;
  }
  require_operand(c.rows == product.rows * product.batch, operation,
                  describe(*operands.c) + " does not have the product's rows");
  return product;
}

/// The largest of `choices` (ascending) that is at most `limit`.
std::int64_t largest_fitting(std::initializer_list<std::int64_t> choices, std::int64_t limit) {
  std::int64_t best = *choices.begin();
  for (const std::int64_t choice : choices) {
    if (choice <= limit) best = choice;
  }
  return best;
}

void set_operands(LaunchDraft& draft, const MatmulOperands& operands, const Product& product) {
  draft.tensor("a", *operands.a).tensor("b", *operands.b).tensor("c", *operands.c);
  draft.parameter("BIAS", operands.bias ? 1 : 0);
  if (operands.bias) {
    require_operand(
        rows_view(*operands.bias).columns == product.columns, operation,
        "the bias " + describe(*operands.bias) + " does not fit " + describe(*operands.c));
    draft.tensor("bias", *operands.bias);
  }
  draft.epilogue(operands.epilogue, *operands.c);
  draft.integer("rows", product.rows).integer("depth", product.depth);
  draft.integer("columns", product.columns).integer("width", product.width);
  draft.integer("a_batch", product.a_batch).integer("b_batch", product.b_batch);
  draft.real("scale", operands.scale);
}

PlanLaunch staged_launch(const MatmulOperands& operands, const Product& product, std::int64_t rows,
                         std::int64_t columns4, std::int64_t macs) {
  require_operand(!operands.b_transposed, operation,
                  "a transposed right side has no local-memory form");
  // The group's panel must lie inside the matrix: it moves back at the edge as register tiles do.
  const std::int64_t group_x = largest_fitting({1, 2, 4, 8, 16}, product.width / columns4);
  const std::int64_t group_y = largest_fitting({1, 2, 4, 8}, product.rows / rows);
  LaunchDraft draft("matmul_local");
  set_operands(draft, operands, product);
  draft.parameter("TILE_M", rows).parameter("TILE_N4", columns4).parameter("TILE_K4", 4);
  draft.parameter("GROUP_X", group_x).parameter("GROUP_Y", group_y);
  return draft.finish(
      {divided_up(product.width, columns4), divided_up(product.rows, rows), product.batch},
      {static_cast<std::uint64_t>(group_x), static_cast<std::uint64_t>(group_y), 1}, macs);
}

}  // namespace

PlanLaunch build_matmul(const MatmulOperands& operands, const TileChoice& tile) {
  const Product product = product_of(operands);
  // Images: fewer accumulators, since a phone's work-item has 64 registers before occupancy falls.
  const std::int64_t wide = operands.b->placement == Placement::image2d ? 2 : 4;
  const std::int64_t rows = tile.rows > 0 ? tile.rows : product.rows >= 4 ? 4 : 1;
  const std::int64_t columns4 =
      tile.columns4 > 0 ? tile.columns4 : largest_fitting({1, 2, wide}, product.width);
  require_operand(rows <= product.rows && columns4 <= product.width, operation,
                  "a tile of " + std::to_string(rows) + " rows x " + std::to_string(columns4) +
                      " texels is larger than " + describe(*operands.c));
  const std::int64_t macs = product.batch * product.rows * product.depth * product.columns;
  if (tile.local_memory) return staged_launch(operands, product, rows, columns4, macs);

  LaunchDraft draft("matmul");
  set_operands(draft, operands, product);
  draft.parameter("TILE_M", rows).parameter("TILE_N4", columns4);
  draft.parameter("B_TRANSPOSED", operands.b_transposed ? 1 : 0);
  const std::array<std::int64_t, 3> extent{divided_up(product.width, columns4),
                                           divided_up(product.rows, rows), product.batch};
  std::uint64_t local_x = 1;
  while (local_x < 16 && static_cast<std::int64_t>(local_x) < extent[0]) local_x *= 2;
  std::uint64_t local_y = 1;
  while (local_x * local_y < 64 && static_cast<std::int64_t>(local_y) < extent[1]) local_y *= 2;
  return draft.finish(extent, {local_x, local_y, 1}, macs);
}

}  // namespace fm
