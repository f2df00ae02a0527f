// One dense layer whose products are computed in whole numbers of 8 bits; see whole.cpp.
#pragma once

#include <cstdint>

#include "dense.h"

namespace heedful {
namespace whole {

using dense::PANEL;
constexpr int GROUP = 4;    // terms that lie together: packed[outputs / PANEL][terms / GROUP][PANEL][GROUP], the rest zero
constexpr int MOST = 127;   // an input takes 2 MOST steps from its least number to its greatest
constexpr float MAGIC = 12582912.0f;  // 1.5 2^23
constexpr std::int32_t MAGIC_BITS = 0x4b400000;

using Weight = std::int8_t;
using Total = std::int32_t;

struct Layer {
  const float* input;         // [rows, terms]
  const Weight* packed;  // from a multiple of 64 bytes
  const std::int32_t* sums;   // [outputs], of each output's whole numbers
  const float* scales;        // [outputs]
  const float* bias;          // [outputs], or null
  float* output;              // [rows, outputs]
  std::int64_t rows, terms, outputs;
  std::int32_t activation;    // see dense.h

  // Terms with those that fill up the last group.
  std::int64_t grouped() const { return (terms + GROUP - 1) / GROUP * GROUP; }
};

}  // namespace whole
}  // namespace heedful
