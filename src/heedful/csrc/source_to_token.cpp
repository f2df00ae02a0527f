// Source2token pooling: feature-wise softmax over the tokens of a sentence, and the weighted sum, in two passes.

#include <cmath>
#include <cstdint>
#include <cstring>

#include "interface.h"
#include "pool.h"
#include "targets.h"

HEEDFUL_EXPORT const char* heedful_instruction_set();

// Mirrored by `_Pooling` in heedful/ops/source_to_token/fused.py. Arrays [batch, length, width], of a sentence
// [batch, width].
struct Pooling {
  const float *value, *score;
  const std::uint8_t* valid;  // [batch, length], 1 at a real token; other positions are never read
  float *output, *weights;    // output is of a sentence
  const float* grad_output;   // of a sentence; null in the forward pass, as are the next two
  float *grad_value, *grad_score;
  std::int64_t batch, length, width;  // width is at least 16
  std::int32_t threads;
};

namespace heedful {
namespace {

#if HEEDFUL_X86
HEEDFUL_BEGIN_AVX512
namespace avx512 {
#include "lanes_avx512.h"
#include "source_to_token.inc"
}  // namespace avx512
HEEDFUL_END
HEEDFUL_BEGIN_AVX2
namespace avx2 {
#include "lanes_avx2.h"
#include "source_to_token.inc"
}  // namespace avx2
HEEDFUL_END
#endif
namespace portable {
#include "lanes_portable.h"
#include "source_to_token.inc"
}  // namespace portable

struct Kernels {
  void (*forward)(const Pooling&, std::int64_t);
  void (*backward)(const Pooling&, std::int64_t);
};

Kernels chosen() {
#if HEEDFUL_X86
  const char* name = heedful_instruction_set();
  if (std::strcmp(name, "avx512") == 0) return {avx512::pool_forward, avx512::pool_backward};
  if (std::strcmp(name, "avx2") == 0) return {avx2::pool_forward, avx2::pool_backward};
#endif
  return {portable::pool_forward, portable::pool_backward};
}

void every_sentence(const Pooling& p, void (*kernel)(const Pooling&, std::int64_t)) {
  struct Context {
    const Pooling& problem;
    void (*kernel)(const Pooling&, std::int64_t);
  } context{p, kernel};
  // Waking a thread costs more than a small problem.
  const bool small = p.batch * p.length * p.width < (1 << 15);
  parallel_for(
      p.batch, small ? 1 : p.threads,
      [](void* data, std::int64_t sentence) {
        const Context& shared = *static_cast<Context*>(data);
        shared.kernel(shared.problem, sentence);
      },
      &context);
}

}  // namespace
}  // namespace heedful

HEEDFUL_EXPORT void heedful_source_to_token_forward(const Pooling* problem) {
  heedful::every_sentence(*problem, heedful::chosen().forward);
}

HEEDFUL_EXPORT void heedful_source_to_token_backward(const Pooling* problem) {
  heedful::every_sentence(*problem, heedful::chosen().backward);
}
