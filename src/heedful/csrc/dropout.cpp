// Inverted dropout whose mask is a function of (seed, element) and is never stored.
//
// Element e belongs to group e / 64, which uses 8 blocks of Philox4x32-10: counter 8 (e / 64) + (e % 16) / 2, key the
// seed. With s = e % 64 / 16 its bits are the lower (s even) or upper (s odd) half of word 2 (s / 2) + e % 2. So each
// instruction set fills whole vectors without moving words between lanes. Plain torch: heedful/attention/dropouts.py.

#include <cstdint>
#include <cstring>

#include "bfloat16.h"
#include "interface.h"
#include "pool.h"
#include "targets.h"

namespace heedful {
namespace {

using Low = bfloat16::Code;
constexpr int GROUP = 64, COUNTERS = 8, ROUNDS = 10;
constexpr std::int64_t TASK_GROUPS = 256;
constexpr std::uint32_t MULTIPLIER_0 = 0xD2511F53, MULTIPLIER_1 = 0xCD9E8D57;

struct Dropout {
  const void* input;  // of float, or of bfloat16
  void* output;
  std::int64_t count;
  std::uint32_t threshold;  // in the upper 16 bits; elements whose 16 bits are below it are dropped
  float scale;
};

// The key of every round.
struct Keys {
  std::uint32_t first[ROUNDS], second[ROUNDS];

  explicit Keys(std::uint64_t seed) {
    std::uint32_t a = static_cast<std::uint32_t>(seed), b = static_cast<std::uint32_t>(seed >> 32);
    for (int round = 0; round < ROUNDS; ++round, a += 0x9E3779B9, b += 0xBB67AE85) first[round] = a, second[round] = b;
  }
};

#if HEEDFUL_X86
HEEDFUL_BEGIN_AVX512
namespace avx512 {
constexpr int LANES = 16;
using Wide = __m512i;
using Whole = __m512i;

static inline Wide zero() { return _mm512_setzero_si512(); }
static inline Wide broadcast(std::uint32_t x) { return _mm512_set1_epi64(x); }
static inline Wide add_lane_number(std::uint64_t first) {
  return _mm512_add_epi64(_mm512_set1_epi64(static_cast<long long>(first)), _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
}
static inline Wide upper(Wide x) { return _mm512_srli_epi64(x, 32); }
static inline Wide multiply(Wide x, std::uint32_t y) { return _mm512_mul_epu32(x, broadcast(y)); }
static inline Whole interleave(Wide even, Wide odd) {
  return _mm512_mask_blend_epi32(0xAAAA, even, _mm512_slli_epi64(odd, 32));
}
static inline Whole lower_to_upper(Whole x) { return _mm512_slli_epi32(x, 16); }
static inline __m512 scaled_if_kept(__m512 x, Whole bits, const Dropout& p) {
  const __mmask16 kept = _mm512_cmpge_epu32_mask(bits, _mm512_set1_epi32(static_cast<int>(p.threshold)));
  return _mm512_maskz_mul_ps(kept, x, _mm512_set1_ps(p.scale));
}
static inline __m512 take(const float* x) { return _mm512_loadu_ps(x); }
static inline void put(float* y, __m512 values) { _mm512_storeu_ps(y, values); }
static inline __m512 take(const Low* x) {
  const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x));
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}
static inline void put(Low* y, __m512 values) {
  const __m512i bits = _mm512_castps_si512(values), odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i near = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
  const __mmask16 none = _mm512_cmp_ps_mask(values, values, _CMP_UNORD_Q);
  const __m512i rounded = _mm512_mask_or_epi32(near, none, bits, _mm512_set1_epi32(0x400000));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(y), _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16)));
}
#include "dropout.inc"
}  // namespace avx512
HEEDFUL_END
HEEDFUL_BEGIN_AVX2
namespace avx2 {
constexpr int LANES = 8;
using Wide = __m256i;
using Whole = __m256i;

static inline Wide zero() { return _mm256_setzero_si256(); }
static inline Wide broadcast(std::uint32_t x) { return _mm256_set1_epi64x(x); }
static inline Wide add_lane_number(std::uint64_t first) {
  return _mm256_add_epi64(_mm256_set1_epi64x(static_cast<long long>(first)), _mm256_setr_epi64x(0, 1, 2, 3));
}
static inline Wide upper(Wide x) { return _mm256_srli_epi64(x, 32); }
static inline Wide multiply(Wide x, std::uint32_t y) { return _mm256_mul_epu32(x, broadcast(y)); }
static inline Whole interleave(Wide even, Wide odd) {
  return _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA);
}
static inline Whole lower_to_upper(Whole x) { return _mm256_slli_epi32(x, 16); }
static inline __m256 scaled_if_kept(__m256 x, Whole bits, const Dropout& p) {
  const __m256i threshold = _mm256_set1_epi32(static_cast<int>(p.threshold));
  const __m256i kept = _mm256_cmpeq_epi32(_mm256_max_epu32(bits, threshold), bits);  // bits >= threshold, unsigned
  return _mm256_and_ps(_mm256_castsi256_ps(kept), _mm256_mul_ps(x, _mm256_set1_ps(p.scale)));
}
static inline __m256 take(const float* x) { return _mm256_loadu_ps(x); }
static inline void put(float* y, __m256 values) { _mm256_storeu_ps(y, values); }
static inline __m256 take(const Low* x) {
  const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x));
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}
static inline void put(Low* y, __m256 values) {
  const __m256i bits = _mm256_castps_si256(values), odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i near = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
  const __m256i none = _mm256_castps_si256(_mm256_cmp_ps(values, values, _CMP_UNORD_Q));
  const __m256i rounded = _mm256_blendv_epi8(near, _mm256_or_si256(bits, _mm256_set1_epi32(0x400000)), none);
  const __m256i upper = _mm256_srli_epi32(rounded, 16);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(y),
                   _mm_packus_epi32(_mm256_castsi256_si128(upper), _mm256_extracti128_si256(upper, 1)));
}
#include "dropout.inc"
}  // namespace avx2
HEEDFUL_END
#endif
namespace portable {
constexpr int LANES = 4;
typedef std::uint64_t Wide __attribute__((vector_size(16)));
typedef std::uint32_t Whole __attribute__((vector_size(16)));
typedef float Floats __attribute__((vector_size(16)));

static inline Wide zero() { return Wide{0, 0}; }
static inline Wide broadcast(std::uint32_t x) { return Wide{x, x}; }
static inline Wide add_lane_number(std::uint64_t first) { return Wide{first, first + 1}; }
static inline Wide upper(Wide x) { return x >> 32; }
static inline Wide multiply(Wide x, std::uint32_t y) { return (x & broadcast(0xFFFFFFFF)) * broadcast(y); }
static inline Whole interleave(Wide even, Wide odd) {
  const Wide e = even & broadcast(0xFFFFFFFF), o = odd & broadcast(0xFFFFFFFF);
  return Whole{static_cast<std::uint32_t>(e[0]), static_cast<std::uint32_t>(o[0]), static_cast<std::uint32_t>(e[1]),
               static_cast<std::uint32_t>(o[1])};
}
static inline Whole lower_to_upper(Whole x) { return x << 16; }
static inline Floats scaled_if_kept(Floats x, Whole bits, const Dropout& p) {
  const Whole threshold = {p.threshold, p.threshold, p.threshold, p.threshold};
  return (Floats)((Whole)(x * Floats{p.scale, p.scale, p.scale, p.scale}) & (Whole)(bits >= threshold));
}
static inline Floats take(const float* x) {
  Floats values;
  std::memcpy(&values, x, sizeof values);
  return values;
}
static inline void put(float* y, Floats values) { std::memcpy(y, &values, sizeof values); }
static inline Floats take(const Low* x) {
  const Whole halves = {x[0], x[1], x[2], x[3]};
  return (Floats)(halves << 16);
}
static inline void put(Low* y, Floats values) {
  for (int i = 0; i < LANES; ++i) y[i] = bfloat16::rounded(values[i]);
}
#include "dropout.inc"
}  // namespace portable

