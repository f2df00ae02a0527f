// Runs every form of heedful_whole against plain loops, on memory without a byte to spare. Built by test_whole_memory.py.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <vector>

extern "C" int heedful_use_whole_form(const char* name);
extern "C" int heedful_whole(const float*, const std::int8_t*, const std::int32_t*, const float*, const float*, float*,
                             std::int64_t, std::int64_t, std::int64_t, std::int32_t);

namespace {

constexpr std::int64_t PANEL = 64, GROUP = 4;

struct Freed {
  void operator()(void* memory) const { std::free(memory); }
};

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

  std::vector<float> computed(std::int32_t activation) const {
    const std::int64_t panels = (outputs + PANEL - 1) / PANEL, groups = (terms + GROUP - 1) / GROUP;
    const std::int64_t size = panels * groups * PANEL * GROUP;
    const std::unique_ptr<std::int8_t, Freed> packed(static_cast<std::int8_t*>(std::aligned_alloc(64, size)));
    std::memset(packed.get(), 0, size);
    std::vector<std::int32_t> sums(outputs);
    for (std::int64_t k = 0; k < outputs; ++k)
      for (std::int64_t t = 0; t < terms; ++t) {
        packed.get()[((k / PANEL * groups + t / GROUP) * PANEL + k % PANEL) * GROUP + t % GROUP] = matrix[k * terms + t];
        sums[k] += matrix[k * terms + t];
      }
    std::vector<float> made(rows * outputs);
    if (heedful_whole(input.data(), packed.get(), sums.data(), scales.data(), bias.data(), made.data(), rows, terms, outputs,
                      activation))
      std::abort();
    return made;
  }
};

bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

// Runs the form that is named, or all.
int main(int count, char** given) {
  int wrong = 0;
  for (const char* form : {"portable", "neon", "avx2", "avx512", "avx-vnni", "avx512-vnni", "amx"}) {
    if (count > 1 && std::strcmp(given[1], form)) continue;
    if (heedful_use_whole_form(form)) continue;
    std::printf("%s\n", form);
    for (const std::int64_t rows : {0, 1, 5, 6, 7, 16, 17, 45, 53})
      for (const std::int64_t terms : {1, 3, 4, 60, 65, 130, 512, 513, 1029})
        for (const std::int64_t outputs : {1, 17, 33, 63, 65, 130}) {
          if (rows > 2 && terms > 200 && outputs > 17) continue;
          for (int kind = 0; kind < 4; ++kind) {
            const Layer layer(rows, terms, outputs, kind);
            if (same(layer.computed(0), layer.plain())) continue;
            std::printf("%s: %d rows, %d terms, %d outputs, kind %d differ\n", form, static_cast<int>(rows),
                        static_cast<int>(terms), static_cast<int>(outputs), kind);
            ++wrong;
          }
        }
    // The longest rows that a network may have, where every product is the largest.
    const Layer longest(1, std::int64_t{1} << 17, 3, 1);
    wrong += !same(longest.computed(0), longest.plain());
    Layer bad(7, 61, 70, 0);
    bad.input[2 * 61 + 60] = std::numeric_limits<float>::quiet_NaN();
    bad.input[5 * 61] = -std::numeric_limits<float>::infinity();
    for (const std::int32_t activation : {0, 1, 2}) {
      const std::vector<float> made = bad.computed(activation);
      for (std::int64_t r = 0; r < bad.rows; ++r)
        for (std::int64_t k = 0; k < bad.outputs; ++k) wrong += std::isfinite(made[r * bad.outputs + k]) == (r == 2 || r == 5);
    }
  }
  return wrong ? 1 : 0;
}
