// Tensorized attention (MTSA): entry points. The instruction set is the one that additive.cpp has chosen.

#include "tensorized.h"

#include <atomic>
#include <cstring>
#include <initializer_list>

#include "pool.h"
#include "targets.h"

namespace heedful {
namespace tensorized {

#define HEEDFUL_BODIES "tensorized.inc"
#include "each_target.inc"

namespace {

Memory& memory() {
  static thread_local Memory memory;
  return memory;
}

// Runs body over every head of every sentence; false where memory ran out.
template <class Body>
bool run_heads(const TensorizedProblem& p, const Body& body) {
  struct Context {
    const Body& body;
    std::atomic<bool> failed{false};
  } context{body};
  // Waking a thread costs more than a small problem.
  const std::int64_t tasks = p.batch * p.heads;
  const bool small = tasks * p.length * p.length * p.width < (std::int64_t{1} << 18);
  parallel_for(
      tasks, small ? 1 : p.threads,
      [](void* data, std::int64_t index) {
        Context& shared = *static_cast<Context*>(data);
        try {
          shared.body(index);
        } catch (const std::bad_alloc&) {
          shared.failed = true;
        }
      },
      &context);
  return !context.failed;
}

}  // namespace
}  // namespace tensorized
}  // namespace heedful

using namespace heedful;

// Each of these returns 0, or 1 where memory ran out.
HEEDFUL_EXPORT int heedful_tensorized_forward(const TensorizedProblem* problem, float* output, float* inverse) {
  using namespace tensorized;
  const auto forward = HEEDFUL_CHOSEN(tensorized_forward);
  return !run_heads(*problem, [&](std::int64_t index) {
    forward(*problem, index, output, inverse, tensorized::memory());
  });
}

HEEDFUL_EXPORT int heedful_tensorized_backward(const TensorizedProblem* problem, const TensorizedGradients* gradients) {
  using namespace tensorized;
  const auto backward = HEEDFUL_CHOSEN(tensorized_backward);
  return !run_heads(*problem, [&](std::int64_t index) {
    backward(*problem, index, *gradients, tensorized::memory());
  });
}
