// The pictures: heat maps and bars as SVG, in the look of the pages that heedful explain writes. Every text of the
// reader reaches the page as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";
const LEVELS = 16, ANGLE = Math.PI / 3, BAR = 92, LABEL_CELLS = 16, NUMBERS_UP_TO = 14, LONG = 60, KEPT = 40;
const STANDS_OUT = 0.02;  // a link whose weight exceeds an even spread by less is not worth naming
const HIDDEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb]|\p{Cs}/gu;
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{3fffd}]/u;
const NARROW = /[\p{Mn}\p{Me}\p{Cf}]/u;

// Shows controls and direction overrides instead of obeying them.
function visibleText(text) {
  const code = (character) => character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
  return text.replace(/\r\n?/g, "\n").replace(HIDDEN, (character) => `⟨U+${code(character)}⟩`);
}

const oneLine = (text) => visibleText(text).replace(/[\n\t]/g, " ");
const cellsOf = (text) => sum(Array.from(text, (c) => (NARROW.test(c) ? 0 : WIDE.test(c) ? 2 : 1)));

function shorten(text, width) {
  if (cellsOf(text) <= width) return text;
  let kept = "";
  for (const character of text) {
    if (cellsOf(kept + character) > width - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

// An element with attributes and children; strings become text.
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, setting] of Object.entries(attributes)) made.setAttribute(key, setting);
  made.append(...children.filter((child) => child !== null));
  return made;
}

function drawn(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, setting] of Object.entries(attributes))
    made.setAttribute(key, typeof setting === "number" ? Number(setting.toFixed(2)) : setting);
  made.append(...children);
  return made;
}

const tip = (text) => drawn("title", {}, oneLine(text));
const shade = (weight) => Math.sqrt(Math.min(Math.max(weight, 0), 1));
const level = (weight) => (weight <= 0 ? 0 : Math.max(1, Math.round(shade(weight) * (LEVELS - 1))));
const cellNumber = (weight) =>
  weight < 0.005 ? "" : weight >= 0.995 ? "1" : weight.toFixed(2).replace(/^0/, "");

// Sizes in pixels for so many words of this length.
function geometryOf(rows, columns) {
  const n = Math.max(rows.length, columns.length, 1);
  const steps = [[6, 40], [9, 35], [12, 30], [16, 25], [22, 20], [30, 16], [42, 12.5]];
  const cell = steps.find(([most]) => n <= most)?.[1] ?? 11, font = Math.min(13, Math.max(8.5, cell * 0.8));
  const width = (words) =>
    Math.max(0, ...words.map((word) => Math.min(cellsOf(oneLine(word)), LABEL_CELLS))) * font * 0.58;
  return {
    cell, font, label: width(rows) + 10, header: Math.max(width(columns) * Math.sin(ANGLE) + font + 8, 34),
    overhang: Math.max(width(columns.slice(-1)) * Math.cos(ANGLE), 4),
  };
}

function picture(width, height, name, children) {
  const size = { width: Math.ceil(width), height: Math.ceil(height) };
  const box = `0 0 ${size.width} ${size.height}`;
  return drawn("svg", { role: "img", "aria-label": oneLine(name), ...size, viewBox: box }, ...children);
}

function label(word, attributes) {
  const shown = shorten(oneLine(word), LABEL_CELLS), made = drawn("text", attributes, shown);
  if (shown !== word) made.append(tip(word));
  return made;
}

function rowLabels(words, g) {
  return words.map((word, i) => label(word, {
    class: "label", x: g.label - 7, y: g.header + (i + 0.5) * g.cell + g.font * 0.34, "font-size": g.font,
  }));
}

// Weights in 0..1 as a grid; an exact zero leaves its cell empty. at(i, j) gives a weight.
function heatMap(rows, columns, at, name, arrow) {
  const g = geometryOf(rows, columns), numbers = Math.max(rows.length, columns.length) <= NUMBERS_UP_TO;
  const grid = { width: columns.length * g.cell, height: rows.length * g.cell };
  const parts = [drawn("rect", { class: "frame", x: g.label, y: g.header, ...grid }), ...rowLabels(rows, g)];
  columns.forEach((word, j) => {
    const place = `${(g.label + (j + 0.5) * g.cell + g.font * 0.2).toFixed(2)} ${(g.header - 5).toFixed(2)}`;
    parts.push(label(word, { class: "top", transform: `translate(${place}) rotate(-60)`, "font-size": g.font }));
  });
  rows.forEach((word, i) => {
    const middle = g.header + (i + 0.5) * g.cell;
    if (grid.width >= 90 && !columns.some((_, j) => at(i, j) > 0)) {
      const where = { x: g.label + grid.width / 2, y: middle + g.font * 0.33, "font-size": Math.min(11, g.font) };
      parts.push(drawn("text", { class: "none", ...where }, "sees no word"));
    }
    columns.forEach((seen, j) => {
      const weight = at(i, j);
      if (weight <= 0) return;
      const x = g.label + j * g.cell, y = g.header + i * g.cell, size = g.cell - 1, k = level(weight);
      const cell = drawn("rect", { class: `c${k}`, x: x + 0.5, y: y + 0.5, width: size, height: size });
      const group = drawn("g", {}, tip(`${word} ${arrow} ${seen}: ${weight.toFixed(3)}`), cell);
      if (numbers) {
        const font = Math.min(11.5, g.cell * 0.38), tone = k > LEVELS * 0.55 ? "num hi" : "num";
        const where = { x: x + g.cell / 2, y: y + g.cell / 2 + font * 0.36, "font-size": font };
        group.append(drawn("text", { class: tone, ...where }, cellNumber(weight)));
      }
      parts.push(group);
    });
  });
  return picture(g.label + grid.width + g.overhang, g.header + grid.height + 2, name, parts);
}

