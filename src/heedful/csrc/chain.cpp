// Steps of a network that follow each other, in one call: the texts go through all of them a few at a time, so that what is
// between two steps stays in the cache, and no step costs more than its numbers. Every step is one that is also called
// alone, and no row or text depends on the others: results are the same to the last bit.

#include <cstdint>
#include <cstring>
#include <new>

#include "interface.h"
#include "workspace.h"

using heedful::Memory;
using Number = std::int64_t;

HEEDFUL_EXPORT int heedful_dense(const float*, const void*, const float*, const float*, float*, Number, Number, Number,
                                 std::int32_t);
HEEDFUL_EXPORT int heedful_whole(const float*, const std::int8_t*, const std::int32_t*, const float*, const float*, float*,
                                 Number, Number, Number, std::int32_t);
HEEDFUL_EXPORT int heedful_bfloat16(const float*, const std::uint16_t*, const float*, float*, Number, Number, Number,
                                    std::int32_t);
HEEDFUL_EXPORT int heedful_whole_twice(const float*, Number, Number, const std::int8_t*, const std::int32_t*, const float*,
                                       const float*, Number, std::int32_t, const std::int8_t*, const std::int32_t*,
                                       const float*, const float*, float*, Number, std::int32_t);
HEEDFUL_EXPORT int heedful_additive_of_texts(const float*, const float*, const float*, const Number*, Number, Number, Number,
                                             Number, std::int32_t, float, float*);
HEEDFUL_EXPORT void heedful_weighted_sum(const float*, const float*, const Number*, Number, Number, float*);
HEEDFUL_EXPORT void heedful_mean(const float*, const Number*, Number, Number, float*);
HEEDFUL_EXPORT void heedful_gated(const float*, const float*, const float*, const float*, const float*, Number, Number,
                                  float*);

namespace {

// Mirrored by `KINDS` in heedful/runtime/step_chains.py.
enum Kind : Number { CHOOSE, DENSE, WHOLE, BFLOAT16, TWICE, ADDITIVE, GATED, WEIGHTED_SUM, MEAN, CONCAT };

constexpr int READS = 4, MORE = 13;
constexpr Number TOGETHER = 96;                  // rows that go through all steps before the next ones
constexpr std::size_t KEPT = std::size_t{1} << 22;  // bytes that a thread keeps for its next call

struct Step {
  Number kind, of[READS], to;  // values by their number; -1 for none
  Number more[MORE];           // addresses and sizes, as `run` reads them
};

struct Value {
  Number width;
  Number of_text;  // 1: a row for each text; 0: a row for each word
  Number start;    // address of the rows of all texts; 0 where the value lies in working memory
  Number where;    // address of the row that each word takes there; 0 for the rows in their order
  Number place;    // in working memory, in numbers a row
};

template <class T>
const T* at(Number address) {
  return reinterpret_cast<const T*>(static_cast<std::intptr_t>(address));
}

// Some texts, and where their values lie.
struct Group {
  const Value* values;
  const Number* lengths;
  Number first_text, texts, first_row, rows, most;
  float* working;

