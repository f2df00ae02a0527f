// Four float32 lanes in the compiler's own vectors, for any processor. Each lanes_*.h offers the same names.

typedef float Vec __attribute__((vector_size(16)));
typedef std::int32_t VecInt __attribute__((vector_size(16)));
constexpr int LANES = 4;

static inline Vec set(float x) { return Vec{x, x, x, x}; }
static inline Vec load_unaligned(const float* p) {
  Vec x;
  std::memcpy(&x, p, sizeof x);
  return x;
}
static inline void store_unaligned(float* p, Vec x) { std::memcpy(p, &x, sizeof x); }
static inline Vec load(const float* p) { return load_unaligned(p); }
static inline void store(float* p, Vec x) { store_unaligned(p, x); }
#if defined(__ARM_NEON)
static inline Vec fma(Vec a, Vec b, Vec c) { return (Vec)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b); }
#else
static inline Vec fma(Vec a, Vec b, Vec c) { return a * b + c; }  // a b + c
#endif
static inline Vec fms(Vec a, Vec b, Vec c) { return fma(a, b, -c); }   // a b - c
static inline Vec fnma(Vec a, Vec b, Vec c) { return fma(-a, b, c); }  // c - a b
static inline Vec min(Vec a, Vec b) { return a < b ? a : b; }
static inline Vec max(Vec a, Vec b) { return a > b ? a : b; }
// NaN in x comes through: no comparison with it holds.
static inline Vec clamp(Vec x, float low, float high) {
  const Vec raised = x < set(low) ? set(low) : x;
  return raised > set(high) ? set(high) : raised;
}
// Whole numbers as floats.
static inline Vec load_whole(const std::int8_t* p) {
  return Vec{static_cast<float>(p[0]), static_cast<float>(p[1]), static_cast<float>(p[2]), static_cast<float>(p[3])};
}
// Adding 1.5 2^23 leaves no bit for the fraction; good for |x| < 2^22.
static inline Vec round_nearest(Vec x) {
  const Vec magic = set(12582912.0f);
  return (x + magic) - magic;
}
// x 2^n for a whole n.
static inline Vec times_power(Vec x, Vec n) {
  return (Vec)((VecInt)x + (__builtin_convertvector(n, VecInt) << 23));
}

#include "exp2.inc"
