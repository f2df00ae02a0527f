// Runs every form of heedful_whole against plain loops, on memory without a byte to spare. Built by test_whole_memory.py.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "whole_layer.h"

extern "C" int heedful_use_whole_form(const char* name);
extern "C" int heedful_whole(const float*, const std::int8_t*, const std::int32_t*, const float*, const float*, float*,
                             std::int64_t, std::int64_t, std::int64_t, std::int32_t);
int wrong_chains();  // of chain_driver.cpp

namespace {

struct Freed {
  void operator()(void* memory) const { std::free(memory); }
};

std::vector<float> computed(const Layer& layer, std::int32_t activation) {
  const std::vector<std::int8_t> matrix = layer.packed();
  const std::unique_ptr<std::int8_t, Freed> packed(static_cast<std::int8_t*>(std::aligned_alloc(64, matrix.size())));
  std::memcpy(packed.get(), matrix.data(), matrix.size());
  std::vector<float> made(layer.rows * layer.outputs);
  if (heedful_whole(layer.input.data(), packed.get(), layer.sums().data(), layer.scales.data(), layer.bias.data(), made.data(),
                    layer.rows, layer.terms, layer.outputs, activation))
    std::abort();
  return made;
}

bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

// Runs the form that is named, or all.
int main(int count, char** given) {
  int wrong = 0;
  std::vector<const char*> forms;
  for (const char* form : {"portable", "neon", "avx2", "avx512", "avx-vnni", "avx512-vnni", "amx"}) {
    if (count > 1 && std::strcmp(given[1], form)) continue;
    if (heedful_use_whole_form(form)) continue;
    std::printf("%s\n", form);
    forms.push_back(form);
  }
  const auto compare = [&](const Layer& layer) {  // the plain loops take longest, and are the same for all forms
    const std::vector<float> wanted = layer.plain();
    for (const char* form : forms) {
      heedful_use_whole_form(form);
      if (same(computed(layer, 0), wanted)) continue;
      std::printf("%s: %d rows, %d terms, %d outputs differ\n", form, static_cast<int>(layer.rows), static_cast<int>(layer.terms),
                  static_cast<int>(layer.outputs));
      ++wrong;
    }
  };
  for (const std::int64_t rows : {0, 1, 5, 6, 7, 16, 17, 45, 53})
    for (const std::int64_t terms : {1, 3, 4, 60, 65, 130, 512, 513, 1029})
      for (const std::int64_t outputs : {1, 17, 33, 63, 65, 130}) {
        if (rows > 2 && terms > 200 && outputs > 17) continue;
        for (int kind = 0; kind < 4; ++kind) compare(Layer(rows, terms, outputs, kind));
      }
  compare(Layer(1, std::int64_t{1} << 17, 3, 1));  // the longest rows that a network may have, where every product is the largest
  Layer bad(7, 61, 70, 0);
  bad.input[2 * 61 + 60] = std::numeric_limits<float>::quiet_NaN();
  bad.input[5 * 61] = -std::numeric_limits<float>::infinity();
  for (const char* form : forms)
    for (const std::int32_t activation : {0, 1, 2}) {
      heedful_use_whole_form(form);
      const std::vector<float> made = computed(bad, activation);
      for (std::int64_t r = 0; r < bad.rows; ++r)
        for (std::int64_t k = 0; k < bad.outputs; ++k) wrong += std::isfinite(made[r * bad.outputs + k]) == (r == 2 || r == 5);
    }
  return wrong + wrong_chains() ? 1 : 0;
}
