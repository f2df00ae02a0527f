// Four products and their sum for each of 4 outputs, in the compiler's own vectors: what the other forms equal to the
// last bit. Whole numbers are kept as floats, which hold every sum of EXACT terms: 512 * 254 * 128 is below 2^24.

using Code = float;
constexpr int OUTPUTS = 4, VECS = 1;
constexpr std::int64_t EXACT = 512;
using Sums = Vec;
using Codes = const Code*;
struct Weights {
  Vec of[GROUP];
};

static inline std::int32_t shift_of(std::int32_t ) { return 0; }
static inline Sums none() { return set(0.0f); }
static inline Codes everywhere(const Code* four) { return four; }
static inline Weights weights_at(const std::int8_t* p) {
  VecInt four;
  std::memcpy(&four, p, sizeof four);
  Weights w;
  for (int t = 0; t < GROUP; ++t) w.of[t] = __builtin_convertvector((four << (24 - 8 * t)) >> 24, Vec);
  return w;
}
static inline Sums dot(Sums sum, Codes a, const Weights& w) {
  for (int t = 0; t < GROUP; ++t) sum = sum + set(a[t]) * w.of[t];
  return sum;
}
static inline void keep(std::int32_t* to, Sums sum) {
  const VecInt whole = __builtin_convertvector(sum, VecInt);
  std::memcpy(to, &whole, sizeof whole);
}
