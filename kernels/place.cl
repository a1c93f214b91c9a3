// Writes x into a region of y, both in one layout, texel by texel (linear: element by element):
// (column, row) of x goes to (column / x_from * x_to + column % x_from + x_start,
//                             row / y_from * y_to + row % y_from + y_start) of y.
#include "streaming.clh"

__kernel void place(FM_TEXELS_READ(x), FM_TEXELS_WRITE(y), int width, int height, int x_from,
                    int x_to, int x_start, int y_from, int y_to, int y_start
                   FM_STREAM_PARAMETERS FM_RECORD_PARAMETERS) {
  FM_BEGIN;
  const int column = FM_GLOBAL_ID(0);
  const int row = FM_GLOBAL_ID(1);
  FM_IF(column, LT, width) {
    FM_IF(row, LT, height) {
      FM_STREAM_ITEMS(column, width, row, height, 0, 1);
      const int to_x = FM_QUOTIENT(column, x_from) * x_to + FM_REMAINDER(column, x_from) + x_start;
#if FM_IS_LINEAR(x)
      FM_STORE1(y, to_x, FM_LOAD1(x, column));
#else
      const int to_y = FM_QUOTIENT(row, y_from) * y_to + FM_REMAINDER(row, y_from) + y_start;
      const float4 v = FM_LOAD4(x, column, row);
      FM_STORE4(y, to_x, to_y, v);
#endif
      FM_STREAM_ALL;
    }
    FM_END_IF
  }
  FM_END_IF
}
