// Dense layers with constant matrices, for answering: activation(x W^T + b), float32 or 8-bit whole numbers with a scale
// for each output. A row's result does not depend on how many rows are computed together.

#include <cstdint>
#include <cstring>
#include <new>

#include "dense.h"
#include "targets.h"
#include "workspace.h"

namespace heedful {
namespace dense {

#define HEEDFUL_BODIES "dense.inc"
#include "each_target.inc"

void layer(const Dense& problem) {
  static thread_local Memory memory;
  memory.reserve(problem.rows * PANEL * sizeof(float));
  float* total = reinterpret_cast<float*>(memory.start());
  const auto panel = HEEDFUL_CHOSEN(dense_panel);
  for (std::int64_t p = 0; p * PANEL < problem.outputs; ++p) panel(problem, p, total);
}

std::int64_t busy_in_float32(std::int64_t rounds) { return HEEDFUL_CHOSEN(busy)(rounds); }

}  // namespace dense
}  // namespace heedful

using namespace heedful;

// Outputs that lie together in a packed matrix.
HEEDFUL_EXPORT std::int64_t heedful_dense_panel() { return dense::PANEL; }

// Returns 0, or 1 where memory ran out. `packed` begins at a multiple of 64 bytes.
HEEDFUL_EXPORT int heedful_dense(const float* input, const void* packed, const float* scales, const float* bias,
                                 float* output, std::int64_t rows, std::int64_t terms, std::int64_t outputs,
                                 std::int32_t activation) {
  if (rows == 0) return 0;
  try {
    dense::layer({input, packed, scales, bias, output, rows, terms, outputs, activation});
  } catch (const std::bad_alloc&) {
    return 1;
  }
  return 0;
}

// Computes what the registers hold again and again; returns how many operations. For measurements: the processor's peak.
HEEDFUL_EXPORT std::int64_t heedful_busy(std::int64_t rounds) { return dense::busy_in_float32(rounds); }
