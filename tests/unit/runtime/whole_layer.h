// A layer of whole numbers with drawn weights, and what plain loops make of it; for the drivers of the kernels.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

constexpr std::int64_t PANEL = 64, GROUP = 4;

struct Layer {
  std::int64_t rows, terms, outputs;
  std::vector<float> input, scales, bias;
  std::vector<std::int8_t> matrix;

  Layer(std::int64_t rows, std::int64_t terms, std::int64_t outputs, int kind) : rows(rows), terms(terms), outputs(outputs) {
    std::mt19937 random(static_cast<unsigned>(rows * 7919 + terms * 31 + outputs + kind));
    std::normal_distribution<float> normal;
    input.resize(rows * terms);
    for (float& x : input) x = normal(random);
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t t = 0; t < terms; ++t) {
        float& x = input[r * terms + t];
        if (kind == 1) x = r % 2 ? 1.0f : (t & 1) ? 1.0f : -1.0f;  // every product is the largest
        if (kind == 2) x = std::ldexp(x, static_cast<int>(r % 2 ? 120 : -135));
        if (kind == 3) x = r % 3 ? std::fabs(x) : 0.0f;
      }
    matrix.resize(outputs * terms);
    for (std::int8_t& w : matrix)
      w = kind == 1 ? static_cast<std::int8_t>(random() % 2 ? -128 : 127) : static_cast<std::int8_t>(random() % 256 - 128);
    for (std::int64_t k = 0; k < outputs; ++k) {
      scales.push_back(std::ldexp(1.0f + 0.001f * k, kind == 2 ? (k % 2 ? -140 : 40) : -9));
      bias.push_back(normal(random));
    }
  }

  std::vector<float> plain() const {
    std::vector<float> made(rows * outputs);
    for (std::int64_t r = 0; r < rows; ++r) {
      float least = 0.0f, greatest = 0.0f;
      for (std::int64_t t = 0; t < terms; ++t) {
        least = std::fmin(least, input[r * terms + t]);
        greatest = std::fmax(greatest, input[r * terms + t]);
      }
      const float half = greatest * 0.5f - least * 0.5f;
      const float raise = half < std::ldexp(1.0f, -100) ? std::ldexp(1.0f, 100) : 1.0f;
      const float raised = greatest * 0.5f * raise - least * 0.5f * raise;
      const float rate = raised > 0.0f ? 127.0f / raised : 0.0f, of_row = half / 127.0f;
      for (std::int64_t k = 0; k < outputs; ++k) {
        std::int64_t sum = 0;
        for (std::int64_t t = 0; t < terms; ++t)
          sum += static_cast<std::int64_t>(std::nearbyint(input[r * terms + t] * raise * rate)) * matrix[k * terms + t];
        made[r * outputs + k] = static_cast<float>(sum) * scales[k] * of_row + bias[k];
      }
    }
    return made;
  }

  // The matrix as the kernels read it.
  std::vector<std::int8_t> packed() const {
    const std::int64_t panels = (outputs + PANEL - 1) / PANEL, groups = (terms + GROUP - 1) / GROUP;
    std::vector<std::int8_t> made(panels * groups * PANEL * GROUP);
    for (std::int64_t k = 0; k < outputs; ++k)
      for (std::int64_t t = 0; t < terms; ++t)
        made[((k / PANEL * groups + t / GROUP) * PANEL + k % PANEL) * GROUP + t % GROUP] = matrix[k * terms + t];
    return made;
  }

  std::vector<std::int32_t> sums() const {
    std::vector<std::int32_t> made(outputs);
    for (std::int64_t k = 0; k < outputs; ++k)
      for (std::int64_t t = 0; t < terms; ++t) made[k] += matrix[k * terms + t];
    return made;
  }
};
