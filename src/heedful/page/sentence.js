// The sentence part of a model: a linear model over frozen features of texts; see heedful.runtime.sentence_part and
// heedful.runtime.pair_features, which this equals.

// The mean of the vectors of a text's words, of unit length.
class MeanOfVectors {
  constructor(tensors, of = "sentence") {
    const lines = (name) => new TextDecoder().decode(tensors[`${of}.${name}`].data).split("\n");
    this.rows = tensors[`${of}.rows`];
    this.width = this.rows.shape[1];
    this.blocks = [this.width];
    this.places = new Map(lines("words").map((word, place) => [word, place]));
    this.bases = new Map(lines("baseforms").map((line) => line.split("\t")));
  }

  // The row of a word; undefined where it has none.
  place(word) {
    const lowered = word.toLowerCase();
    return this.places.get(word) ?? this.places.get(lowered) ?? this.places.get(this.bases.get(lowered));
  }

  knows(word) { return this.place(word) !== undefined; }

  // The vector of a word; null where it has none.
  vector(word) {
    const place = this.place(word);
    return place === undefined ? null : vectorAt(this.rows, place);
  }

  // Its vector, or zeros.
  vectorOf(word) {
    return this.vector(word) ?? new Float64Array(this.width);
  }

  sumOf(words) {
    const total = new Float64Array(this.width);
    for (const word of words) this.vector(word)?.forEach((each, feature) => { total[feature] += each; });
    return total;
  }

  features(words) {
    const total = this.sumOf(words), norm = Math.hypot(...total) || 1;
    return total.map((each) => Math.fround(each / norm));
  }
}

// The states of a sentence encoder before its last layer, and its vector; see heedful.runtime.encoder_states.
class EncoderStates {
  constructor(tensors, characters, compiled) {
    const from = "sentence.states.", text = (name) => JSON.parse(new TextDecoder().decode(tensors[from + name].data));
    const config = text("config"), own = `${from}weights.`;
    const kept = Object.entries(tensors).filter(([name]) => name.startsWith(own));
    this.most = config.text.max_tokens;
    this.words = new Vocabulary(text("vocabulary"), characters);
    this.network = new Network(config.network, Object.fromEntries(kept.map(([name, each]) => [name.slice(own.length), each])), compiled);
    this.width = this.features([]).length;
    const words = this.vectorOf("").length, states = this.network.run(this.network.reading, { words: this.vectors([]) });
    const width = states[this.network.description.vector].data.length;
    this.blocks = [width - words, words, this.width - width];
  }

  vectors(words) {
    const { network } = this;
    return network.vectors(words.map((word) => this.words.look(word).row), words.map((word) => this.words.ngrams(word)));
  }

  // The vector of a word as the encoder reads it.
  vectorOf(word) {
    return Float64Array.from(this.vectors([word]).data);
  }

  knows(word) { return this.words.look(word).known; }

  features(words) {
    const kept = words.slice(0, this.most).map((word) => this.words.withoutNgrams(word));
    const { network } = this, { vector, logits } = network.description;
    const read = network.run(network.reading, { words: this.vectors(kept) });
    const given = Object.fromEntries(Object.entries(read).map(([name, x]) => [`first.${name}`, x]));
    return Float64Array.from([...read[vector].data, ...network.run(network.answering, given)[logits].data]);
  }
}

class SentencePart {
  constructor({ pairing, weight, texts }, tensors, characters, compiled) {
    const [weights, bias] = ["weights", "bias"].map((name) => tensors[`sentence.${name}`].data);
    const kinds = { mean: () => new MeanOfVectors(tensors), states: () => new EncoderStates(tensors, characters, compiled) };
    const parts = (texts.parts ?? [texts]).map(({ kind }) => kinds[kind]());
    Object.assign(this, { pairing, weight, weights, bias, parts });
  }

  // Whether there is a vector of a word.
  knows(word) { return this.parts.some((part) => part.knows(word)); }

  // The features of a text.
  features(words) {
    return Float64Array.from(this.parts.flatMap((part) => [...part.features(words)]));
  }

  // Parts of features of one kind, which together add the same; the first has the bias.
  apart() {
    let start = 0;
    const { pairing, weight, parts, bias } = this;
    return parts.map((part, number) => {
      const from = start * bias.length, to = (start += part.width) * bias.length;
      const own = { weights: this.weights.subarray(from, to), bias: number ? bias.map(() => 0) : bias };
      return Object.assign(Object.create(SentencePart.prototype), { pairing, weight, parts: [part], ...own });
    });
  }

  // The part that is not linear in the words: all of it for pairs, else what reads an encoder; null where it is linear.
  rest() {
    if (this.pairing !== "none") return this;
    return this.apart().find(({ parts: [part] }) => part instanceof EncoderStates) ?? null;
  }

