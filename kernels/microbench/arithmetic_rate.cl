// Arithmetic of one type, a round and work-item in four chains of vectors: 64 multiply-adds (TYPE=HALF), 128
// integer operations (INTEGER), 192 of index functions (INDEX: quotient, remainder, place, by what is known only
// at run time), 64 reciprocal square roots (SPECIAL) or exponentials (EXPONENTIAL).
#define HALF 1
#define INTEGER 2
#define SPECIAL 3
#define EXPONENTIAL 4
#define INDEX 5
#if TYPE == HALF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef half4 fm_operand;
#define FM_OPERAND(v) convert_half4(v)
#define FM_OPERATE(a, b, c) mad(a, b, c)
#elif TYPE == INTEGER
typedef int4 fm_operand;
#define FM_OPERAND(v) convert_int4(v)
#define FM_OPERATE(a, b, c) (((a) + (b)) ^ (c))
#elif TYPE == INDEX
typedef int4 fm_operand;
#define FM_OPERAND(v) convert_int4((v) + 2.0f)
#define FM_OPERATE(a, b, c) (((a) / ((b) | 1) + (a) % ((b) | 1) * (c)) & 1023)
#else
typedef float4 fm_operand;
#define FM_OPERAND(v) ((v) + 1.0f)
#if TYPE == SPECIAL
#define FM_OPERATE(a, b, c) native_rsqrt(a)
#else
#define FM_OPERATE(a, b, c) exp(-(a))
#endif
#endif
__kernel void arithmetic_rate(FM_TEXELS_WRITE(sums), int rounds FM_RECORD_PARAMETERS) {
  FM_BEGIN;
  const float4 start = (float4)((float)FM_LOCAL_ID(0));
  fm_operand a = FM_OPERAND(start), b = FM_OPERAND(start + 1.0f);
  fm_operand c = FM_OPERAND(start + 2.0f), d = FM_OPERAND(start + 3.0f);
  FM_FOR(round, 0, rounds, 1) {
    FM_UNROLL
    for (int i = 0; i < 4; ++i) {
      a = FM_OPERATE(a, b, c);
      b = FM_OPERATE(b, c, d);
      c = FM_OPERATE(c, d, a);
      d = FM_OPERATE(d, a, b);
    }
#if TYPE == INTEGER
    FM_ARITHMETIC(integer, 128);
#elif TYPE == INDEX
    FM_ARITHMETIC(integer, 192);
#elif TYPE == SPECIAL || TYPE == EXPONENTIAL
    FM_ARITHMETIC(special, 64);
#else
    FM_ARITHMETIC(fma, 64);
#endif
  }
  FM_END_FOR
  FM_STORE1(sums, FM_GLOBAL_ID(0), (float)a.x + (float)b.y + (float)c.z + (float)d.w);
}
