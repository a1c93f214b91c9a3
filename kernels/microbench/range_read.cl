// Each work-group reads 16 times its size in a row, neighbours next to each other, groups behind one
// another, all `items` of them 16 times a round; beyond 2^range_log elements they begin again at the
// first. UNIT: TEXEL (8 B of half, 16 B of float, or an image's), PAIR
// (two texels side by side, 32 B of float) or SCALAR (4 B).
#define SCALAR 1
#define TEXEL 2
#define PAIR 3
__kernel void range_read(FM_TEXELS_READ(data), FM_TEXELS_WRITE(sums), int range_log,
                         int items, int rounds FM_RECORD_PARAMETERS) {
  FM_BEGIN;
  const int range = FM_SHIFT_LEFT(1, range_log);
  const int item = FM_GLOBAL_ID(0);
  const int first = 16 * FM_GROUP_ID(0) * FM_LOCAL_SIZE(0) + FM_LOCAL_ID(0);
  float4 sum = (float4)(0);
  FM_FOR(round, 0, rounds, 1) {
    FM_ARITHMETIC_AHEAD(integer, 32, 16);
    FM_FOR_UNROLLED(read, 0, 16, 1) {
      const int step = first + read * FM_LOCAL_SIZE(0) + 16 * round * items;
      const int at = step - FM_PRODUCT(FM_SHIFT_RIGHT(step, range_log), range);
#if UNIT == SCALAR
      sum.x += FM_LOAD1(data, at);
#elif UNIT == PAIR
      sum += FM_LOAD4(data, 2 * at, 0);
      sum += FM_LOAD4(data, 2 * at + 1, 0);
#else
      sum += FM_LOAD4(data, at, 0);
#endif
    }
    FM_END_FOR
#if UNIT == SCALAR
    FM_ARITHMETIC(add, 16);
#elif UNIT == PAIR
    FM_ARITHMETIC(add, 128);
#else
    FM_ARITHMETIC(add, 64);
#endif
  }
  FM_END_FOR
  FM_STORE1(sums, item, sum.x + sum.y + sum.z + sum.w);
}
