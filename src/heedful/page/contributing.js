// What each word contributes to an answer: one signed number a word, which add up with a base to the log-odds that are
// shown; see heedful.explain.methods.contributions, which this equals.

const EXACT = 7, PAIRS = 48, FEWEST = 16, LONG_TEXT = 40, TOKENS = 20000, STEPS = 64, REACH = 2, OTHERS = 20, ACROSS = 4, LINKS = 6;
const PHRASES = 5, SHARE = 0.25, LEAST = 0.1, SHOWN = 10, NOTHING = 5e-4;

// A number of an answer as a function of the logits: of a class or one of several labels its log-odds, of grades their
// mean, else the number. ends: the least and the greatest number that there can be. rivals: the places of the classes
// among which a class of a label column is chosen; null for all. below: of a parent the places of its classes; else null.
class ExplainedValue {
  constructor({ kind, column = 0, label = "", temperature = 1, quantity = "", ends = [0, 0], rivals = null, below = null }) {
    Object.assign(this, { kind, column, label, temperature, quantity, ends, rivals, own: below ?? [column] });
  }

  get isLogOdds() { return this.kind === "class" || this.kind === "label"; }

  others(count) {
    return (this.rivals ?? Array.from({ length: count }, (_, place) => place)).filter((place) => !this.own.includes(place));
  }

  value(logits) {
    const wide = logits.map((each) => each / this.temperature);
    if (this.kind === "grade") return sum(shared(wide).map((share, grade) => share * (grade + 1)));
    if (this.kind !== "class") return wide[this.column];
    const total = (places) => logSum(places.map((place) => wide[place]));
    return total(this.own) - total(this.others(wide.length));
  }

  gradient(logits) {
    const wide = logits.map((each) => each / this.temperature);
    if (this.kind === "grade") {
      const shares = shared(wide), mean = sum(shares.map((share, grade) => share * (grade + 1)));
      return shares.map((share, grade) => (share * (grade + 1 - mean)) / this.temperature);
    }
    const made = wide.map(() => 0), deal = (places, sign) => (
      shared(places.map((place) => wide[place])).forEach((share, i) => { made[places[i]] = sign * share; }));
    deal(this.own, 1);
    if (this.kind === "class") deal(this.others(wide.length), -1);
    return made.map((each) => each / this.temperature);
  }

  meanGradient(start, end) {
    const total = start.map(() => 0);
    for (let step = 0; step < STEPS; step += 1) {
      const at = (step + 0.5) / STEPS;
      this.gradient(start.map((each, i) => each + at * (end[i] - each))).forEach((slope, i) => { total[i] += slope / STEPS; });
    }
    return total;
  }
}

