// Runs a chain of steps in every form against the same steps called one after the other in the portable one, on memory that
// lies between two pages nobody may touch. Built by test_whole_memory.py.

#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <random>
#include <vector>

#include "whole_layer.h"

using Number = std::int64_t;

extern "C" {
int heedful_use_whole_form(const char* name);
int heedful_whole(const float*, const std::int8_t*, const std::int32_t*, const float*, const float*, float*, Number, Number,
                  Number, std::int32_t);
int heedful_dense(const float*, const void*, const float*, const float*, float*, Number, Number, Number, std::int32_t);
int heedful_additive_of_texts(const float*, const float*, const float*, const Number*, Number, Number, Number, Number,
                              std::int32_t, float, float*);
void heedful_weighted_sum(const float*, const float*, const Number*, Number, Number, float*);
void heedful_mean(const float*, const Number*, Number, Number, float*);
void heedful_gated(const float*, const float*, const float*, const float*, const float*, Number, Number, float*);
int heedful_chain(const Number*, Number, const Number*, const Number*, Number, Number);

// Of additive.cpp, which takes longest to compile, and of whose rows none depends on another text.
const char* instruction_set = "portable";
const char* heedful_instruction_set() { return instruction_set; }
int heedful_additive_of_text(const float* query, const float* key, const float* value, const std::uint8_t*, Number length,
                             Number width, Number low, Number high, std::int32_t diagonal, float scale, float* output) {
  for (Number a = 0; a < length; ++a)
    for (Number d = 0; d < width; ++d) {
      double sum = 0, total = 0;
      for (Number b = 0; b < length; ++b) {
        if (b - a < low || b - a > high || (b == a && !diagonal)) continue;
        const double score = (query[a * width + d] + key[b * width + d]) / scale;  // any weights will do: these are quick
        const double weight = 1 + score / (1 + std::fabs(score));
        sum += weight, total += weight * value[b * width + d];
      }
      output[a * width + d] = sum ? static_cast<float>(total / sum) : 0.0f;
    }
  return 0;
}
int heedful_bfloat16(const float*, const std::uint16_t*, const float*, float*, Number, Number, Number, std::int32_t) { return 1; }
}

