// What happens as one types: the answer, the text with its weights, and the pictures.

const MOST_MAPS = 12;  // more are not drawn while one types, but the last ones
const at = (id) => document.getElementById(id);
const percent = (share) => `${Math.round(100 * share)} %`;

function bar(share) {
  const inner = element("i");
  inner.style.width = `${(100 * Math.min(Math.max(share, 0), 1)).toFixed(1)}%`;
  return element("span", { class: "track-box" }, inner);
}

// The probabilities as a table; of classes the most probable first.
function answerTable({ label, probabilities, score }) {
  if (!probabilities.length) return "";
  const shown = score === null ? [...probabilities].sort((a, b) => b.probability - a.probability) : probabilities;
  const rows = shown.map(({ label: name, probability }) =>
    element("tr", name === label ? { class: "best" } : {}, element("td", {}, oneLine(name)),
      element("td", { class: "bar" }, bar(probability)), element("td", { class: "r" }, probability.toFixed(2))));
  const head = element("tr", {}, element("th", {}, score === null ? "answer" : "grade"), element("th"),
    element("th", {}, "probability"));
  return element("table", {}, head, ...rows);
}

// A text, its words shaded by their weights.
function reading({ text, words, spans, unknown, weights, truncated, name }) {
  const parts = [], largest = Math.max(...(weights ?? []), 0), numbered = heaviest(weights);
  let place = 0;
  spans.forEach(([start, end], i) => {
    parts.push(visibleText(text.slice(place, start)));
    const shadeOf = weights && largest > 0 ? Math.round(((LEVELS - 1) * weights[i]) / largest) : 0;
    const tips = [weights && `weight ${weights[i].toFixed(3)}`, unknown[i] && "not in the vocabulary"].filter(Boolean);
    const word = element("bdi", { class: `w t${shadeOf}${unknown[i] ? " unknown" : ""}`, title: tips.join(", ") },
      visibleText(text.slice(start, end)));
    if (numbered.has(i)) word.dataset.w = Math.round(100 * weights[i]);
    parts.push(word);
    place = end;
  });
  const rest = visibleText(text.slice(place));
  parts.push(truncated ? element("span", { class: "unread", title: "not read" }, rest) : rest);
  const body = words.length ? parts : [element("span", { class: "muted" }, "(no words)")];
  const size = words.length > LONG ? "read long" : "read";
  const title = element("p", { class: "eyebrow" }, `Words of the ${name}`);
  return [title, element("p", { class: size, lang: "", dir: "auto" }, ...body)];
}

// The words whose weight is written below them: the heaviest quarter, at least three.
function heaviest(weights) {
  if (!weights || weights.length > LONG) return new Set();
  const order = Array.from(weights.keys()).sort((a, b) => weights[b] - weights[a]);
  return new Set(order.slice(0, Math.max(3, Math.floor(weights.length / 4))).filter((i) => weights[i] >= 0.005));
}

function remarks({ sides }) {
  return sides.flatMap(({ name, truncated, words, count, unknown }) => {
    const missing = unknown.filter(Boolean).length;
    return [
      ...(truncated ? [`Of the ${name}, the first ${words.length} of ${count} words were read.`] : []),
      ...(missing ? [`${missing} of ${words.length} words of the ${name} not in the vocabulary (dotted).`] : []),
    ];
  });
}

function linkTable(title, links, arrow) {
  const rows = links.map(({ word, seen, weight, map }) =>
    element("tr", {},
      element("td", {}, element("bdi", {}, element("b", {}, shorten(oneLine(word), 24))),
        element("span", { class: "arrow" }, arrow), element("bdi", {}, shorten(oneLine(seen), 24))),
      element("td", { class: "bar" }, bar(weight)), element("td", { class: "r" }, weight.toFixed(2)),
      element("td", { class: "muted" }, map)));
  const head = ["link", "", "weight", "map"].map((name) => element("th", {}, name));
  return element("div", {}, element("h3", {}, title), element("table", {}, element("tr", {}, ...head), ...rows));
}

// What the shades of maps mean.
function shades() {
  return element("div", { class: "key" }, "attention weight", scaleBar(), "empty: no weight");
}

function figure(title, note, svg) {
  const scrolled = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title }, svg);
  const caption = element("figcaption", {}, element("h3", {}, title), element("p", { class: "note" }, note));
  return element("figure", {}, caption, scrolled);
}

// Everything inside one text: maps, gates and weights; nothing where there is nothing to draw. prefix: what stands
// before the words, though it is not in the text.
function inside(side, prefix) {
  const { words, maps, gates, weights, name } = side, chosen = focus(side);
  if (!words.length || !(maps.length || gates.length || weights)) return null;
  const shown = maps.slice(-MOST_MAPS).map(({ name: title, weights: map }) => {
    const places = [...prefix.keys(), ...chosen.map((i) => i + prefix.length)];
    const names = [...prefix, ...chosen.map((i) => words[i])];
    const weight = (i, j) => map.data[places[i] * map.cols + places[j]];
    const note = "Each row is a word, each column a word it looks at.";
    return figure(`Attention, ${title}`, note, heatMap(names, names, weight, `Attention ${title}, ${name}`, "←"));
  });
  const fitting = gates.filter(({ means }) => means.length === words.length).slice(-MOST_MAPS)
    .map((gate) => ({ ...gate, means: chosen.map((i) => gate.means[i]) }));
  const note = (fitting.length ? "Gate 1: the word keeps its own meaning; 0: it takes its context. " : "")
    + (weights ? "Weight: the share of the word in the vector of the text." : "");
  if (fitting.length || weights) {
    const bars = wordBars(chosen.map((i) => words[i]), fitting, weights && chosen.map((i) => weights[i]),
      `gates and weights, ${name}`);
    shown.push(figure("Word by word", note, bars));
  }
  const few = `The pictures show the ${chosen.length} of ${words.length} words that matter most; rows need not sum to 1.`;
  return element("section", {}, element("h2", {}, `Inside the ${name}`),
    chosen.length < words.length ? element("p", { class: "warn" }, few) : null,
    maps.length ? shades() : null, element("div", { class: "panels" }, ...shown));
}

