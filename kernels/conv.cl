// Direct convolution in `channels` layout, groups = 1; filter texels hold four output channels of
// one input channel. A work-item makes TILE_W neighbours along W x TILE_O4 texels of output
// channels, VECTOR / 4 neighbours at a time; the last tiles move back to end with the tensor
// (out_width >= TILE_W, or VECTOR / 4 if that is more than 1, and out_channels4 >= TILE_O4 are
// required). POINTWISE=1: 1x1 without padding.
#include "arithmetic.clh"
#include "wide.clh"
#include "activation.clh"
#include "streaming.clh"

__kernel void conv(FM_TEXELS_READ(x), FM_TEXELS_READ(filter),
#if BIAS
                   FM_TEXELS_READ(bias),
#endif
                   FM_RESIDUAL_ARGUMENT FM_TEXELS_WRITE(y), int in_channels4, int in_height,
                   int in_width, int out_channels, int out_height, int out_width, int out_rows,
                   int stride_h, int stride_w,
#if !POINTWISE
                   int kernel_h, int kernel_w, int dilation_h, int dilation_w, int pad_top,
                   int pad_left,
#endif
                   float alpha, float beta FM_STREAM_PARAMETERS FM_RECORD_PARAMETERS) {
  FM_BEGIN;
  const int tile_w = FM_GLOBAL_ID(0) * TILE_W;
  const int row = FM_GLOBAL_ID(1);
  const int tile_o4 = FM_GLOBAL_ID(2) * TILE_O4;
  const int out_channels4 = (out_channels + 3) / 4;
  FM_IF(tile_w, LT, out_width) {
    FM_IF(row, LT, out_rows) {
      FM_IF(tile_o4, LT, out_channels4) {
        const int w0 = FM_TILE_BEGIN(tile_w, TILE_W, out_width);
        const int o4 = FM_MIN(tile_o4, out_channels4 - TILE_O4);
        const int in_row = FM_QUOTIENT(row, out_height) * in_height;
        const int out_h = FM_REMAINDER(row, out_height);
        FM_STREAM_ITEMS(FM_GLOBAL_ID(0), (out_width + TILE_W - 1) / TILE_W, row, out_rows,
                        FM_GLOBAL_ID(2), (out_channels4 + TILE_O4 - 1) / TILE_O4);
        fm_wide sum[TILE_O4][FM_WIDE_COUNT(TILE_W)];
        fm_wide left[FM_WIDE_COUNT(TILE_W)];
        fm_real4 right[TILE_O4];
        FM_UNROLL for (int j = 0; j < TILE_O4; ++j) {
          FM_UNROLL for (int i = 0; i < FM_WIDE_COUNT(TILE_W); ++i) sum[j][i] = (fm_wide)(0);
        }

#if POINTWISE
        FM_PIPELINED_FOR(c4, in_channels4, 1) {
          FM_FOR_UNROLLED(i, 0, FM_WIDE_COUNT(TILE_W), 1) {
            const int w = FM_TILE_AT(w0, FM_WIDE_TEXELS * i, out_width) * stride_w;
            FM_LOAD_STEPS(left[i], x, c4 * in_width + w, stride_w, in_row + out_h * stride_h)
          }
          FM_END_FOR
          FM_FOR_UNROLLED(lane, 0, 4, 1) {
            FM_FOR_UNROLLED(j, 0, TILE_O4, 1) {
              right[j] = FM_REAL4(FM_LOAD4(filter, 4 * c4 + lane, o4 + j));
            }
            FM_END_FOR
            FM_ARITHMETIC(fma, TILE_W * TILE_O4 * 4);
            FM_UNROLL for (int j = 0; j < TILE_O4; ++j) {
              FM_UNROLL for (int i = 0; i < FM_WIDE_COUNT(TILE_W); ++i) {
                sum[j][i] = FM_MAD(fm_wide_splat(left[i], lane), fm_spread(right[j]), sum[j][i]);
              }
            }
          }
          FM_END_FOR
        }
        FM_END_PIPELINED_FOR
#else
        FM_FOR(kh, 0, kernel_h, 1) {
          FM_STREAM_SHARE(kh, kernel_h);
          const int h = out_h * stride_h + kh * dilation_h - pad_top;
          FM_IF(h, GE, 0) {
            FM_IF(h, LT, in_height) {
              FM_FOR(kw, 0, kernel_w, 1) {
                const int offset = kw * dilation_w - pad_left;
                FM_FOR(c4, 0, in_channels4, 1) {
                  FM_FOR_UNROLLED(i, 0, FM_WIDE_COUNT(TILE_W), 1) {
                    const int out_w = FM_TILE_AT(w0, FM_WIDE_TEXELS * i, out_width);
                    const int w = out_w * stride_w + offset;
                    FM_LOAD_INSIDE(left[i], x, c4 * in_width, w, stride_w, in_width, in_row + h)
                  }
                  FM_END_FOR
                  FM_FOR_UNROLLED(lane, 0, 4, 1) {
                    FM_FOR_UNROLLED(j, 0, TILE_O4, 1) {
                      right[j] = FM_REAL4(
                          FM_LOAD4(filter, 4 * c4 + lane,
                                   ((o4 + j) * kernel_h + kh) * kernel_w + kw));
                    }
                    FM_END_FOR
                    FM_ARITHMETIC(fma, TILE_W * TILE_O4 * 4);
                    FM_UNROLL for (int j = 0; j < TILE_O4; ++j) {
                      FM_UNROLL for (int i = 0; i < FM_WIDE_COUNT(TILE_W); ++i) {
                        sum[j][i] =
                            FM_MAD(fm_wide_splat(left[i], lane), fm_spread(right[j]), sum[j][i]);
                      }
                    }
                  }
                  FM_END_FOR
                }
                FM_END_FOR
              }
              FM_END_FOR
            }
            FM_END_IF
          }
          FM_END_IF
        }
        FM_END_FOR
        FM_STREAM_LEFT(kernel_h);
#endif

        FM_FOR_UNROLLED(j, 0, TILE_O4, 1) {
#if BIAS
          const float4 shift = FM_LOAD4(bias, o4 + j, 0);
#else
          const float4 shift = (float4)(0.0f);
#endif
          FM_FOR_UNROLLED(i, 0, FM_WIDE_COUNT(TILE_W), 1) {
            FM_FOR_TEXELS(n)
              float4 v = FM_FLOAT4(fm_texel_of(sum[j][i], n)) + shift;
              const int out_w = FM_TILE_AT(w0, FM_WIDE_TEXELS * i, out_width) + n;
              const int to_x = (o4 + j) * out_width + out_w;
              FM_EPILOGUE(v, to_x, row);
              FM_ARITHMETIC(add, 4 + FM_EPILOGUE_ADDS);
              FM_ARITHMETIC(special, FM_EPILOGUE_SPECIALS);
              FM_STORE4(y, to_x, row, fm_first_lanes(v, out_channels - 4 * (o4 + j), 0.0f));
            FM_END_TEXELS
          }
          FM_END_FOR
        }
        FM_END_FOR
      }
      FM_END_IF
    }
    FM_END_IF
  }
  FM_END_IF
}
