// One dense layer, as its kernel takes it: natively (dense.cpp) and in a web page (../page/kernels.cpp).
#pragma once

#include <cstdint>

#include "interface.h"

namespace heedful {
namespace dense {

constexpr std::int64_t PANEL = 64;   // outputs that lie together: packed[outputs / PANEL][terms][PANEL], the rest zero
constexpr std::int64_t CHAIN = 128;  // terms that are added up in one chain
enum Activation : std::int32_t { LINEAR = 0, ELU = 1, RELU = 2 };

struct Dense {
  const float* input;  // [rows, terms]
  const void* packed;  // float32, or int8 where there are scales
  const float* scales;  // [outputs], or null
  const float* bias;    // [outputs], or null
  float* output;        // [rows, outputs]
  std::int64_t rows, terms, outputs;
  std::int32_t activation;
  bool pairs = false;  // whether the matrix is laid out as in bfloat16.h
};

// Computes a layer; throws std::bad_alloc.
void layer(const Dense& problem);
// Keeps the processor busy with products in float32; returns how many operations that were.
std::int64_t busy_in_float32(std::int64_t rounds);

}  // namespace dense
}  // namespace heedful