function links({ sides, alignments }, prefix) {
  const tables = sides.filter(({ maps, words }) => maps.length && words.length > 1)
    .map((side) => linkTable(`within the ${side.name}`, strongestLinks(side, prefix.length), "←"));
  for (const { name, weights, rows, columns } of alignments.slice(0, 1)) {
    const pairs = rows.flatMap((word, i) =>
      columns.map((seen, j) => ({ word, seen, weight: row(weights, i)[j], map: "", i, j })));
    const found = pairs.filter(({ i, j }) => Math.min(i, j) >= prefix.length);
    tables.unshift(linkTable(name, found.sort((a, b) => b.weight - a.weight).slice(0, 6), "↔"));
  }
  if (!tables.length) return null;
  const note = "The weights that stand out most above an even spread over the words that may be seen.";
  return element("section", {}, element("h2", {}, "Strongest links"), element("p", { class: "note" }, note),
    element("div", { class: "pair" }, ...tables));
}

function aligned({ alignments }) {
  if (!alignments.length || alignments.some(({ weights: { rows, cols } }) => Math.max(rows, cols) > LONG)) return null;
  const figures = alignments.map(({ name, weights, rows, columns }) =>
    figure(name, "Rows are words of the first text, columns words of the second.",
      heatMap(rows, columns, (i, j) => weights.data[i * weights.cols + j], name, "↔")));
  return element("section", {}, element("h2", {}, "Between the texts"), shades(),
    element("div", { class: "panels" }, ...figures));
}

function show(answer, { prefix }) {
  const { label, score, probabilities, sides } = answer;
  const own = probabilities.find((each) => each.label === label), best = own?.probability ?? 0;
  const [what, how] = score === null
    ? [oneLine(label), percent(best)]
    : probabilities.length ? [`score ${score.toFixed(2)}`, `on a scale of 1 to ${probabilities.length}`]
      : [`similarity ${score.toFixed(2)}`, "the cosine of the vectors, at most 1"];
  at("headline").replaceChildren(what, element("small", {}, how));
  const key = sides.some(({ weights, words }) => weights && words.length)
    ? ["The stronger its shade, the larger a word's share of the vector of the text."]
    : [];
  if (sides.some(({ weights }) => heaviest(weights).size)) key.push("Numbers: the largest shares, in percent.");
  const notes = [...key, ...remarks(answer)].map((note) => element("p", { class: "note" }, note));
  at("probabilities").replaceChildren(answerTable(answer));
  at("reading").replaceChildren(...sides.flatMap(reading), ...notes);
  const within = sides.map((side) => inside(side, prefix));
  at("pictures").replaceChildren(...[links(answer, prefix), aligned(answer), ...within].filter(Boolean));
}

function clear() {
  at("headline").replaceChildren(element("span", { class: "muted" }, "Type a text"));
  for (const id of ["probabilities", "reading", "pictures"]) at(id).replaceChildren();
}

function trouble(text) {
  at("trouble").textContent = text;
  at("trouble").hidden = !text;
}

function fields(model) {
  const made = model.sides.map((name, number) => {
    const settings = { rows: "2", dir: "auto", spellcheck: "false", autocomplete: "off" };
    const box = element("textarea", { id: `text${number}`, ...settings });
    at("fields").append(element("label", { for: box.id }, name), box);
    return box;
  });
  let waiting = 0, said = 0;
  const update = () => {
    waiting = 0;
    const texts = made.map((box) => box.value);
    try {
      trouble("");
      if (texts.every((text) => text.trim() === "")) return clear();
      show(model.predict(texts), model);
    } catch (error) {
      clear();
      trouble(error.message);
    }
    clearTimeout(said);
    said = setTimeout(() => { at("said").textContent = at("trouble").textContent || at("headline").textContent; }, 800);
  };
  at("fields").addEventListener("input", () => { waiting ||= requestAnimationFrame(update); });
  at("fields").addEventListener("submit", (event) => event.preventDefault());
  clear();
  made[0].focus();
}

function bytesOf(id) {
  return Uint8Array.from(atob(at(id).textContent.trim()), (letter) => letter.charCodeAt(0));
}

// What this browser lacks; any other error means that the file is damaged.
class Refused extends Error {}

async function start() {
  const kernels = bytesOf("kernels");
  if (typeof WebAssembly !== "object" || !WebAssembly.validate(kernels))
    throw new Refused("This browser has no WebAssembly SIMD, which the page computes with. Open it in a newer one.");
  if (typeof DecompressionStream !== "function")
    throw new Refused("This browser has no DecompressionStream, which unpacks the model. Open it in a newer browser.");
  const model = await Model.open(kernels, at("model").textContent.trim());
  at("model").remove();
  at("about").textContent = model.facts;
  fields(model);
  return model;
}

// For the console and for tests: await heedful, then model.predict(["a text"]).
globalThis.heedful = start();
globalThis.heedful.catch((error) => {
  at("headline").replaceChildren("The model cannot run here");
  trouble(error instanceof Refused ? error.message : `This file is damaged: ${error.message}`);
});
