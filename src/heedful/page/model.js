// A model: its answers, what its words contribute, and what its pictures show.

// Gathers what the steps of one text, or of the answer, look at. captions: names for pictures by what is shown and the
// value that shows it; see `heedful.page.model_page`.
class Look {
  constructor(captions, vector) {
    Object.assign(this, { captions, vector, maps: [], gates: [], shares: [], alignments: [] });
  }

  // The weights of a step; `head` is the number of one of several.
  map({ to }, weights, head = 0) {
    this.maps.push({ name: this.captions[`map ${to} ${head}`] ?? "", weights });
  }

  gate({ of: [opened] }, gate) {
    const name = this.captions[`gate ${opened} 0`];
    const means = Array.from({ length: gate.rows }, (_, i) => sum(row(gate, i)) / gate.cols);
    if (name !== undefined) this.gates.push({ name, means });
  }

  weights({ do: operator, to }, shares) {
    if (operator !== "mean" || to === this.vector) this.shares.push(shares);
  }

  alignment(weights) { this.alignments.push(weights); }

  // {weights, maps: [{name, weights}], gates: [{name, means}]}
  result() {
    const { maps, gates, shares } = this;
    const mean = (_, i) => sum(shares.map((each) => each[i])) / shares.length;
    return { maps, gates, weights: shares.length ? Array.from(shares[0], mean) : null };
  }
}

class Model {
  // Of the tensors of a file, what it says of itself, and the kernels.
  static of(tensors, about, compiled) {
    const wide = about.wide ? new WidePart(about.wide, tensors) : null;
    const sentence = about.sentence ? new SentencePart(about.sentence, tensors, about.text.characters, compiled) : null;
    const tagging = about.tagging ? new TagPart(about.tagging, tensors, about.text.characters) : null;
    const rejecting = about.reject ? new Rejecting(about.reject, tensors, sentence) : null;
    return new Model({ ...about, wide, sentence, tagging, rejecting }, new Network(about.network, tensors, compiled));
  }

  constructor(about, network) {
    Object.assign(this, about, { network });
    this.reader = new Tokenizer(about.text);
    this.paths = about.paths ? new TagPaths(about.paths) : null;
    this.words = new Vocabulary(about.vocabulary, about.text.characters);
    this.vocabulary = null;  // which the map of words now holds
  }

  // The words of a text as strings.
  tokens(text) { return this.reader.words(text).map(({ word }) => word); }

  // The answer for a text, or for two: {label, chosen, score, probabilities, sides, alignments}. `chosen` are the labels
  // of a model of several. Without `look` no pictures.
  predict(texts, look = true) {
    if (this.task === "vector") return this.compare(texts, look);
    if (this.paths) return this.tag(texts, look);
    const sides = texts.map((text, number) => this.read(text, number));
    const { vector } = this.network.description;
    const looks = look ? [...texts, null].map(() => new Look(this.captions, vector)) : [];
    const own = this.network.answer(sides, looks);
    const beside = this.beside(sides.map(({ read }) => read));
    const logits = Array.from(own, (logit, number) => logit + beside[number]);
    sides.forEach((side, number) => Object.assign(side, looks[number]?.result()));
    const decided = this.decided(logits);
    const placed = { ...decided, ...(this.tree && inTree(decided, this.labels, this.tree)) };
    const rejected = this.rejecting?.of(placed, logits, this.temperature, sides.map(({ read }) => read));
    return { ...placed, ...rejected, ...this.promised(decided), logits, sides, alignments: this.aligned(looks.at(-1), sides) };
  }

  // What logits stand for; see heedful.model.decisions. {label, chosen, score, probabilities}
  decided(logits) {
    const { kind, temperature, thresholds, costs } = this;
    if (kind === "number") return { label: null, chosen: null, score: logits[0], probabilities: [] };
    const shares = kind === "labels" ? logits.map((logit) => 1 / (1 + Math.exp(-logit)))
      : kind === "columns" ? this.byColumn(logits) : shared(logits.map((logit) => logit / temperature));
    const probabilities = this.names.map((label, number) => ({ label, probability: shares[number] }));
    if (kind === "grades")
      return { label: null, chosen: null, score: sum(shared(logits).map((share, grade) => share * (grade + 1))), probabilities };
    if (kind === "columns") {
      const best = [...new Set(this.rivals)].map((own) => own.reduce((one, other) => (shares[other] > shares[one] ? other : one)));
      return { label: null, chosen: best.sort((a, b) => a - b).map((place) => this.labels[place]), score: null, probabilities };
    }
    if (kind !== "labels") return { label: this.labels[cheapest(shares, costs)], chosen: null, score: null, probabilities };
    const reached = [...shares.keys()].filter((place) => shares[place] >= thresholds[place]);
    const chosen = reached.sort((a, b) => shares[b] - shares[a]).map((place) => this.labels[place]);
    return { label: null, chosen, score: null, probabilities };
  }

