// Source2token pooling: feature-wise softmax over the tokens of a sentence, and the weighted sum, in two passes.

#include <cmath>
#include <cstdint>
#include <cstring>

#include "interface.h"
#include "pool.h"
#include "targets.h"

// Mirrored by `_Pooling` in heedful/attention/source2token.py. Arrays [batch, length, width], of a sentence
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

#define HEEDFUL_BODIES "source_to_token.inc"
#include "each_target.inc"

void every_sentence(const Pooling& p, void (*kernel)(const Pooling&, std::int64_t)) {
  // Waking a thread costs more than a small problem.
  const bool small = p.batch * p.length * p.width < (1 << 15);
  every_task(p, kernel, p.batch, small ? 1 : p.threads);
}

}  // namespace
}  // namespace heedful

using namespace heedful;

HEEDFUL_EXPORT void heedful_source_to_token_forward(const Pooling* problem) {
  every_sentence(*problem, HEEDFUL_CHOSEN(pool_forward));
}

HEEDFUL_EXPORT void heedful_source_to_token_backward(const Pooling* problem) {
  every_sentence(*problem, HEEDFUL_CHOSEN(pool_backward));
}
