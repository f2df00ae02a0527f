// Dense layers for answering whose products are computed in whole numbers: activation(x W^T + b). Matrices are whole
// numbers of 8 bits with a scale for each output; each row of the input is turned into such numbers, with a scale of its
// own, as it comes. Sums have 32 bits and are exact, so that every form gives the same to the last bit, and no row
// depends on the others.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>

#include "targets.h"
#include "tiles.h"
#include "whole.h"
#include "workspace.h"

namespace heedful {
namespace whole {

#if HEEDFUL_HAS_TILES
HEEDFUL_BEGIN_TILES("amx-int8")
namespace amx {
#include HEEDFUL_TILE_LANES
using Code = std::uint8_t;
static inline std::int32_t shift_of(std::int32_t zero) { return zero; }
#define TILE_DOT TILE_DOT_WHOLE
#include "dots_amx.h"
#undef TILE_DOT
#include "whole.inc"
}  // namespace amx
HEEDFUL_END
#endif
#if HEEDFUL_X86
HEEDFUL_BEGIN("avx512f,avx512dq,avx512vl,avx512bw,avx512vnni,fma")
namespace avx512_vnni {
#include "lanes_avx512.h"
#include "dots_avx512_vnni.h"
#include "dots.inc"
#include "whole.inc"
}  // namespace avx512_vnni
HEEDFUL_END
#if defined(__clang__) ? __clang_major__ >= 12 : __GNUC__ >= 11
#define HEEDFUL_AVX_VNNI 1
HEEDFUL_BEGIN("avx2,avxvnni,fma")
namespace avx_vnni {
#include "lanes_avx2.h"
#include "dots_avx_vnni.h"
#include "dots.inc"
#include "whole.inc"
}  // namespace avx_vnni
HEEDFUL_END
#endif
HEEDFUL_BEGIN("avx512f,avx512dq,avx512vl,avx512bw,fma")
namespace avx512 {
#include "lanes_avx512.h"
#include "dots_avx512.h"
#include "dots.inc"
#include "whole.inc"
}  // namespace avx512
HEEDFUL_END
HEEDFUL_BEGIN_AVX2
namespace avx2 {
#include "lanes_avx2.h"
#include "dots_avx2.h"
#include "dots.inc"
#include "whole.inc"
}  // namespace avx2
HEEDFUL_END
#endif
#if defined(__ARM_FEATURE_DOTPROD)
namespace neon {
#include "lanes_portable.h"
#include "dots_neon.h"
#include "dots.inc"
#include "whole.inc"
}  // namespace neon
#endif
namespace portable {
#include "lanes_portable.h"
#include "dots_portable.h"
#include "dots.inc"
#include "whole.inc"
}  // namespace portable

namespace {

struct Form {
  const char* name;
  bool (*supported)();
  std::size_t (*room)(const Layer&);
  void (*layer)(const Layer&, char*);
  std::int64_t (*busy)(std::int64_t);
};

bool always() { return true; }
#if HEEDFUL_X86
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
}
bool has_avx512_vnni() { return has_avx512() && __builtin_cpu_supports("avx512vnni"); }
#endif
#if defined(HEEDFUL_TILES)
bool has_tiles() { return true; }
#elif HEEDFUL_HAS_TILES
bool has_tiles() { return has_avx512_vnni() && tiles_granted(); }
#endif

// Best first.
const Form FORMS[] = {
#if HEEDFUL_HAS_TILES
    {"amx", has_tiles, amx::whole_room, amx::whole_layer, amx::busy},
#endif
#if HEEDFUL_X86
    {"avx512-vnni", has_avx512_vnni, avx512_vnni::whole_room, avx512_vnni::whole_layer, avx512_vnni::busy},
#if HEEDFUL_AVX_VNNI
    {"avx-vnni", [] { return has_avx2() && __builtin_cpu_supports("avxvnni"); }, avx_vnni::whole_room,
     avx_vnni::whole_layer, avx_vnni::busy},
#endif
    {"avx512", has_avx512, avx512::whole_room, avx512::whole_layer, avx512::busy},
    {"avx2", has_avx2, avx2::whole_room, avx2::whole_layer, avx2::busy},
#endif
#if defined(__ARM_FEATURE_DOTPROD)
    {"neon", always, neon::whole_room, neon::whole_layer, neon::busy},
#endif
    {"portable", always, portable::whole_room, portable::whole_layer, portable::busy},
};

const Form* best() {
  for (const Form& form : FORMS)
    if (form.supported()) return &form;
  return nullptr;
}

const Form*& chosen() {
  static const Form* form = best();
  return form;
}

// Rows that go through two layers before the next ones are read: what is between them stays in the cache.
constexpr std::int64_t TOGETHER = 96;

}  // namespace
}  // namespace whole
}  // namespace heedful

