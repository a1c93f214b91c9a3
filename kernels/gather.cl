// y = x taken at `indices` along one axis: x is [outer, choices, inner], y [outer, picks, inner],
// where the texel rows of a `rows` tensor (or the elements of a linear one) are numbered in row-
// major order. PER_ELEMENT: an index for each element of y. Indices below zero count from the end; any other
// index outside wraps around.
#include "streaming.clh"

__kernel void gather(FM_TEXELS_READ(x), FM_TEXELS_READ(indices), FM_TEXELS_WRITE(y), int width,
                     int height, int choices, int picks, int inner
                     FM_STREAM_PARAMETERS FM_RECORD_PARAMETERS) {
  FM_BEGIN;
  const int column = FM_GLOBAL_ID(0);
  const int row = FM_GLOBAL_ID(1);
  FM_IF(column, LT, width) {
    FM_IF(row, LT, height) {
      FM_STREAM_ITEMS(column, width, row, height, 0, 1);
#if FM_IS_LINEAR(x)
      const int at = column;
#else
      const int at = row;
#endif
      const int rest = FM_QUOTIENT(at, inner);
      const int pick = FM_REMAINDER(rest, picks);
#if PER_ELEMENT
      const int index = FM_LOAD_INDEX(indices, at);
#else
      const int index = FM_LOAD_INDEX(indices, pick);
#endif
      const int choice = FM_REMAINDER(index + choices, choices);
      const int from =
          (FM_QUOTIENT(rest, picks) * choices + choice) * inner + FM_REMAINDER(at, inner);
#if FM_IS_LINEAR(x)
      FM_STORE1(y, at, FM_LOAD1(x, from));
#else
      const float4 v = FM_LOAD4(x, column, from);
      FM_STORE4(y, column, row, v);
#endif
      FM_STREAM_ALL;
    }
    FM_END_IF
  }
  FM_END_IF
}
