// Four products and their sum for each of 4 outputs (ARM's dot product).

using Code = std::int8_t;
constexpr int OUTPUTS = 4, VECS = 4;
constexpr std::int64_t EXACT = std::int64_t{1} << 16;  // terms whose sum 32 bits hold
using Sums = int32x4_t;
using Codes = int8x16_t;
using Weights = int8x16_t;

static inline std::int32_t shift_of(std::int32_t zero) { return zero - 128; }
static inline Sums none() { return vdupq_n_s32(0); }
static inline Codes everywhere(const Code* four) {
  std::int32_t bits;
  std::memcpy(&bits, four, sizeof bits);
  return vreinterpretq_s8_s32(vdupq_n_s32(bits));
}
static inline Weights weights_at(const std::int8_t* p) { return vld1q_s8(p); }
static inline Sums dot(Sums sum, Codes a, Weights w) { return vdotq_s32(sum, w, a); }
static inline void keep(std::int32_t* to, Sums sum) { vst1q_s32(to, sum); }
