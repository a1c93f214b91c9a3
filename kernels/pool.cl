// Maximum or average over a window, in `channels` layout. Padding counts in the average when
// INCLUDE_PAD=1 (KIND=AVERAGE).
#include "arithmetic.clh"
#include "streaming.clh"

#define FM_POOL_MAXIMUM 0
#define FM_POOL_AVERAGE 1
#define FM_POOL FM_JOIN(FM_POOL_, KIND)

__kernel void pool(FM_TEXELS_READ(x), FM_TEXELS_WRITE(y), int channels, int in_height, int in_width,
                   int out_height, int out_width, int out_rows, int stride_h, int stride_w,
                   int kernel_h, int kernel_w, int dilation_h, int dilation_w, int pad_top,
                   int pad_left FM_STREAM_PARAMETERS FM_RECORD_PARAMETERS) {
  FM_BEGIN;
  const int out_w = FM_GLOBAL_ID(0);
  const int row = FM_GLOBAL_ID(1);
  const int c4 = FM_GLOBAL_ID(2);
  FM_IF(out_w, LT, out_width) {
    FM_IF(row, LT, out_rows) {
      FM_IF(4 * c4, LT, channels) {
        const int in_row = FM_QUOTIENT(row, out_height) * in_height;
        const int out_h = FM_REMAINDER(row, out_height);
        FM_STREAM_ITEMS(out_w, out_width, row, out_rows, c4, (channels + 3) / 4);
        float4 result = (float4)(FM_POOL == FM_POOL_MAXIMUM ? -INFINITY : 0.0f);
        int taken = 0;
        FM_FOR(kh, 0, kernel_h, 1) {
          FM_STREAM_SHARE(kh, kernel_h);
          const int h = out_h * stride_h + kh * dilation_h - pad_top;
          FM_IF(h, GE, 0) {
            FM_IF(h, LT, in_height) {
              FM_FOR(kw, 0, kernel_w, 1) {
                const int w = out_w * stride_w + kw * dilation_w - pad_left;
                FM_IF(w, GE, 0) {
                  FM_IF(w, LT, in_width) {
                    const float4 v = FM_LOAD4(x, c4 * in_width + w, in_row + h);
#if FM_POOL == FM_POOL_MAXIMUM
                    result = fmax(result, v);
#else
                    result += v;
#endif
                    FM_ARITHMETIC(add, 4);
                    ++taken;
                  }
                  FM_END_IF
                }
                FM_END_IF
              }
              FM_END_FOR
            }
            FM_END_IF
          }
          FM_END_IF
        }
        FM_END_FOR
        FM_STREAM_LEFT(kernel_h);
#if FM_POOL == FM_POOL_AVERAGE
#if INCLUDE_PAD
        result /= (float)(kernel_h * kernel_w);
#else
        result /= (float)taken;
#endif
        FM_ARITHMETIC(special, 4);
#endif
        FM_STORE4(y, c4 * out_width + out_w, row, fm_first_lanes(result, channels - 4 * c4, 0.0f));
      }
      FM_END_IF
    }
    FM_END_IF
  }
  FM_END_IF
}
