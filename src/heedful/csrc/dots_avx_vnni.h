// Four products and their sum for each of 8 outputs (AVX-VNNI).

using Code = std::uint8_t;
constexpr int OUTPUTS = 8, VECS = 2;
constexpr std::int64_t EXACT = std::int64_t{1} << 16;  // terms whose sum 32 bits hold
using Sums = __m256i;
using Codes = __m256i;
using Weights = __m256i;

static inline std::int32_t shift_of(std::int32_t zero) { return zero; }
static inline Sums none() { return _mm256_setzero_si256(); }
static inline Codes everywhere(const Code* four) {
  std::int32_t bits;
  std::memcpy(&bits, four, sizeof bits);
  return _mm256_set1_epi32(bits);
}
static inline Weights weights_at(const std::int8_t* p) {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(p));
}
static inline Sums dot(Sums sum, Codes a, Weights w) {
  sum = _mm256_dpbusd_avx_epi32(sum, a, w);
  asm("" : "+v"(sum));  // it stays in its register
  return sum;
}
static inline void keep(std::int32_t* to, Sums sum) { _mm256_store_si256(reinterpret_cast<__m256i*>(to), sum); }
