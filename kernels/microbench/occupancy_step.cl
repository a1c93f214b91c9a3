// Each round waits for one texel of the work-item's own, so that only other waves hide the latency;
// how many there are is decided by REGISTERS values kept alive and LOCAL_FLOATS of local memory.
__kernel void occupancy_step(FM_TEXELS_READ(data), FM_TEXELS_WRITE(sums), int range_log,
                             int rounds FM_RECORD_PARAMETERS) {
  FM_BEGIN;
  FM_LOCAL1(store, LOCAL_FLOATS);
  const int range = FM_SHIFT_LEFT(1, range_log);
  const int item = FM_LOCAL_ID(0);
  FM_LOCAL_STORE1(store, item, 0.0f);
  FM_BARRIER();
  float kept[REGISTERS];
  FM_UNROLL
  for (int i = 0; i < REGISTERS; ++i) kept[i] = FM_LOCAL_LOAD1(store, item);
  FM_FOR(round, 0, rounds, 1) {
    const int step = FM_GLOBAL_ID(0) + round * 64;
    const int at = step - FM_PRODUCT(FM_SHIFT_RIGHT(step, range_log), range);
    const float4 texel = FM_LOAD4(data, at, 0);
    FM_ARITHMETIC(add, REGISTERS);
    FM_UNROLL
    for (int i = 0; i < REGISTERS; ++i) kept[i] += texel.x;
  }
  FM_END_FOR
  float sum = 0;
  FM_UNROLL
  for (int i = 0; i < REGISTERS; ++i) sum += kept[i];
  FM_STORE1(sums, FM_GLOBAL_ID(0), sum);
}
