// Adadelta's step over many parameters in one pass over their memory, dense or by row.

#include <cmath>
#include <cstdint>
#include <cstring>

#include "interface.h"
#include "pool.h"
#include "targets.h"

// Mirrored by `_Update` in heedful/training/adadelta.py.
struct AdadeltaUpdate {
  float* weight;
  const float* gradient;
  float* square_avg;
  float* acc_delta;
  const std::int64_t* rows;  // null: dense; else gradient holds these rows, each named once
  std::int64_t count;        // elements of gradient
  std::int64_t width;        // of a row
  float rho, new_share, eps, lr, weight_decay;  // new_share: 1 - rho
};

namespace heedful {
namespace {

constexpr std::int64_t TASK_ELEMENTS = 1 << 14;

using Rates = AdadeltaUpdate;

#if HEEDFUL_X86
HEEDFUL_BEGIN_AVX512
namespace avx512 {
#include "lanes_avx512.h"
static inline Vec square_root(Vec x) { return _mm512_sqrt_ps(x); }
#include "adadelta.inc"
}  // namespace avx512
HEEDFUL_END
HEEDFUL_BEGIN_AVX2
namespace avx2 {
#include "lanes_avx2.h"
static inline Vec square_root(Vec x) { return _mm256_sqrt_ps(x); }
#include "adadelta.inc"
}  // namespace avx2
HEEDFUL_END
#endif
namespace portable {
#include "lanes_portable.h"
static inline Vec square_root(Vec x) { return Vec{std::sqrt(x[0]), std::sqrt(x[1]), std::sqrt(x[2]), std::sqrt(x[3])}; }
#include "adadelta.inc"
}  // namespace portable

using Kernel = void (*)(const Rates&, float*, const float*, float*, float*, std::int64_t);

// Whole rows, or a stretch of a dense array.
std::int64_t task_size(const AdadeltaUpdate& update) {
  if (!update.rows) return TASK_ELEMENTS;
  const std::int64_t rows = TASK_ELEMENTS / update.width;
  return (rows < 1 ? 1 : rows) * update.width;
}

std::int64_t task_count(const AdadeltaUpdate& update) {
  const std::int64_t size = task_size(update);
  return (update.count + size - 1) / size;
}

void run_task(Kernel kernel, const AdadeltaUpdate& u, std::int64_t task) {
  const std::int64_t size = task_size(u), first = task * size, last = first + size < u.count ? first + size : u.count;
  if (!u.rows) {
    kernel(u, u.weight + first, u.gradient + first, u.square_avg + first, u.acc_delta + first, last - first);
    return;
  }
  for (std::int64_t i = first; i < last; i += u.width) {
    const std::int64_t start = u.rows[i / u.width] * u.width;
    kernel(u, u.weight + start, u.gradient + i, u.square_avg + start, u.acc_delta + start, u.width);
  }
}

}  // namespace
}  // namespace heedful

using namespace heedful;

HEEDFUL_EXPORT void heedful_adadelta(const AdadeltaUpdate* updates, std::int64_t count, std::int32_t threads) {
  struct Context {
    const AdadeltaUpdate* updates;
    Kernel kernel;
  } context{updates, HEEDFUL_CHOSEN(update_run)};
  std::int64_t tasks = 0;
  for (std::int64_t n = 0; n < count; ++n) tasks += task_count(updates[n]);
  parallel_for(
      tasks, threads,
      [](void* data, std::int64_t task) {
        const Context& shared = *static_cast<Context*>(data);
        const AdadeltaUpdate* update = shared.updates;
        for (std::int64_t here; task >= (here = task_count(*update)); ++update) task -= here;
        run_task(shared.kernel, *update, task);
      },
      &context);
}
