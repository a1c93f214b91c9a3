// One work-item follows a ring: texel i holds (i + stride) % elements in its first lane, and no load
// can begin before the one before it is there. The ring lies row by row, `width` texels each
// (ROWS=ONE: in one row, without the division).
#define ONE 1
#define MANY 2
__kernel void pointer_chase(FM_TEXELS_READ(ring), FM_TEXELS_WRITE(end), int elements, int width,
                            int stride, int hops FM_RECORD_PARAMETERS) {
  FM_BEGIN;
  int next = 0;
  FM_FOR(hop, 0, hops, 1) {
    const int at = FM_KNOWN(next, FM_REMAINDER(hop * stride, elements));
#if ROWS == ONE
    const float4 texel = FM_LOAD4(ring, at, 0);
#else
    const float4 texel = FM_LOAD4(ring, FM_REMAINDER(at, width), FM_QUOTIENT(at, width));
    FM_ARITHMETIC(integer, 2);
#endif
    FM_ARITHMETIC(convert, 1);
    next = (int)texel.x;
  }
  FM_END_FOR
  FM_STORE1(end, 0, (float)next);
}
