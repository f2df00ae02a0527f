// One call of tensorized attention (MTSA), and what is common to every instruction set.
#pragma once

#include <cstdint>

#include "workspace.h"

// Steps between sentences, heads and tokens; features lie side by side.
struct HeedfulSteps {
  std::int64_t sentence, head, token;
};

// Mirrored by `TensorizedProblem` in heedful/attention/tensorized_kernel.py.
struct TensorizedProblem {
  const float *query, *key, *value, *source;  // [batch, heads, length, width]
  HeedfulSteps query_steps, key_steps, value_steps, source_steps;
  HeedfulSteps output_steps;            // of the output, and of every gradient that is written
  const std::uint8_t* valid;            // [batch, length], 1 at a real token; other positions are never read
  const std::uint8_t* const* keeps;     // one a head; null: visibility is the band; else [length, length] a sentence
  const std::int64_t* keep_steps;       // between sentences of a keep; 0 where all share one
  const std::int64_t *lows, *highs;     // key j is visible to query i iff low <= j - i <= high
  const std::int32_t* diagonals;        // and (diagonal or j != i)
  const float* drop_pairs;              // [batch, heads, length, length], or null
  const float* drop_source;             // [batch, heads, length, width], or null
  std::uint8_t* wide;                   // [batch, heads]: 1 where a feature varies too much to be factored
  std::int64_t batch, heads, length, width;
  std::int32_t threads, sigmoid;
  float scale;       // what q·k is divided by
  float safe_range;  // largest variation of z that is factored
  float low_score;   // a row of sigmoids whose best score is below this is rescaled
};

// What the backward pass reads beside the inputs, and what it writes.
struct TensorizedGradients {
  const float *output, *inverse, *grad;
  HeedfulSteps grad_steps;
  float *query, *key, *value, *source;
};
