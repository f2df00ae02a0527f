// Texts with colored words, lists, counts and the learning curve. Everything is set as text, never as HTML.
"use strict";

export function made(name, text = "", cls = "") {
  const element = document.createElement(name);
  if (text !== "") element.textContent = text;
  if (cls) element.className = cls;
  return element;
}

export const percent = (share) => `${Math.round(100 * share)} %`;

// Controls, and what turns letters around (U+202E): their number is seen in their place, and they turn nothing.
const HIDDEN = /([\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb])/u;

// A text as an element. What is hidden stays a part of it, so that places in it are those of the text.
export function quoted(name, text, cls = "") {
  const element = made(name, "", cls);
  for (const [number, piece] of text.split(HIDDEN).entries()) {
    const part = number % 2 ? made("span", piece, "code") : piece;
    if (number % 2) part.dataset.code = `⟨U+${piece.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
    element.append(part);
  }
  return element;
}

// Places from the server count characters; a string of JavaScript counts some of them twice.
export function characters(text) { return Array.from(text); }

export function colored(text, words = []) {
  const letters = characters(text), paragraph = made("p");
  paragraph.dir = "auto";
  let from = 0;
  for (const [start, end, level] of words) {
    if (start < from) continue;
    paragraph.append(...quoted("p", letters.slice(from, start).join("")).childNodes);
    paragraph.append(quoted("mark", letters.slice(start, end).join(""), level > 0 ? `p${level}` : `n${-level}`));
    from = end;
  }
  paragraph.append(...quoted("p", letters.slice(from).join("")).childNodes);
  return paragraph;
}

const SVG = "http://www.w3.org/2000/svg";
function svg(name, attributes, text = "") {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
}

export function said(point, isNumber) {
  const show = isNumber ? (x) => x.toPrecision(2) : percent;
  return `${show(point.value)} (${show(point.low)} to ${show(point.high)})`;
}

// The last measured points of random texts with their 95 % intervals, over the number of labels.
export function curve(points, isNumber) {
  const width = 360, height = 170, left = 44, right = 10, top = 12, bottom = 26;
  const last = points[points.length - 1];
  const figure = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  figure.setAttribute("aria-label", `Learning curve: ${points.length} points, the last ${said(last, isNumber)} with ${last.labels} labels`);
  const most = isNumber ? Math.max(...points.map((each) => each.high)) || 1 : 1;
  const first = points[0].labels, span = Math.max(1, last.labels - first);
  const x = (each) => left + ((each.labels - first) / span) * (width - left - right);
  const y = (value) => top + (1 - value / most) * (height - top - bottom);
  for (const share of [0, 0.5, 1]) {
    figure.append(svg("line", { x1: left, x2: width - right, y1: y(share * most), y2: y(share * most), class: "rule" }));
    figure.append(svg("text", { x: left - 6, y: y(share * most) + 4, "text-anchor": "end" }, isNumber ? (share * most).toPrecision(2) : percent(share)));
  }
  const line = (values) => values.map((each) => each.join(",")).join(" ");
  const upper = points.map((each) => [x(each), y(each.high)]), lower = points.map((each) => [x(each), y(each.low)]).reverse();
  figure.append(svg("polygon", { points: line([...upper, ...lower]), class: "band" }));
  figure.append(svg("polyline", { points: line(points.map((each) => [x(each), y(each.value)])), class: "line" }));
  figure.append(svg("circle", { cx: x(last), cy: y(last.value), r: 4, class: "dot" }));
  figure.append(svg("text", { x: left, y: height - 8 }, `${first} labels`), svg("text", { x: width - right, y: height - 8, "text-anchor": "end" }, `${last.labels} labels`));
  return figure;
}

export function counts(table, found) {
  const most = Math.max(1, ...found.map(([, count]) => count));
  table.replaceChildren(...found.map(([name, count]) => {
    const row = made("tr"), bar = made("td", "", "bar"), box = made("span", "", "track-box"), fill = made("i");
    fill.style.width = `${(100 * count) / most}%`;
    box.append(fill);
    bar.append(box);
    row.append(made("td", name), bar, made("td", count.toLocaleString("en"), "r"));
    return row;
  }));
}
