// 512 multiply-adds a round and work-item, in eight chains of 16 lanes: as tiles of matrix products, which
// keep as many sums. For devices whose work-items compute vectors.
#include "arithmetic.clh"

__kernel void vector_multiply_add(FM_TEXELS_WRITE(sums), int rounds FM_RECORD_PARAMETERS) {
  FM_BEGIN;
  const float16 start = (float16)((float)FM_LOCAL_ID(0));
  const float16 factor = start * 0.001f, term = start + 1.0f;
  float16 sum[8];
  FM_UNROLL
  for (int i = 0; i < 8; ++i) sum[i] = start + (float)i;
  FM_FOR(round, 0, rounds, 1) {
    FM_UNROLL
    for (int i = 0; i < 32; ++i) sum[i % 8] = FM_MAD(sum[i % 8], factor, term);
    FM_ARITHMETIC(fma, 512);
  }
  FM_END_FOR
  float16 total = sum[0];
  FM_UNROLL
  for (int i = 1; i < 8; ++i) total += sum[i];
  const float8 half_way = total.lo + total.hi;
  FM_STORE1(sums, FM_GLOBAL_ID(0), fm_sum_lanes(half_way.lo + half_way.hi));
}
