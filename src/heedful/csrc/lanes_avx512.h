// Sixteen float32 lanes (AVX-512). Each lanes_*.h offers the same names to kernel bodies.

using Vec = __m512;
constexpr int LANES = 16;

static inline Vec set(float x) { return _mm512_set1_ps(x); }
static inline Vec load(const float* p) { return _mm512_load_ps(p); }
static inline Vec load_unaligned(const float* p) { return _mm512_loadu_ps(p); }
static inline void store(float* p, Vec x) { _mm512_store_ps(p, x); }
static inline void store_unaligned(float* p, Vec x) { _mm512_storeu_ps(p, x); }
static inline Vec fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }    // a b + c
static inline Vec fms(Vec a, Vec b, Vec c) { return _mm512_fmsub_ps(a, b, c); }    // a b - c
static inline Vec fnma(Vec a, Vec b, Vec c) { return _mm512_fnmadd_ps(a, b, c); }  // c - a b
static inline Vec min(Vec a, Vec b) { return _mm512_min_ps(a, b); }
static inline Vec max(Vec a, Vec b) { return _mm512_max_ps(a, b); }
// NaN in x comes through: the second operand is returned when either is NaN.
static inline Vec clamp(Vec x, float low, float high) {
  return _mm512_min_ps(set(high), _mm512_max_ps(set(low), x));
}
static inline Vec round_nearest(Vec x) { return _mm512_roundscale_ps(x, 0x08); }
// x 2^n for a whole n.
static inline Vec times_power(Vec x, Vec n) { return _mm512_scalef_ps(x, n); }

// One Newton step on the 14 bit estimate gives all bits but the last.
static inline Vec reciprocal(Vec x) {
  const Vec estimate = _mm512_rcp14_ps(x);
  return fma(estimate, fnma(x, estimate, set(1.0f)), estimate);
}

// 2^x, relative error 8e-8; minimax on the fraction in [0, 1).
static inline Vec exp2_fast(Vec x) {
  const Vec f = _mm512_reduce_ps(x, 0x09);
  Vec p = set(0.0018775766948238015f);
  p = fma(p, f, set(0.00898933969438076f));
  p = fma(p, f, set(0.05582631751894951f));
  p = fma(p, f, set(0.24015361070632935f));
  p = fma(p, f, set(0.6931530833244324f));
  p = fma(p, f, set(0.9999999403953552f));
  return _mm512_scalef_ps(p, x);  // scales by 2^floor(x)
}