namespace {

// Numbers right before a page that may not be touched, or right behind one.
template <class T>
class Guarded {
 public:
  Guarded(const std::vector<T>& from, bool at_the_end) : bytes_(from.size() * sizeof(T)) {
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    room_ = (bytes_ + page - 1) / page * page;
    all_ = static_cast<char*>(mmap(nullptr, room_ + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (all_ == MAP_FAILED || (room_ && mprotect(all_ + page, room_, PROT_READ | PROT_WRITE))) std::abort();
    start_ = all_ + page + (at_the_end ? room_ - bytes_ : 0);
    room_ += 2 * page;
    if (bytes_) std::memcpy(start_, from.data(), bytes_);
  }
  Guarded(const Guarded&) = delete;
  ~Guarded() { munmap(all_, room_); }
  T* data() const { return reinterpret_cast<T*>(start_); }
  Number address() const { return static_cast<Number>(reinterpret_cast<std::intptr_t>(start_)); }
  std::vector<T> copy() const { return {data(), data() + bytes_ / sizeof(T)}; }

 private:
  std::size_t bytes_, room_;
  char *all_, *start_;
};

// Layers whose matrices are the same for all rows.
struct Packed {
  Layer layer;
  Guarded<std::int8_t> matrix;
  Guarded<std::int32_t> sums;
  Guarded<float> scales, bias;

  Packed(Number terms, Number outputs, int kind, bool at_the_end)
      : layer(0, terms, outputs, kind),
        matrix(layer.packed(), at_the_end),
        sums(layer.sums(), at_the_end),
        scales(layer.scales, at_the_end),
        bias(layer.bias, at_the_end) {}
  void one(const float* from, float* to, Number rows, std::int32_t activation) const {
    if (heedful_whole(from, matrix.data(), sums.data(), scales.data(), bias.data(), to, rows, layer.terms, layer.outputs, activation))
      std::abort();
  }
};

enum Kind : Number { CHOOSE, DENSE, WHOLE, BFLOAT16, TWICE, ADDITIVE, GATED, WEIGHTED_SUM, MEAN, CONCAT };
enum Name : Number { TABLE, X, H, Q, A, G, S, P, M, C, O, VALUES };
constexpr std::int32_t ELU = 1;

// A network of a width: every kind of step but products in bfloat16, of which its own driver is.
struct Network {
  Number in, width, outputs;
  Packed hidden, scoring, scored, last;
  Guarded<float> floats, bias;  // of the query, which is a layer in float32, and of the gate
  float scale = 5.0f;

  Network(Number in, Number width, Number outputs, int kind, bool at_the_end)
      : in(in),
        width(width),
        outputs(outputs),
        hidden(in, width, kind, at_the_end),
        scoring(width, width + 3, kind, at_the_end),
        scored(width + 3, width, 0, at_the_end),
        last(2 * width, outputs, 0, at_the_end),
        floats(Layer((width + PANEL - 1) / PANEL * PANEL, width, 1, 0).input, at_the_end),
        bias(hidden.layer.bias, at_the_end) {}

  // The words' rows after the gate and the answers, step by step.
  std::vector<std::vector<float>> plain(const std::vector<float>& table, const std::vector<Number>& where,
                                        const std::vector<Number>& lengths) const {
    const Number rows = static_cast<Number>(where.size()), texts = static_cast<Number>(lengths.size());
    std::vector<float> x, h(rows * width), q(h), a(h), g(h), s(h), t(rows * (width + 3)), p(texts * width), m(p), c,
        o(texts * outputs);
    for (const Number row : where) x.insert(x.end(), table.begin() + row * in, table.begin() + (row + 1) * in);
    hidden.one(x.data(), h.data(), rows, ELU);
    if (heedful_dense(h.data(), floats.data(), nullptr, bias.data(), q.data(), rows, width, width, 0)) std::abort();
    heedful_additive_of_texts(q.data(), h.data(), h.data(), lengths.data(), texts, width, 1, 1 << 20, 0, scale, a.data());
    heedful_gated(q.data(), a.data(), bias.data(), h.data(), a.data(), rows, width, g.data());
    scoring.one(g.data(), t.data(), rows, ELU);
    scored.one(t.data(), s.data(), rows, 0);
    heedful_weighted_sum(g.data(), s.data(), lengths.data(), texts, width, p.data());
    heedful_mean(h.data(), lengths.data(), texts, width, m.data());
    for (Number text = 0; text < texts; ++text)
      for (const std::vector<float>* part : {&p, &m}) c.insert(c.end(), part->begin() + text * width, part->begin() + (text + 1) * width);
    last.one(c.data(), o.data(), texts, 0);
    return {g, o};
  }

  // The same in one call.
  std::vector<std::vector<float>> chained(const std::vector<float>& table, const std::vector<Number>& where,
                                          const std::vector<Number>& lengths, Number more, bool at_the_end) const {
    const Guarded<float> from(table, at_the_end);
    const Guarded<Number> rows(where, at_the_end), sizes(lengths, at_the_end);
    const Guarded<float> gated(std::vector<float>(where.size() * width, -1.0f), at_the_end);
    const Guarded<float> answers(std::vector<float>(lengths.size() * outputs, -1.0f), at_the_end);
    const Number widths[VALUES] = {in, in, width, width, width, width, width, width, width, 2 * width, outputs};
    std::vector<Number> values, steps;
    Number room = 0;
    for (Number k = 0; k < VALUES; ++k) {
      const Number start = k == TABLE ? from.address() : k == G ? gated.address() : k == O ? answers.address() : 0;
      for (const Number each : {widths[k], Number{k >= P}, start, k == TABLE ? rows.address() : 0, start ? 0 : room}) values.push_back(each);
      room += start ? 0 : widths[k];
    }
    double wide = scale;
    Number scale_bits;
    std::memcpy(&scale_bits, &wide, sizeof wide);
    const auto step = [&](Number kind, std::vector<Number> of, Number to, std::vector<Number> with = {}) {
      of.resize(4, -1), with.resize(13);
      steps.push_back(kind), steps.insert(steps.end(), of.begin(), of.end()), steps.push_back(to);
      steps.insert(steps.end(), with.begin(), with.end());
    };
    const auto layer = [](const Packed& p, Number activation) {
      return std::vector<Number>{p.matrix.address(), p.sums.address(), p.scales.address(), p.bias.address(),
                                 p.layer.terms,      p.layer.outputs,  activation};
    };
    std::vector<Number> two = layer(scoring, ELU), second = layer(scored, 0);
    second.erase(second.begin() + 4);  // it reads as many terms as the first one has outputs
    two.insert(two.end(), second.begin(), second.end());
    step(CHOOSE, {TABLE}, X);
    step(WHOLE, {X}, H, layer(hidden, ELU));
    step(DENSE, {H}, Q, {floats.address(), 0, 0, bias.address(), width, width, 0});
    step(ADDITIVE, {Q, H, H}, A, {1, 1 << 20, 0, scale_bits});
    step(GATED, {Q, A, H, A}, G, {bias.address()});
    step(TWICE, {G}, S, two);
    step(WEIGHTED_SUM, {G, S}, P);
    step(MEAN, {H}, M);
    step(CONCAT, {P, M}, C);
    step(WHOLE, {C}, O, layer(last, 0));
    const Guarded<Number> order(steps, at_the_end), laid(values, at_the_end);
    if (heedful_chain(order.data(), 10, laid.data(), sizes.data(), static_cast<Number>(lengths.size()), room + more)) std::abort();
    return {gated.copy(), answers.copy()};
  }
};

bool same(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b)); }

int unlike(const std::vector<std::vector<float>>& found, const std::vector<std::vector<float>>& wanted) {
  int wrong = 0;
  for (std::size_t k = 0; k < found.size(); ++k)
    for (std::size_t i = 0; i < found[k].size(); ++i) wrong += !same(found[k][i], wanted[k][i]);
  return wrong;
}

bool has(const char* set) {
#if defined(__x86_64__)
  if (!std::strcmp(set, "avx512"))
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (!std::strcmp(set, "avx2")) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
  return !std::strcmp(set, "portable");
}

}  // namespace

