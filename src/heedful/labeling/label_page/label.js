// The labeling page: one text at a time; the next one appears once the label of this one is on the disk.
"use strict";

import { at, call, person } from "./api.js";
import { Classes, Numbers, Several } from "./answers.js";
import { colored, counts, curve, made, quoted, said } from "./drawing.js";
import { Spans } from "./spans.js";

const REASONS = {
  random: "Random text: you see the model's guess after you have labeled it, so that its accuracy is honest",
  uncertain: "The model is uncertain of this text",
  typical: "Stands for many other texts",
  doubtful: "A label that looks wrong: choose it again to keep it, or choose another one",
};
let state = null, text = null, answers = null, last = null, busy = false, queue = [], timer = 0;

function say(message, wrong = false) {
  at("status").textContent = message;
  at("status").classList.toggle("wrong", wrong);
}

// Do one thing at a time: a key that comes while a label is written would go to a text that nobody has read.
async function doing(work) {
  if (busy) return;
  busy = true;
  at("card").setAttribute("aria-busy", "true");
  try {
    await work();
  } catch (error) {
    say(error.message, true);
  }
  busy = false;
  at("card").removeAttribute("aria-busy");
}

const written = (label) => label === "-" ? "none of these" : Array.isArray(label) ? (label.map((each) => Array.isArray(each) ? each[2] : each).join(", ") || "none") : String(label);
const chance = (guess) => guess.probability === null ? "" : ` (${Math.round(100 * guess.probability)} %)`;

function show(found, message = "") {
  if (found.done) {
    text = null;
    at("texts").replaceChildren(made("p", found.skipped ? `Every other text has a label or is on somebody's page. You skipped ${found.skipped}.` : "Every text has a label, or is on somebody's page."));
    for (const id of ["guess", "others", "hint"]) at(id).hidden = true;
    at("answers").replaceChildren();
    answers = null;
    at("why").textContent = "Done";
    return say(message || "There is nothing left to label.");
  }
  text = found;
  answers ??= form();
  at("why").textContent = (found.why === "random" && !state.trained_on ? "Random text" : REASONS[found.why] ?? "Text that you asked for") + (found.row ? ` · row ${found.row}` : "");
  const pieces = found.texts.map((each, place) => colored(each, found.guess?.words[place]));
  at("texts").replaceChildren(...(pieces.length > 1 ? pieces.flatMap((each, place) => [made("h3", place ? "Second text" : "First text"), each]) : pieces));
  at("texts").classList.toggle("long", found.texts.join("").length > 700);
  at("texts").scrollTop = 0;
  at("guess").hidden = !found.guess;
  if (found.guess && state.kind === "spans") at("guess").textContent = found.label === null ? `The model has marked: ${written(found.guess.label)}. Change what is wrong; Enter saves.` : `The model would mark: ${written(found.guess.label)}.`;
  else if (found.guess) at("guess").replaceChildren("The model guesses ", made("b", written(found.guess.label)), `${chance(found.guess)}; `, made("span", "for", "p4"), " and ", made("span", "against", "n4"), " it are colored.");
  const told = found.others.map((each) => `${each.by || "the file"}: ${written(each.label)}`);
  if (found.label !== null) told.unshift(`you: ${written(found.label)}`);
  if (found.doubt) told.push(`models that did not see it: ${found.doubt.suggestion}${found.doubt.against.length ? ` (${found.doubt.against.join(", ")})` : ""}`);
  at("others").hidden = !told.length;
  at("others").textContent = `Labels of this text: ${told.join("; ")}`;
  at("note").value = found.note;
  answers.show(found.label, found.guess, found.texts);
  say(message);
}

function form() {
  const box = at("answers"), answer = (label) => doing(() => save(label));
  at("save").hidden = state.kind === "classes";
  at("none").hidden = state.kind === "number";
  at("hint").hidden = state.kind !== "spans";
  at("hint").textContent = "Select a part with the mouse, or with ← → and Shift; a number key labels it, Backspace removes its label, Enter saves.";
  if (state.kind === "number") return new Numbers(box, state.bounds, answer);
  if (state.kind === "spans") return new Spans(box, state.labels, answer, at("texts"));
  return new (state.kind === "several" ? Several : Classes)(box, state.labels, answer);
}

async function save(label) {
  if (!text) return;
  const reply = await call("label", { texts: text.texts, label, note: at("note").value, seen: text.label, why: text.why || "search" });
  last = reply;
  const guessed = reply.guess && text.why === "random" ? ` The model had guessed ${written(reply.guess.label)}${chance(reply.guess)}.` : "";
  offer(reply);
  await next(`Saved: ${written(reply.label)}.${guessed}`);
}

async function next(message = "") {
  queue = queue.filter((id) => id !== text?.id);
  show(queue.length ? await call("text", { id: queue.shift() }) : await call("next"), message);
  refresh();
}

function offer({ similar, label }) {
  at("similar-box").hidden = !similar.length || state.kind === "spans";
  at("similar-title").textContent = `Like the last one, without a label: ${written(label)} too?`;
  at("similar").replaceChildren(...similar.map((each) => {
    const item = made("li"), line = made("label"), tick = made("input");
    tick.type = "checkbox";
    tick.checked = true;
    tick.value = each.id;
    line.append(tick, quoted("span", each.texts.join(" ↔ "), "short"));
    item.append(line);
    return item;
  }));
}

