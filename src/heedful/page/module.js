// What whoever imports the engine sees: a model behind a few methods, and plain records; see index.d.ts.

class HeedfulModel {
  #model;

  constructor(model) {
    this.#model = model;
    Object.freeze(this);
  }

  get task() { return this.#model.task; }
  get title() { return this.#model.title; }
  get labels() { return [...this.#model.labels]; }

  // What the texts of a request are called, in order.
  get texts() { return [...this.#model.sides]; }

  // The answer for a text, or for two.
  predict(...texts) {
    return this.#told(this.#answer("predict", texts));
  }

  // The answer, what each word contributes to it, and what the network looked at.
  explain(...texts) {
    if (!explains(this.#model)) throw new ModelError(`explain: a model of the task ${this.task} explains no answer here; use heedful explain.`);
    const answer = this.#answer("explain", texts, true);
    return {
      prediction: this.#told(answer),
      texts: answer.sides.map(seenIn),
      contributions: this.#model.explained(answer).map((said) => contributionOf(said, answer.sides)),
      alignments: answer.alignments.map(({ name, rows, columns, weights }) => ({ name, rows, columns, weights: rowsOf(weights) })),
    };
  }

  // The vector of a text, of unit length.
  encode(text) {
    if (this.task !== "vector") throw new ModelError(`encode: this model answers the task ${this.task} and gives no vectors.`);
    return Float32Array.from(this.#answer("encode", [text, text]).vectors[0]);
  }

  #answer(method, texts, look = false) {
    const names = this.texts, expected = `${method}: expected ${names.length === 1 ? "a text" : `two texts (${names.join(", ")})`}`;
    if (texts.length !== names.length) throw new TypeError(`${expected}, got ${texts.length}.`);
    const other = texts.find((text) => typeof text !== "string");
    if (other !== undefined || texts.includes(undefined)) throw new TypeError(`${expected}, got a value of the type ${typeof other}.`);
    const answer = this.#model.predict(texts, look), { logits, scores } = answer;
    if (!(logits ?? scores.flat()).every(Number.isFinite)) throw new ModelError(`${method}: the network gives a number that is not finite.`);
    return answer;
  }

  #told({ label, chosen, score, probabilities, sides, tags, spans, set, interval, parents, unlike, unlikeShare }) {
    const missing = sum(sides.map(({ unknown }) => unknown.filter(Boolean).length));
    const truncated = sides.some((side) => side.truncated);
    if (tags) {
      const [{ text, words, spans: offsets }] = sides, shares = tags.map(({ probability }) => probability);
      const marked = spans.map(({ role, start, end }) => ({
        role, start, end, text: text.slice(offsets[start][0], offsets[end - 1][1]), probability: sum(shares.slice(start, end)) / (end - start),
      }));
      return { words, offsets, tags: tags.map(({ tag }) => tag), probabilities: shares, spans: marked, unknown: missing, truncated };
    }
    const shares = Object.fromEntries(probabilities.map(({ label: name, probability }) => [name, probability]));
    const tokens = sides.map(({ words }) => words.length), read = { tokens, unknown: missing, truncated, empty: tokens.includes(0) };
    if (set) read.prediction_set = set;
    if (interval) read.interval = interval;
    if (parents) read.parents = parents;
    if (unlike !== undefined) Object.assign(read, { unlike, unlike_share: unlikeShare });
    return chosen ? { labels: chosen, probabilities: shares, ...read } : { label, probabilities: shares, score, ...read };
  }
}

const explains = ({ task }) => task !== "vector" && task !== "tags";
const rowsOf = (map) => Array.from({ length: map.rows }, (_, i) => Array.from(row(map, i)));

// What the network looked at in one text.
function seenIn({ name, words, spans, unknown, weights = null, maps = [], gates = [] }) {
  return { name, words, offsets: spans, unknown, weights, gates, maps: maps.map((map) => ({ name: map.name, weights: rowsOf(map.weights) })) };
}

function contributionOf({ label, of, values, start, whole, isLogOdds, probability = null, joint, across, choices, run }, sides) {
  const together = joint.map(({ side, start: first, end, value: each }) => (
    { side, start: first, end, text: sides[side].words.slice(first, end).join(" "), value: each }));
  return { label: label || null, of, isLogOdds, probability, base: start, words: values, sum: whole, together, across, choices, run };
}

// The bytes of what is loaded: an address, a path in Node, or whatever holds bytes.
async function bytesFrom(source) {
  const held = (kind) => typeof globalThis[kind] === "function" && source instanceof globalThis[kind];
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  if (held("Blob")) return new Uint8Array(await source.arrayBuffer());
  if (typeof source !== "string" && !held("URL") && !held("Response"))
    throw new TypeError(`load: expected the address or the path of a model file, or its bytes, got a value of the type ${typeof source}.`);
  const place = String(source), isPath = globalThis.process?.versions?.node && !/^(?:https?|data|blob):/i.test(place);
  try {
    if (isPath && !held("Response")) {
      const { readFile } = await import(/* webpackIgnore: true */ /* @vite-ignore */ "node:fs/promises");
      return await readFile(/^file:/i.test(place) ? new URL(place) : place);
    }
    const answer = held("Response") ? source : await fetch(source);
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    return new Uint8Array(await answer.arrayBuffer());
  } catch (error) {
    throw new ModelError(`load: ${held("Response") ? source.url : place} cannot be read: ${error.message}.`);
  }
}

// A model of a file; see index.d.ts.
async function load(source) {
  return new HeedfulModel(await openModel(await bytesFrom(source)));
}
