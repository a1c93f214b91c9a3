// y = (x - mean) / sqrt(variance + epsilon) * weight + shift over the last dimension of a `rows`
// tensor; GROUP work-items a row; the variance is taken about the mean, in a second pass.
#include "arithmetic.clh"
#include "group_tree.clh"

__kernel void layer_norm(FM_TEXELS_READ(x), FM_TEXELS_READ(weight),
#if SHIFT
                         FM_TEXELS_READ(shift),
#endif
                         FM_TEXELS_WRITE(y), int rows, int columns, int width,
                         float epsilon FM_RECORD_PARAMETERS) {
  FM_BEGIN;
  FM_GROUP_TREE_BEGIN(1);
  const int row = FM_GLOBAL_ID(1);
  // Work-items beyond the last row go along for the barriers.
  const int row_in = FM_MIN(row, rows - 1);

  float4 sum = (float4)(0.0f);
  FM_FOR(k4, item, width, GROUP) {
    sum += FM_LOAD4(x, k4, row_in);
    FM_ARITHMETIC(add, 4);
  }
  FM_END_FOR
  FM_GROUP_TREE(1, total, fm_sum_lanes(sum), FM_COMBINE_SUM);
  const float mean = total / (float)columns;

  float4 squares = (float4)(0.0f);
  FM_FOR(k4, item, width, GROUP) {
    const float4 d = fm_first_lanes(FM_LOAD4(x, k4, row_in) - mean, columns - 4 * k4, 0.0f);
    FM_ARITHMETIC(add, 4);
    FM_ARITHMETIC(fma, 4);
    squares = mad(d, d, squares);
  }
  FM_END_FOR
  FM_GROUP_TREE(1, deviation, fm_sum_lanes(squares), FM_COMBINE_SUM);
  const float gain = rsqrt(deviation / (float)columns + epsilon);
  FM_ARITHMETIC(special, 1);

  FM_IF(row, LT, rows) {
    FM_FOR(k4, item, width, GROUP) {
      float4 v = FM_LOAD4(x, k4, row) - mean;
      v *= gain * FM_LOAD4(weight, k4, 0);
#if SHIFT
      v += FM_LOAD4(shift, k4, 0);
#endif
      FM_ARITHMETIC(add, 8);
      FM_ARITHMETIC(fma, 4);
      FM_STORE4(y, k4, row, fm_first_lanes(v, columns - 4 * k4, 0.0f));
    }
    FM_END_FOR
  }
  FM_END_IF
}
