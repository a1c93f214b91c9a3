// c[b, m, n] = epilogue(scale * sum_k a[b, m, k] * B[b, k, n] + bias[n]); all in `rows` layout, one
// batch a z. A work-item makes TILE_M rows x TILE_N4 texels of c, VECTOR lanes at a time. The last
// tile moves back to end with the matrix, so that all its loads lie inside (its overlap is computed
// twice, alike): rows >= TILE_M and width >= TILE_N4 are required. With BLOCK_M a work-item makes
// so many tiles below each other, for a block of K after the other: the block's part of b is copied
// to private memory, where its rows follow each other, and serves them all from the nearest cache.
#include "arithmetic.clh"
#include "wide.clh"
#include "activation.clh"
#include "streaming.clh"

#ifndef BLOCK_M
#define BLOCK_M 1
#endif
#define BLOCK_K4 32  // texels of a row of a; rows of b's part: 128 of 3 x 16 floats are 24 KiB

__kernel void matmul(FM_TEXELS_READ(a), FM_TEXELS_READ(b),
#if BIAS
                     FM_TEXELS_READ(bias),
#endif
                     FM_RESIDUAL_ARGUMENT FM_TEXELS_WRITE(c), int rows, int depth, int columns,
                     int width, int a_batch, int b_batch, float scale, float alpha,
                     float beta FM_STREAM_PARAMETERS FM_RECORD_PARAMETERS) {
  FM_BEGIN;
  const int tile_x = FM_GLOBAL_ID(0) * TILE_N4;
  const int tile_y = FM_GLOBAL_ID(1) * (TILE_M * BLOCK_M);
  const int batch = FM_GLOBAL_ID(2);
  FM_IF(tile_x, LT, width) {
    FM_IF(tile_y, LT, rows) {
      const int x0 = FM_MIN(tile_x, width - TILE_N4);
#if BLOCK_M == 1
      const int y0 = FM_MIN(tile_y, rows - TILE_M);
      const int a_row = y0 + batch * a_batch;
#endif
      const int b_row = batch * b_batch;
      FM_STREAM_ITEMS(FM_GLOBAL_ID(0), (width + TILE_N4 - 1) / TILE_N4, FM_GLOBAL_ID(1),
                      (rows + TILE_M * BLOCK_M - 1) / (TILE_M * BLOCK_M), batch,
                      FM_NUM_GROUPS(2) * FM_LOCAL_SIZE(2));
#if B_TRANSPOSED && VECTOR > 4
      // Sums along k, VECTOR of them for every element of c, are folded in the end.
      fm_wide part[TILE_M][TILE_N4 * 4];
      FM_UNROLL for (int i = 0; i < TILE_M; ++i) {
        FM_UNROLL for (int n = 0; n < TILE_N4 * 4; ++n) part[i][n] = (fm_wide)(0);
      }
      const int depth4 = (depth + 3) / 4;
      const int whole4 = depth4 - depth4 % FM_WIDE_TEXELS;
      FM_PIPELINED_FOR(k4, whole4, FM_WIDE_TEXELS) {
        fm_wide wide_left[TILE_M];
        FM_FOR_UNROLLED(i, 0, TILE_M, 1) { wide_left[i] = FM_LOAD_WIDE(a, k4, a_row + i); }
        FM_END_FOR
        FM_FOR_UNROLLED(n, 0, TILE_N4 * 4, 1) {
          const int b_column = FM_MIN(4 * x0 + n, columns - 1);
          const fm_wide wide_right = FM_LOAD_WIDE(b, k4, b_row + b_column);
          FM_ARITHMETIC(fma, TILE_M * VECTOR);
          FM_UNROLL for (int i = 0; i < TILE_M; ++i) {
            part[i][n] = FM_MAD(wide_left[i], wide_right, part[i][n]);
          }
        }
        FM_END_FOR
      }
      FM_END_PIPELINED_FOR
      fm_real4 rest[TILE_M][TILE_N4 * 4];
      FM_UNROLL for (int i = 0; i < TILE_M; ++i) {
        FM_UNROLL for (int n = 0; n < TILE_N4 * 4; ++n) rest[i][n] = fm_folded(part[i][n]);
      }
      FM_FOR(k4, whole4, depth4, 1) {
        fm_real4 left[TILE_M];
        FM_FOR_UNROLLED(i, 0, TILE_M, 1) { left[i] = FM_REAL4(FM_LOAD4(a, k4, a_row + i)); }
        FM_END_FOR
        FM_FOR_UNROLLED(n, 0, TILE_N4 * 4, 1) {
          const int b_column = FM_MIN(4 * x0 + n, columns - 1);
          const fm_real4 right = FM_REAL4(FM_LOAD4(b, k4, b_row + b_column));
          FM_ARITHMETIC(fma, TILE_M * 4);
          FM_UNROLL for (int i = 0; i < TILE_M; ++i) {
            rest[i][n] = FM_MAD(left[i], right, rest[i][n]);
          }
        }
        FM_END_FOR
      }
      FM_END_FOR
      FM_ARITHMETIC(add, TILE_M * TILE_N4 * 4 * (VECTOR - 1));
#define FM_SUM(i, j)                                                        \
  (fm_real4)(fm_sum_lanes(FM_FLOAT4(rest[i][4 * (j)])),                     \
             fm_sum_lanes(FM_FLOAT4(rest[i][4 * (j) + 1])),                 \
             fm_sum_lanes(FM_FLOAT4(rest[i][4 * (j) + 2])),                 \
             fm_sum_lanes(FM_FLOAT4(rest[i][4 * (j) + 3])))
#else
#define FM_FOR_SUMS(i, j)                  \
  FM_UNROLL for (int i = 0; i < TILE_M; ++i) \
    FM_UNROLL for (int j = 0; j < FM_WIDE_COUNT(TILE_N4); ++j)
      fm_wide sum[TILE_M][FM_WIDE_COUNT(TILE_N4)];
      FM_FOR_SUMS(i, j) sum[i][j] = (fm_wide)(0);
      fm_real4 left[TILE_M];
      fm_wide right[FM_WIDE_COUNT(TILE_N4)];
#define FM_SUM(i, j) fm_texel_of(sum[i][FM_WIDE_COUNT(j)], (j) % FM_WIDE_TEXELS)

#if B_TRANSPOSED
      // b holds [N, K]: four of its texels, of rows n .. n + 3, are turned into four texels along
      // n.
      FM_PIPELINED_FOR(k4, (depth + 3) / 4, 1) {
        FM_FOR_UNROLLED(i, 0, TILE_M, 1) { left[i] = FM_REAL4(FM_LOAD4(a, k4, a_row + i)); }
        FM_END_FOR
        FM_FOR_UNROLLED(j, 0, TILE_N4, 1) {
          fm_real4 row[4];
          FM_FOR_UNROLLED(n, 0, 4, 1) {
            const int b_column = FM_MIN(4 * (x0 + j) + n, columns - 1);
            row[n] = FM_REAL4(FM_LOAD4(b, k4, b_row + b_column));
          }
          FM_END_FOR
          FM_ARITHMETIC(fma, TILE_M * 16);
          const fm_real4 column[4] = {(fm_real4)(row[0].x, row[1].x, row[2].x, row[3].x),
                                      (fm_real4)(row[0].y, row[1].y, row[2].y, row[3].y),
                                      (fm_real4)(row[0].z, row[1].z, row[2].z, row[3].z),
                                      (fm_real4)(row[0].w, row[1].w, row[2].w, row[3].w)};
          FM_UNROLL for (int i = 0; i < TILE_M; ++i) {
            FM_UNROLL for (int lane = 0; lane < 4; ++lane) {
              sum[i][j] = FM_MAD(fm_splat(left[i], lane), column[lane], sum[i][j]);
            }
          }
        }
        FM_END_FOR
      }
      FM_END_PIPELINED_FOR
#else
// The part of texel column k4 of a; `right_of(j, k)`: wide value j of row k of b.
#define FM_ADD_PRODUCTS(k4, right_of)                                                        \
  FM_FOR_UNROLLED(i, 0, TILE_M, 1) { left[i] = FM_REAL4(FM_LOAD4(a, k4, a_row + i)); }       \
  FM_END_FOR                                                                                 \
  FM_FOR_UNROLLED(lane, 0, 4, 1) {                                                           \
    FM_FOR_UNROLLED(j, 0, FM_WIDE_COUNT(TILE_N4), 1) { right[j] = right_of(j, 4 * k4 + lane); } \
    FM_END_FOR                                                                               \
    FM_ARITHMETIC(fma, TILE_M * TILE_N4 * 4);                                                \
    FM_FOR_SUMS(i, j) {                                                                      \
      sum[i][j] = FM_MAD(fm_spread(fm_splat(left[i], lane)), right[j], sum[i][j]);           \
    }                                                                                        \
  }                                                                                          \
  FM_END_FOR
#define FM_OF_B(j, k) FM_LOAD_WIDE(b, x0 + FM_WIDE_TEXELS * (j), b_row + (k))
#if BLOCK_M > 1
#define FM_OF_PANEL(j, k) panel[(k) - 4 * block][j]
      fm_wide panel[4 * BLOCK_K4][FM_WIDE_COUNT(TILE_N4)];
      fm_wide sums[BLOCK_M][TILE_M][FM_WIDE_COUNT(TILE_N4)];
      for (int t = 0; t < BLOCK_M; ++t) FM_FOR_SUMS(i, j) sums[t][i][j] = (fm_wide)(0);
      const int tiles = FM_MIN(BLOCK_M, (rows + TILE_M - 1) / TILE_M - FM_GLOBAL_ID(1) * BLOCK_M);
      FM_FOR(block, 0, depth / 4, BLOCK_K4) {
        const int block_end = FM_MIN(block + BLOCK_K4, depth / 4);
        FM_FOR(k, 4 * block, 4 * block_end, 1) {
          FM_FOR_UNROLLED(j, 0, FM_WIDE_COUNT(TILE_N4), 1) { FM_OF_PANEL(j, k) = FM_OF_B(j, k); }
          FM_END_FOR
        }
        FM_END_FOR
        FM_FOR(t, 0, tiles, 1) {
          const int a_row = FM_MIN(tile_y + TILE_M * t, rows - TILE_M) + batch * a_batch;
          FM_FOR_SUMS(i, j) sum[i][j] = sums[t][i][j];
          FM_FOR(k4, block, block_end, 1) { FM_ADD_PRODUCTS(k4, FM_OF_PANEL) }
          FM_END_FOR
          FM_FOR_SUMS(i, j) sums[t][i][j] = sum[i][j];
        }
        FM_END_FOR
      }
      FM_END_FOR
      FM_STREAM_ALL
      FM_FOR(t, 0, tiles, 1) {
      const int y0 = FM_MIN(tile_y + TILE_M * t, rows - TILE_M);
      const int a_row = y0 + batch * a_batch;
      FM_FOR_SUMS(i, j) sum[i][j] = sums[t][i][j];
#else
      FM_PIPELINED_FOR(k4, depth / 4, 1) {
        FM_ADD_PRODUCTS(k4, FM_OF_B)
      }
      FM_END_PIPELINED_FOR
#endif
      const int k_tail = depth & ~3;
      FM_FOR(k, k_tail, depth, 1) {  // the last lanes of a, when K is no multiple of 4
        FM_FOR_UNROLLED(i, 0, TILE_M, 1) {
          left[i] = FM_REAL4((float4)(FM_LOAD_LANE(a, k_tail / 4, a_row + i, k - k_tail)));
        }
        FM_END_FOR
        FM_FOR_UNROLLED(j, 0, FM_WIDE_COUNT(TILE_N4), 1) {
          right[j] = FM_OF_B(j, k);
        }
        FM_END_FOR
        FM_ARITHMETIC(fma, TILE_M * TILE_N4 * 4);
        FM_FOR_SUMS(i, j) sum[i][j] = FM_MAD(fm_spread(left[i]), right[j], sum[i][j]);
      }
      FM_END_FOR
#endif
#endif

      const int c_row = y0 + batch * rows;
      FM_FOR_UNROLLED(j, 0, TILE_N4, 1) {
#if BIAS
        const float4 shift = FM_LOAD4(bias, x0 + j, 0);
#else
        const float4 shift = (float4)(0.0f);
#endif
        FM_FOR_UNROLLED(i, 0, TILE_M, 1) {
          float4 v = FM_MAD(FM_FLOAT4(FM_SUM(i, j)), (float4)(scale), shift);
          FM_EPILOGUE(v, x0 + j, c_row + i);
          FM_ARITHMETIC(add, 4 + FM_EPILOGUE_ADDS);
          FM_ARITHMETIC(special, FM_EPILOGUE_SPECIALS);
          FM_STORE4(c, x0 + j, c_row + i, fm_first_lanes(v, columns - 4 * (x0 + j), 0.0f));
        }
        FM_END_FOR
      }
      FM_END_FOR
#if BLOCK_M > 1
      }
      FM_END_FOR
#endif
    }
    FM_END_IF
  }
  FM_END_IF
}
