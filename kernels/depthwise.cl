// Depthwise convolution (groups = C = O) in `channels` layout; filter texels hold one tap of four
// channels. A work-item makes TILE_W neighbours along W of one channel block, VECTOR / 4 at a time;
// the last tile moves back to end with the row.
#include "arithmetic.clh"
#include "wide.clh"
#include "activation.clh"
#include "streaming.clh"

__kernel void depthwise(FM_TEXELS_READ(x), FM_TEXELS_READ(filter),
#if BIAS
                        FM_TEXELS_READ(bias),
#endif
                        FM_RESIDUAL_ARGUMENT FM_TEXELS_WRITE(y), int channels, int in_height,
                        int in_width, int out_height, int out_width, int out_rows, int stride_h,
                        int stride_w, int kernel_h, int kernel_w, int dilation_h, int dilation_w,
                        int pad_top, int pad_left, float alpha, float beta
                        FM_STREAM_PARAMETERS FM_RECORD_PARAMETERS) {
  FM_BEGIN;
  const int tile_w = FM_GLOBAL_ID(0) * TILE_W;
  const int row = FM_GLOBAL_ID(1);
  const int c4 = FM_GLOBAL_ID(2);
  FM_IF(tile_w, LT, out_width) {
    FM_IF(row, LT, out_rows) {
      FM_IF(4 * c4, LT, channels) {
        const int w0 = FM_TILE_BEGIN(tile_w, TILE_W, out_width);
        const int in_row = FM_QUOTIENT(row, out_height) * in_height;
        const int out_h = FM_REMAINDER(row, out_height);
        FM_STREAM_ITEMS(FM_GLOBAL_ID(0), (out_width + TILE_W - 1) / TILE_W, row, out_rows, c4,
                        (channels + 3) / 4);
        fm_wide sum[FM_WIDE_COUNT(TILE_W)];
        FM_UNROLL for (int i = 0; i < FM_WIDE_COUNT(TILE_W); ++i) sum[i] = (fm_wide)(0);
        FM_FOR(kh, 0, kernel_h, 1) {
          FM_STREAM_SHARE(kh, kernel_h);
          const int h = out_h * stride_h + kh * dilation_h - pad_top;
          FM_IF(h, GE, 0) {
            FM_IF(h, LT, in_height) {
              FM_FOR(kw, 0, kernel_w, 1) {
                const fm_real4 tap = FM_REAL4(FM_LOAD4(filter, kh * kernel_w + kw, c4));
                FM_FOR_UNROLLED(i, 0, FM_WIDE_COUNT(TILE_W), 1) {
                  const int out_w = FM_TILE_AT(w0, FM_WIDE_TEXELS * i, out_width);
                  const int w = out_w * stride_w + kw * dilation_w - pad_left;
                  fm_wide v;
                  FM_LOAD_INSIDE(v, x, c4 * in_width, w, stride_w, in_width, in_row + h)
                  sum[i] = FM_MAD(v, fm_spread(tap), sum[i]);
                }
                FM_END_FOR
                FM_ARITHMETIC(fma, TILE_W * 4);
              }
              FM_END_FOR
            }
            FM_END_IF
          }
          FM_END_IF
        }
        FM_END_FOR
        FM_STREAM_LEFT(kernel_h);

#if BIAS
        const float4 shift = FM_LOAD4(bias, c4, 0);
#else
        const float4 shift = (float4)(0.0f);
#endif
        FM_FOR_UNROLLED(i, 0, FM_WIDE_COUNT(TILE_W), 1) {
          FM_FOR_TEXELS(n)
            float4 v = FM_FLOAT4(fm_texel_of(sum[i], n)) + shift;
            const int out_w = FM_TILE_AT(w0, FM_WIDE_TEXELS * i, out_width) + n;
            const int to_x = c4 * out_width + out_w;
            FM_EPILOGUE(v, to_x, row);
            FM_ARITHMETIC(add, 4 + FM_EPILOGUE_ADDS);
            FM_ARITHMETIC(special, FM_EPILOGUE_SPECIALS);
            FM_STORE4(y, to_x, row, fm_first_lanes(v, channels - 4 * c4, 0.0f));
          FM_END_TEXELS
        }
        FM_END_FOR
      }
      FM_END_IF
    }
    FM_END_IF
  }
  FM_END_IF
}