int wrong_chains() {
  // Each takes more working memory than those before it, which is kept: there is never a byte to spare.
  const std::vector<std::vector<Number>> batches = {{}, {0}, {1}, {0, 1, 5, 0, 7, 2}, std::vector<Number>(98, 0), {40, 55, 1, 97, 3}};
  const struct { Number in, width, outputs; } sizes[] = {{1, 1, 1}, {5, 3, 2}, {61, 17, 6}, {33, 65, 70}};
  int wrong = 0;
  for (const auto& size : sizes)
    for (const auto& lengths : batches)
      for (int kind = 0; kind < 5; ++kind) {  // the last one has words that are not finite
        const bool at_the_end = kind % 2 == 0, bad = kind == 4;
        const Network network(size.in, size.width, size.outputs, bad ? 0 : kind, at_the_end);
        Layer drawn(7, size.in, 1, bad ? 0 : kind);
        std::vector<Number> where;
        for (const Number length : lengths)
          for (Number k = 0; k < length; ++k) where.push_back(static_cast<Number>(where.size() * 5 % (k ? 7 : 5)));
        if (bad) {
          drawn.input[5 * size.in] = std::numeric_limits<float>::quiet_NaN();
          drawn.input[6 * size.in + size.in - 1] = std::numeric_limits<float>::infinity();
        }
        for (const char* set : {"portable", "avx2", "avx512"}) {  // they round differently in float32
          if (!has(set)) continue;
          instruction_set = set;
          heedful_use_whole_form("portable");
          const auto wanted = network.plain(drawn.input, where, lengths);
          for (const char* form : {"portable", "neon", "avx2", "avx512", "avx-vnni", "avx512-vnni", "amx"}) {
            if (heedful_use_whole_form(form)) continue;
            const Number more = kind || lengths.size() != 5 ? 0 : 1 << 14;  // so much that it is not kept
            const int here = unlike(network.chained(drawn.input, where, lengths, more, at_the_end), wanted);
            if (here)
              std::printf("chain in %s and %s: %d numbers of width %d, %d texts, kind %d differ\n", form, set, here,
                          static_cast<int>(size.width), static_cast<int>(lengths.size()), kind);
            wrong += here != 0;
          }
          // No text takes part in another: those without such words are finite, the others are not.
          Number row = 0;
          for (std::size_t text = 0; bad && text < lengths.size(); row += lengths[text++]) {
            bool whole = true;
            for (Number k = row; k < row + lengths[text]; ++k) whole = whole && where[k] < 5;
            for (Number k = 0; k < size.outputs; ++k) wrong += std::isfinite(wanted[1][text * size.outputs + k]) != whole;
          }
        }
      }
  return wrong;
}
