// What happens as one types: the answer, the text with its weights, and the pictures.

const MOST_MAPS = 12;  // more are not drawn while one types, but the last ones
const at = (id) => document.getElementById(id);
const percent = (share) => (share > 0.9995 ? "> 99.9 %" : share < 0.0005 ? "< 0.1 %" : `${(100 * share).toFixed(1)} %`);
const FEW = 5;  // further classes that are not folded away
const SIGNED = 6, REST = 24, PAUSE = 120;  // shades; milliseconds of work between rests; and before contributions
const signedNumber = (value) => (Math.abs(value) < 0.005 ? "0.00" : `${value > 0 ? "+" : "-"}${Math.abs(value).toFixed(2)}`);
const signedLevel = (value, reach) => Math.round(SIGNED * Math.max(-1, Math.min(1, value / reach)));

function bar(share) {
  const inner = element("i");
  inner.style.width = `${(100 * Math.min(Math.max(share, 0), 1)).toFixed(1)}%`;
  return element("span", { class: "track-box" }, inner);
}

// The probabilities as a table; of classes the most probable first.
function answerTable({ label, chosen, probabilities, score }) {
  if (!probabilities.length) return "";
  const shown = score === null ? [...probabilities].sort((a, b) => b.probability - a.probability) : probabilities;
  const rows = shown.map(({ label: name, probability }) =>
    element("tr", name === label || chosen?.includes(name) ? { class: "best" } : {}, element("td", {}, oneLine(name)),
      element("td", { class: "bar" }, bar(probability)), element("td", { class: "r" }, percent(probability))));
  const head = element("tr", {}, element("th", {}, chosen ? "label" : score === null ? "answer" : "grade"), element("th"),
    element("th", { class: "r" }, "probability"));
  if (rows.length <= 6) return element("table", {}, head, ...rows);
  const folded = element("details", {}, element("summary", {}, `${rows.length - 5} more`), element("table", {}, ...rows.slice(5)));
  return element("div", {}, element("table", {}, head, ...rows.slice(0, 5)), folded);
}

// What each word contributes, as lines that add up.
function contributionTable(said, sides) {
  const lines = linesOf(said, sides), longest = longestBar(lines, said.reach);
  const rows = lines.map(({ kind, name, value, joint }) => {
    const cell = element("td", {}, element("bdi", {}, shorten(oneLine(name), 60)));
    if (joint !== undefined) cell.append(" ", element("span", { class: "muted" }, `together ${signedNumber(joint)}`));
    const share = said.probability === undefined ? "" : percent(said.probability);
    const odds = !share ? "" : /^\d/.test(share) ? ` = ${share}` : `, ${share}`;
    if (kind === "sum")
      return element("tr", { class: "sum" }, cell, element("td", { class: "r", colspan: "2" }, `${signedNumber(value)}${odds}`));
    const inner = element("i", { class: value >= 0 ? "for" : "against" }), width = (50 * Math.abs(value)) / longest;
    inner.style.width = `${width}%`;
    inner.style.left = `${value >= 0 ? 50 : 50 - width}%`;
    return element("tr", kind === "word" || kind === "phrase" ? {} : { class: "soft" }, cell,
      element("td", { class: "bar" }, element("span", { class: "track-box signed" }, inner)),
      element("td", { class: "r" }, signedNumber(value)));
  });
  const head = element("tr", {}, element("th", {}, "word"), element("th"),
    element("th", { class: "r" }, said.isLogOdds ? "log-odds" : "change"));
  const table = element("table", { class: "signed" }, head, ...rows);
  const note = `The longest bar stands for ${+longest.toPrecision(3)}.`;
  return element("div", {}, table, longest > said.reach ? element("p", { class: "note" }, note) : null, acrossTable(said, sides));
}

