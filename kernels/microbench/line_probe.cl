// One work-group whose work-items each read one texel again and again, side by side (AXIS=ACROSS) or one
// below the other (AXIS=DOWN), `pitch` apart.
#define ACROSS 1
#define DOWN 2
__kernel void line_probe(FM_TEXELS_READ(data), FM_TEXELS_WRITE(sums), int pitch,
                         int rounds FM_RECORD_PARAMETERS) {
  FM_BEGIN;
  const int item = FM_LOCAL_ID(0);
  float4 sum = (float4)(0);
  FM_FOR(round, 0, rounds, 1) {
    // The value decides where the next round reads: as it is 0, at the same place.
    const int at = FM_KNOWN((int)sum.x, 0) + item * pitch;
#if AXIS == ACROSS
    sum = FM_LOAD4(data, at, 0);
#else
    sum = FM_LOAD4(data, 0, at);
#endif
    FM_ARITHMETIC(convert, 1);
  }
  FM_END_FOR
  FM_STORE1(sums, FM_GLOBAL_ID(0), sum.x);
}
