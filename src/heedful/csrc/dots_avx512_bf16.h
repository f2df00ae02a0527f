// Two products and their sum for each of 16 outputs, factors in bfloat16 (AVX-512 BF16). It offers what a dots_*.h of whole
// numbers does.

constexpr int OUTPUTS = 16, VECS = 4;
using Sums = __m512;
using Codes = __m512bh;
using Weights = __m512bh;

static inline Sums none() { return _mm512_setzero_ps(); }
static inline Codes everywhere(const Code* two) {
  std::int32_t bits;
  std::memcpy(&bits, two, sizeof bits);
  return (__m512bh)_mm512_set1_epi32(bits);
}
static inline Weights weights_at(const Weight* p) { return (__m512bh)_mm512_load_si512(p); }
static inline Sums dot(Sums sum, Codes a, Weights w) {
  sum = _mm512_dpbf16_ps(sum, a, w);
  asm("" : "+v"(sum));  // it stays in its register
  return sum;
}
static inline void keep(float* to, Sums sum) { _mm512_store_ps(to, sum); }
