// Feature-wise additive attention: entry points, and the choice of instruction set at run time.

#include <atomic>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "pool.h"
#include "targets.h"
#include "workspace.h"

namespace heedful {

#define HEEDFUL_BODIES "additive.inc"
#include "each_target.inc"

namespace {

struct Kernels {
  const char* name;
  bool (*supported)();
  void (*forward)(const Problem&, float*, float*, const Task&, Memory&);
  void (*backward)(const Problem&, const Saved&, const Gradients&, const Task&, Memory&);
};

// Best first.
const Kernels CANDIDATES[] = {
#if HEEDFUL_X86
    {"avx512", [] { return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"); },
     avx512::forward_task, avx512::backward_task},
    {"avx2", [] { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }, avx2::forward_task,
     avx2::backward_task},
#endif
    {"portable", [] { return true; }, portable::forward_task, portable::backward_task},
};

const Kernels* best() {
  for (const Kernels& kernels : CANDIDATES)
    if (kernels.supported()) return &kernels;
  return nullptr;
}

const Kernels*& chosen() {
  static const Kernels* kernels = best();
  return kernels;
}

Memory& memory() {
  static thread_local Memory memory;
  return memory;
}

// Runs body over every task; false where memory ran out.
template <class Body>
bool run_tasks(const Problem& p, const Body& body) {
  struct Context {
    const Problem& problem;
    const Body& body;
    std::int64_t spans, features;
    std::atomic<bool> failed{false};
  } context{p, body, 1, p.width};
  if (p.batch < 2 * p.threads) {
    context.features = TASK_FEATURES;
    context.spans = (p.width + TASK_FEATURES - 1) / TASK_FEATURES;
  }
  // Waking a thread costs more than a small problem.
  const bool small = p.batch * p.length * p.length * p.width < (std::int64_t{1} << 18);
  parallel_for(
      p.batch * context.spans, small ? 1 : p.threads,
      [](void* data, std::int64_t index) {
        Context& shared = *static_cast<Context*>(data);
        const std::int64_t first = index % shared.spans * shared.features, last = first + shared.features;
        const std::int64_t width = shared.problem.width;
        try {
          shared.body(Task{index / shared.spans, first, last < width ? last : width}, memory());
        } catch (const std::bad_alloc&) {
          shared.failed = true;
        }
      },
      &context);
  return !context.failed;
}

}  // namespace
}  // namespace heedful

using namespace heedful;

// Each of these returns 0, or 1 where memory ran out.
HEEDFUL_EXPORT int heedful_additive_forward(const Problem* problem, float* output, float* denominator) {
  const Kernels& kernels = *chosen();
  return !run_tasks(*problem, [&](const Task& task, Memory& memory) {
    kernels.forward(*problem, output, denominator, task, memory);
  });
}

HEEDFUL_EXPORT int heedful_additive_backward(const Problem* problem, const float* output, const float* denominator,
                                             const float* grad_output, float* grad_query, float* grad_key,
                                             float* grad_value) {
  const Kernels& kernels = *chosen();
  const Saved saved{output, denominator, grad_output};
  const Gradients gradients{grad_query, grad_key, grad_value};
  return !run_tasks(*problem, [&](const Task& task, Memory& memory) {
    kernels.backward(*problem, saved, gradients, task, memory);
  });
}

HEEDFUL_EXPORT const char* heedful_instruction_set() { return chosen()->name; }

// Uses the named instruction set from now on; returns 1 where this processor lacks it. For tests and measurements.
HEEDFUL_EXPORT int heedful_use_instruction_set(const char* name) {
  for (const Kernels& kernels : CANDIDATES)
    if (std::strcmp(kernels.name, name) == 0 && kernels.supported()) {
      chosen() = &kernels;
      return 0;
    }
  return 1;
}
