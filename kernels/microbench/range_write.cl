// Each work-group writes 16 times its size in a row, neighbours next to each other, groups behind
// one another, all `items` of them 16 times a round; beyond 2^range_log texels they begin again.
__kernel void range_write(FM_TEXELS_WRITE(data), int range_log, int items,
                          int rounds FM_RECORD_PARAMETERS) {
  FM_BEGIN;
  const int range = FM_SHIFT_LEFT(1, range_log);
  const int first = 16 * FM_GROUP_ID(0) * FM_LOCAL_SIZE(0) + FM_LOCAL_ID(0);
  FM_FOR(round, 0, rounds, 1) {
    FM_ARITHMETIC(integer, 32);
    FM_FOR_UNROLLED(write, 0, 16, 1) {
      const int step = first + write * FM_LOCAL_SIZE(0) + 16 * round * items;
      const int at = step - FM_PRODUCT(FM_SHIFT_RIGHT(step, range_log), range);
      FM_STORE4(data, at, 0, (float4)((float)step));
    }
    FM_END_FOR
  }
  FM_END_FOR
}
