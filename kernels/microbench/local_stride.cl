// Work-items read local memory `stride` elements (UNIT=SCALAR: 4 B, TEXEL: 16 B) apart, 16 reads a
// round.
#define SCALAR 1
#define TEXEL 2
__kernel void local_stride(FM_TEXELS_WRITE(sums), int stride, int rounds FM_RECORD_PARAMETERS) {
  FM_BEGIN;
#if UNIT == SCALAR
  FM_LOCAL1(store, 4096);
  const int elements = 4096;
#else
  FM_LOCAL4(store, 1024);
  const int elements = 1024;
#endif
  const int item = FM_LOCAL_ID(0);
#if UNIT == SCALAR
  FM_LOCAL_STORE1(store, item, (float)item);
#else
  FM_LOCAL_STORE4(store, item, (float4)((float)item));
#endif
  FM_BARRIER();
  float4 sum = (float4)(0);
  FM_FOR(round, 0, rounds, 1) {
    FM_ARITHMETIC_AHEAD(integer, 16, 16);
    FM_FOR_UNROLLED(read, 0, 16, 1) {
      const int at = FM_REMAINDER(item * stride + read, elements);
#if UNIT == SCALAR
      sum.x += FM_LOCAL_LOAD1(store, at);
#else
      sum += FM_LOCAL_LOAD4(store, at);
#endif
    }
    FM_END_FOR
#if UNIT == SCALAR
    FM_ARITHMETIC(add, 16);
#else
    FM_ARITHMETIC(add, 64);
#endif
  }
  FM_END_FOR
  FM_STORE1(sums, FM_GLOBAL_ID(0), sum.x + sum.y + sum.z + sum.w);
}
