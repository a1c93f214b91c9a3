// matmul.cl with both operands staged in local memory, TILE_K4 texels of a's rows at a time. A
// work-group makes GROUP_Y * TILE_M rows x GROUP_X * TILE_N4 texels of c, the last group moved back
// to end with the matrix (rows and width must be at least that); a work-item's rows and texels are
// GROUP_Y and GROUP_X apart. Local size: (GROUP_X, GROUP_Y, 1).
#include "arithmetic.clh"
#include "activation.clh"
#include "streaming.clh"

#define FM_ITEMS (GROUP_X * GROUP_Y)
#define FM_PANEL_ROWS (GROUP_Y * TILE_M)
#define FM_PANEL_TEXELS (GROUP_X * TILE_N4)

__kernel void matmul_local(FM_TEXELS_READ(a), FM_TEXELS_READ(b),
#if BIAS
                           FM_TEXELS_READ(bias),
#endif
                           FM_RESIDUAL_ARGUMENT FM_TEXELS_WRITE(c), int rows, int depth,
                           int columns, int width, int a_batch, int b_batch, float scale,
                           float alpha, float beta FM_STREAM_PARAMETERS FM_RECORD_PARAMETERS) {
  FM_BEGIN;
  FM_LOCAL4(panel_a, FM_PANEL_ROWS * TILE_K4);
  FM_LOCAL4(panel_b, 4 * TILE_K4 * FM_PANEL_TEXELS);
  const int local_x = FM_LOCAL_ID(0);
  const int local_y = FM_LOCAL_ID(1);
  const int item = local_y * GROUP_X + local_x;
  const int batch = FM_GLOBAL_ID(2);
  const int x0 = FM_MIN(FM_GROUP_ID(0) * FM_PANEL_TEXELS, width - FM_PANEL_TEXELS);
  const int y0 = FM_MIN(FM_GROUP_ID(1) * FM_PANEL_ROWS, rows - FM_PANEL_ROWS);
  const int a_row = y0 + batch * a_batch;
  const int b_row = batch * b_batch;
  const int depth4 = (depth + 3) / 4;

  FM_STREAM_ITEMS(FM_GLOBAL_ID(0), FM_NUM_GROUPS(0) * GROUP_X, FM_GLOBAL_ID(1),
                  FM_NUM_GROUPS(1) * GROUP_Y, batch, FM_NUM_GROUPS(2) * FM_LOCAL_SIZE(2));

  fm_real4 sum[TILE_M][TILE_N4];
  FM_UNROLL for (int i = 0; i < TILE_M; ++i) {
    FM_UNROLL for (int j = 0; j < TILE_N4; ++j) sum[i][j] = (fm_real4)(0);
  }

  FM_PIPELINED_FOR(k0, depth4, TILE_K4) {
    FM_FOR(at, item, FM_PANEL_ROWS * TILE_K4, FM_ITEMS) {
      const int row = FM_QUOTIENT(at, TILE_K4);
      const int k4 = k0 + FM_REMAINDER(at, TILE_K4);
      float4 v = (float4)(0.0f);
      FM_IF(k4, LT, depth4) { v = FM_LOAD4(a, k4, a_row + row); }
      FM_END_IF
      FM_LOCAL_STORE4(panel_a, at, v);
    }
    FM_END_FOR
    FM_FOR(at, item, 4 * TILE_K4 * FM_PANEL_TEXELS, FM_ITEMS) {
      const int k = 4 * k0 + FM_QUOTIENT(at, FM_PANEL_TEXELS);
      const int column = FM_REMAINDER(at, FM_PANEL_TEXELS);
      float4 v = (float4)(0.0f);
      FM_IF(k, LT, depth) { v = FM_LOAD4(b, x0 + column, b_row + k); }
      FM_END_IF
      FM_LOCAL_STORE4(panel_b, at, v);
    }
    FM_END_FOR
    FM_BARRIER();
    FM_FOR(k4, 0, TILE_K4, 1) {
      fm_real4 left[TILE_M];
      FM_FOR_UNROLLED(i, 0, TILE_M, 1) {
        left[i] = FM_REAL4(FM_LOCAL_LOAD4(panel_a, (local_y + i * GROUP_Y) * TILE_K4 + k4));
      }
      FM_END_FOR
      FM_FOR_UNROLLED(lane, 0, 4, 1) {
        fm_real4 right[TILE_N4];
        FM_FOR_UNROLLED(j, 0, TILE_N4, 1) {
          right[j] = FM_REAL4(
              FM_LOCAL_LOAD4(panel_b, (4 * k4 + lane) * FM_PANEL_TEXELS + local_x + j * GROUP_X));
        }
        FM_END_FOR
        FM_ARITHMETIC(fma, TILE_M * TILE_N4 * 4);
        FM_UNROLL for (int i = 0; i < TILE_M; ++i) {
          FM_UNROLL for (int j = 0; j < TILE_N4; ++j) {
            sum[i][j] = FM_MAD(fm_splat(left[i], lane), right[j], sum[i][j]);
          }
        }
      }
      FM_END_FOR
    }
    FM_END_FOR
    FM_BARRIER();
  }
  FM_END_PIPELINED_FOR

  const int c_row = y0 + batch * rows;
  FM_FOR_UNROLLED(j, 0, TILE_N4, 1) {
    const int to_x = x0 + local_x + j * GROUP_X;
#if BIAS
    const float4 shift = FM_LOAD4(bias, to_x, 0);
#else
    const float4 shift = (float4)(0.0f);
#endif
    FM_FOR_UNROLLED(i, 0, TILE_M, 1) {
      const int to_y = c_row + local_y + i * GROUP_Y;
      float4 v = FM_MAD(FM_FLOAT4(sum[i][j]), (float4)(scale), shift);
      FM_EPILOGUE(v, to_x, to_y);
      FM_ARITHMETIC(add, 4 + FM_EPILOGUE_ADDS);
      FM_ARITHMETIC(special, FM_EPILOGUE_SPECIALS);
      FM_STORE4(c, to_x, to_y, fm_first_lanes(v, columns - 4 * to_x, 0.0f));
    }
    FM_END_FOR
  }
  FM_END_FOR
}
