// Sums up to each element along one axis: x and y are [outer, length, inner], linear; a work-item
// goes along one of the outer * inner lines. EXCLUSIVE: without the element itself; REVERSE: from
// the end.
__kernel void scan(FM_TEXELS_READ(x), FM_TEXELS_WRITE(y), int lines, int length,
                   int inner FM_RECORD_PARAMETERS) {
  FM_BEGIN;
  const int line = FM_GLOBAL_ID(0);
  FM_IF(line, LT, lines) {
    const int first = FM_QUOTIENT(line, inner) * length * inner + FM_REMAINDER(line, inner);
    float sum = 0.0f;
    FM_FOR(i, 0, length, 1) {
#if REVERSE
      const int at = first + (length - 1 - i) * inner;
#else
      const int at = first + i * inner;
#endif
      const float value = FM_LOAD1(x, at);
      FM_ARITHMETIC(add, 1);
#if EXCLUSIVE
      FM_STORE1(y, at, sum);
      sum += value;
#else
      sum += value;
      FM_STORE1(y, at, sum);
#endif
    }
    FM_END_FOR
  }
  FM_END_IF
}
