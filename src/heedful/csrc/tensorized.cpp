// Tensorized attention (MTSA): entry points. The instruction set is the one that additive.cpp has chosen.

#include "tensorized.h"

#include <atomic>
#include <cstring>
#include <initializer_list>

#include "pool.h"
#include "targets.h"

HEEDFUL_EXPORT const char* heedful_instruction_set();

namespace heedful {
namespace tensorized {

// The kernel bodies are compiled three times, each time for other vectors.
#if HEEDFUL_X86
HEEDFUL_BEGIN_AVX512
namespace avx512 {
#include "lanes_avx512.h"
#include "products.inc"
#include "tensorized.inc"
}  // namespace avx512
HEEDFUL_END
HEEDFUL_BEGIN_AVX2
namespace avx2 {
#include "lanes_avx2.h"
#include "products.inc"
#include "tensorized.inc"
}  // namespace avx2
HEEDFUL_END
#endif
namespace portable {
#include "lanes_portable.h"
#include "products.inc"
#include "tensorized.inc"
}  // namespace portable

namespace {

struct Kernels {
  const char* name;
  bool (*forward)(const TensorizedProblem&, std::int64_t, float*, float*, Memory&);
  void (*backward)(const TensorizedProblem&, std::int64_t, const TensorizedGradients&, Memory&);
};

const Kernels CANDIDATES[] = {
#if HEEDFUL_X86
    {"avx512", avx512::tensorized_forward, avx512::tensorized_backward},
    {"avx2", avx2::tensorized_forward, avx2::tensorized_backward},
#endif
    {"portable", portable::tensorized_forward, portable::tensorized_backward},
};

const Kernels& chosen() {
  const char* name = heedful_instruction_set();
  const Kernels* found = CANDIDATES;
  while (std::strcmp(found->name, name) != 0) ++found;
  return *found;
}

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
  const auto& kernels = tensorized::chosen();
  return !tensorized::run_heads(*problem, [&](std::int64_t index) {
    kernels.forward(*problem, index, output, inverse, tensorized::memory());
  });
}

HEEDFUL_EXPORT int heedful_tensorized_backward(const TensorizedProblem* problem, const TensorizedGradients* gradients) {
  const auto& kernels = tensorized::chosen();
  return !tensorized::run_heads(*problem, [&](std::int64_t index) {
    kernels.backward(*problem, index, *gradients, tensorized::memory());
  });
}
