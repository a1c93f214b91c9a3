// y = softmax(scale * x + mask) over the last dimension of a `rows` tensor; GROUP work-items a row.
// Row r of x takes row r / mask_quotient % mask_modulus * mask_outer + r % mask_remainder *
// mask_inner of the mask.
#include "arithmetic.clh"
#include "group_tree.clh"

#if MASK
#define FM_SCORE(v, k4)                                           \
  float4 v = scale * FM_LOAD4(x, k4, row_in);                     \
  v += FM_LOAD4(mask, k4, mask_row);                              \
  FM_ARITHMETIC(fma, 4)
#else
#define FM_SCORE(v, k4)                                           \
  const float4 v = scale * FM_LOAD4(x, k4, row_in);               \
  FM_ARITHMETIC(fma, 4)
#endif

__kernel void softmax(FM_TEXELS_READ(x),
#if MASK
                      FM_TEXELS_READ(mask),
#endif
                      FM_TEXELS_WRITE(y), int rows, int columns, int width,
#if MASK
                      int mask_quotient, int mask_modulus, int mask_outer, int mask_remainder,
                      int mask_inner,
#endif
                      float scale FM_RECORD_PARAMETERS) {
  FM_BEGIN;
  FM_GROUP_TREE_BEGIN(1);
  const int row = FM_GLOBAL_ID(1);
  // Work-items beyond the last row go along for the barriers.
  const int row_in = FM_MIN(row, rows - 1);
#if MASK
  const int mask_row =
      FM_REMAINDER(FM_QUOTIENT(row_in, mask_quotient), mask_modulus) * mask_outer +
      FM_REMAINDER(row_in, mask_remainder) * mask_inner;
#endif

  float4 highest = (float4)(-INFINITY);
  FM_FOR(k4, item, width, GROUP) {
    FM_SCORE(v, k4);
    FM_ARITHMETIC(add, 4);
    highest = fmax(highest, fm_first_lanes(v, columns - 4 * k4, -INFINITY));
  }
  FM_END_FOR
  FM_GROUP_TREE(1, top, fm_max_lanes(highest), fmax);

  float4 sum = (float4)(0.0f);
  FM_FOR(k4, item, width, GROUP) {
    FM_SCORE(v, k4);
    FM_ARITHMETIC(special, 4);
    FM_ARITHMETIC(add, 8);
    sum += fm_first_lanes(exp(v - top), columns - 4 * k4, 0.0f);
  }
  FM_END_FOR
  FM_GROUP_TREE(1, total, fm_sum_lanes(sum), FM_COMBINE_SUM);

  FM_IF(row, LT, rows) {
    const float weight = 1.0f / total;
    FM_ARITHMETIC(special, 1);
    FM_FOR(k4, item, width, GROUP) {
      FM_SCORE(v, k4);
      FM_ARITHMETIC(special, 4);
      FM_ARITHMETIC(add, 8);
      FM_STORE4(y, k4, row, fm_first_lanes(exp(v - top) * weight, columns - 4 * k4, 0.0f));
    }
    FM_END_FOR
  }
  FM_END_IF
}