// The words of both texts of a pair that count together; null where none do.
function acrossTable(said, sides) {
  const found = said.across.filter(({ value }) => Math.abs(value) >= leastOf(said));
  if (!found.length) return null;
  const rows = found.map(({ first, second, value }) => element("tr", {},
    element("td", {}, element("bdi", {}, shorten(oneLine(sides[0].words[first]), 24)), " ↔ ",
      element("bdi", {}, shorten(oneLine(sides[1].words[second]), 24))),
    element("td", { class: "r" }, signedNumber(value))));
  const head = element("tr", {}, element("th", {}, "words of both texts"), element("th", { class: "r" }, "together"));
  const note = "What words of both texts add only together; their numbers above share it already.";
  return element("div", {}, element("table", { class: "signed" }, head, ...rows), element("p", { class: "note" }, note));
}

const whyTitle = ({ isLogOdds, label, of }, answered) =>
  isLogOdds ? `${answered ? "Why" : "Why not"} “${shorten(oneLine(label), 60)}”` : `What raises and what lowers the ${of}`;

function contributionSection([first, ...others], { sides, chosen }) {
  const how = first.choices ? `computed from ${first.choices} choices of the words` : "exact";
  const meaning = first.isLogOdds ? "Above 0 a word speaks for the answer, below 0 against it."
    : "Above 0 a word raises the number, below 0 it lowers it.";
  const note = `Each number is how much the word changes the ${first.of} (${how}). ${meaning} With the base everything adds up.`;
  const folded = (others.length > 1 || chosen ? others : []).map((said) => element("details", {},
    element("summary", {}, `${whyTitle(said, chosen?.includes(said.label))}? ${percent(said.probability)}`),
    contributionTable(said, sides)));
  if (folded.length > FEW) {
    const rest = folded.splice(FEW);
    folded.push(element("details", {}, element("summary", {}, `${rest.length} more`), ...rest));
  }
  return element("section", {}, element("h2", {}, whyTitle(first, chosen?.includes(first.label) ?? true)), contributionTable(first, sides),
    element("p", { class: "note" }, note), ...folded);
}

// A text, its words colored by what they contribute, once that is known.
function reading({ text, words, spans, unknown, truncated, name }, said, side) {
  const parts = [], frames = new Map((said ? phrasesOf(said) : []).filter((each) => each.side === side)
    .map(({ start, end }) => [start, end]));
  let place = 0, frame = null, last = 0;
  spans.forEach(([start, end], i) => {
    (frame ?? { append: (each) => parts.push(each) }).append(visibleText(text.slice(place, start)));
    if (frames.has(i)) [frame, last] = [element("span", { class: "together" }), frames.get(i)];
    const value = said?.values[side][i] ?? 0, shadeOf = said ? signedLevel(value, said.reach) : 0;
    const tips = [said && `contribution ${signedNumber(value)}`, unknown[i] && "unknown to the model"].filter(Boolean);
    const kind = shadeOf > 0 ? `p${shadeOf}` : shadeOf < 0 ? `n${-shadeOf}` : "z";
    const word = element("bdi", { class: `w ${kind}${unknown[i] ? " unknown" : ""}`, title: tips.join(", ") },
      visibleText(text.slice(start, end)));
    if (frame) frame.append(word);
    else parts.push(word);
    if (frame && i + 1 === last) {
      parts.push(frame);
      frame = null;
    }
    place = end;
  });
  const rest = visibleText(text.slice(place));
  parts.push(truncated ? element("span", { class: "unread", title: "not read" }, rest) : rest);
  const body = words.length ? parts : [element("span", { class: "muted" }, "(no words)")];
  const size = words.length > LONG ? "read long" : "read";
  const title = element("p", { class: "eyebrow" }, `Words of the ${name}`);
  return [title, element("p", { class: size, lang: "", dir: "auto" }, ...body)];
}

