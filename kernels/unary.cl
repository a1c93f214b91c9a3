// y = epilogue(x), texel by texel, x and y in one layout. Texel columns [i * block, (i + 1) *
// block) hold the lanes 4 i .. 4 i + 3 of `extent` (rows: block 1, extent K; channels: block W,
// extent C).
#include "arithmetic.clh"
#include "activation.clh"
#include "streaming.clh"

__kernel void unary(FM_TEXELS_READ(x), FM_RESIDUAL_ARGUMENT FM_TEXELS_WRITE(y), int width,
                    int height, int block, int extent, float alpha,
                    float beta FM_STREAM_PARAMETERS FM_RECORD_PARAMETERS) {
  FM_BEGIN;
  const int column = FM_GLOBAL_ID(0);
  const int row = FM_GLOBAL_ID(1);
  FM_IF(column, LT, width) {
    FM_IF(row, LT, height) {
      FM_STREAM_ITEMS(column, width, row, height, 0, 1);
      float4 v = FM_LOAD4(x, column, row);
      FM_EPILOGUE(v, column, row);
      FM_ARITHMETIC(add, FM_EPILOGUE_ADDS);
      FM_ARITHMETIC(special, FM_EPILOGUE_SPECIALS);
      FM_STORE4(y, column, row, fm_first_lanes(v, extent - 4 * (column / block), 0.0f));
      FM_STREAM_ALL;
    }
    FM_END_IF
  }
  FM_END_IF
}
