// Dense layers for answering whose factors are rounded to bfloat16: activation(x W^T + b). Products of such numbers are
// exact in float32, sums are float32. Processors that have instructions for it multiply them as they are; the others turn
// them into float32, whose sums differ in the last bits. No row depends on the others.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "bfloat16.h"
#include "targets.h"
#include "tiles.h"
#include "workspace.h"

namespace heedful {
namespace bfloat16 {

using dense::ELU;
using dense::RELU;

#if HEEDFUL_HAS_TILES
HEEDFUL_BEGIN_TILES("amx-bf16")
namespace amx {
#include HEEDFUL_TILE_LANES
#define TILE_DOT TILE_DOT_BFLOAT16
#include "dots_amx.h"
#undef TILE_DOT
#include "bfloat16.inc"
}  // namespace amx
HEEDFUL_END
#endif
#if HEEDFUL_X86 && (defined(__clang__) ? __clang_major__ >= 9 : __GNUC__ >= 10)
#define HEEDFUL_AVX512_BF16 1
HEEDFUL_BEGIN("avx512f,avx512dq,avx512vl,avx512bw,avx512bf16,fma")
namespace avx512_bf16 {
#include "lanes_avx512.h"
#include "dots_avx512_bf16.h"
#include "dots.inc"
#include "bfloat16.inc"
}  // namespace avx512_bf16
HEEDFUL_END
#endif

namespace {

std::size_t float_room(const Layer& p) { return p.rows * p.terms * sizeof(float); }

// In float32, from factors that were rounded.
void float_layer(const Layer& p, char* room) {
  float* input = reinterpret_cast<float*>(room);
  for (std::int64_t i = 0; i < p.rows * p.terms; ++i) {
    const std::uint32_t bits = static_cast<std::uint32_t>(rounded(p.input[i])) << 16;
    std::memcpy(input + i, &bits, sizeof bits);
  }
  dense::Dense problem{input, p.packed, nullptr, p.bias, p.output, p.rows, p.terms, p.outputs, p.activation};
  problem.pairs = true;
  dense::layer(problem);
}

struct Form {
  const char* name;
  bool (*supported)();
  std::size_t (*room)(const Layer&);
  void (*layer)(const Layer&, char*);
  std::int64_t (*busy)(std::int64_t);
};

#if HEEDFUL_AVX512_BF16
bool has_avx512_bf16() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512bf16");
}
#endif
#if defined(HEEDFUL_TILES)
bool has_tiles() { return true; }
#elif HEEDFUL_HAS_TILES
bool has_tiles() { return __builtin_cpu_supports("avx512bw") && tiles_granted(); }
#endif

// Best first.
const Form FORMS[] = {
#if HEEDFUL_HAS_TILES
    {"amx", has_tiles, amx::bfloat16_room, amx::bfloat16_layer, amx::busy},
#endif
#if HEEDFUL_AVX512_BF16
    {"avx512-bf16", has_avx512_bf16, avx512_bf16::bfloat16_room, avx512_bf16::bfloat16_layer, avx512_bf16::busy},
#endif
    {"float32", [] { return true; }, float_room, float_layer, dense::busy_in_float32},
};

const Form*& chosen() {
  static const Form* form = [] {
    const Form* best = FORMS;
    while (!best->supported()) ++best;
    return best;
  }();
  return form;
}

}  // namespace
}  // namespace bfloat16
}  // namespace heedful

using namespace heedful;

// How products in bfloat16 are computed on this machine.
HEEDFUL_EXPORT const char* heedful_bfloat16_form() { return bfloat16::chosen()->name; }

// Uses the named form from now on; returns 1 where this processor lacks it. For tests and measurements.
HEEDFUL_EXPORT int heedful_use_bfloat16_form(const char* name) {
  for (const bfloat16::Form& form : bfloat16::FORMS)
    if (std::strcmp(form.name, name) == 0 && form.supported()) {
      bfloat16::chosen() = &form;
      return 0;
    }
  return 1;
}

// Returns 0, or 1 where memory ran out. `packed` begins at a multiple of 64 bytes; see bfloat16.h.
HEEDFUL_EXPORT int heedful_bfloat16(const float* input, const std::uint16_t* packed, const float* bias, float* output,
                                    std::int64_t rows, std::int64_t terms, std::int64_t outputs,
                                    std::int32_t activation) {
  static thread_local Memory memory;
  const bfloat16::Layer problem{input, packed, bias, output, rows, terms, outputs, activation};
  if (rows == 0) return 0;
  const bfloat16::Form& form = *bfloat16::chosen();
  try {
    memory.reserve(form.room(problem));
    form.layer(problem, memory.start());
  } catch (const std::bad_alloc&) {
    return 1;
  }
  return 0;
}

// As heedful_busy, in the chosen form.
HEEDFUL_EXPORT std::int64_t heedful_busy_in_bfloat16(std::int64_t rounds) { return bfloat16::chosen()->busy(rounds); }
