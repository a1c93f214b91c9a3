// Every work-item writes 16 texels a round, neighbouring work-items neighbouring ones; the launch
// covers 2^range_log texels and begins again at the first.
__kernel void range_write(FM_TEXELS_WRITE(data), int range_log, int items,
                          int rounds FM_RECORD_PARAMETERS) {
  FM_BEGIN;
  const int range = FM_SHIFT_LEFT(1, range_log);
  const int item = FM_GLOBAL_ID(0);
  FM_FOR(round, 0, rounds, 1) {
    FM_ARITHMETIC(integer, 32);
    FM_FOR_UNROLLED(write, 0, 16, 1) {
      const int step = item + (16 * round + write) * items;
      const int at = step - FM_PRODUCT(FM_SHIFT_RIGHT(step, range_log), range);
      FM_STORE4(data, at, 0, (float4)((float)step));
    }
    FM_END_FOR
  }
  FM_END_FOR
}