using Kernel = void (*)(const Dropout&, const Keys&, std::int64_t, std::int64_t);

}  // namespace
}  // namespace heedful

using namespace heedful;

// Of count elements, those whose 16 random bits are below threshold become 0, the others are multiplied by scale. Numbers are
// float, or bfloat16, which is computed in float and rounded.
HEEDFUL_EXPORT void heedful_dropout(const void* input, void* output, std::int64_t count, std::uint64_t seed,
                                    std::uint32_t threshold, float scale, std::int32_t low, std::int32_t threads) {
  struct Context {
    Dropout problem;
    Keys keys;
    Kernel kernel;
    std::int64_t groups;
  } context{{input, output, count, threshold << 16, scale}, Keys(seed),
            low ? HEEDFUL_CHOSEN(drop_groups<Low>) : HEEDFUL_CHOSEN(drop_groups<float>), (count + GROUP - 1) / GROUP};
  const std::int64_t tasks = (context.groups + TASK_GROUPS - 1) / TASK_GROUPS;
  parallel_for(
      tasks, tasks < 4 ? 1 : threads,  // waking a thread costs more than a few tasks
      [](void* data, std::int64_t index) {
        const Context& shared = *static_cast<Context*>(data);
        const std::int64_t first = index * TASK_GROUPS, last = first + TASK_GROUPS;
        shared.kernel(shared.problem, shared.keys, first, last < shared.groups ? last : shared.groups);
      },
      &context);
}