// The random choices of players: of each size as often as its weight says.
function drawnChoices(count, seed = 0) {
  const shares = [];
  let total = 0, state = seed >>> 0;
  for (let size = 2; size < count - 1; size += 1) shares.push((total += 1 / (size * (count - size))));
  const uniform = () => {
    state = (Math.imul(1664525, state) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  return Array.from({ length: Math.max(FEWEST, PAIRS - Math.floor(Math.max(0, count - LONG_TEXT) / 4)) }, () => {
    const at = uniform() * total, size = 2 + shares.filter((share) => share <= at).length;
    const order = Array.from({ length: count }, (_, i) => i);
    for (let place = 0; place < size; place += 1) {
      const other = place + Math.floor(uniform() * (count - place));
      [order[place], order[other]] = [order[other], order[place]];
    }
    const chosen = new Set(order.slice(0, size));
    return order.map((_, player) => chosen.has(player));
  });
}

// The choices of players that are asked: {keep, weights, singles, without, pairs}.
function choicesOf(count, neighbors) {
  if (count <= EXACT)
    return { keep: Array.from({ length: 2 ** count }, (_, bits) => Array.from({ length: count }, (_, i) => ((bits >> i) & 1) > 0)) };
  const all = Array.from({ length: count }, (_, i) => i), keep = [all.map(() => false)];
  for (const i of all) keep.push(all.map((j) => j === i));
  for (const i of all) keep.push(all.map((j) => j !== i));
  for (const i of neighbors) keep.push(all.map((j) => j !== i && j !== i + 1));
  const sampled = drawnChoices(count).flatMap((row) => [row, row.map((stays) => !stays)]);
  return { keep: [...keep, ...sampled], sampled: sampled.length };
}

// Shapley values of several numbers at once: {values, start, joint}; see shapley_of in Python.
function shapleyOf(count, { keep, sampled }, values, whole, neighbors) {
  const outputs = whole.map((_, k) => k), start = values[0], joint = new Map();
  if (count <= EXACT) {
    const full = 2 ** count - 1, factorial = (n) => (n < 2 ? 1 : n * factorial(n - 1));
    values[full] = whole;
    for (const i of neighbors) {
      const [a, b] = [1 << i, 1 << (i + 1)];
      joint.set(i, outputs.map((k) => values[full][k] - values[full ^ a][k] - values[full ^ b][k] + values[full ^ a ^ b][k]));
    }
    const found = Array.from({ length: count }, () => outputs.map(() => 0));
    keep.forEach((row, bits) => {
      const size = row.filter(Boolean).length;
      row.forEach((stays, i) => {
        if (stays) return;
        const weight = (factorial(size) * factorial(count - size - 1)) / factorial(count);
        for (const k of outputs) found[i][k] += weight * (values[bits | (1 << i)][k] - values[bits][k]);
      });
    });
    return { values: found, start, joint };
  }
  const without = (i) => values[1 + count + i];
  neighbors.forEach((i, n) => {
    const both = values[1 + 2 * count + n];
    joint.set(i, outputs.map((k) => whole[k] - without(i)[k] - without(i + 1)[k] + both[k]));
  });
  let inner = 0;
  for (let size = 2; size < count - 1; size += 1) inner += (count - 1) / (size * (count - size));
  const used = [...keep.keys()].filter((row) => row && (row <= 2 * count || row >= keep.length - sampled));
  const matrix = Array.from({ length: count }, () => new Array(count).fill(0));
  const right = Array.from({ length: count }, () => [...outputs.map(() => 0), 1]);
  for (const row of [0, ...used]) {
    const weight = row <= 2 * count ? 1 / count : inner / sampled;
    const players = keep[row].flatMap((stays, i) => (stays ? [i] : []));
    for (const i of players) {
      for (const j of players) matrix[i][j] += weight;
      for (const k of outputs) right[i][k] += weight * (values[row][k] - start[k]);
    }
  }
  const solved = solve(matrix, right), ones = sum(solved.map((row) => row[outputs.length]));
  const missing = outputs.map((k) => (sum(solved.map((row) => row[k])) - (whole[k] - start[k])) / ones);
  return { values: solved.map((row) => outputs.map((k) => row[k] - row[outputs.length] * missing[k])), start, joint };
}

// Solves a symmetric system of equations with several right sides, by elimination.
function solve(matrix, right) {
  const n = matrix.length, rows = matrix.map((row, i) => [...row, ...right[i]]);
  for (let i = 0; i < n; i += 1) {
    let best = i;
    for (let j = i + 1; j < n; j += 1) if (Math.abs(rows[j][i]) > Math.abs(rows[best][i])) best = j;
    [rows[i], rows[best]] = [rows[best], rows[i]];
    for (let j = 0; j < n; j += 1) {
      const factor = j === i ? 0 : rows[j][i] / rows[i][i];
      if (factor) for (let k = i; k < rows[i].length; k += 1) rows[j][k] -= factor * rows[i][k];
    }
  }
  return rows.map((row, i) => row.slice(n).map((each) => each / row[i]));
}

// The players: of a long text runs of neighboring words. [words of a run, the player of each place]
function playersOf(places) {
  const count = places.length;
  const run = count > FEWEST ? Math.ceil(count / Math.max(FEWEST, Math.floor(TOKENS / count))) : 1;
  let number = 0, size = 1;
  const player = places.map(([side], i) => {
    if (i === 0) return 0;
    if (side !== places[i - 1][0] || size === run) [number, size] = [number + 1, 0];
    size += 1;
    return number;
  });
  return [run, player];
}

// The logits of an answer shared among its words, as steps: yields between choices, returns {start, words, joint, ...}.
function* sharesOf(model, sides, logits) {
  const outputs = logits.map((_, k) => k), texts = sides.map(({ read }) => read);
  const words = texts.map((side) => side.map(() => outputs.map(() => 0))), joint = [];
  let start = outputs.map(() => 0);
  const add = (shares) => {
    start = start.map((each, k) => each + shares.start[k]);
    shares.words.forEach((side, number) => side.forEach((row, i) => row.forEach((each, k) => { words[number][i][k] += each; })));
    joint.push(...shares.joint);
  };
  const rest = model.sentence?.rest();
  if (model.wide) add(model.wide.shares(texts));
  if (model.sentence && model.sentence.pairing === "none") add(model.sentence.shares(texts));
  const linear = outputs.map((k) => start[k] + sum(words.flat().map((row) => row[k])));
  const whole = logits.map((each, k) => each - linear[k]);
  const places = texts.flatMap((side, number) => side.map((_, i) => [number, i]));
  if (!places.length || (!model.hasNetwork && !rest))
    return { start: start.map((each, k) => each + whole[k]), words, joint, across: [], choices: 0, run: 1 };
  const [run, player] = playersOf(places), count = player.at(-1) + 1;
  const neighbors = places.length > LONG_TEXT ? [] : places.flatMap(([side], i) => (places[i + 1]?.[0] === side ? [i] : []));
  const asked = choicesOf(count, neighbors), values = [];
  for (const row of asked.keep) {
    values.push(model.logitsOf(sides, places, player.map((each) => row[each])));
    yield;
  }
  let more = 0;
  const found = shapleyOf(count, asked, values, whole, neighbors), sizes = new Array(count).fill(0);
  for (const each of player) sizes[each] += 1;
  places.forEach(([side, i], place) => outputs.forEach((k) => { words[side][i][k] += found.values[player[place]][k] / sizes[player[place]]; }));
  const across = [];
  if (texts.length > 1 && run === 1 && neighbors.length) {
    const { gone, pairs } = acrossOf(places, found.values), answers = new Map();
    for (const out of gone) {
      answers.set(`${out}`, model.logitsOf(sides, places, places.map((_, i) => !out.includes(i))));
      yield;
    }
    for (const [i, j] of pairs) {
      const [one, other, both] = [[i], [j], [i, j]].map((out) => answers.get(`${out}`));
      across.push({ first: places[i][1], second: places[j][1], values: outputs.map((k) => whole[k] - one[k] - other[k] + both[k]) });
    }
    more = gone.length;
  }
  for (const [i, each] of found.joint) joint.push({ side: places[i][0], start: places[i][1], end: places[i][1] + 2, values: each });
  return { start: start.map((each, k) => each + found.start[k]), words, joint, across, choices: values.length + more, run };
}

// The strongest words of each text of a pair, alone and with each of the other text: {gone: places left out, pairs}.
function acrossOf(places, values) {
  const sizes = values.map((row) => (row.length > 1 ? Math.hypot(...row.map((each) => each - sum(row) / row.length)) : Math.abs(row[0])));
  const order = [...places.keys()].sort((a, b) => sizes[b] - sizes[a]);
  const chosen = [0, 1].map((side) => order.filter((i) => places[i][0] === side).slice(0, ACROSS));
  if (chosen.some((side) => !side.length)) return { gone: [], pairs: [] };
  const pairs = chosen[0].flatMap((i) => chosen[1].map((j) => [i, j]));
  return { gone: [...chosen.flat().map((i) => [i]), ...pairs], pairs };
}

// Shares of the logits as contributions to one number: {label, of, values, start, whole, joint, reach, ...}.
function contributionsTo(value, shares, logits) {
  const slope = value.meanGradient(shares.start, logits), dot = (row) => sum(row.map((each, k) => each * slope[k]));
  let values = shares.words.map((side) => side.map(dot)), start = value.value(shares.start);
  const whole = value.value(logits), size = sum(values.flat().map(Math.abs));
  if (size) {
    const missing = whole - start - sum(values.flat());
    values = values.map((side) => side.map((each) => each + (missing * Math.abs(each)) / size));
  } else start = whole;
  const together = new Map();
  for (const { side, start: first, end, values: row } of shares.joint) {
    const key = `${side} ${first} ${end}`;
    together.set(key, { side, start: first, end, value: (together.get(key)?.value ?? 0) + dot(row) });
  }
  const across = shares.across.map(({ first, second, values: row }) => ({ first, second, value: dot(row) }))
    .sort((a, b) => Math.abs(b.value) - Math.abs(a.value)).slice(0, LINKS);
  const { isLogOdds, ends: [least, greatest] } = value;
  const of = isLogOdds ? `log-odds of “${value.label}”` : value.quantity ? `predicted “${value.quantity}”` : "predicted number";
  return {
    label: value.label, of, values, start, whole, isLogOdds, joint: [...together.values()], across, choices: shares.choices,
    run: shares.run, reach: isLogOdds ? REACH : (greatest - least) / 4 || 1,
  };
}

// How strong what words do together is at least where it is shown.
const leastOf = ({ values, isLogOdds }) => Math.max(SHARE * Math.max(0, ...values.flat().map(Math.abs)), isLogOdds ? LEAST : 1e-12);

// The words that are shown together, the strongest first; no word is in two of them.
function phrasesOf({ values, joint, isLogOdds }) {
  const least = leastOf({ values, isLogOdds });
  const taken = new Set(), found = [];
  for (const each of [...joint].sort((a, b) => Math.abs(b.value) - Math.abs(a.value))) {
    const places = Array.from({ length: each.end - each.start }, (_, i) => `${each.side} ${each.start + i}`);
    if (Math.abs(each.value) < least || places.some((place) => taken.has(place)) || found.length >= PHRASES) continue;
    found.push(each);
    places.forEach((place) => taken.add(place));
  }
  return found;
}

// The lines of the picture, which add up: [{kind, name, value, joint}].
function linesOf(said, sides) {
  const named = (name, side) => (sides.length === 1 ? name : `${name} (${sides[side].name})`);
  const phrases = phrasesOf(said), within = new Set(phrases.flatMap(({ side, start, end }) =>
    Array.from({ length: end - start }, (_, i) => `${side} ${start + i}`)));
  const lines = phrases.map(({ side, start, end, value }) => ({
    kind: "phrase", name: named(sides[side].words.slice(start, end).join(" "), side), joint: value,
    value: sum(said.values[side].slice(start, end)),
  }));
  said.values.forEach((values, side) => values.forEach((value, i) => {
    if (!within.has(`${side} ${i}`)) lines.push({ kind: "word", name: named(sides[side].words[i], side), value });
  }));
  lines.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const first = lines.slice(0, SHOWN), shown = first.filter(({ value }) => Math.abs(value) >= NOTHING);
  const rest = [...first.filter(({ value }) => Math.abs(value) < NOTHING), ...lines.slice(SHOWN)];
  if (rest.length)
    shown.push({ kind: "others", name: `${rest.length} other word${rest.length > 1 ? "s" : ""}`, value: sum(rest.map(({ value }) => value)) });
  shown.push({ kind: "base", name: "base, without words", value: said.start });
  return [...shown, { kind: "sum", name: said.of, value: said.whole }];
}

// The size of a contribution with the longest bar: that of the darkest color, or a larger one where there is one.
const longestBar = (lines, reach) => Math.max(reach, ...lines.filter(({ kind }) => kind !== "sum").map(({ value }) => Math.abs(value)));
