// Steps of a network for the rows of several texts, end to end and without padding, for answering. What a text gets
// does not depend on the others. One thread.

#include <cmath>
#include <cstdint>
#include <cstring>

#include "interface.h"
#include "targets.h"

HEEDFUL_EXPORT int heedful_additive_of_text(const float* query, const float* key, const float* value,
                                            const std::uint8_t* keep, std::int64_t length, std::int64_t width,
                                            std::int64_t low, std::int64_t high, std::int32_t diagonal, float scale,
                                            float* output);

namespace heedful {
namespace texts {

struct Texts {
  const float *first, *second;  // [rows, width]
  std::int64_t width;
};

struct Gate {
  const float *first, *second;  // [rows, width], the terms of the sum
  const float* bias;            // [width], or null
  const float *x, *y;           // [rows, width]
  float* output;                // [rows, width]
  std::int64_t width;
};

#define HEEDFUL_BODIES "texts.inc"
#include "each_target.inc"

}  // namespace texts
}  // namespace heedful

using namespace heedful;

// DiSAN's attention under a band; arrays are [rows, width], lengths [texts]. Returns 0, or 1 where memory ran out.
HEEDFUL_EXPORT int heedful_additive_of_texts(const float* query, const float* key, const float* value,
                                             const std::int64_t* lengths, std::int64_t texts, std::int64_t width,
                                             std::int64_t low, std::int64_t high, std::int32_t diagonal, float scale,
                                             float* output) {
  for (std::int64_t text = 0, at = 0; text < texts; at += lengths[text++] * width)
    if (lengths[text] && heedful_additive_of_text(query + at, key + at, value + at, nullptr, lengths[text], width, low,
                                                  high, diagonal, scale, output + at))
      return 1;
  return 0;
}

// The rows of each text weighed by the softmax of their scores over the text, feature by feature: output [texts, width],
// zero for a text without words.
HEEDFUL_EXPORT void heedful_weighted_sum(const float* value, const float* score, const std::int64_t* lengths,
                                         std::int64_t texts, std::int64_t width, float* output) {
  using namespace heedful::texts;
  const Texts problem{value, score, width};
  const auto kernel = HEEDFUL_CHOSEN(weighted_sum);
  for (std::int64_t text = 0, row = 0; text < texts; row += lengths[text++])
    kernel(problem, row, lengths[text], output + text * width);
}

// The mean of the rows of each text: output [texts, width], zero for a text without words.
HEEDFUL_EXPORT void heedful_mean(const float* value, const std::int64_t* lengths, std::int64_t texts, std::int64_t width,
                                 float* output) {
  using namespace heedful::texts;
  const Texts problem{value, nullptr, width};
  const auto kernel = HEEDFUL_CHOSEN(mean);
  for (std::int64_t text = 0, row = 0; text < texts; row += lengths[text++])
    kernel(problem, row, lengths[text], output + text * width);
}

// g x + (1 - g) y of the gate g = sigmoid(first + second + bias); bias may be null.
HEEDFUL_EXPORT void heedful_gated(const float* first, const float* second, const float* bias, const float* x,
                                  const float* y, std::int64_t rows, std::int64_t width, float* output) {
  using namespace heedful::texts;
  const Gate problem{first, second, bias, x, y, output, width};
  const auto kernel = HEEDFUL_CHOSEN(gated);
  for (std::int64_t row = 0; row < rows; ++row) kernel(problem, row);
}