  // A set of labels or an interval that holds what is right as often as the file promises; nothing where it does not.
  // See heedful.model.decisions.promise. {set} or {interval}
  promised({ score, probabilities, chosen }) {
    if (!this.sets) return {};
    const { limits } = this.sets, several = this.kind === "labels";
    if (score !== null) return { interval: [score - limits[0], score + limits[0]] };
    const order = [...probabilities.keys()].sort((a, b) => probabilities[b].probability - probabilities[a].probability);
    const inside = order.filter((place, rank) => {
      const { probability } = probabilities[place];
      if (several) return probability >= limits[0];
      return 1 - probability <= limits[place] || (chosen ? chosen.includes(this.labels[place]) : rank === 0);
    });
    const columns = this.rivals.map(([first]) => first);
    return { set: inside.sort((a, b) => (columns[a] ?? 0) - (columns[b] ?? 0)).map((place) => this.labels[place]) };
  }

  // Of label columns, for each class the places of those of its column; else none.
  get rivals() {
    if (this.kind !== "columns") return [];
    const columns = this.labels.map((label) => label.slice(0, label.indexOf(": ")));
    const own = new Map(columns.map((column) => [column, [...columns.keys()].filter((place) => columns[place] === column)]));
    return columns.map((column) => own.get(column));
  }

  // The softmax over the classes of each label column.
  byColumn(logits) {
    const shares = logits.map(() => 0);
    for (const own of new Set(this.rivals)) shared(own.map((place) => logits[place])).forEach((share, i) => { shares[own[i]] = share; });
    return shares;
  }

  // What the parts beside the network add for the words of each text.
  beside(texts) {
    const parts = [this.wide, this.sentence].filter(Boolean).map((part) => part.logits(texts));
    return Array.from({ length: this.outputs }, (_, k) => sum(parts.map((logits) => logits[k])));
  }

  // What each word contributes to an answer of `predict`, and to the classes and parents most probable beside it; see
  // contributing.js. An iterator, so that whoever draws may rest between its steps; its last value is the list.
  *contributions({ sides, logits, probabilities, label, score, strange, parents }) {
    const shares = yield* sharesOf(this, sides, logits);
    const { temperature, quantity } = this, several = ["labels", "columns"].includes(this.kind), { rivals } = this;
    if (score !== null) {
      const ends = this.kind === "grades" ? [1, logits.length] : [Math.min(this.range[0], score), Math.max(this.range[1], score)];
      const kind = this.kind === "grades" ? "grade" : "number";
      return [contributionsTo(new ExplainedValue({ kind, quantity, ends }), shares, logits)];
    }
    const nodes = new Map(probabilities.map(({ label: name, probability }, column) => [name, { column, probability }]));
    for (const [name, probability] of Object.entries(parents ?? {})) nodes.set(name, { below: this.tree.parents[name], probability });
    const tells = ({ below }) => (below?.length ?? 0) < this.outputs;  // a parent of all classes has nothing to explain
    const order = [...nodes.keys()].filter((name) => tells(nodes.get(name))).sort((a, b) => nodes.get(b).probability - nodes.get(a).probability);
    const named = strange?.nearest ?? label, leaf = order.find((name) => !nodes.get(name).below);
    const best = !several && order.includes(named) ? named : leaf;
    return [best, ...order.filter((name) => name !== best).slice(0, OTHERS)].map((name) => {
      const { column, below, probability } = nodes.get(name), kind = this.kind === "labels" ? "label" : "class";
      const explained = new ExplainedValue({ kind, column, below, label: name, temperature, rivals: rivals[column] ?? null });
      return { ...contributionsTo(explained, shares, logits), probability };
    });
  }

  // The same at once.
  explain(texts) {
    return this.explained(this.predict(texts, false));
  }

  // What `contributions` ends with, at once.
  explained(answer) {
    const steps = this.contributions(answer);
    let step = steps.next();
    while (!step.done) step = steps.next();
    return step.value;
  }

  // The logits, without what is linear in the words, of an example of which some words are left out. keep: of each place whether it stays.
  logitsOf(sides, places, keep) {
    const kept = sides.map(() => ({ read: [], rows: [], ngrams: [] })), masked = this.words.look(MASK);
    places.forEach(([side, i], place) => {
      const own = sides[side], to = kept[side];
      if (!keep[place] && !masked.known) return;
      to.read.push(keep[place] ? own.read[i] : MASK);
      to.rows.push(keep[place] ? own.rows[i] : masked.row);
      to.ngrams.push(keep[place] ? own.ngrams[i] : []);
    });
    const own = this.network.answer(this.hasNetwork ? kept : sides);  // without a network the same whatever the words
    const rest = this.sentence?.rest()?.logits(kept.map(({ read }) => read));
    return Array.from(own, (logit, k) => logit + (rest?.[k] ?? 0));
  }