// For each word the share that each gate keeps, and its weight in the vector of the text.
function wordBars(words, gates, weights, name) {
  const g = { ...geometryOf(words, words), header: 28 }, parts = rowLabels(words, g);
  const thick = Math.min(g.cell - 3, 15);
  let x = g.label;
  const column = (title, numbers, largest, [full, rest], shown, said) => {
    const head = drawn("text", { class: "head", x, y: g.header - 8 }, shorten(title, 20));
    parts.push(drawn("g", {}, tip(title), head));
    numbers.forEach((number, i) => {
      const y = g.header + (i + 0.5) * g.cell - thick / 2, bar = { x, y, height: thick };
      const share = Math.min(Math.max(number / largest, 0), 1);
      const where = { x: x + BAR + 5, y: y + thick / 2 + g.font * 0.32, "font-size": Math.min(11.5, g.font) };
      parts.push(drawn("g", {}, tip(`${words[i]}${said(number)}`),
        drawn("rect", { class: rest, ...bar, width: BAR }), drawn("rect", { class: full, ...bar, width: BAR * share }),
        drawn("text", { class: "value", ...where }, shown(number))));
    });
    x += BAR + 48;
  };
  const percent = (share) => `${(100 * share).toFixed(1)} %`;
  for (const gate of gates)
    column(`gate ${gate.name}`, gate.means, 1, ["own", "context"], (share) => share.toFixed(2),
      (share) => `, gate ${gate.name}: ${percent(share)} own meaning, ${percent(1 - share)} context`);
  if (weights)
    column("weight", weights, Math.max(...weights, 1e-9), ["weight", "track"], percent,
      (share) => `: ${percent(share)} of the vector of the text`);
  return picture(x, g.header + words.length * g.cell + 2, name, parts);
}

// The color scale of the maps: the shade grows with the square root of the weight.
function scaleBar() {
  const width = 300, steps = LEVELS - 1;
  const boxes = Array.from({ length: steps }, (_, k) =>
    drawn("rect", { class: `c${k + 1}`, x: (k * width) / steps, y: 0, width: width / steps, height: 10 }));
  const ticks = [[0, "start"], [0.05, "middle"], [0.25, "middle"], [0.5, "middle"], [1, "end"]].map(([at, anchor]) =>
    drawn("text", { x: shade(at) * width, y: 23, "text-anchor": anchor, "font-size": 11 }, String(at)));
  const size = { class: "scale", width: 300, height: 26, viewBox: "0 0 300 26", "aria-hidden": "true" };
  return drawn("svg", size, ...boxes, ...ticks);
}

// The words of a text to draw: of a long one the most important, in text order.
function focus({ words, weights, maps }) {
  const all = words.map((_, i) => i);
  if (words.length <= LONG) return all;
  const received = (j) => sum(maps.map((map) => sum(all.map((i) => map.weights.data[i * map.weights.cols + j]))));
  const important = weights ?? all.map(received);
  return all.sort((a, b) => important[b] - important[a] || a - b).slice(0, KEPT).sort((a, b) => a - b);
}

// The links that stand out most above an even spread: [{word, seen, weight, map}].
function strongestLinks({ words, weights, maps }, added, count = 6) {
  const found = [];
  for (const { name, weights: map } of maps)
    for (let i = added; i < map.rows; i += 1) {
      const seen = row(map, i), even = 1 / Math.max(seen.filter((weight) => weight > 0).length, 1);
      for (let j = added; j < map.cols; j += 1)
        if (i !== j && seen[j] - even >= STANDS_OUT)
          found.push({
            word: words[i - added], seen: words[j - added], weight: seen[j], map: name,
            lift: (seen[j] - even) * (weights?.[i - added] ?? 1),
          });
    }
  return found.sort((a, b) => b.lift - a.lift).slice(0, count);
}
