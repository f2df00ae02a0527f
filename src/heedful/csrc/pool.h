// A small pool of threads: `parallel_for` runs independent tasks in any order.
#pragma once

#include <cstdint>

namespace heedful {

// Calls body(context, i) once for every i in [0, count), on the calling thread and at most threads - 1 others.
void parallel_for(std::int64_t count, int threads, void (*body)(void*, std::int64_t), void* context);

// Calls kernel(problem, i) once for every i in [0, count), likewise.
template <class Problem>
void every_task(const Problem& problem, void (*kernel)(const Problem&, std::int64_t), std::int64_t count, int threads) {
  struct Context {
    const Problem& problem;
    void (*kernel)(const Problem&, std::int64_t);
  } context{problem, kernel};
  parallel_for(
      count, threads,
      [](void* data, std::int64_t task) {
        const Context& shared = *static_cast<Context*>(data);
        shared.kernel(shared.problem, task);
      },
      &context);
}

}  // namespace heedful