  // The tags of a text: {tags: [{word, tag, probability}], spans, scores, sides, ...}.
  tag([text], look = true) {
    const side = this.read(text, 0), { read, words } = side, size = this.text.max_tokens, looks = [];
    const scores = this.tagging?.scores(read) ?? read.map(() => new Array(this.outputs).fill(0));
    if (this.hasNetwork) for (const [start, end, first, last] of windowsOf(read.length, size)) {
      const part = { rows: side.rows.slice(start, end), ngrams: side.ngrams.slice(start, end) };
      const seen = look && end - start === read.length ? [new Look(this.captions, null), null] : [];
      const own = this.network.answer([part], seen);
      looks.push(...seen);
      for (let i = first; i < last; i += 1)
        scores[i] = scores[i].map((each, tag) => Math.fround(each + own[(i - start) * this.outputs + tag]));
    }
    if (looks.length) Object.assign(side, looks[0].result());
    const shares = this.paths.shares(scores), { outside = 0 } = this.tagging ?? {};
    const lower = this.labels.map((tag) => (tag === OUTSIDE ? Math.fround(outside) : 0));
    const chosen = this.tagging ? scores.map((row) => row.map((each, tag) => Math.fround(each - lower[tag])))
      : scores.map((row) => row.map((each) => Math.fround(each - logSum(row))));
    const tags = this.paths.best(chosen).map((number, i) => (
      { word: words[i], tag: this.labels[number], probability: shares[i][number] }));
    const spans = this.paths.marksSpans ? spansOf(tags.map(({ tag }) => tag)) : [];
    return { label: null, score: null, probabilities: [], tags, spans, scores, shares, sides: [side], alignments: [] };
  }

  // How alike two texts are: the cosine of their vectors, which are of unit length. The answer is that of `predict`.
  compare(texts, look = true) {
    const sides = texts.map((text, number) => this.read(text, number));
    const vectors = sides.map((side) => {
      const looks = look ? [new Look(this.captions, this.network.description.vector), null] : [];
      const vector = this.network.answer([side], looks);
      Object.assign(side, looks[0]?.result());
      return vector;
    });
    const score = sum(vectors[0].map((a, feature) => a * vectors[1][feature]));
    return { label: null, score, probabilities: [], logits: [score], vectors, sides, alignments: [] };
  }

  read(text, number) {
    const found = this.reader.words(text), { max_tokens: most, truncate } = this.text;
    if (found.length > most && truncate === "error")
      throw new ModelError(`The ${this.sides[number]} has ${found.length} words. This model reads at most ${most}.`);
    const kept = this.paths ? found : found.slice(0, most), looked = kept.map(({ word }) => this.words.look(word));
    return {
      name: this.sides[number], text, truncated: found.length > kept.length, count: found.length,
      read: kept.map(({ word }) => word),
      words: kept.map(({ word, start, end }) => [TAG, LINK].includes(word) ? word : text.slice(start, end) || word),
      spans: kept.map(({ start, end }) => [start, end]),
      rows: looked.map(({ row: place }) => place), unknown: looked.map(({ known }, i) => !known && !(this.sentence ?? this.tagging)?.knows(kept[i].word)),
      ngrams: kept.map(({ word }) => this.words.ngrams(word)),
    };
  }

  get names() {
    const { outputs } = this;
    return this.labels.length ? this.labels : Array.from({ length: outputs }, (_, grade) => String(grade + 1));
  }

  // Both directions of an alignment, with the words of the first text down the side.
  aligned(look, [first, second]) {
    if (!look?.alignments.length) return [];
    const [there, back] = look.alignments, turned = value(back.cols, back.rows);
    for (let i = 0; i < back.rows; i += 1) row(back, i).forEach((a, j) => { turned.data[j * back.rows + i] = a; });
    const [rows, columns] = [first, second].map(({ words }) => [...this.prefix, ...words]);
    return [
      { name: `${first.name} to ${second.name}`, weights: there, rows, columns },
      { name: `${second.name} to ${first.name}`, weights: turned, rows, columns },
    ];
  }
}

// The parents of classes that are paths, and the node that is answered; see heedful.model.decisions.label_tree.
function inTree({ probabilities }, labels, { separator, at_least: least, parents: below }) {
  const parents = Object.fromEntries(Object.entries(below).map(([name, own]) => [name, sum(own.map((place) => probabilities[place].probability))]));
  if (least === null) return { parents };
  let stop = null;
  for (let level = 1; ; level += 1) {
    const nodes = new Map();
    labels.forEach((each, place) => {
      const name = each.split(separator).slice(0, level).join(separator);
      if (stop === null || name === stop || name.startsWith(stop + separator)) nodes.set(name, (nodes.get(name) ?? 0) + probabilities[place].probability);
    });
    const [best, share] = [...nodes].reduce((one, other) => (other[1] > one[1] ? other : one));
    if (best === stop || (stop !== null && share < least)) return { label: stop, parents };
    stop = best;
  }
}

// The most probable class, or where wrong answers have costs the one that is expected to cost least.
function cheapest(shares, costs) {
  if (!costs.length) return shares.indexOf(Math.max(...shares));
  const expected = shares.map((_, answer) => shares.reduce((cost, share, gold) => cost + share * costs[gold][answer], 0));
  return expected.indexOf(Math.min(...expected));
}

function shared(logits) {
  const top = Math.max(...logits), powers = logits.map((logit) => Math.exp(logit - top)), total = sum(powers);
  return powers.map((power) => power / total);
}
