// Four products and their sum for each of 4 outputs (WebAssembly's 128 bits). Numbers of 8 bits are widened to 16: a sum
// of two products is at most 2 * 254 * 128.

using Code = std::int16_t;
constexpr int OUTPUTS = 4, VECS = 1;
constexpr std::int64_t EXACT = std::int64_t{1} << 16;  // terms whose sum 32 bits hold
struct Weights {
  v128_t low, high;
};
using Sums = Weights;  // of each output two, side by side
using Codes = v128_t;

static inline std::int32_t shift_of(std::int32_t) { return 0; }
static inline Sums none() { return {wasm_i32x4_const_splat(0), wasm_i32x4_const_splat(0)}; }
static inline Codes everywhere(const Code* four) { return wasm_v128_load64_splat(four); }
static inline Weights weights_at(const std::int8_t* p) {
  const v128_t w = wasm_v128_load(p);
  return {wasm_i16x8_extend_low_i8x16(w), wasm_i16x8_extend_high_i8x16(w)};
}
static inline Sums dot(Sums sum, Codes a, const Weights& w) {
  return {wasm_i32x4_add(sum.low, wasm_i32x4_dot_i16x8(a, w.low)),
          wasm_i32x4_add(sum.high, wasm_i32x4_dot_i16x8(a, w.high))};
}
static inline void keep(std::int32_t* to, Sums sum) {
  const v128_t even = wasm_i32x4_shuffle(sum.low, sum.high, 0, 2, 4, 6);
  wasm_v128_store(to, wasm_i32x4_add(even, wasm_i32x4_shuffle(sum.low, sum.high, 1, 3, 5, 7)));
}
