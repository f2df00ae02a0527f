// Runs every form of heedful_bfloat16 against plain loops, on memory without a byte to spare. Built by test_whole_memory.py.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "bfloat16.h"

extern "C" int heedful_use_bfloat16_form(const char* name);
extern "C" int heedful_bfloat16(const float*, const std::uint16_t*, const float*, float*, std::int64_t, std::int64_t,
                                std::int64_t, std::int32_t);

// Of dense.cpp, which takes longest to compile: it sees the rounded input and the packed matrix.
std::int64_t heedful::dense::busy_in_float32(std::int64_t rounds) { return rounds; }
void heedful::dense::layer(const Dense& p) {
  const std::uint16_t* packed = static_cast<const std::uint16_t*>(p.packed);
  for (std::int64_t r = 0; r < p.rows; ++r)
    for (std::int64_t k = 0; k < p.outputs; ++k) {
      float sum = p.bias[k];
      for (std::int64_t t = 0; t < p.terms; ++t) {
        const std::int64_t place = ((k / PANEL * ((p.terms + 1) / 2) + t / 2) * PANEL + k % PANEL) * 2 + t % 2;
        const std::uint32_t bits = static_cast<std::uint32_t>(packed[place]) << 16;
        float weight;
        std::memcpy(&weight, &bits, sizeof weight);
        sum += p.input[r * p.terms + t] * weight;
      }
      p.output[r * p.outputs + k] = sum;
    }
}

namespace {

constexpr std::int64_t PANEL = 64, GROUP = 2;

struct Freed {
  void operator()(void* memory) const { std::free(memory); }
};

// Counts in sixteenths: bfloat16 holds the factors and float32 every sum, in whatever order.
std::vector<float> drawn(std::int64_t count, std::mt19937& random) {
  std::vector<float> made(count);
  for (float& x : made) x = static_cast<float>(static_cast<int>(random() % 255) - 127) / 16.0f;
  return made;
}

std::uint16_t upper(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return static_cast<std::uint16_t>(bits >> 16);
}

bool right(std::int64_t rows, std::int64_t terms, std::int64_t outputs) {
  std::mt19937 random(static_cast<unsigned>(rows * 7919 + terms * 31 + outputs));
  const std::vector<float> input = drawn(rows * terms, random), matrix = drawn(outputs * terms, random), bias = drawn(outputs, random);
  const std::int64_t panels = (outputs + PANEL - 1) / PANEL, groups = (terms + GROUP - 1) / GROUP;
  const std::int64_t size = panels * groups * PANEL * GROUP * 2;
  const std::unique_ptr<std::uint16_t, Freed> packed(static_cast<std::uint16_t*>(std::aligned_alloc(64, size)));
  std::memset(packed.get(), 0, size);
  for (std::int64_t k = 0; k < outputs; ++k)
    for (std::int64_t t = 0; t < terms; ++t)
      packed.get()[((k / PANEL * groups + t / GROUP) * PANEL + k % PANEL) * GROUP + t % GROUP] = upper(matrix[k * terms + t]);
  std::vector<float> made(rows * outputs);
  if (heedful_bfloat16(input.data(), packed.get(), bias.data(), made.data(), rows, terms, outputs, 0)) std::abort();
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t k = 0; k < outputs; ++k) {
      double sum = bias[k];
      for (std::int64_t t = 0; t < terms; ++t) sum += static_cast<double>(input[r * terms + t]) * matrix[k * terms + t];
      if (made[r * outputs + k] != static_cast<float>(sum)) return false;
    }
  return true;
}

}  // namespace

int main(int count, char** given) {
  int wrong = 0;
  for (const char* form : {"float32", "avx512-bf16", "amx"}) {
    if (count > 1 && std::strcmp(given[1], form)) continue;
    if (heedful_use_bfloat16_form(form)) continue;
    std::printf("%s\n", form);
    for (const std::int64_t rows : {0, 1, 6, 16, 17, 45})
      for (const std::int64_t terms : {1, 2, 31, 32, 33, 65, 130, 513})
        for (const std::int64_t outputs : {1, 17, 63, 65, 130}) {
          if (right(rows, terms, outputs)) continue;
          std::printf("%s: %d rows, %d terms, %d outputs differ\n", form, static_cast<int>(rows), static_cast<int>(terms),
                      static_cast<int>(outputs));
          ++wrong;
        }
  }
  return wrong ? 1 : 0;
}
