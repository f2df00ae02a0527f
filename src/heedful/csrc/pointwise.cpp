// What a training step does between two matrix products, in one pass over memory each: bias with activation, and gates.

#include <cstdint>
#include <cstring>

#include "dense.h"
#include "interface.h"
#include "pool.h"
#include "targets.h"

namespace heedful {
namespace {

using dense::ELU, dense::RELU;

// Rows of `width` elements without gaps. Mirrored by `_Activated` in heedful/nn/fused_dense.py.
struct Activated {
  float* output;      // forward: x in, activation(x + bias) out; backward: what the forward pass made
  const float* bias;  // [width] or null; forward only
  const float* grad;  // backward only, as are the next two
  float* grad_input;
  std::int64_t grad_step;  // between rows
  std::int64_t rows, width;
  std::int32_t activation, threads;
};

// Mirrored by `_Mixture` in heedful/nn/mixture.py. Steps are between rows; what has none has no gaps.
struct Mixture {
  const float *word, *context;
  const float* score;         // forward only
  const std::uint8_t* valid;  // [rows], 1 at a real token; null: all are
  float* gate;                // forward: written; backward: read
  float* output;              // forward only
  const float* grad;          // backward only, as are the next three
  float *grad_word, *grad_context, *grad_score;
  std::int64_t word_step, context_step, output_step, grad_step, rows, width;
  std::int32_t threads;
};

constexpr std::int64_t TASK_ROWS = 32;

#define HEEDFUL_BODIES "pointwise.inc"
#include "each_target.inc"

template <class Problem>
void every_row(const Problem& p, void (*kernel)(const Problem&, std::int64_t)) {
  const bool small = p.rows * p.width < (1 << 15);  // waking a thread costs more
  every_task(p, kernel, (p.rows + TASK_ROWS - 1) / TASK_ROWS, small ? 1 : p.threads);
}

}  // namespace
}  // namespace heedful

using namespace heedful;

HEEDFUL_EXPORT void heedful_activation_forward(const Activated* problem) {
  every_row(*problem, HEEDFUL_CHOSEN(activate_rows));
}

HEEDFUL_EXPORT void heedful_activation_backward(const Activated* problem) {
  every_row(*problem, HEEDFUL_CHOSEN(differentiate_rows));
}

HEEDFUL_EXPORT void heedful_mixture_forward(const Mixture* problem) { every_row(*problem, HEEDFUL_CHOSEN(mix_rows)); }

HEEDFUL_EXPORT void heedful_mixture_backward(const Mixture* problem) {
  every_row(*problem, HEEDFUL_CHOSEN(unmix_rows));
}
