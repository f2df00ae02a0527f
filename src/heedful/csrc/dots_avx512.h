// Four products and their sum for each of 8 outputs (AVX-512 without VNNI), widened to 16 bits as in dots_avx2.h.

using Code = std::int16_t;
constexpr int OUTPUTS = 8, VECS = 4;
constexpr std::int64_t EXACT = std::int64_t{1} << 16;  // terms whose sum 32 bits hold
using Sums = __m512i;  // of each output two, side by side
using Codes = __m512i;
using Weights = __m512i;

static inline std::int32_t shift_of(std::int32_t) { return 0; }
static inline Sums none() { return _mm512_setzero_si512(); }
static inline Codes everywhere(const Code* four) {
  std::int64_t bits;
  std::memcpy(&bits, four, sizeof bits);
  return _mm512_set1_epi64(bits);
}
static inline Weights weights_at(const std::int8_t* p) {
  return _mm512_cvtepi8_epi16(_mm256_load_si256(reinterpret_cast<const __m256i*>(p)));
}
static inline Sums dot(Sums sum, Codes a, Weights w) {
  sum = _mm512_add_epi32(sum, _mm512_madd_epi16(a, w));
  asm("" : "+v"(sum));  // it stays in its register
  return sum;
}
static inline void keep(std::int32_t* to, Sums sum) {
  const __m512i joined = _mm512_add_epi32(sum, _mm512_shuffle_epi32(sum, _MM_PERM_CDAB));
  _mm256_store_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi64_epi32(joined));
}
