// y[i0, i1, ..] = x.flat[offset + sum_d i_d * s_d], between any two of linear, rows and channels.
//   y linear or rows: dimensions d0 .. d5, of which the last RANK count (d5: the lanes of rows).
//   y channels: [d2, d3, d4, d5] = [N, C, H, W].
//   WHOLE=1: the four lanes of every texel of y are the four lanes of one texel of x.
#include "arithmetic.clh"
#include "layouts.clh"
#include "streaming.clh"

__kernel void move(FM_TEXELS_READ(x), FM_TEXELS_WRITE(y), int x_inner, int x_height, int x_channels,
                   int width, int height, int offset, int d1, int d2, int d3, int d4, int d5,
                   int s0, int s1, int s2, int s3, int s4, int s5
                   FM_STREAM_PARAMETERS FM_RECORD_PARAMETERS) {
  FM_BEGIN;
  const int column = FM_GLOBAL_ID(0);
  const int row = FM_GLOBAL_ID(1);
  FM_IF(column, LT, width) {
    FM_IF(row, LT, height) {
      FM_STREAM_ITEMS(column, width, row, height, 0, 1);
      // base: the element of the first lane; apart: from one lane's element to the next one's.
#if FM_Y_LAYOUT == FM_LAYOUT_CHANNELS
      const int first = 4 * FM_QUOTIENT(column, d5);
      const int extent = d3;
      const int apart = s3;
      const int base = offset + FM_QUOTIENT(row, d4) * s2 + FM_REMAINDER(row, d4) * s4 +
                       first * s3 +
                       FM_REMAINDER(column, d5) * s5;
#else
#if FM_Y_LAYOUT == FM_LAYOUT_ROWS
      const int first = 4 * column;
      const int r0 = row;
      const int f0 = offset + first * s5;
#elif RANK == 1
      const int f0 = offset + column * s5;
#else
      const int r0 = FM_QUOTIENT(column, d5);
      const int f0 = offset + FM_REMAINDER(column, d5) * s5;
#endif
      const int extent = d5;
      const int apart = s5;
#if RANK >= 3
      const int r1 = FM_QUOTIENT(r0, d4);
      const int f1 = f0 + FM_REMAINDER(r0, d4) * s4;
#endif
#if RANK >= 4
      const int r2 = FM_QUOTIENT(r1, d3);
      const int f2 = f1 + FM_REMAINDER(r1, d3) * s3;
#endif
#if RANK >= 5
      const int r3 = FM_QUOTIENT(r2, d2);
      const int f3 = f2 + FM_REMAINDER(r2, d2) * s2;
#endif
#if RANK >= 6
      const int r4 = FM_QUOTIENT(r3, d1);
      const int f4 = f3 + FM_REMAINDER(r3, d1) * s1;
#endif
#if RANK == 1
      const int base = f0;
#elif RANK == 2
      const int base = f0 + r0 * s4;
#elif RANK == 3
      const int base = f1 + r1 * s3;
#elif RANK == 4
      const int base = f2 + r2 * s2;
#elif RANK == 5
      const int base = f3 + r3 * s1;
#else
      const int base = f4 + r4 * s0;
#endif
#endif
      FM_ARITHMETIC(integer, 3 * RANK);

#if FM_Y_LAYOUT == FM_LAYOUT_LINEAR
      FM_LOCATE(base);
      FM_STORE1(y, column, FM_LOAD_ELEMENT(x));
#elif WHOLE
      FM_LOCATE(base);
      const float4 v = FM_LOAD4(x, at_x, at_y);
      FM_STORE4(y, column, row, fm_first_lanes(v, extent - first, 0.0f));
#else
      float lanes[4];
      FM_FOR_UNROLLED(lane, 0, 4, 1) {
        lanes[lane] = 0.0f;
        FM_IF(first + lane, LT, extent) {
          const int flat = base + lane * apart;
          FM_LOCATE(flat);
          lanes[lane] = FM_LOAD_ELEMENT(x);
        }
        FM_END_IF
      }
      FM_END_FOR
      FM_STORE4(y, column, row, (float4)(lanes[0], lanes[1], lanes[2], lanes[3]));
#endif
      FM_STREAM_ALL;
    }
    FM_END_IF
  }
  FM_END_IF
}
