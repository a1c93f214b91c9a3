// y[b, q] = sum_k softmax_k(scale * <query[b, q], key[b, k]> + mask)[k] * value[b, k]; all in
// `rows` layout, one batch a z. The scores never leave the work-group: keys are taken in blocks,
// with the running maximum and sum of each row, and what was summed before is rescaled when the
// maximum grows (Milakov and Gimelshein, "Online normalizer calculation for softmax", arXiv
// 1805.02867; Dao et al., "FlashAttention", arXiv 2205.14135).
//
// A work-group makes GROUP_Y * TILE_Q rows of y, the last group moved back to end with the batch
// (queries must be at least that). Of a block of 4 * TILE_K * GROUP_X keys, a work-item scores
// 4 * TILE_K against its TILE_Q queries; then it adds the whole block's values to its TILE_V texels
// of those rows of y, GROUP_X apart. Local size: (GROUP_X, GROUP_Y, 1).
#include "arithmetic.clh"
#include "streaming.clh"

// Queries stored in half precision lose nothing, and weights less than a matrix of them would: in
// half of the local memory more work-groups are at work on a core.
#if HALF_LOCAL
#define FM_STAGE4 FM_LOCAL_HALF4
#define FM_STAGE_LOAD4 FM_LOCAL_LOAD_HALF4
#define FM_STAGE_STORE4 FM_LOCAL_STORE_HALF4
#else
#define FM_STAGE4 FM_LOCAL4
#define FM_STAGE_LOAD4 FM_LOCAL_LOAD4
#define FM_STAGE_STORE4 FM_LOCAL_STORE4
#endif

#define FM_ITEMS (GROUP_X * GROUP_Y)
// Texels of scores in a row of a block.
#define FM_BLOCK4 (GROUP_X * TILE_K)
// Four rows a register: their maxima, sums and factors.
#if TILE_Q > 4
#define FM_ROWS4 2
#else
#define FM_ROWS4 1
#endif
// Local rows of neighbouring work-items begin in different banks.
#define FM_QUERY_ROWS (TILE_Q * DEPTH4 + 1)
#define FM_WEIGHT_ROWS (TILE_Q * FM_BLOCK4 + 1)

// The four rows of register r of `packed` are rows[4 r] to rows[4 r + 3].
#define FM_UNPACK_ROWS(rows, r, packed) \
  rows[4 * (r)] = (packed).x;           \
  rows[4 * (r) + 1] = (packed).y;       \
  rows[4 * (r) + 2] = (packed).z;       \
  rows[4 * (r) + 3] = (packed).w
#define FM_PACK_ROWS(rows, r) \
  (float4)(rows[4 * (r)], rows[4 * (r) + 1], rows[4 * (r) + 2], rows[4 * (r) + 3])

