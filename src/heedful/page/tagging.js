// A model of tags: the linear part over words and their shapes (heedful.runtime.tag_part), and the best sequence of tags
// with the probability of each (heedful.model.decisions.tag_paths), which this equals.

const BEFORE = "\u0002", BEHIND = "\u0003", LONGEST_SHAPE = 40, VECTOR_LENGTH = 3, OUTSIDE = "O";

// What a linear model reads of a word to give it a tag; see heedful.text.word_shapes.
class WordShapes {
  constructor({ affixes, reach }, characters) {
    const shapes = new Ngrams({ cased: true }, characters);
    Object.assign(this, { affixes, reach, shapes, known: new Map() });
  }

  // The numbers of the features of each word; a masked word has part in none.
  numbers(words) {
    const { reach } = this, edge = (mark) => new Array(reach).fill(mark);
    const around = [...edge(BEFORE), ...words, ...edge(BEHIND)];
    return words.map((_, place) => {
      const single = Array.from({ length: 2 * reach + 1 }, (_, k) => this.at(around[place + k], k - reach)).flat();
      return [...single, ...this.joint(around.slice(place + reach - 1, place + reach + 2))].map((text) => this.number(text));
    });
  }

  at(word, offset) {
    if (word === MASK) return [];
    const low = word.toLowerCase(), letters = [...low];
    const sizes = Array.from({ length: Math.max(0, Math.min(this.affixes, letters.length - 1)) }, (_, n) => n + 1);
    const ends = sizes.map((n) => `ends ${letters.slice(-n).join("")}`), said = [`is ${low}`, `shape ${this.shape(word)}`];
    if (offset === 0) said.push(`written ${word}`, ...sizes.map((n) => `begins ${letters.slice(0, n).join("")}`), ...ends);
    else if (Math.abs(offset) === 1) said.push(...ends.slice(1, 3));
    return said.map((text) => `${offset} ${text}`);
  }

  joint(three) {
    if (!this.reach || three.includes(MASK)) return [];
    const [left, word, right] = three.map((each) => each.toLowerCase());
    const shapes = three.map((each) => this.shape(each)).join(" ");
    return [`-1..0 ${left} ${word}`, `0..1 ${word} ${right}`, `-1..1 shapes ${shapes}`];
  }

  shape(word) { return [...this.shapes.shape(word)].slice(0, LONGEST_SHAPE).join(""); }

  number(text) {
    let number = this.known.get(text);
    if (number === undefined) {
      number = blake2(text).low & 0x7fffffff;
      if (this.known.size >= REMEMBERED) this.known.clear();
      this.known.set(text, number);
    }
    return number;
  }
}

class TagPart {
  constructor({ shapes, vectors, outside }, tensors, characters) {
    const [numbers, bias] = ["numbers", "bias"].map((name) => tensors[`tagging.${name}`].data);
    const rows = vectors.rows ? new MeanOfVectors(tensors, "tagging") : null;
    Object.assign(this, { outside, numbers, bias, rows, reach: vectors.reach ?? 0 });
    this.shapes = new WordShapes(shapes, characters);
    [this.weights, this.ofVectors] = ["shapes.weights", "shapes.vectors"].map((name) => tensors[name]);
  }

  knows(word) { return this.rows?.knows(word) ?? false; }

  // What each tag of each word scores by itself.
  scores(words) {
    const vectors = words.map((word) => this.vector(word)), count = this.bias.length;
    return this.shapes.numbers(words).map((numbers, place) => {
      const total = Float64Array.from(this.bias);
      for (const number of numbers) {
        const found = placeOf(this.numbers, number);
        if (found >= 0) this.add(total, this.weights, found, 1);
      }
      for (let k = -this.reach; this.rows && k <= this.reach; k += 1) {
        const from = (k + this.reach) * this.rows.width;
        vectors[place + k]?.forEach((value, feature) => this.add(total, this.ofVectors, from + feature, Math.fround(value)));
      }
      return Array.from(total.subarray(0, count), Math.fround);
    });
  }

