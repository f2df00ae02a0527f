// The sentence part of a model: a linear model over the mean of word vectors; see heedful.runtime.sentence_part and
// heedful.runtime.pair_features, which this equals.

class SentencePart {
  constructor({ pairing, weight }, tensors) {
    const [rows, weights, bias] = ["rows", "weights", "bias"].map((name) => tensors[`sentence.${name}`]);
    const lines = (name) => new TextDecoder().decode(tensors[`sentence.${name}`].data).split("\n");
    Object.assign(this, { pairing, weight, rows, weights: weights.data, bias: bias.data, width: rows.shape[1] });
    this.places = new Map(lines("words").map((word, place) => [word, place]));
    this.bases = new Map(lines("baseforms").map((line) => line.split("\t")));
  }

  // The row of a word; undefined where it has none.
  place(word) {
    const lowered = word.toLowerCase();
    return this.places.get(word) ?? this.places.get(lowered) ?? this.places.get(this.bases.get(lowered));
  }

  // The vector of a word; null where it has none.
  vector(word) {
    const place = this.place(word);
    if (place === undefined) return null;
    const { data, scales } = this.rows, from = place * this.width;
    return Float64Array.from(data.subarray(from, from + this.width), (code) => code * scales[place]);
  }

  sumOf(words) {
    const total = new Float64Array(this.width);
    for (const word of words) this.vector(word)?.forEach((each, feature) => { total[feature] += each; });
    return total;
  }

  // The mean of the vectors of a text, of unit length.
  features(words) {
    const total = this.sumOf(words), norm = Math.hypot(...total) || 1;
    return total.map((each) => Math.fround(each / norm));
  }

  // What is read of an example.
  read(sides) {
    const [u, v] = sides.map((words) => this.features(words));
    if (this.pairing === "none") return u;
    const symmetric = this.pairing === "symmetric", near = overlap(...sides), factor = Math.sqrt(u.length);
    if (symmetric) [near[1], near[2], near[6]] = [Math.min(near[1], near[2]), Math.max(near[1], near[2]), Math.abs(near[6])];
    const both = symmetric ? [...u.map((each, i) => each + v[i])] : [...u, ...v];
    const norms = Math.hypot(...u) * Math.hypot(...v);
    const product = u.map((each, i) => each * v[i]), cosine = norms ? sum(product) / norms : 0;
    return [...both, ...u.map((each, i) => Math.abs(each - v[i])), ...product.map((each) => factor * each), cosine, ...near];
  }

  // What is added to the logits for the words of each text.
  logits(sides) {
    const total = this.times(this.read(sides));
    return total.map((each, output) => Math.fround(this.weight * (this.bias[output] + each)));
  }

  times(features) {
    const count = this.bias.length, total = new Array(count).fill(0);
    features.forEach((value, feature) => {
      if (value) for (let output = 0; output < count; output += 1) total[output] += value * this.weights[feature * count + output];
    });
    return total;
  }

  // What each word of a text adds to the logits, for the length that the sum of all vectors has: {start, words, joint}.
  shares([words]) {
    const norm = Math.hypot(...this.sumOf(words)) || 1, nothing = new Array(this.bias.length).fill(0);
    const share = (word) => {
      const vector = this.vector(word);
      return vector ? this.times(vector).map((each) => (this.weight * each) / norm) : nothing;
    };
    return { start: Array.from(this.bias, (each) => this.weight * each), words: [words.map(share)], joint: [] };
  }
}

// How much the words of two texts have in common; see heedful.runtime.pair_features.overlap.
function overlap(first, second) {
  const [one, other] = [first, second].map((words) => words.map((word) => word.toLowerCase()));
  const neighbors = (words) => new Set(words.slice(1).map((word, i) => `${words[i]}\0${word}`));
  const grams = (words) => new Set(words.flatMap((word) => {
    const marked = [...`<${word}>`];
    return Array.from({ length: Math.max(marked.length - 3, 0) + 1 }, (_, start) => marked.slice(start, start + 3).join(""));
  }));
  const common = (a, b) => [...a].filter((each) => b.has(each)).length;
  const jaccard = (a, b) => common(a, b) / ((a.size + b.size - common(a, b)) || 1);
  const [a, b] = [new Set(one), new Set(other)], both = common(a, b);
  return [
    jaccard(a, b), both / Math.max(a.size, 1), both / Math.max(b.size, 1), jaccard(neighbors(one), neighbors(other)),
    jaccard(grams(one), grams(other)), Number(one.join("\0") === other.join("\0") && one.length === other.length),
    Math.log((one.length + 1) / (other.length + 1)),
  ];
}
