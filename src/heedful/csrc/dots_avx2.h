// Four products and their sum for each of 4 outputs (AVX2). Numbers of 8 bits are widened to 16: a sum of two products
// is at most 2 * 254 * 128 and never saturates, as it would with the instruction that takes 8 bits.

using Code = std::int16_t;
constexpr int OUTPUTS = 4, VECS = 2;
#define HEEDFUL_WIDE std::int16_t
constexpr std::int64_t EXACT = std::int64_t{1} << 16;  // terms whose sum 32 bits hold
using Sums = __m256i;  // of each output two, side by side
using Codes = __m256i;
using Weights = __m256i;

static inline std::int32_t shift_of(std::int32_t ) { return 0; }
static inline Sums none() { return _mm256_setzero_si256(); }
static inline Codes everywhere(const Code* four) {
  std::int64_t bits;
  std::memcpy(&bits, four, sizeof bits);
  return _mm256_set1_epi64x(bits);
}
static inline Weights weights_at(const std::int8_t* p) {
  return _mm256_cvtepi8_epi16(_mm_load_si128(reinterpret_cast<const __m128i*>(p)));
}
static inline Weights weights_at(const std::int16_t* p) {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(p));
}
static inline void widen(const std::int8_t* p, std::int16_t* to) {
  _mm256_store_si256(reinterpret_cast<__m256i*>(to), weights_at(p));
}
static inline Sums dot(Sums sum, Codes a, Weights w) {
  asm("vpaddd %1, %0, %0" : "+x"(sum) : "x"(_mm256_madd_epi16(a, w)));  // it stays in its register
  return sum;
}
static inline void keep(std::int32_t* to, Sums sum) {
  const __m256i joined = _mm256_permute4x64_epi64(_mm256_hadd_epi32(sum, sum), 0x08);
  _mm_store_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(joined));
}
