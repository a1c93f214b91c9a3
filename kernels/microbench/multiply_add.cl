// 64 multiply-adds a round and work-item, in four chains of vectors.
__kernel void multiply_add(FM_TEXELS_WRITE(sums), int rounds FM_RECORD_PARAMETERS) {
  FM_BEGIN;
  const float4 start = (float4)((float)FM_LOCAL_ID(0));
  float4 a = start, b = start + 1.0f, c = start + 2.0f, d = start + 3.0f;
  FM_FOR(round, 0, rounds, 1) {
    FM_UNROLL
    for (int i = 0; i < 4; ++i) {
      a = mad(a, b, c);
      b = mad(b, c, d);
      c = mad(c, d, a);
      d = mad(d, a, b);
    }
    FM_ARITHMETIC(fma, 64);
  }
  FM_END_FOR
  FM_STORE1(sums, FM_GLOBAL_ID(0), a.x + b.y + c.z + d.w);
}
