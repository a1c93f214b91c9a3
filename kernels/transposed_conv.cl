// Transposed convolution (groups = 1) in `channels` layout, gathered: output (h, w) takes every tap
// (kh, kw) for which (h + pad - kh * dilation) is a multiple of the stride and its quotient an
// input row; the same along W.
#include "arithmetic.clh"
#include "activation.clh"
#include "streaming.clh"

__kernel void transposed_conv(FM_TEXELS_READ(x), FM_TEXELS_READ(filter),
#if BIAS
                              FM_TEXELS_READ(bias),
#endif
                              FM_RESIDUAL_ARGUMENT FM_TEXELS_WRITE(y), int in_channels4,
                              int in_height, int in_width, int out_channels, int out_height,
                              int out_width, int out_rows, int stride_h, int stride_w, int kernel_h,
                              int kernel_w, int dilation_h, int dilation_w, int pad_top,
                              int pad_left, float alpha, float beta
                               FM_STREAM_PARAMETERS FM_RECORD_PARAMETERS) {
  FM_BEGIN;
  const int out_w = FM_GLOBAL_ID(0);
  const int row = FM_GLOBAL_ID(1);
  const int o4 = FM_GLOBAL_ID(2);
  FM_IF(out_w, LT, out_width) {
    FM_IF(row, LT, out_rows) {
      FM_IF(4 * o4, LT, out_channels) {
        const int in_row = FM_QUOTIENT(row, out_height) * in_height;
        const int out_h = FM_REMAINDER(row, out_height);
        FM_STREAM_ITEMS(out_w, out_width, row, out_rows, o4, (out_channels + 3) / 4);
        fm_real4 sum = (fm_real4)(0);
        FM_FOR(kh, 0, kernel_h, 1) {
          FM_STREAM_SHARE(kh, kernel_h);
          const int up = out_h + pad_top - kh * dilation_h;
          FM_IF(up, GE, 0) {
            const int h = FM_QUOTIENT(up, stride_h);
            const int between_h = FM_REMAINDER(up, stride_h);
            FM_IF(between_h, EQ, 0) {
              FM_IF(h, LT, in_height) {
                FM_FOR(kw, 0, kernel_w, 1) {
                  const int left = out_w + pad_left - kw * dilation_w;
                  FM_IF(left, GE, 0) {
                    const int w = FM_QUOTIENT(left, stride_w);
                    const int between_w = FM_REMAINDER(left, stride_w);
                    FM_IF(between_w, EQ, 0) {
                      FM_IF(w, LT, in_width) {
                        FM_FOR(c4, 0, in_channels4, 1) {
                          const fm_real4 v = FM_REAL4(FM_LOAD4(x, c4 * in_width + w, in_row + h));
                          FM_FOR_UNROLLED(lane, 0, 4, 1) {
                            const fm_real4 tap = FM_REAL4(
                                FM_LOAD4(filter, 4 * c4 + lane,
                                         (o4 * kernel_h + kh) * kernel_w + kw));
                            sum = FM_MAD(fm_splat(v, lane), tap, sum);
                          }
                          FM_END_FOR
                          FM_ARITHMETIC(fma, 16);
                        }
                        FM_END_FOR
                      }
                      FM_END_IF
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
          FM_END_IF
        }
        FM_END_FOR
        FM_STREAM_LEFT(kernel_h);

        float4 v = FM_FLOAT4(sum);
#if BIAS
        v += FM_LOAD4(bias, o4, 0);
#endif
        FM_EPILOGUE(v, o4 * out_width + out_w, row);
        FM_ARITHMETIC(add, 4 + FM_EPILOGUE_ADDS);
        FM_ARITHMETIC(special, FM_EPILOGUE_SPECIALS);
        FM_STORE4(y, o4 * out_width + out_w, row, fm_first_lanes(v, out_channels - 4 * o4, 0.0f));
      }
      FM_END_IF
    }
    FM_END_IF
  }
  FM_END_IF
}
