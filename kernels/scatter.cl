// y = x, each element combined with the updates whose index names its place along one axis, in their
// order: x and y are [outer, choices, inner], updates [outer, picks, inner]; indices like the
// updates (PER_ELEMENT=1) or [picks]. Indices below zero count from the end; others outside name no
// place. All linear. Each element looks through all indices, so that equal ones need no atomics.
#define FM_COMBINE_REPLACE(a, b) (b)
#define FM_COMBINE_ADD(a, b) ((a) + (b))
#define FM_COMBINE_MULTIPLY(a, b) ((a) * (b))

__kernel void scatter(FM_TEXELS_READ(x), FM_TEXELS_READ(indices), FM_TEXELS_READ(updates),
                      FM_TEXELS_WRITE(y), int count, int choices, int picks,
                      int inner FM_RECORD_PARAMETERS) {
  FM_BEGIN;
  const int at = FM_GLOBAL_ID(0);
  FM_IF(at, LT, count) {
    const int rest = FM_QUOTIENT(at, inner);
    const int choice = FM_REMAINDER(rest, choices);
    const int first = FM_QUOTIENT(rest, choices) * picks * inner + FM_REMAINDER(at, inner);
    float value = FM_LOAD1(x, at);
    FM_FOR(pick, 0, picks, 1) {
#if PER_ELEMENT
      const float index = FM_LOAD1(indices, first + pick * inner);
#else
      const float index = FM_LOAD1(indices, pick);
#endif
      const float update = FM_LOAD1(updates, first + pick * inner);
      const float place = index < 0.0f ? index + (float)choices : index;
      FM_ARITHMETIC(add, 4);
      value = place == (float)choice ? FM_JOIN(FM_COMBINE_, COMBINE)(value, update) : value;
    }
    FM_END_FOR
    FM_STORE1(y, at, value);
  }
  FM_END_IF
}
