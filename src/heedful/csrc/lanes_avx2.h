// Eight float32 lanes (AVX2 with FMA). Each lanes_*.h offers the same names to kernel bodies.

using Vec = __m256;
constexpr int LANES = 8;

static inline Vec set(float x) { return _mm256_set1_ps(x); }
static inline Vec load(const float* p) { return _mm256_load_ps(p); }
static inline Vec load_unaligned(const float* p) { return _mm256_loadu_ps(p); }
static inline void store(float* p, Vec x) { _mm256_store_ps(p, x); }
static inline void store_unaligned(float* p, Vec x) { _mm256_storeu_ps(p, x); }
static inline Vec fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }    // a b + c
static inline Vec fms(Vec a, Vec b, Vec c) { return _mm256_fmsub_ps(a, b, c); }    // a b - c
static inline Vec fnma(Vec a, Vec b, Vec c) { return _mm256_fnmadd_ps(a, b, c); }  // c - a b
static inline Vec min(Vec a, Vec b) { return _mm256_min_ps(a, b); }
static inline Vec max(Vec a, Vec b) { return _mm256_max_ps(a, b); }
// NaN in x comes through: the second operand is returned when either is NaN.
static inline Vec clamp(Vec x, float low, float high) {
  return _mm256_min_ps(set(high), _mm256_max_ps(set(low), x));
}
static inline Vec round_nearest(Vec x) { return _mm256_round_ps(x, 0x08); }
// x 2^n for a whole n.
static inline Vec times_power(Vec x, Vec n) {
  const __m256i exponent = _mm256_slli_epi32(_mm256_cvtps_epi32(n), 23);
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(x), exponent));
}

// 2^x, relative error 8e-8; minimax on the fraction in [-1/2, 1/2].
static inline Vec exp2_fast(Vec x) {
  const Vec n = round_nearest(x);
  const Vec f = _mm256_sub_ps(x, n);
  Vec p = set(0.0013276472454890609f);
  p = fma(p, f, set(0.009675540961325169f));
  p = fma(p, f, set(0.05550713092088699f));
  p = fma(p, f, set(0.24022120237350464f));
  p = fma(p, f, set(0.6931469440460205f));
  p = fma(p, f, set(1.0000001192092896f));
  return times_power(p, n);
}

// Sets result to 2^(1/d) and reciprocal to 1/d, of several d at a time.
template <int N>
static inline void exp2_reciprocal(const Vec (&d)[N], Vec (&reciprocal)[N], Vec (&result)[N]) {
  for (int q = 0; q < N; ++q) {
    reciprocal[q] = _mm256_div_ps(set(1.0f), d[q]);
    result[q] = exp2_fast(reciprocal[q]);
  }
}