  // What is read of an example.
  read(sides) {
    const [u, v] = sides.map((words) => this.features(words));
    if (this.pairing === "none") return u;
    const symmetric = this.pairing === "symmetric", near = overlap(...sides), found = wordAlignment(...sides, this.parts[0]);
    if (symmetric) {
      [near[1], near[2], near[6]] = [Math.min(near[1], near[2]), Math.max(near[1], near[2]), Math.abs(near[6])];
      for (const two of found) two.sort((a, b) => a - b);
    }
    const product = u.map((each, i) => each * v[i]), compared = symmetric ? [] : [...u, ...v];
    compared.push(...u.map((each, i) => Math.abs(each - v[i])));
    const powers = [];
    let start = 0;
    for (const size of this.parts.flatMap(({ blocks }) => blocks)) {
      const [a, b, both] = [u, v, product].map((each) => each.subarray(start, start + size));
      const norms = Math.hypot(...a) * Math.hypot(...b), cosine = norms ? sum(both) / norms : 0;
      compared.push(...both.map((each) => Math.sqrt(size) * each));
      powers.push(cosine, cosine ** 2, cosine ** 3);
      start += size;
    }
    return [...compared.map((each) => 0.3 * each), ...powers, ...near, ...found.flat()];
  }

  // What is added to the logits for the words of each text.
  logits(sides) {
    const total = this.times(this.read(sides));
    return total.map((each, output) => Math.fround(this.weight * (this.bias[output] + each)));
  }

  times(features, { weights, bias } = this) {
    const count = bias.length, total = new Array(count).fill(0);
    features.forEach((value, feature) => {
      if (value) for (let output = 0; output < count; output += 1) total[output] += value * weights[feature * count + output];
    });
    return total;
  }

  // What each word of a text adds to the logits in the parts that are linear, for the length that the sum of all
  // vectors has: {start, words, joint}; of one text.
  shares([words]) {
    const nothing = new Array(this.bias.length).fill(0), found = { start: nothing, words: [words.map(() => nothing)], joint: [] };
    for (const { parts: [part], weights, bias, weight } of this.apart()) {
      if (!(part instanceof MeanOfVectors)) continue;
      const norm = Math.hypot(...part.sumOf(words)) || 1, own = { weights, bias };
      found.start = found.start.map((each, k) => each + weight * bias[k]);
      found.words[0] = words.map((word, i) => {
        const vector = part.vector(word), share = vector ? this.times(vector, own) : nothing;
        return found.words[0][i].map((each, k) => each + (weight * share[k]) / norm);
      });
    }
    return found;
  }
}

// How well the words of two texts find each other; see heedful.runtime.word_alignment.
function wordAlignment(first, second, features) {
  const [one, other] = [first, second].map((words) => words.filter((word) => /[\p{L}\p{N}]/u.test(word)).slice(0, 128));
  if (!one.length || !other.length) return [[0, 0], [0, 0], [0, 0]];
  const read = (words) => words.map((word) => {
    const vector = features.vectorOf(word), lowered = word.toLowerCase();
    return { vector, norm: Math.hypot(...vector), lowered, runs: new Set(grams(lowered)) };
  });
  const [a, b] = [read(one), read(other)], best = [a.map(() => -Infinity), b.map(() => -Infinity)];
  a.forEach((x, i) => b.forEach((y, j) => {
    let alike = 1;
    if (x.lowered !== y.lowered) {
      alike = x.norm && y.norm ? sum(x.vector.map((each, k) => each * y.vector[k])) / (x.norm * y.norm) : jaccard(x.runs, y.runs);
    }
    best[0][i] = Math.max(best[0][i], alike);
    best[1][j] = Math.max(best[1][j], alike);
  }));
  const mean = (each) => sum(each) / each.length;
  const weighted = (each, words) => sum(each.map((x, i) => x * words[i].norm)) / (sum(words.map(({ norm }) => norm)) || 1);
  return [best.map(mean), best.map((each) => Math.min(...each)), [weighted(best[0], a), weighted(best[1], b)]];
}

// The runs of three characters of a word.
function grams(word) {
  const marked = [...`<${word}>`];
  return Array.from({ length: Math.max(marked.length - 3, 0) + 1 }, (_, start) => marked.slice(start, start + 3).join(""));
}

function common(a, b) {
  return [...a].filter((each) => b.has(each)).length;
}

function jaccard(a, b) {
  return common(a, b) / ((a.size + b.size - common(a, b)) || 1);
}

// How much the words of two texts have in common; see heedful.runtime.pair_features.overlap.
function overlap(first, second) {
  const [one, other] = [first, second].map((words) => words.map((word) => word.toLowerCase()));
  const neighbors = (words) => new Set(words.slice(1).map((word, i) => `${words[i]}\0${word}`));
  const runs = (words) => new Set(words.flatMap(grams));
  const [a, b] = [new Set(one), new Set(other)], both = common(a, b);
  return [
    jaccard(a, b), both / Math.max(a.size, 1), both / Math.max(b.size, 1), jaccard(neighbors(one), neighbors(other)),
    jaccard(runs(one), runs(other)), Number(one.join("\0") === other.join("\0") && one.length === other.length),
    Math.log((one.length + 1) / (other.length + 1)),
  ];
}
