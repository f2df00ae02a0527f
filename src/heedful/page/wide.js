// The wide part of a model: a linear model of words, phrases and runs of characters; see heedful.text.wide_part,
// which this equals.

class WidePart {
  constructor({ rule, weight }, tensors) {
    const [numbers, rarity, own, bias] = ["numbers", "rarity", "weights", "bias"].map((name) => tensors[`wide.${name}`].data);
    const { scales } = tensors["wide.weights"], weights = scales ? Float32Array.from(own, (each, k) => each * scales[k % bias.length]) : own;
    Object.assign(this, { rule, weight, numbers, rarity, weights, bias, known: new Map() });
  }

  // What is added to the logits for the words of each text.
  logits(sides) {
    const features = new Set(sides.flatMap((words, side) => this.features(words, side)));
    const rows = [...features].map((number) => this.row(number)).filter((found) => found >= 0);
    const norms = this.norms(rows);
    const total = Array.from(this.bias), count = total.length;
    for (const found of rows) {
      const value = this.rarity[found] / norms[this.numbers[found] & 1];
      for (let output = 0; output < count; output += 1) total[output] += value * this.weights[found * count + output];
    }
    return total.map((each) => this.weight * each);
  }

  // The length of the vector of known phrases and that of known runs; a list of so many is no list of arguments.
  norms(rows) {
    const squares = [0, 0];
    for (const found of rows) squares[this.numbers[found] & 1] += this.rarity[found] ** 2;
    return squares.map((each) => Math.sqrt(each) || 1);
  }

  // What each word adds to the logits; what a phrase adds is shared evenly among its words: {start, words, joint}.
  shares(sides) {
    const places = new Map(), count = this.bias.length;
    sides.forEach((words, side) => this.phrases(words, side, (number, start, end) => {
      const found = this.row(number);
      if (found < 0) return;
      if (!places.has(found)) places.set(found, []);
      places.get(found).push({ side, start, end });
    }));
    const rows = [...places.keys()];
    const norms = this.norms(rows);
    const words = sides.map((side) => side.map(() => new Array(count).fill(0))), joint = [];
    for (const [found, said] of places) {
      const value = this.rarity[found] / norms[this.numbers[found] & 1];
      const each = Array.from({ length: count }, (_, k) => (this.weight * value * this.weights[found * count + k]) / said.length);
      for (const { side, start, end } of said) {
        for (let i = start; i < end; i += 1) each.forEach((share, k) => { words[side][i][k] += share / (end - start); });
        if (end - start > 1) joint.push({ side, start, end, values: each });
      }
    }
    return { start: Array.from(this.bias, (each) => this.weight * each), words, joint };
  }

  // Calls back with every occurrence of every feature of a text: its number, the first word and the one after the last.
  phrases(words, side, call) {
    const folded = words.map((word) => word.toLowerCase());
    for (let length = 1; length <= this.rule.words; length += 1)
      for (let start = 0; start + length <= folded.length; start += 1)
        call(this.number(`0${side}${folded.slice(start, start + length).join(" ")}`, 0), start, start + length);
    folded.forEach((word, i) => { for (const number of this.runs(word, side)) call(number, i, i + 1); });
  }

  // The numbers of the features of a text, some perhaps several times.
  features(words, side) {
    const folded = words.map((word) => word.toLowerCase()), { words: most } = this.rule, found = [];
    for (let length = 1; length <= most; length += 1)
      for (let start = 0; start + length <= folded.length; start += 1)
        found.push(this.number(`0${side}${folded.slice(start, start + length).join(" ")}`, 0));
    for (const word of new Set(folded)) for (const number of this.runs(word, side)) found.push(number);
    return found;
  }

  runs(word, side) {
    const { shortest, longest } = this.rule, marked = [...`<${word}>`], found = [];
    for (let length = shortest; length <= longest; length += 1)
      for (let start = 0; start + length <= marked.length; start += 1)
        found.push(this.number(`1${side}${marked.slice(start, start + length).join("")}`, 1));
    return found;
  }

  number(text, kind) {
    let number = this.known.get(text);
    if (number === undefined) {
      number = (blake2(text).low & 0x3fffffff) * 2 + kind;
      if (this.known.size >= REMEMBERED) this.known.clear();
      this.known.set(text, number);
    }
    return number;
  }

  // The row of a feature; -1 for one that the part does not know.
  row(number) { return placeOf(this.numbers, number); }
}
