// None of these: when no class is answered, since a text is unlike all training texts; see
// heedful.model.decisions.reject and heedful.runtime.training_texts, which this equals.

const SIGNALS = ["doubt", "flatness", "distance", "new words"];
const CHECKS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let check = byte;
  for (let bit = 0; bit < 8; bit += 1) check = check & 1 ? (check >>> 1) ^ 0xedb88320 : check >>> 1;
  return check;
});

// The number that a word is kept as, whatever its case: its CRC-32.
function wordNumber(word) {
  let check = 0xffffffff;
  for (const byte of ENCODER.encode(word.toLowerCase())) check = CHECKS[(check ^ byte) & 255] ^ (check >>> 8);
  return (check ^ 0xffffffff) >>> 0;
}

class Rejecting {
  constructor(rule, tensors, sentence) {
    const { data, shape: [count, width = 0] } = tensors["familiar.centers"];
    Object.assign(this, rule, { centers: data, count, width, sentence });
    this.words = new Set(Uint32Array.from(tensors["familiar.words"].data));
  }

  // Whether a training text has a word.
  knows(word) { return this.words.has(wordNumber(word)); }

  // What is said of an answer: {label, unlike, unlikeShare, strange}. `texts`: the words of each text.
  of(decided, logits, temperature, texts) {
    const words = texts.flat(), fresh = words.filter((word) => !this.knows(word));
    const signals = [...this.doubts(logits.map((logit) => logit / temperature)), this.distance(texts), words.length ? fresh.length / words.length : 1];
    const added = signals.map((signal, place) => (signal - this.means[place]) / this.deviations[place] * this.weights[place]);
    const score = sum(added), rejected = score > this.threshold, share = this.share(score);
    const strange = {
      rejected, score, share, threshold: this.threshold, label: this.label, nearest: decided.label,
      parts: added.map((value, place) => [SIGNALS[place], value]), fresh: [...new Set(fresh)],
    };
    return { label: rejected ? this.label : decided.label, unlike: score, unlikeShare: share, strange };
  }

  // Doubt and flatness of logits.
  doubts(wide) {
    const top = Math.max(...wide);
    return [Math.log(sum(wide.map((each) => Math.exp(each - top)))), sum(wide) / wide.length - top];
  }

  // One less the largest cosine with the center of a class.
  distance(texts) {
    if (!this.count || !this.sentence) return 0;
    const features = [...this.sentence.read(texts)], norm = Math.max(Math.hypot(...features), 1e-12);
    const row = features.map((each) => Math.fround(each / norm));
    const cosine = (center) => row.reduce((total, each, place) => total + each * this.centers[center * this.width + place], 0);
    return 1 - Math.max(...Array.from({ length: this.count }, (_, center) => cosine(center)));
  }

  // The share of known texts that are less unlike than a text of a score.
  share(score) {
    const { known } = this, steps = known.length - 1, above = known.findIndex((each) => each > score);
    if (above === 0) return 0;
    if (above < 0) return 1;
    return (above - 1 + (score - known[above - 1]) / (known[above] - known[above - 1])) / steps;
  }
}
