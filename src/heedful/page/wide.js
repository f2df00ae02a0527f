// The wide part of a model: a linear model of words, phrases and runs of characters; see heedful.text.wide_part,
// which this equals.

class WidePart {
  constructor({ rule, weight }, tensors) {
    const [numbers, rarity, weights, bias] = ["numbers", "rarity", "weights", "bias"].map(
      (name) => tensors[`wide.${name}`].data);
    Object.assign(this, { rule, weight, numbers, rarity, weights, bias, known: new Map() });
  }

  // What is added to the logits for the words of each text.
  logits(sides) {
    const features = new Set(sides.flatMap((words, side) => this.features(words, side)));
    const rows = [...features].map((number) => this.row(number)).filter((found) => found >= 0);
    const norms = [0, 1].map((kind) =>
      Math.hypot(...rows.filter((found) => (this.numbers[found] & 1) === kind).map((found) => this.rarity[found])) || 1);
    const total = Array.from(this.bias), count = total.length;
    for (const found of rows) {
      const value = this.rarity[found] / norms[this.numbers[found] & 1];
      for (let output = 0; output < count; output += 1) total[output] += value * this.weights[found * count + output];
    }
    return total.map((each) => this.weight * each);
  }

  // The numbers of the features of a text, some perhaps several times.
  features(words, side) {
    const folded = words.map((word) => word.toLowerCase()), { words: most } = this.rule, found = [];
    for (let length = 1; length <= most; length += 1)
      for (let start = 0; start + length <= folded.length; start += 1)
        found.push(this.number(`0${side}${folded.slice(start, start + length).join(" ")}`, 0));
    for (const word of new Set(folded)) found.push(...this.runs(word, side));
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
  row(number) {
    let low = 0, high = this.numbers.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.numbers[middle] < number) low = middle + 1;
      else high = middle;
    }
    return this.numbers[low] === number ? low : -1;
  }
}
