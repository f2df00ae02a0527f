// Sixteen float32 lanes (AVX-512). Each lanes_*.h offers the same names to kernel bodies.

using Vec = __m512;
constexpr int LANES = 16;

#define HEEDFUL_LANES(name) _mm512_##name
#include "lanes_x86.inc"
// Whole numbers as floats.
static inline Vec load_whole(const std::int8_t* p) {
  return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}
static inline Vec round_nearest(Vec x) { return _mm512_roundscale_ps(x, 0x08); }
// x 2^n for a whole n.
static inline Vec times_power(Vec x, Vec n) { return _mm512_scalef_ps(x, n); }

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

// Sets result to 2^(1/d) and reciprocal to 1/d, of several d with 1/d in (-2^17, 0], step by step: one's wait for a
// result is filled with the others. With r an estimate of 1/d good to 14 bits and e = 1 - d r, 1/d is r + r e. r is cut
// into whole 32nds, whose powers lie in two registers, and a rest that r e joins: so the fraction is exact where 1/d
// itself would be rounded.
template <int N>
static inline void exp2_reciprocal(const Vec (&d)[N], Vec (&reciprocal)[N], Vec (&result)[N]) {
  const Vec low = _mm512_setr_ps(1.0f, 1.0218972f, 1.04427385f, 1.06714046f, 1.09050775f, 1.1143868f, 1.1387887f,
                                 1.1637249f, 1.1892072f, 1.21524739f, 1.24185789f, 1.26905107f, 1.29683959f,
                                 1.32523668f, 1.35425556f, 1.38390994f);
  const Vec high = _mm512_setr_ps(1.41421366f, 1.44518089f, 1.47682619f, 1.50916445f, 1.54221094f, 1.5759809f,
                                  1.61049044f, 1.64575553f, 1.68179297f, 1.71861935f, 1.75625229f, 1.79470921f,
                                  1.83400822f, 1.87416768f, 1.91520667f, 1.95714426f);
  Vec r[N], e[N], rest[N], power[N], f[N], p[N];
  for (int q = 0; q < N; ++q) r[q] = _mm512_rcp14_ps(d[q]);
  for (int q = 0; q < N; ++q) {
    e[q] = fnma(d[q], r[q], set(1.0f));
    rest[q] = _mm512_reduce_ps(r[q], 0x59);  // r less its whole 32nds, rounded down
    // Adding 1.5 2^18 and rounding down leaves floor(32 r) in the lowest bits.
    const Vec count = _mm512_add_round_ps(r[q], set(393216.0f), _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    power[q] = _mm512_permutex2var_ps(low, _mm512_castps_si512(count), high);
  }
  for (int q = 0; q < N; ++q) f[q] = fma(r[q], e[q], rest[q]);
  for (int q = 0; q < N; ++q) p[q] = fma(set(0.24284058809280396f), f[q], set(0.6931166648864746f)) * f[q];
  for (int q = 0; q < N; ++q) {
    reciprocal[q] = (r[q] - rest[q]) + f[q];
    result[q] = _mm512_scalef_ps(fma(power[q], p[q], power[q]), r[q]);  // times 2^floor(r)
  }
}