using namespace heedful;

// How products in whole numbers are computed on this machine.
HEEDFUL_EXPORT const char* heedful_whole_form() { return whole::chosen()->name; }

// Uses the named form from now on; returns 1 where this processor lacks it. For tests and measurements.
HEEDFUL_EXPORT int heedful_use_whole_form(const char* name) {
  for (const whole::Form& form : whole::FORMS)
    if (std::strcmp(form.name, name) == 0 && form.supported()) {
      whole::chosen() = &form;
      return 0;
    }
  return 1;
}

// Returns 0, or 1 where memory ran out. `packed` begins at a multiple of 64 bytes; see whole.h.
HEEDFUL_EXPORT int heedful_whole(const float* input, const std::int8_t* packed, const std::int32_t* sums,
                                 const float* scales, const float* bias, float* output, std::int64_t rows,
                                 std::int64_t terms, std::int64_t outputs, std::int32_t activation) {
  static thread_local Memory memory;
  const whole::Layer problem{input, packed, sums, scales, bias, output, rows, terms, outputs, activation};
  if (rows == 0) return 0;
  const whole::Form& form = *whole::chosen();
  try {
    memory.reserve(form.room(problem));
  } catch (const std::bad_alloc&) {
    return 1;
  }
  form.layer(problem, memory.start());
  return 0;
}

// A layer and one that reads what it makes, in one pass over the input: a part of the rows is multiplied, activated, turned
// into whole numbers again and multiplied a second time. The result is that of two calls to the last bit, as no row depends
// on the others. Returns 0, or 1 where memory ran out.
HEEDFUL_EXPORT int heedful_whole_twice(const float* input, std::int64_t rows, std::int64_t terms,
                                       const std::int8_t* first_packed, const std::int32_t* first_sums,
                                       const float* first_scales, const float* first_bias, std::int64_t between,
                                       std::int32_t first_activation, const std::int8_t* packed,
                                       const std::int32_t* sums, const float* scales, const float* bias, float* output,
                                       std::int64_t outputs, std::int32_t activation) {
  static thread_local Memory working, made;
  const whole::Form& form = *whole::chosen();
  const std::int64_t most = rows < whole::TOGETHER ? rows : whole::TOGETHER;
  try {
    made.reserve(most * between * sizeof(float));
    float* middle = reinterpret_cast<float*>(made.start());
    for (std::int64_t row = 0; row < rows; row += most) {
      const std::int64_t count = rows - row < most ? rows - row : most;
      const whole::Layer one{input + row * terms, first_packed, first_sums, first_scales, first_bias, middle, count, terms,
                             between, first_activation};
      const whole::Layer two{middle, packed, sums, scales, bias, output + row * outputs, count, between, outputs, activation};
      const std::size_t room = form.room(one), second = form.room(two);
      working.reserve(room < second ? second : room);
      form.layer(one, working.start());
      form.layer(two, working.start());
    }
  } catch (const std::bad_alloc&) {
    return 1;
  }
  return 0;
}

// As heedful_busy, in the chosen form.
HEEDFUL_EXPORT std::int64_t heedful_busy_in_whole_numbers(std::int64_t rounds) { return whole::chosen()->busy(rounds); }
