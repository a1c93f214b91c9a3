// y = epilogue(x0 OPERATOR x1) with NumPy broadcasting; all three in one layout (rows or channels).
// MODE0, MODE1 say where an operand's texel for texel (column, row) of y lies:
//   SAME       at the same place;
//   BROADCAST  at (i * xi_block + j * xi_inner,
//                  row / xi_quotient % xi_modulus * xi_outer + row % xi_remainder * xi_row)
//              with i = column / block, j = column % block;
//   SPLAT      as BROADCAST, and its lane 0 goes to all lanes (its channels or last dimension
//              are 1).
#include "arithmetic.clh"
#include "activation.clh"
#include "streaming.clh"

#define FM_MODE_SAME 0
#define FM_MODE_BROADCAST 1
#define FM_MODE_SPLAT 2
#define FM_MODE0 FM_JOIN(FM_MODE_, MODE0)
#define FM_MODE1 FM_JOIN(FM_MODE_, MODE1)

#define fm_operator_ADD(a, b) ((a) + (b))
#define fm_operator_SUBTRACT(a, b) ((a) - (b))
#define fm_operator_MULTIPLY(a, b) ((a) * (b))
#define fm_operator_DIVIDE(a, b) ((a) / (b))
#define fm_operator_MAXIMUM(a, b) fmax(a, b)
#define fm_operator_MINIMUM(a, b) fmin(a, b)
#define fm_operator_POWER(a, b) pow(a, b)
#define FM_OPERATOR_SPECIALS_ADD 0
#define FM_OPERATOR_SPECIALS_SUBTRACT 0
#define FM_OPERATOR_SPECIALS_MULTIPLY 0
#define FM_OPERATOR_SPECIALS_DIVIDE 4
#define FM_OPERATOR_SPECIALS_MAXIMUM 0
#define FM_OPERATOR_SPECIALS_MINIMUM 0
#define FM_OPERATOR_SPECIALS_POWER 8

#define FM_BROADCAST_ARGUMENTS(t) \
  int t##_block, int t##_inner, int t##_quotient, int t##_modulus, int t##_outer, \
      int t##_remainder, int t##_row,
#define FM_BROADCAST_COLUMN(t) \
  (FM_QUOTIENT(column, block) * t##_block + FM_REMAINDER(column, block) * t##_inner)
#define FM_BROADCAST_ROW(t) \
  (FM_REMAINDER(FM_QUOTIENT(row, t##_quotient), t##_modulus) * t##_outer + \
   FM_REMAINDER(row, t##_remainder) * t##_row)

__kernel void binary(FM_TEXELS_READ(x0), FM_TEXELS_READ(x1),
                     FM_RESIDUAL_ARGUMENT FM_TEXELS_WRITE(y), int width, int height, int block,
                     int extent,
#if FM_MODE0 != FM_MODE_SAME
                     FM_BROADCAST_ARGUMENTS(x0)
#endif
#if FM_MODE1 != FM_MODE_SAME
                     FM_BROADCAST_ARGUMENTS(x1)
#endif
                     float alpha, float beta FM_STREAM_PARAMETERS FM_RECORD_PARAMETERS) {
  FM_BEGIN;
  const int column = FM_GLOBAL_ID(0);
  const int row = FM_GLOBAL_ID(1);
  FM_IF(column, LT, width) {
    FM_IF(row, LT, height) {
      FM_STREAM_ITEMS(column, width, row, height, 0, 1);
#if FM_MODE0 == FM_MODE_SAME
      float4 a = FM_LOAD4(x0, column, row);
#else
      const int column0 = FM_BROADCAST_COLUMN(x0);
      const int row0 = FM_BROADCAST_ROW(x0);
      float4 a = FM_LOAD4(x0, column0, row0);
#endif
#if FM_MODE0 == FM_MODE_SPLAT
      a = a.xxxx;
#endif
#if FM_MODE1 == FM_MODE_SAME
      float4 b = FM_LOAD4(x1, column, row);
#else
      const int column1 = FM_BROADCAST_COLUMN(x1);
      const int row1 = FM_BROADCAST_ROW(x1);
      float4 b = FM_LOAD4(x1, column1, row1);
#endif
#if FM_MODE1 == FM_MODE_SPLAT
      b = b.xxxx;
#endif
      float4 v = FM_JOIN(fm_operator_, OPERATOR)(a, b);
      FM_EPILOGUE(v, column, row);
      FM_ARITHMETIC(add, 4 + FM_EPILOGUE_ADDS);
      FM_ARITHMETIC(special, FM_JOIN(FM_OPERATOR_SPECIALS_, OPERATOR) + FM_EPILOGUE_SPECIALS);
      FM_STORE4(y, column, row, fm_first_lanes(v, extent - 4 * (column / block), 0.0f));
      FM_STREAM_ALL;
    }
    FM_END_IF
  }
  FM_END_IF
}
