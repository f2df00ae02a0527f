// Four products and their sum for each of 16 outputs (AVX-512 VNNI). Each dots_*.h offers the same names to whole.inc.

using Code = std::uint8_t;  // from 0 to 255: the first factor of the instruction has no sign
constexpr int OUTPUTS = 16, VECS = 4;
constexpr std::int64_t EXACT = std::int64_t{1} << 16;  // terms whose sum 32 bits hold
using Sums = __m512i;
using Codes = __m512i;
using Weights = __m512i;

static inline std::int32_t shift_of(std::int32_t zero) { return zero; }
static inline Sums none() { return _mm512_setzero_si512(); }
static inline Codes everywhere(const Code* four) {
  std::int32_t bits;
  std::memcpy(&bits, four, sizeof bits);
  return _mm512_set1_epi32(bits);
}
static inline Weights weights_at(const std::int8_t* p) { return _mm512_load_si512(p); }
static inline Sums dot(Sums sum, Codes a, Weights w) {
  sum = _mm512_dpbusd_epi32(sum, a, w);
  asm("" : "+v"(sum));  // it stays in its register
  return sum;
}
static inline void keep(std::int32_t* to, Sums sum) { _mm512_store_si512(to, sum); }
