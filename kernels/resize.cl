// H and W of a `channels` tensor resized. Output i comes from input coordinate (scale * i + start)
// / divisor - shift, in integers, so that every rounding is exact: NEAREST takes its floor, LINEAR
// the floor, the next and the fraction.
#include "arithmetic.clh"
#include "streaming.clh"

#define FM_MODE_NEAREST 0
#define FM_MODE_LINEAR 1

__kernel void resize(FM_TEXELS_READ(x), FM_TEXELS_WRITE(y), int channels, int in_height,
                     int in_width, int out_height, int out_width, int out_rows, int scale_h,
                     int start_h, int divisor_h, int shift_h, int scale_w, int start_w,
                     int divisor_w, int shift_w FM_STREAM_PARAMETERS FM_RECORD_PARAMETERS) {
  FM_BEGIN;
  const int out_w = FM_GLOBAL_ID(0);
  const int row = FM_GLOBAL_ID(1);
  const int c4 = FM_GLOBAL_ID(2);
  FM_IF(out_w, LT, out_width) {
    FM_IF(row, LT, out_rows) {
      FM_IF(4 * c4, LT, channels) {
        FM_STREAM_ITEMS(out_w, out_width, row, out_rows, c4, (channels + 3) / 4);
        const int in_row = FM_QUOTIENT(row, out_height) * in_height;
        const int out_h = FM_REMAINDER(row, out_height);
        const int h = FM_QUOTIENT(out_h * scale_h + start_h, divisor_h) - shift_h;
        const int w = FM_QUOTIENT(out_w * scale_w + start_w, divisor_w) - shift_w;
        const int h_not_below = FM_MAX(h, 0);
        const int w_not_below = FM_MAX(w, 0);
        const int h0 = FM_MIN(h_not_below, in_height - 1);
        const int w0 = FM_MIN(w_not_below, in_width - 1);
        const float4 v00 = FM_LOAD4(x, c4 * in_width + w0, in_row + h0);
#if FM_JOIN(FM_MODE_, MODE) == FM_MODE_NEAREST
        const float4 v = v00;
#else
        const int h1_not_below = FM_MAX(h + 1, 0);
        const int w1_not_below = FM_MAX(w + 1, 0);
        const int h1 = FM_MIN(h1_not_below, in_height - 1);
        const int w1 = FM_MIN(w1_not_below, in_width - 1);
        const float4 v01 = FM_LOAD4(x, c4 * in_width + w1, in_row + h0);
        const float4 v10 = FM_LOAD4(x, c4 * in_width + w0, in_row + h1);
        const float4 v11 = FM_LOAD4(x, c4 * in_width + w1, in_row + h1);
        const float down = (float)((out_h * scale_h + start_h) % divisor_h) / (float)divisor_h;
        const float right = (float)((out_w * scale_w + start_w) % divisor_w) / (float)divisor_w;
        const float4 top = mix(v00, v01, right);
        const float4 bottom = mix(v10, v11, right);
        const float4 v = mix(top, bottom, down);
        FM_ARITHMETIC(special, 2);
        FM_ARITHMETIC(fma, 24);
#endif
        FM_STORE4(y, c4 * out_width + out_w, row, v);
        FM_STREAM_ALL;
      }
      FM_END_IF
    }
    FM_END_IF
  }
  FM_END_IF
}