async function together() {
  const ids = [...at("similar").querySelectorAll("input:checked")].map((each) => each.value);
  if (at("similar-box").hidden || !ids.length) return;
  const { labeled } = await call("together", { ids, label: last.label });
  at("similar-box").hidden = true;
  if (ids.includes(text?.id)) await next(`Saved: ${labeled} texts as ${written(last.label)}.`);
  else { say(`Saved: ${labeled} texts as ${written(last.label)}. U takes them back.`); refresh(); }
}

const actions = {
  none: () => answers?.none?.(),
  save: () => answers?.save?.(),
  skip: () => doing(async () => { if (text) { await call("skip", { id: text.id }); await next("Skipped."); } }),
  undo: () => doing(async () => {
    const found = await call("undo");
    if (found.nothing) return say("There is nothing to take back.");
    at("similar-box").hidden = true;
    answers ??= form();
    show(found, found.undone > 1 ? `Taken back: ${found.undone} labels.` : "Taken back. Choose again, or skip.");
    refresh();
  }),
  together: () => doing(together),
};

function open(id) {
  return doing(async () => { show(await call("text", { id })); at("texts").focus(); });
}

function lines(list, found, tail) {
  list.replaceChildren(...found.map((each) => {
    const item = made("li"), button = made("button");
    button.type = "button";
    button.append(quoted("span", each.texts.join(" ↔ "), "short"), made("small", tail(each)));
    button.addEventListener("click", () => open(each.id));
    item.append(button);
    return item;
  }));
}

const labelsOf = (each) => each.labels.map(({ by, label }) => `${by ? `${by}: ` : ""}${written(label)}`).join("; ") || "no label";

function paint() {
  at("progress").textContent = `${state.labeled.toLocaleString("en")} of ${state.total.toLocaleString("en")} texts`;
  at("bar").max = state.total;
  at("bar").value = state.labeled;
  at("bar").textContent = at("progress").textContent;
  const points = state.curve, point = points[points.length - 1], isNumber = state.kind === "number";
  at("curve-title").textContent = isNumber ? "Mean error of the model" : state.kind === "spans" ? "Texts with all spans right" : "Accuracy of the model";
  at("accuracy").textContent = point ? said(point, isNumber) : "";
  if (point) at("accuracy").append(made("small", ` on the last ${point.texts} random texts, before they had a label; 95 % interval`));
  at("curve").replaceChildren(...(points.length > 1 ? [curve(points, isNumber)] : []));
  at("model").textContent = state.model + (point || !state.trained_on ? "" : " Its accuracy appears after ten random texts.");
  at("order").hidden = state.order_helps !== false && state.mixed;
  at("order").textContent = state.mixed ? "The model is not wrong more often where it is uncertain, so choosing texts brings nothing here: random texts are shown." : "Random texts are shown, as asked for.";
  const used = Object.entries(state.counts).map(([name, count]) => [written(name), count]);
  const unused = state.labels.filter((name) => !Object.hasOwn(state.counts, name)).map((name) => [name, 0]);
  counts(at("counts").tBodies[0], [...used, ...unused].sort((one, other) => other[1] - one[1]).slice(0, 20));
  at("doubtful-box").hidden = !state.doubtful.length;
  lines(at("doubtful"), state.doubtful, (each) => `${labelsOf(each)}; rather ${each.suggestion}?`);
  at("disagreements-box").hidden = !state.disagreements.length;
  lines(at("disagreements"), state.disagreements, labelsOf);
  at("file").textContent = `${state.rows.toLocaleString("en")} labels in ${state.file}${state.people.length > 1 ? `, by ${state.people.join(", ")}` : ""}`;
  at("said").replaceChildren(...state.said.map((each) => made("li", each)));
}

async function refresh() {
  clearTimeout(timer);
  try {
    state = await call("state");
    paint();
  } catch (error) {
    say(error.message, true);
  }
  timer = setTimeout(() => { if (!document.hidden) refresh(); }, state?.training ? 1500 : 10_000);
}

const KEYS = { s: "skip", u: "undo", t: "together", Enter: "save", 0: "none" };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const typing = event.target.closest("input,textarea");
  if (typing && typing.type !== "checkbox") {
    if (event.key === "Escape" || (event.key === "Enter" && typing === at("note"))) { event.preventDefault(); typing.blur(); at("texts").focus(); }
    return;
  }
  if (event.key === "Enter" && event.target.closest("button,summary,a")) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const taken = answers?.key(key, event);
  if (taken === "typed") return;
  const field = { n: "note", "/": "query" }[key];
  if (taken) event.preventDefault();
  else if (field) { event.preventDefault(); at(field).focus(); }
  else if (key === "d" && state?.doubtful.length) { event.preventDefault(); queue = state.doubtful.slice(1).map((each) => each.id); open(state.doubtful[0].id); }
  else if (KEYS[key] && !event.repeat) { event.preventDefault(); actions[KEYS[key]](); }
});
for (const name of ["none", "save", "skip", "undo", "together"]) at(name).addEventListener("click", actions[name]);
at("search-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const found = await call("search", { query: at("query").value });
    at("search-count").textContent = found.count > found.found.length ? `${found.count.toLocaleString("en")} texts; the first ${found.found.length}:` : `${found.count} texts`;
    lines(at("found"), found.found, labelsOf);
  } catch (error) {
    say(error.message, true);
  }
});
at("by").addEventListener("change", () => doing(() => next(`You label as ${person()}.`)));
document.addEventListener("visibilitychange", () => { if (!document.hidden && state) refresh(); });

doing(async () => {
  state = await call("state");
  paint();
  await next(state.kind === "number" ? "Type a number." : "Press a number key.");
});
