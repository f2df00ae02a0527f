// One dense layer whose factors are rounded to bfloat16; see bfloat16.cpp.
#pragma once

#include <cstdint>
#include <cstring>

#include "dense.h"

namespace heedful {
namespace bfloat16 {

using dense::PANEL;
using Code = std::uint16_t;  // the upper half of a float32
using Weight = std::uint16_t;
using Total = float;
constexpr int GROUP = 2;  // terms that lie together: packed[outputs / PANEL][terms / GROUP][PANEL][GROUP], the rest zero
constexpr std::int64_t EXACT = std::int64_t{1} << 40;  // of sums that are one chain

struct Layer {
  const float* input;    // [rows, terms]
  const Weight* packed;  // from a multiple of 64 bytes
  const float* bias;     // [outputs], or null
  float* output;         // [rows, outputs]
  std::int64_t rows, terms, outputs;
  std::int32_t activation;  // see dense.h

  // Terms with those that fill up the last group.
  std::int64_t grouped() const { return (terms + GROUP - 1) / GROUP * GROUP; }
};

// The nearest bfloat16, the even one of two; NaN stays NaN.
static inline Code rounded(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const std::uint32_t near = bits + 0x7fffu + ((bits >> 16) & 1u), none = bits | 0x400000u;
  return static_cast<Code>(((bits & 0x7fffffffu) > 0x7f800000u ? none : near) >> 16);
}

}  // namespace bfloat16
}  // namespace heedful
