// One number a row: over the last dimension of a `rows` tensor (SPATIAL=0, result in lane 0 of
// texel (0, row)), or four a channel block: over H and W of a `channels` tensor (SPATIAL=1, result
// at (block, n)). GROUP work-items each. `outputs`: rows, or blocks * N. `count`: texels a result.
// `elements`: numbers a result takes in.
#include "arithmetic.clh"
#include "group_tree.clh"

#define fm_term_SUM(v) (v)
#define fm_term_MEAN(v) (v)
#define fm_term_MAXIMUM(v) (v)
#define fm_term_MINIMUM(v) (v)
#define fm_term_PRODUCT(v) (v)
#define fm_term_L2(v) ((v) * (v))
#define fm_term_SUM_SQUARE(v) ((v) * (v))
#define fm_combine_SUM(a, b) ((a) + (b))
#define fm_combine_MEAN(a, b) ((a) + (b))
#define fm_combine_MAXIMUM(a, b) fmax(a, b)
#define fm_combine_MINIMUM(a, b) fmin(a, b)
#define fm_combine_PRODUCT(a, b) ((a) * (b))
#define fm_combine_L2(a, b) ((a) + (b))
#define fm_combine_SUM_SQUARE(a, b) ((a) + (b))
#define fm_neutral_SUM 0.0f
#define fm_neutral_MEAN 0.0f
#define fm_neutral_MAXIMUM (-INFINITY)
#define fm_neutral_MINIMUM INFINITY
#define fm_neutral_PRODUCT 1.0f
#define fm_neutral_L2 0.0f
#define fm_neutral_SUM_SQUARE 0.0f
#define fm_final_SUM(v) (v)
#define fm_final_MEAN(v) ((v) / (float)elements)
#define fm_final_MAXIMUM(v) (v)
#define fm_final_MINIMUM(v) (v)
#define fm_final_PRODUCT(v) (v)
#define fm_final_L2(v) sqrt(v)
#define fm_final_SUM_SQUARE(v) (v)
#define FM_TERM(v) FM_JOIN(fm_term_, OPERATOR)(v)
#define FM_COMBINE(a, b) FM_JOIN(fm_combine_, OPERATOR)(a, b)
#define FM_NEUTRAL FM_JOIN(fm_neutral_, OPERATOR)
#define FM_FINAL(v) FM_JOIN(fm_final_, OPERATOR)(v)

__kernel void reduction(FM_TEXELS_READ(x), FM_TEXELS_WRITE(y), int outputs, int count, int elements,
                        int columns, int blocks, int in_width, int in_height FM_RECORD_PARAMETERS) {
  FM_BEGIN;
#if SPATIAL
  FM_GROUP_TREE_BEGIN(4);
#else
  FM_GROUP_TREE_BEGIN(1);
#endif
  const int output = FM_GLOBAL_ID(1);
  // Work-items beyond the last result go along for the barriers.
  const int from = FM_MIN(output, outputs - 1);
#if SPATIAL
  const int image = FM_QUOTIENT(from, blocks);
  const int block = FM_REMAINDER(from, blocks);
#endif

  float4 partials = (float4)(FM_NEUTRAL);
  FM_FOR(i, item, count, GROUP) {
#if SPATIAL
    const float4 v = FM_LOAD4(x, block * in_width + FM_REMAINDER(i, in_width),
                              image * in_height + FM_QUOTIENT(i, in_width));
    partials = FM_COMBINE(partials, FM_TERM(v));
#else
    const float4 v = FM_LOAD4(x, i, from);
    partials = FM_COMBINE(partials, fm_first_lanes(FM_TERM(v), columns - 4 * i, FM_NEUTRAL));
#endif
    FM_ARITHMETIC(fma, 4);
  }
  FM_END_FOR

#if SPATIAL
  FM_GROUP_TREE(4, all, partials, FM_COMBINE);
  const float4 result = FM_FINAL(all);
  const int valid = columns - 4 * block;
  const int out_x = block;
  const int out_y = image;
#else
  const float own = 
      FM_COMBINE(FM_COMBINE(partials.x, partials.y), FM_COMBINE(partials.z, partials.w));
  FM_GROUP_TREE(1, all, own, FM_COMBINE);
  const float4 result = (float4)(FM_FINAL(all));
  const int valid = 1;
  const int out_x = 0;
  const int out_y = output;
#endif
  FM_IF(output, LT, outputs) {
    FM_IF(item, EQ, 0) {
      FM_ARITHMETIC(special, 4);
      FM_STORE4(y, out_x, out_y, fm_first_lanes(result, valid, 0.0f));
    }
    FM_END_IF
  }
  FM_END_IF
}
