// What is common to every instruction set: constants of the score, memory of a thread, tokens of a sentence.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "interface.h"

namespace heedful {

constexpr int LISTED_FEATURES = 64;  // features that share one list of keys
constexpr int TASK_FEATURES = 64;    // of one task, where there are too few sentences to share among the threads
constexpr int AHEAD = 32;            // features between what is gathered and what is fetched into the cache meanwhile
constexpr float SAFE = 60.0f;        // factors within 2^-60 .. 2^60 have products float32 can hold

// exp(score) up to a constant factor is 2^(-bound p), p = 1 / (1 + 2^(slope (x + y))), for query x and key y:
// c tanh(z / c) = c - 2 c p. The factor exp(c) cancels between numerator and denominator.
struct Score {
  float slope, slope_low;        // 2 log2(e) / c, and what float32 rounds off it
  float bound;                   // 2 c log2(e)
  float log_bound_whole, log_bound_rest;  // log2(bound)

  explicit Score(double c) {
    const double log2e = 1.4426950408889634, exact = 2 * log2e / c, log_bound = std::log2(2 * c * log2e);
    slope = static_cast<float>(exact);
    slope_low = static_cast<float>(exact - slope);
    bound = static_cast<float>(2 * c * log2e);
    log_bound_whole = static_cast<float>(std::round(log_bound));
    log_bound_rest = static_cast<float>(log_bound - std::round(log_bound));
  }
};

// What the backward pass reads beside the inputs, and what it writes.
struct Saved {
  const float *output, *denominator, *grad_output;
};
struct Gradients {
  float *query, *key, *value;
};

// Some features of one sentence: what a thread does at a time.
struct Task {
  std::int64_t sentence, first_feature, last_feature;
};

// Memory that grows and is kept for the next task of this thread. Never initialized.
class Memory {
 public:
  ~Memory() { std::free(start_); }

  void reserve(std::size_t bytes) {
    if (bytes <= size_) return;
    std::free(start_);
    size_ = 0;
    start_ = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!start_) throw std::bad_alloc();
    size_ = bytes;
  }

  char* start() const { return static_cast<char*>(start_); }

 private:
  void* start_ = nullptr;
  std::size_t size_ = 0;
};

// Hands out a thread's memory; a copy hands out the same rest again.
class Workspace {
 public:
  explicit Workspace(const Memory& memory) : next_(memory.start()) {}

  template <class T>
  T* take(std::int64_t count) {
    T* start = reinterpret_cast<T*>(next_);
    next_ += bytes_for<T>(count);
    return start;
  }

  template <class T>
  static std::size_t bytes_for(std::int64_t count) {
    return (static_cast<std::size_t>(count) * sizeof(T) + 63) / 64 * 64;
  }

 private:
  char* next_;
};

// The real tokens of one sentence, in order; `a` and `b` below count these, not positions.
struct Tokens {
  int count;
  std::int32_t* position;
  std::int32_t* begin;  // by band: query a sees tokens begin[a] .. end[a] - 1, perhaps without itself
  std::int32_t* end;
  std::int32_t* list;   // room for the keys of one query

  static std::size_t bytes(std::int64_t length) { return 4 * Workspace::bytes_for<std::int32_t>(length); }

  Tokens(const Problem& p, std::int64_t sentence, Workspace& space) : count(0) {
    position = space.take<std::int32_t>(p.length);
    begin = space.take<std::int32_t>(p.length);
    end = space.take<std::int32_t>(p.length);
    list = space.take<std::int32_t>(p.length);
    const std::uint8_t* valid = p.valid + sentence * p.length;
    for (std::int64_t t = 0; t < p.length; ++t)
      if (valid[t]) position[count++] = static_cast<std::int32_t>(t);
    if (!p.keep) find_ranges(p);
  }

  // The keys of query a under a dense keep.
  int list_kept(const Problem& p, std::int64_t sentence, int a) {
    const std::uint8_t* row = p.keep + sentence * p.keep_stride + position[a] * p.length;
    int n = 0;
    for (int b = 0; b < count; ++b) {
      list[n] = b;
      n += row[position[b]] != 0;
    }
    return n;
  }

 private:
  void find_ranges(const Problem& p) {
    int first = 0, last = 0;  // both only ever grow with a
    for (int a = 0; a < count; ++a) {
      while (first < count && position[first] - position[a] < p.low) ++first;
      while (last < count && position[last] - position[a] <= p.high) ++last;
      begin[a] = first;
      end[a] = last < first ? first : last;
    }
  }
};

// Keys that four neighboring queries a .. a+3 all see: [first, middle) and [resume, last).
struct Common {
  int first = 0, middle = 0, resume = 0, last = 0;

  Common() = default;
  Common(const Tokens& tokens, int a, bool diagonal) {
    first = tokens.begin[a + 3];
    last = tokens.end[a];
    if (last < first) last = first;
    middle = resume = last;
    if (!diagonal && first < a + 4 && last > a) {
      middle = a > first ? a : first;
      resume = a + 4 < last ? a + 4 : last;
    }
  }
};

// Keys that query a sees in [first, middle), [resume, last) left out, into tokens.list.
inline int list_rest(Tokens& tokens, const Common& common, int a, bool diagonal) {
  int n = 0;
  const auto add = [&](int from, int to) {
    for (int b = from; b < to; ++b)
      if (diagonal || b != a) tokens.list[n++] = b;
  };
  if (common.first == common.last) {
    add(tokens.begin[a], tokens.end[a]);
  } else {
    add(tokens.begin[a], common.first);
    add(common.middle, common.resume);
    add(common.last, tokens.end[a]);
  }
  return n;
}

}  // namespace heedful
