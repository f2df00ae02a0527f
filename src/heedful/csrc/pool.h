// A small pool of threads: `parallel_for` runs independent tasks in any order.
#pragma once

#include <cstdint>

namespace heedful {

// Calls body(context, i) once for every i in [0, count), on the calling thread and at most threads - 1 others.
void parallel_for(std::int64_t count, int threads, void (*body)(void*, std::int64_t), void* context);

}  // namespace heedful
