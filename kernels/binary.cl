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

#define FM_TRUE(mask) select((float4)(0.0f), (float4)(1.0f), mask)

// a / b towards zero, exact for whole numbers up to 2^24 however a device rounds its division.
inline float4 fm_integer_quotient(float4 a, float4 b) {
  const float4 q = trunc(a / b);
  const float4 rest = fma(-q, b, a);
  const float4 one = sign(a) * sign(b);
  return q + select((float4)(0.0f), one, fabs(rest) >= fabs(b)) -
         select((float4)(0.0f), one, rest * a < 0.0f);
}
// The remainder with the sign of b.
inline float4 fm_modulo(float4 a, float4 b) {
  const float4 rest = fmod(a, b);
  return select(rest, rest + b, rest * b < 0.0f);
}

#define fm_operator_ADD(a, b) ((a) + (b))
#define fm_operator_SUBTRACT(a, b) ((a) - (b))
#define fm_operator_MULTIPLY(a, b) ((a) * (b))
#define fm_operator_DIVIDE(a, b) ((a) / (b))
#define fm_operator_MAXIMUM(a, b) fmax(a, b)
#define fm_operator_MINIMUM(a, b) fmin(a, b)
#define fm_operator_POWER(a, b) pow(a, b)
#define fm_operator_EQUAL(a, b) FM_TRUE(isequal(a, b))
#define fm_operator_LESS(a, b) FM_TRUE(isless(a, b))
#define fm_operator_LESS_OR_EQUAL(a, b) FM_TRUE(islessequal(a, b))
#define fm_operator_LOGICAL_AND(a, b) FM_TRUE(((a) != 0.0f) & ((b) != 0.0f))
#define fm_operator_LOGICAL_OR(a, b) FM_TRUE(((a) != 0.0f) | ((b) != 0.0f))
#define fm_operator_LOGICAL_XOR(a, b) FM_TRUE(((a) != 0.0f) ^ ((b) != 0.0f))
#define fm_operator_PRELU(a, b) select(a, (b) * (a), isless(a, (float4)(0.0f)))
#define fm_operator_INTEGER_DIVIDE(a, b) fm_integer_quotient(a, b)
#define fm_operator_INTEGER_POWER(a, b) rint(pow(a, b))
#define fm_operator_MODULO(a, b) fm_modulo(a, b)
#define fm_operator_REMAINDER(a, b) fmod(a, b)
#define fm_operator_PICK(a, b) select((float4)(0.0f), b, (a) != 0.0f)
#define fm_operator_PICK_OTHER(a, b) select(b, (float4)(0.0f), (a) != 0.0f)
#define FM_OPERATOR_SPECIALS_ADD 0
#define FM_OPERATOR_SPECIALS_SUBTRACT 0
#define FM_OPERATOR_SPECIALS_MULTIPLY 0
#define FM_OPERATOR_SPECIALS_DIVIDE 4
#define FM_OPERATOR_SPECIALS_MAXIMUM 0
#define FM_OPERATOR_SPECIALS_MINIMUM 0
#define FM_OPERATOR_SPECIALS_POWER 8
#define FM_OPERATOR_SPECIALS_EQUAL 0
#define FM_OPERATOR_SPECIALS_LESS 0
#define FM_OPERATOR_SPECIALS_LESS_OR_EQUAL 0
#define FM_OPERATOR_SPECIALS_LOGICAL_AND 0
#define FM_OPERATOR_SPECIALS_LOGICAL_OR 0
#define FM_OPERATOR_SPECIALS_LOGICAL_XOR 0
#define FM_OPERATOR_SPECIALS_PRELU 0
#define FM_OPERATOR_SPECIALS_INTEGER_DIVIDE 4
#define FM_OPERATOR_SPECIALS_INTEGER_POWER 8
#define FM_OPERATOR_SPECIALS_MODULO 8
#define FM_OPERATOR_SPECIALS_REMAINDER 8
#define FM_OPERATOR_SPECIALS_PICK 0
#define FM_OPERATOR_SPECIALS_PICK_OTHER 0

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
