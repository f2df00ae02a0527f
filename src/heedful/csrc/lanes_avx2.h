// Eight float32 lanes (AVX2 with FMA). Each lanes_*.h offers the same names to kernel bodies.

using Vec = __m256;
constexpr int LANES = 8;

#define HEEDFUL_LANES(name) _mm256_##name
#include "lanes_x86.inc"
// Whole numbers as floats.
static inline Vec load_whole(const std::int8_t* p) {
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
}
static inline Vec round_nearest(Vec x) { return _mm256_round_ps(x, 0x08); }
// x 2^n for a whole n.
static inline Vec times_power(Vec x, Vec n) {
  const __m256i exponent = _mm256_slli_epi32(_mm256_cvtps_epi32(n), 23);
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(x), exponent));
}

#include "exp2.inc"