  Number count(const Value& value) const { return value.of_text ? texts : rows; }
  Number first(const Value& value) const { return value.of_text ? first_text : first_row; }
  float* of(Number number) const {
    const Value& value = values[number];
    if (!value.start) return working + value.place * most;
    return const_cast<float*>(at<float>(value.start)) + first(value) * value.width;
  }
};

void choose(const Group& group, const Value& from, Number width, float* to) {
  const Number* where = at<Number>(from.where) + group.first(from);
  for (Number row = 0, rows = group.count(from); row < rows; ++row) {
    if (row + 2 < rows)  // rows lie anywhere in memory: it fetches them meanwhile
      for (Number k = 0; k < width; k += 16) __builtin_prefetch(at<float>(from.start) + where[row + 2] * width + k);
    std::memcpy(to + row * width, at<float>(from.start) + where[row] * width, width * sizeof(float));
  }
}

void concat(const Group& group, const Step& step, Number width, float* to) {
  const Number rows = group.count(group.values[step.to]);
  for (int k = 0; k < READS && step.of[k] >= 0; ++k) {
    const Number part = group.values[step.of[k]].width;
    const float* from = group.of(step.of[k]);
    for (Number row = 0; row < rows; ++row) std::memcpy(to + row * width, from + row * part, part * sizeof(float));
    to += part;
  }
}

// Returns 0, or 1 where memory ran out.
int run(const Group& group, const Step& step) {
  const Value& first = group.values[step.of[0]];
  const Number rows = group.count(first), width = group.values[step.to].width;
  const Number* const m = step.more;
  const Number* const lengths = group.lengths + group.first_text;
  float* const to = group.of(step.to);
  const auto of = [&](int k) { return group.of(step.of[k]); };
  const auto floats = [&](int k) { return at<float>(m[k]); };
  switch (step.kind) {
    case CHOOSE: choose(group, first, width, to); return 0;
    case CONCAT: concat(group, step, width, to); return 0;
    case DENSE:
      return heedful_dense(of(0), at<char>(m[0]), floats(2), floats(3), to, rows, m[4], m[5], static_cast<int>(m[6]));
    case WHOLE:
      return heedful_whole(of(0), at<std::int8_t>(m[0]), at<std::int32_t>(m[1]), floats(2), floats(3), to, rows, m[4], m[5],
                           static_cast<int>(m[6]));
    case BFLOAT16:
      return heedful_bfloat16(of(0), at<std::uint16_t>(m[0]), floats(3), to, rows, m[4], m[5], static_cast<int>(m[6]));
    case TWICE:
      return heedful_whole_twice(of(0), rows, m[4], at<std::int8_t>(m[0]), at<std::int32_t>(m[1]), floats(2), floats(3), m[5],
                                 static_cast<int>(m[6]), at<std::int8_t>(m[7]), at<std::int32_t>(m[8]), floats(9), floats(10),
                                 to, m[11], static_cast<int>(m[12]));
    case ADDITIVE: {
      double scale;
      std::memcpy(&scale, m + 3, sizeof scale);
      return heedful_additive_of_texts(of(0), of(1), of(2), lengths, group.texts, width, m[0], m[1], static_cast<int>(m[2]),
                                       static_cast<float>(scale), to);
    }
    case GATED: heedful_gated(of(0), of(1), floats(0), of(2), of(3), rows, width, to); return 0;
    case WEIGHTED_SUM: heedful_weighted_sum(of(0), of(1), lengths, group.texts, width, to); return 0;
    case MEAN: heedful_mean(of(0), lengths, group.texts, width, to); return 0;
  }
  return 1;
}

// The texts from `text` on that are computed together: at least one.
Number end_of_group(const Number* lengths, Number texts, Number text) {
  Number rows = lengths[text++];
  const Number last = text + TOGETHER - 1 < texts ? text + TOGETHER - 1 : texts;
  while (text < last && rows + lengths[text] <= TOGETHER) rows += lengths[text++];
  return text;
}

}  // namespace

// `steps` are records of Step, `values` of Value, `floats` the numbers a row of working memory that the values take. Returns
// 0, or 1 where memory ran out.
HEEDFUL_EXPORT int heedful_chain(const Number* steps, Number step_count, const Number* values, const Number* lengths,
                                 Number texts, Number floats) {
  Number most = 1;
  for (Number text = 0; text < texts;) {
    const Number last = end_of_group(lengths, texts, text);
    Number rows = 0;
    for (Number t = text; t < last; ++t) rows += lengths[t];
    if (last - text > most) most = last - text;
    if (rows > most) most = rows;
    text = last;
  }
  static thread_local Memory kept;
  Memory large;
  const std::size_t bytes = static_cast<std::size_t>(most) * floats * sizeof(float);
  Memory& memory = bytes > KEPT ? large : kept;
  try {
    memory.reserve(bytes);
  } catch (const std::bad_alloc&) {
    return 1;
  }
  Group group{reinterpret_cast<const Value*>(values), lengths, 0, 0, 0, 0, most, reinterpret_cast<float*>(memory.start())};
  for (; group.first_text < texts; group.first_text += group.texts, group.first_row += group.rows) {
    group.texts = end_of_group(lengths, texts, group.first_text) - group.first_text;
    group.rows = 0;
    for (Number t = 0; t < group.texts; ++t) group.rows += lengths[group.first_text + t];
    for (Number k = 0; k < step_count; ++k)
      if (run(group, reinterpret_cast<const Step*>(steps)[k])) return 1;
  }
  return 0;
}
