// The kernels of the page: dense layers, in floats and in whole numbers, and DiSAN's attention for WebAssembly with 128-bit
// vectors, without imports.
// heedful_lab.repository.page_kernels compiles this file to kernels.wasm. The caller owns all memory: what lies behind
// __heap_base is free, and the addresses are its own.

#include <wasm_simd128.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "../csrc/dense.h"
#include "../csrc/whole.h"

#define PAGE_EXPORT(name) extern "C" __attribute__((export_name(#name)))

namespace heedful {
namespace dense {

#include "../csrc/lanes_portable.h"
#include "../csrc/dense.inc"

// Some lanes of memory, and zeros behind them.
static inline Vec some(const float* from, int lanes) {
  if (lanes == LANES) return load(from);
  alignas(16) float part[LANES] = {};
  for (int lane = 0; lane < lanes; ++lane) part[lane] = from[lane];
  return load(part);
}

}  // namespace dense

namespace whole {

#include "../csrc/lanes_portable.h"
#include "../csrc/dots_wasm.h"
#include "../csrc/dots.inc"
#include "../csrc/whole.inc"

}  // namespace whole
}  // namespace heedful

using namespace heedful::dense;

// activation(x W^T + b) as in ../csrc/dense.cpp: a packed matrix of float32, or of int8 with a scale for each output.
// `room` holds rows * PANEL numbers. An address of 0 stands for no scales, or no bias.
PAGE_EXPORT(dense)
void dense_layer(const float* input, const void* packed, const float* scales, const float* bias, float* output,
                 std::int32_t rows, std::int32_t terms, std::int32_t outputs, std::int32_t activation, float* room) {
  const Dense problem{input, packed, scales, bias, output, rows, terms, outputs, activation};
  for (std::int64_t panel = 0; panel * PANEL < outputs; ++panel) dense_panel(problem, panel, room);
}

// activation(x W^T + b) in whole numbers, to the last bit as every form of ../csrc/whole.cpp; `packed` and `room` begin at
// a multiple of 64 bytes, and `whole_room` says how many bytes of room it takes.
PAGE_EXPORT(whole)
void whole_layer(const float* input, const std::int8_t* packed, const std::int32_t* sums, const float* scales,
                 const float* bias, float* output, std::int32_t rows, std::int32_t terms, std::int32_t outputs,
                 std::int32_t activation, char* room) {
  heedful::whole::whole_layer({input, packed, sums, scales, bias, output, rows, terms, outputs, activation}, room);
}

PAGE_EXPORT(whole_room)
std::int32_t whole_room(std::int32_t rows, std::int32_t terms) {
  return heedful::whole::whole_room({nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, rows, terms, 0, 0});
}

// Outputs that lie together in a packed matrix.
PAGE_EXPORT(panel)
std::int32_t panel() { return PANEL; }

// Feature-wise additive attention of one text: output [length, width], and in map [length, length] the weights averaged
// over the features. keep [length, length] is 1 where a query sees a key; a query that sees none gives zeros. `room`
// holds length * LANES numbers. exp(c tanh(z / c)) is, but for a factor, 2^(-bound / (1 + 2^(slope z))); see
// ../csrc/workspace.h.
PAGE_EXPORT(additive)
void additive(const float* query, const float* key, const float* value, const std::uint8_t* keep, std::int32_t length,
              std::int32_t width, float scale, float* output, float* map, float* room) {
  const float log2e = 1.4426950408889634f, slope = 2 * log2e / scale, bound = 2 * scale * log2e;
  std::memset(map, 0, sizeof(float) * length * length);
  std::memset(output, 0, sizeof(float) * length * width);
  for (std::int32_t i = 0; i < length; ++i) {
    const std::uint8_t* sees = keep + i * length;
    for (std::int32_t first = 0; first < width; first += LANES) {
      const int lanes = width - first < LANES ? width - first : LANES;
      const Vec x = some(query + i * width + first, lanes);
      Vec total = set(0.0f), sum = set(0.0f);
      for (std::int32_t j = 0; j < length; ++j) {
        if (!sees[j]) continue;
        const Vec z = clamp((x + some(key + j * width + first, lanes)) * set(slope), -120.0f, 120.0f);
        const Vec weight = exp2_fast(set(-bound) / (set(1.0f) + exp2_fast(z)));
        store(room + j * LANES, weight);
        total = total + weight;
        sum = fma(weight, some(value + j * width + first, lanes), sum);
      }
      const Vec share = set(1.0f) / total, mean = sum * share;
      for (std::int32_t j = 0; j < length; ++j) {
        if (!sees[j]) continue;
        const Vec weight = load(room + j * LANES) * share;
        for (int lane = 0; lane < lanes; ++lane) map[i * length + j] += weight[lane];
      }
      for (int lane = 0; total[0] > 0.0f && lane < lanes; ++lane) output[i * width + first + lane] = mean[lane];
    }
    for (std::int32_t j = 0; j < length; ++j) map[i * length + j] /= static_cast<float>(width);
  }
}
