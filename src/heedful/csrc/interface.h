// The plain C interface between Python (ctypes) and the kernels: no Python, no torch.
#pragma once

#include <cstdint>

#if defined(_WIN32)
#define HEEDFUL_EXPORT extern "C" __declspec(dllexport)
#else
#define HEEDFUL_EXPORT extern "C" __attribute__((visibility("default")))
#endif

constexpr int RANK_STEP = 4, RANKS = 8, MOST_RANK = RANK_STEP * RANKS;

// One approximation of exp(score): see attention/additive_kernel.py. Mirrored by `NativeExpansion` in heedful/attention/native.py.
struct Expansion {
  const float* value;  // [rank][rank], symmetric: of T_m(x / half_width) T_l(y / half_width)
  const float* slope;  // the same of exp(score) times the slope of the score, in the kernel's units
  float half_width;    // of queries and of keys
  float rate;          // exp(score) is divided by 2^(rate (x + y)), which leaves it nearly flat
  std::int32_t rank;
};

// One call of feature-wise additive attention; arrays are contiguous, [batch, length, width].
// Mirrored by `Problem` in heedful/attention/native.py.
struct Problem {
  const float* query;
  const float* key;
  const float* value;
  const std::uint8_t* valid;  // [batch, length], 1 at a real token; other positions are never read
  const std::uint8_t* keep;   // null: visibility is the band below; else [length, length] a sentence
  std::int64_t keep_stride;   // between sentences of keep; 0 where all share one
  std::int64_t batch;
  std::int64_t length;
  std::int64_t width;
  std::int64_t low;   // key j is visible to query i iff low <= j - i <= high
  std::int64_t high;
  std::int32_t diagonal;  // and (diagonal or j != i)
  std::int32_t threads;
  float scale;  // c, the bound of the scores
  float keys_per_rank;  // the linear form needs so many tokens a sentence for each of its terms
  const Expansion* expansions;  // [RANKS], narrowest first; null: pairs only
};