  add(total, { data, scales }, place, times) {
    const count = total.length, factor = times * (scales ? scales[place] : 1);
    for (let tag = 0; tag < count; tag += 1) total[tag] += factor * data[place * count + tag];
  }

  // The vector of a word, of one length for all; null where it has none.
  vector(word) {
    const vector = this.rows?.vector(word) ?? null, norm = vector && Math.hypot(...vector);
    return norm ? vector.map((each) => (each * VECTOR_LENGTH) / norm) : null;
  }
}

// The place of a number in ascending ones; -1 where it is not among them.
function placeOf(numbers, number) {
  let low = 0, high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] < number) low = middle + 1;
    else high = middle;
  }
  return numbers[low] === number ? low : -1;
}

// Which tags fit together, and what they score side by side; null is what may not be.
class TagPaths {
  constructor({ marks_spans: marksSpans, has_chain: hasChain, follows, first, last }) {
    const number = (each) => each ?? -Infinity;
    Object.assign(this, { marksSpans, hasChain, follows: follows.map((row) => row.map(number)) });
    [this.first, this.last] = [first, last].map((row) => row.map(number));
  }

  // The number of the best tag of each word, for scores a word and tag.
  best(scores) {
    const largest = (row) => row.indexOf(Math.max(...row));
    if (!(this.marksSpans || this.hasChain) || !scores.length) return scores.map(largest);
    let best = scores[0].map((own, tag) => Math.fround(own + this.first[tag]));
    const came = scores.slice(1).map((own) => {
      const reached = this.follows.map((row) => row.map((each, before) => Math.fround(best[before] + each)));
      const from = reached.map(largest);
      best = own.map((each, tag) => Math.fround(reached[tag][from[tag]] + each));
      return from;
    });
    const path = [largest(best.map((each, tag) => Math.fround(each + this.last[tag])))];
    for (const from of came.reverse()) path.unshift(from[path[0]]);
    return path;
  }

  // The probability of each tag of each word; with a chain over all sequences that fit together.
  shares(scores) {
    if (!this.hasChain || !scores.length) return scores.map(shared);
    const { follows, first, last } = this, tags = [...first.keys()], ahead = [], behind = [];
    scores.forEach((own, place) => ahead.push(own.map((each, tag) =>
      each + (place ? logSum(tags.map((before) => ahead[place - 1][before] + follows[tag][before])) : first[tag]))));
    for (let place = scores.length - 1; place >= 0; place -= 1) {
      behind.unshift(place + 1 === scores.length ? last : tags.map((tag) =>
        logSum(tags.map((next) => behind[0][next] + scores[place + 1][next] + follows[next][tag]))));
    }
    return ahead.map((row, place) => shared(row.map((each, tag) => each + behind[place][tag])));
  }
}

function logSum(values) {
  const top = Math.max(...values);
  return top === -Infinity ? top : top + Math.log(sum(values.map((each) => Math.exp(each - top))));
}

// A long text in windows of words that overlap: [start, end, first, last]; see heedful.text.windows.
function windowsOf(length, size) {
  const over = Math.floor(size / 4), step = size - over, count = Math.max(0, Math.ceil((length - size) / step)) + 1;
  const inner = Array.from({ length: count - 1 }, (_, k) => (k + 1) * step + Math.floor(over / 2));
  const borders = [0, ...inner, length];
  return Array.from({ length: count }, (_, k) => [k * step, Math.min(k * step + size, length), borders[k], borders[k + 1]]);
}

// The spans that tags mark: [{role, start, end}].
function spansOf(tags) {
  const found = [];
  tags.forEach((tag, i) => {
    if (tag === OUTSIDE) return;
    const mark = tag[0], role = tag.slice(2), before = found.at(-1);
    const goesOn = "IEL".includes(mark) && before?.end === i && before.role === role && before.open;
    if (goesOn) before.end = i + 1;
    else found.push({ role, start: i, end: i + 1 });
    found.at(-1).open = "BI".includes(mark);
  });
  return found;
}