function remarks({ sides }) {
  return sides.flatMap(({ name, truncated, words, count, unknown }) => {
    const missing = unknown.filter(Boolean).length;
    return [
      ...(truncated ? [`Of the ${name}, the first ${words.length} of ${count} words were read.`] : []),
      ...(missing ? [`${missing} of ${words.length} words of the ${name} unknown to the model (dotted); what they contribute comes from their letters and from where they stand.`] : []),
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
  if (!words.length || !(maps?.length || gates?.length || weights)) return null;
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
  const tables = sides.filter(({ maps, words }) => maps?.length && words.length > 1)
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

// What a model of tags says: the spans, and every word with its tag.
function tagTables({ tags, spans }) {
  const cell = (text, kind = {}) => element("td", kind, element("bdi", {}, shorten(oneLine(text), 60)));
  const table = (names, rows) => element("table", {},
    element("tr", {}, ...names.map((name) => element("th", name === "probability" ? { class: "r" } : {}, name))), ...rows);
  const marked = spans.map(({ role, start, end }) =>
    element("tr", {}, cell(tags.slice(start, end).map(({ word }) => word).join(" ")), cell(role)));
  const rows = tags.map(({ word, tag, probability }) => element("tr", tag === OUTSIDE ? { class: "soft" } : {},
    cell(word), cell(tag), element("td", { class: "r" }, percent(probability))));
  const all = table(["word", "tag", "probability"], rows);
  if (!marked.length) return all;
  return element("div", {}, table(["span", "kind"], marked), element("h3", {}, "Word by word"), all);
}

// The headline: what is answered, and how sure it is.
function headline({ label, chosen, score, probabilities, parents, tags, spans, strange }, model) {
  if (tags && !model.paths.marksSpans) return [`${tags.length} tags`, "one a word"];
  if (tags) return [`${spans.length} span${spans.length === 1 ? "" : "s"}`, [...new Set(spans.map(({ role }) => role))].join(", ")];
  if (chosen) return [chosen.map(oneLine).join(", ") || "no label", `${chosen.length} of ${probabilities.length} labels`];
  const [least, greatest] = model.range.map((each) => each.toFixed(2)), quantity = shorten(oneLine(model.quantity || "score"), 40);
  if (model.kind === "number") return [`${quantity} ${score.toFixed(2)}`, `numbers of training: ${least} to ${greatest}`];
  if (strange?.rejected) return [oneLine(label), standingOf(strange)];
  if (score === null) return [oneLine(label), percent(parents?.[label] ?? probabilities.find((each) => each.label === label)?.probability ?? 0)];
  if (probabilities.length) return [`${quantity} ${score.toFixed(2)}`, `on a scale of 1 to ${probabilities.length}`];
  return [`similarity ${score.toFixed(2)}`, "the cosine of the vectors, at most 1"];
}

// The parents of classes that are paths, each with the sum of its classes.
function parentTable({ label, parents }) {
  const rows = Object.entries(parents).map(([name, share]) => element("tr", name === label ? { class: "best" } : {}, element("td", {}, oneLine(name)),
    element("td", { class: "bar" }, bar(share)), element("td", { class: "r" }, percent(share))));
  const head = element("tr", {}, element("th", {}, "parent"), element("th"), element("th", { class: "r" }, "probability"));
  return element("table", {}, head, ...rows);
}

// The set or the interval that is promised, and what the promise is.
function promiseOf({ set, interval }, { coverage, sentence }) {
  const what = set ? `Set: ${set.map(oneLine).join(", ") || "no label"}` : `Interval: ${interval.map((end) => end.toPrecision(4)).join(" to ")}`;
  return element("details", {}, element("summary", {}, `${what} (${coverage} promised)`), element("p", { class: "note" }, `${sentence}.`));
}

const standingOf = ({ share }) => (share >= 1 ? "more unlike than all known texts" : `more unlike than ${percent(share).replace("> ", "over ").replace("< ", "under ")} of known texts`);

// Why a text fits no class, or why it does: what each sign of an unknown kind of text adds to the score.
function strangeness({ rejected, score, share, threshold, label, nearest, parts, fresh }) {
  const line = (name, value, kind) => element("tr", { class: kind }, element("td", {}, name), element("td", { class: "r" }, signedNumber(value)));
  const head = element("tr", {}, element("th", {}, "sign"), element("th", { class: "r" }, "adds"));
  const table = element("table", { class: "signed" }, head, ...parts.map(([name, value]) => line(name, value, "")),
    line(`score; a class is answered up to ${threshold.toFixed(2)}`, score, "sum"));
  const few = fresh.slice(0, 8).map((word) => shorten(oneLine(word), 30)).join(", ");
  const words = few ? `these words are new: ${few}${fresh.length > 8 ? " ..." : ""}` : "no word is new";
  const what = rejected ? `Why “${oneLine(label)}”: unlike all training texts` : `Why not “${oneLine(label)}”? It is like training texts`;
  const note = `${standingOf({ share })}; ${words}. Nearest class: ${oneLine(nearest)}.`;
  return element("details", rejected ? { open: "" } : {}, element("summary", {}, what), element("p", { class: "note" }, note), table);
}

function show(answer, model) {
  const { sides } = answer, [what, how] = headline(answer, model);
  at("headline").replaceChildren(what, element("small", {}, how));
  const within = model.hasNetwork ? sides.map((side) => inside(side, model.prefix)) : [];
  const pictures = [model.hasNetwork ? links(answer, model.prefix) : null, aligned(answer), ...within].filter(Boolean);
  at("probabilities").replaceChildren(answer.tags ? tagTables(answer) : answerTable(answer));
  if (answer.parents) at("probabilities").append(parentTable(answer));
  if (model.sets) at("probabilities").append(promiseOf(answer, model.sets));
  if (answer.strange) at("probabilities").append(strangeness(answer.strange));
  at("contributions").replaceChildren();
  showWords(answer);
  const summary = element("summary", {}, "Inside the network: attention, gates and links");
  const open = at("pictures").querySelector("details")?.open ?? !explains(model);
  const folded = element("details", open ? { open: "" } : {}, summary, ...pictures);
  at("pictures").replaceChildren(...(pictures.length ? [element("section", {}, folded)] : []));
}

// The texts, colored by what their words contribute where that is known.
function showWords(answer, said = null) {
  const key = said ? [`Blue ${said.isLogOdds ? "speaks for the answer, orange against it" : "raises, orange lowers"}. `
    + `The darkest shade is a change of ${said.reach} or more.`] : [];
  const notes = [...key, ...remarks(answer)].map((note) => element("p", { class: "note" }, note));
  at("reading").replaceChildren(...answer.sides.flatMap((side, number) => reading(side, said, number)), ...notes);
}

// Works out what each word contributes, with rests in between; `current` says whether the answer is still asked for.
async function showContributions(model, answer, current) {
  const steps = model.contributions(answer);
  let step = steps.next(), since = performance.now();
  while (!step.done) {
    if (performance.now() - since > REST) {
      await new Promise((resolve) => { setTimeout(resolve); });
      if (!current()) return;
      since = performance.now();
    }
    step = steps.next();
  }
  showWords(answer, step.value[0]);
  at("contributions").replaceChildren(contributionSection(step.value, answer));
}

function clear(texts) {
  at("headline").replaceChildren(element("span", { class: "muted" }, texts > 1 ? "Type two texts" : "Type a text"));
  for (const id of ["probabilities", "reading", "contributions", "pictures"]) at(id).replaceChildren();
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
  let waiting = 0, said = 0, pause = 0, number = 0;
  const update = () => {
    waiting = 0;
    clearTimeout(pause);
    const own = (number += 1);
    const texts = made.map((box) => box.value);
    try {
      trouble("");
      if (texts.every((text) => text.trim() === "")) return clear(made.length);
      const answer = model.predict(texts);
      show(answer, model);
      if (explains(model))
        pause = setTimeout(() => showContributions(model, answer, () => own === number), PAUSE);
    } catch (error) {
      clear(made.length);
      trouble(error.message);
    }
    clearTimeout(said);
    said = setTimeout(() => { at("said").textContent = at("trouble").textContent || at("headline").textContent; }, 800);
  };
  at("fields").addEventListener("input", () => { waiting ||= requestAnimationFrame(update); });
  at("fields").addEventListener("submit", (event) => event.preventDefault());
  clear(made.length);
  made[0].focus();
}

async function start() {
  const model = await openModel(fromBase64(at("model").textContent.trim()));
  at("model").remove();
  at("about").textContent = model.facts;
  fields(model);
  return model;
}

// For the console and for tests: await heedful, then model.predict(["a text"]).
globalThis.heedful = start();
globalThis.heedful.catch((error) => {
  at("headline").replaceChildren("The model cannot run here");
  trouble(error instanceof ModelError ? error.message : `This file is damaged: ${error.message}`);
});