__kernel void attention(FM_TEXELS_READ(query), FM_TEXELS_READ(key), FM_TEXELS_READ(value),
#if MASK
                        FM_TEXELS_READ(mask),
#endif
                        FM_TEXELS_WRITE(y), int queries, int keys, int columns, int width,
#if MASK
                        int mask_quotient, int mask_modulus, int mask_outer, int mask_remainder,
                        int mask_inner, int mask_row,
#endif
#if BAND
                        int behind, int ahead,
#endif
                        float scale FM_STREAM_PARAMETERS FM_RECORD_PARAMETERS) {
  FM_BEGIN;
  FM_STAGE4(staged, GROUP_Y * FM_QUERY_ROWS);        // the queries
  FM_LOCAL4(highest, GROUP_Y * FM_ROWS4 * GROUP_X);  // of each work-item's scores; then their sums
  FM_STAGE4(weights, GROUP_Y * FM_WEIGHT_ROWS);      // exp(score - maximum) of the block
  const int local_x = FM_LOCAL_ID(0);
  const int local_y = FM_LOCAL_ID(1);
  const int batch = FM_GLOBAL_ID(2);
  const int y0 = FM_MIN(FM_GROUP_ID(1) * (GROUP_Y * TILE_Q), queries - GROUP_Y * TILE_Q);
  const int row0 = batch * queries + y0;
  const int key_row = batch * keys;
  const int keys4 = (keys + 3) / 4;
  const int blocks = (keys4 + FM_BLOCK4 - 1) / FM_BLOCK4;
#if MASK
  const int mask_row0 = FM_REMAINDER(FM_QUOTIENT(batch, mask_quotient), mask_modulus) * mask_outer +
                        FM_REMAINDER(batch, mask_remainder) * mask_inner +
                        (y0 + local_y * TILE_Q) * mask_row;
#endif
  FM_STREAM_ITEMS(local_x, GROUP_X, FM_GLOBAL_ID(1), FM_NUM_GROUPS(1) * GROUP_Y, batch,
                  FM_NUM_GROUPS(2));

  FM_FOR(at, local_y * GROUP_X + local_x, GROUP_Y * TILE_Q * DEPTH4, FM_ITEMS) {
    const int row = FM_QUOTIENT(at, DEPTH4);
    const int k4 = FM_REMAINDER(at, DEPTH4);
    const int owner = FM_QUOTIENT(row, TILE_Q);
    const float4 v = FM_LOAD4(query, k4, row0 + row);
    FM_STAGE_STORE4(staged, at + owner, v);
  }
  FM_END_FOR
  FM_BARRIER();

  float4 sum[TILE_Q][TILE_V];
  FM_UNROLL for (int i = 0; i < TILE_Q; ++i) {
    FM_UNROLL for (int j = 0; j < TILE_V; ++j) sum[i][j] = (float4)(0.0f);
  }
  float4 top[FM_ROWS4], total[FM_ROWS4];
  FM_UNROLL for (int r = 0; r < FM_ROWS4; ++r) {
    top[r] = (float4)(-FLT_MAX);  // finite: where the mask is -infinity, exponents stay defined
    total[r] = (float4)(0.0f);
  }

#if BAND
  // Query q only sees keys q - behind to q + ahead: blocks that no query of the group sees are left
  // out, and groups have different numbers of them.
  const int last = FM_MIN(y0 + GROUP_Y * TILE_Q - 1 + ahead, keys - 1);
  const int first_seen = FM_MAX(y0 - behind, 0);
  const int begin = FM_QUOTIENT(first_seen, 4 * FM_BLOCK4);
  const int end = FM_QUOTIENT(last, 4 * FM_BLOCK4) + 1;
  FM_STREAM_ALL;
#else
  const int begin = 0;
  const int end = blocks;
#endif
  FM_FOR(block, begin, end, 1) {
#if !BAND
    FM_STREAM_SHARE(block, blocks);
#endif
    const int first = block * FM_BLOCK4;
    float4 score[TILE_Q][TILE_K];
    float lane_top[4 * FM_ROWS4], lane_sum[4 * FM_ROWS4];
    FM_UNROLL for (int i = 0; i < 4 * FM_ROWS4; ++i) {
      lane_top[i] = -FLT_MAX;
      lane_sum[i] = 0.0f;
    }
    FM_FOR_UNROLLED(t, 0, TILE_K, 1) {
      const int key4 = first + t * GROUP_X + local_x;
      FM_IF(key4, LT, keys4) {
        // Accumulators of loops have names of their own: what lives across a barrier is kept in
        // memory by devices that run a work-group's work-items one after the other.
        float4 dot[TILE_Q];
        FM_UNROLL for (int i = 0; i < TILE_Q; ++i) dot[i] = (float4)(0.0f);
        FM_FOR(k4, 0, DEPTH4, 1) {
          float4 row[4];
          FM_FOR_UNROLLED(n, 0, 4, 1) {
            const int key_at = FM_MIN(4 * key4 + n, keys - 1);
            row[n] = FM_LOAD4(key, k4, key_row + key_at);
          }
          FM_END_FOR
          const float4 lane[4] = {(float4)(row[0].x, row[1].x, row[2].x, row[3].x),
                                  (float4)(row[0].y, row[1].y, row[2].y, row[3].y),
                                  (float4)(row[0].z, row[1].z, row[2].z, row[3].z),
                                  (float4)(row[0].w, row[1].w, row[2].w, row[3].w)};
          FM_FOR_UNROLLED(i, 0, TILE_Q, 1) {
            const float4 left = FM_STAGE_LOAD4(staged, local_y * FM_QUERY_ROWS + i * DEPTH4 + k4);
            dot[i] = mad((float4)(left.x), lane[0], dot[i]);
            dot[i] = mad((float4)(left.y), lane[1], dot[i]);
            dot[i] = mad((float4)(left.z), lane[2], dot[i]);
            dot[i] = mad((float4)(left.w), lane[3], dot[i]);
          }
          FM_END_FOR
          FM_ARITHMETIC(fma, TILE_Q * 16);
        }
        FM_END_FOR
        FM_FOR_UNROLLED(i, 0, TILE_Q, 1) {
#if MASK
          const float4 shift = FM_LOAD4(mask, key4, mask_row0 + i * mask_row);
#else
          const float4 shift = (float4)(0.0f);
#endif
          const float4 v = mad(dot[i], (float4)(scale), shift);
          score[i][t] = fm_first_lanes(v, keys - 4 * key4, -INFINITY);
          lane_top[i] = fmax(lane_top[i], fm_max_lanes(score[i][t]));
        }
        FM_END_FOR
        FM_ARITHMETIC(fma, TILE_Q * 4);
        FM_ARITHMETIC(add, TILE_Q * 8);
      }
      FM_END_IF
    }
    FM_END_FOR
    FM_FOR_UNROLLED(r, 0, FM_ROWS4, 1) {
      const float4 packed = FM_PACK_ROWS(lane_top, r);
      FM_LOCAL_STORE4(highest, (local_y * FM_ROWS4 + r) * GROUP_X + local_x, packed);
    }
    FM_END_FOR
    FM_BARRIER();

    float factor[4 * FM_ROWS4], row_top[4 * FM_ROWS4];
    FM_FOR_UNROLLED(r, 0, FM_ROWS4, 1) {
      float4 grown = top[r];
      FM_FOR(x, 0, GROUP_X, 1) {
        grown = fmax(grown, FM_LOCAL_LOAD4(highest, (local_y * FM_ROWS4 + r) * GROUP_X + x));
        FM_ARITHMETIC(add, 4);
      }
      FM_END_FOR
      const float4 shrunk = exp(top[r] - grown);
      top[r] = grown;
      total[r] *= shrunk;
      FM_ARITHMETIC(add, 8);
      FM_ARITHMETIC(special, 4);
      FM_UNPACK_ROWS(row_top, r, grown);
      FM_UNPACK_ROWS(factor, r, shrunk);
    }
    FM_END_FOR
    FM_FOR_UNROLLED(t, 0, TILE_K, 1) {
      FM_IF(first + t * GROUP_X + local_x, LT, keys4) {
        FM_FOR_UNROLLED(i, 0, TILE_Q, 1) {
          const float4 weight = exp(score[i][t] - row_top[i]);
          lane_sum[i] += fm_sum_lanes(weight);
          FM_ARITHMETIC(add, 8);
          FM_ARITHMETIC(special, 4);
          FM_STAGE_STORE4(weights, local_y * FM_WEIGHT_ROWS + i * FM_BLOCK4 + t * GROUP_X + local_x,
                          weight);
        }
        FM_END_FOR
      }
      FM_END_IF
    }
    FM_END_FOR
    FM_UNROLL for (int r = 0; r < FM_ROWS4; ++r) total[r] += FM_PACK_ROWS(lane_sum, r);
    FM_BARRIER();

    float4 mixed[TILE_Q][TILE_V];
    FM_UNROLL for (int i = 0; i < TILE_Q; ++i) {
      FM_UNROLL for (int j = 0; j < TILE_V; ++j) mixed[i][j] = sum[i][j] * factor[i];
    }
    FM_ARITHMETIC(add, 4 * TILE_Q * TILE_V);
    const int filled = FM_MIN(keys4 - first, FM_BLOCK4);
    FM_FOR(x, 0, filled, 1) {
      float4 left[TILE_Q];
      FM_FOR_UNROLLED(i, 0, TILE_Q, 1) {
        left[i] = FM_STAGE_LOAD4(weights, local_y * FM_WEIGHT_ROWS + i * FM_BLOCK4 + x);
      }
      FM_END_FOR
      FM_FOR_UNROLLED(lane, 0, 4, 1) {
        const int key_at = FM_MIN(4 * (first + x) + lane, keys - 1);
        FM_FOR_UNROLLED(j, 0, TILE_V, 1) {
          const int from_x = FM_MIN(local_x + j * GROUP_X, width - 1);
          const float4 right = FM_LOAD4(value, from_x, key_row + key_at);
          FM_UNROLL for (int i = 0; i < TILE_Q; ++i) {
            mixed[i][j] = mad((float4)(fm_lane_of(left[i], lane)), right, mixed[i][j]);
          }
        }
        FM_END_FOR
      }
      FM_END_FOR
      FM_ARITHMETIC(fma, TILE_Q * TILE_V * 16);
    }
    FM_END_FOR
    FM_UNROLL for (int i = 0; i < TILE_Q; ++i) {
      FM_UNROLL for (int j = 0; j < TILE_V; ++j) sum[i][j] = mixed[i][j];
    }
  }
  FM_END_FOR
#if !BAND
  FM_STREAM_LEFT(blocks);
#endif

  FM_FOR_UNROLLED(r, 0, FM_ROWS4, 1) {
    FM_LOCAL_STORE4(highest, (local_y * FM_ROWS4 + r) * GROUP_X + local_x, total[r]);
  }
  FM_END_FOR
  FM_BARRIER();
  float inverse[4 * FM_ROWS4];
  FM_FOR_UNROLLED(r, 0, FM_ROWS4, 1) {
    float4 whole = (float4)(0.0f);
    FM_FOR(x, 0, GROUP_X, 1) {
      whole += FM_LOCAL_LOAD4(highest, (local_y * FM_ROWS4 + r) * GROUP_X + x);
      FM_ARITHMETIC(add, 4);
    }
    FM_END_FOR
    whole = 1.0f / whole;
    FM_UNPACK_ROWS(inverse, r, whole);
    FM_ARITHMETIC(special, 4);
  }
  FM_END_FOR
  FM_FOR_UNROLLED(j, 0, TILE_V, 1) {
    const int to_x = local_x + j * GROUP_X;
    FM_IF(to_x, LT, width) {
      FM_FOR_UNROLLED(i, 0, TILE_Q, 1) {
        const float4 v = sum[i][j] * inverse[i];
        FM_ARITHMETIC(add, 4);
        FM_STORE4(y, to_x, row0 + local_y * TILE_Q + i,
                  fm_first_lanes(v, columns - 4 * to_x, 0.0f));
      }
      FM_END_FOR
    }
    FM_END_IF
  }
  FM_END_FOR
}
