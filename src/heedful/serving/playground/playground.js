// The playground: asks /v1/explain while a text is typed, and shows the page that it answers. All drawing is done by the server.
"use strict";

const PAUSE = 250; // milliseconds without a key before the server is asked
const at = (id) => document.getElementById(id);
const form = at("ask"), model = at("model"), other = at("other"), first = at("first"), second = at("second");
const word = at("word"), policy = at("policy"), status = at("status"), method = at("method"), results = at("results"), key = at("key"), why = at("why");
let models = [], asking = null, timer = 0;

function say(text, wrong = false) {
  status.textContent = text;
  status.classList.toggle("wrong", wrong);
}

async function call(path, body, signal) {
  const headers = key.value ? { Authorization: `Bearer ${key.value}` } : {};
  if (body) headers["Content-Type"] = "application/json";
  const reply = await fetch(path, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body), signal });
  const value = await reply.json();
  if (reply.status === 401) at("key-label").hidden = false;
  if (!reply.ok) throw Object.assign(new Error(value.error.message), { field: value.error.field });
  return value;
}

function option(name, value = name) {
  const made = document.createElement("option");
  made.textContent = name;
  made.value = value;
  return made;
}

// Offer for comparison what takes the same kind of input as the chosen model.
function arrange() {
  const chosen = models.find((each) => each.id === model.value);
  const fitting = models.filter((each) => each.pair === chosen.pair && each.id !== chosen.id);
  const before = other.value;
  other.replaceChildren(option("nothing", ""), ...fitting.map((each) => option(each.id)));
  other.value = fitting.some((each) => each.id === before) ? before : "";
  at("comparison").hidden = fitting.length === 0;
  at("second-label").hidden = !chosen.pair;
  at("first-name").textContent = chosen.pair ? "First text" : "Text";
  at("second-name").textContent = "Second text";
  why.replaceChildren(option("its answer", ""));
  at("why-label").hidden = true;
}

// The policy of this page forbids style attributes; the widths that the server wrote there are set one by one.
function fragment(page) {
  const template = document.createElement("template");
  template.innerHTML = page.replace(/ style="([^"]*)"/g, ' data-style="$1"');
  for (const element of template.content.querySelectorAll("[data-style]")) {
    element.style.cssText = element.dataset.style;
    delete element.dataset.style;
  }
  const found = template.content.querySelector("main");
  const title = found.querySelector("h1");
  const heading = document.createElement("h3");
  heading.className = "answer";
  heading.append(...title.childNodes);
  title.replaceWith(heading);
  return found;
}

function show(name, page) {
  const section = document.createElement("div");
  const title = document.createElement("h2");
  title.textContent = name;
  section.className = "result";
  section.append(title, ...fragment(page).childNodes);
  return section;
}

// Offer the words that were read; the chosen one stays chosen while the text has it.
function offer(replies) {
  const words = new Set(replies.flatMap((reply) => reply.explanation.sides.flatMap((side) => side.words)));
  const before = words.has(word.value) ? word.value : "";
  word.replaceChildren(option("no word", ""), ...[...words].map((each) => option(each)));
  word.value = before;
  at("word-label").hidden = words.size === 0;
  at("policy-label").hidden = !replies.some((reply) => reply.explanation.sides.some((side) => side.chosen));
}

// Offer the classes, of which any can be asked about, and call the texts of a pair what their columns are called.
function arrangeBy({ labels, score, tags, attribution, sides }) {
  const classes = score === null && !tags.length && attribution?.label ? labels : [];
  const before = classes.includes(why.value) ? why.value : "";
  why.replaceChildren(option("its answer", ""), ...classes.map((each) => option(each)));
  why.value = before;
  at("why-label").hidden = classes.length === 0;
  if (sides.length > 1) [at("first-name").textContent, at("second-name").textContent] = sides.map(({ name }) => name);
}

// Show single features of a word that is clicked in a text; the list of words does the same by keyboard.
function choose(event) {
  const clicked = event.target.closest?.(".read .w");
  if (!clicked || ![...word.options].some((each) => each.value === clicked.textContent)) return;
  word.value = word.value === clicked.textContent ? "" : clicked.textContent;
  ask();
}

// What a model does not have, such as features of a word that is gone, is left out, and the reason is told.
async function explain(name, what, signal, told) {
  const body = { model: name, ...what, page: true, ...(method.value ? { method: method.value } : {}) };
  if (why.value && name === model.value) body.why = why.value;
  const more = {};
  if (word.value) more.features_of = word.value;
  if (policy.checked && !at("policy-label").hidden) more.policy = true;
  for (;;) {
    try {
      return await call("v1/explain", { ...body, ...more }, signal);
    } catch (error) {
      if (!(error.field in more)) throw error;
      delete more[error.field];
      told.push(`${name}: ${error.message}`);
    }
  }
}

async function ask() {
  clearTimeout(timer);
  asking?.abort();
  const texts = at("second-label").hidden ? [first.value] : [first.value, second.value];
  if (!models.length) return start();
  if (texts.some((text) => !text.trim())) return say(texts.length > 1 ? "Type both texts." : "Type a text.");
  const own = (asking = new AbortController());
  const names = [model.value, ...(other.value ? [other.value] : [])];
  results.classList.add("waiting");
  say("Asking …");
  try {
    const what = texts.length > 1 ? { pair: texts } : { text: texts[0] };
    const told = [];
    if (word.value && !texts.some((text) => text.toLowerCase().includes(word.value.toLowerCase()))) word.value = "";
    const replies = await Promise.all(names.map((name) => explain(name, what, own.signal, told)));
    offer(replies);
    arrangeBy(replies[0].explanation);
    results.replaceChildren(...replies.map((reply) => show(reply.model, reply.page)));
    results.classList.toggle("two", names.length > 1);
    const said = [...results.querySelectorAll("h3.answer")].map((each) => [...each.childNodes].map((part) => part.textContent).join(" "));
    say([...names.map((name, place) => `${name}: ${said[place]}`), ...told].join("; "));
  } catch (error) {
    if (own.signal.aborted) return;
    say(error instanceof TypeError ? "The server cannot be reached." : error.message, true);
  }
  results.classList.remove("waiting");
}

async function start() {
  try {
    models = (await call("v1/models")).data;
  } catch (error) {
    return say(error.message, true);
  }
  model.replaceChildren(...models.map((each) => option(each.id)));
  arrange();
  say("Type a text. The answer follows as you type.");
  if (first.value) ask();
}

form.addEventListener("submit", (event) => { event.preventDefault(); ask(); });
for (const box of [first, second]) {
  box.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(ask, PAUSE); });
  box.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) ask(); });
}
key.addEventListener("change", start);
model.addEventListener("change", () => { arrange(); ask(); });
other.addEventListener("change", ask);
word.addEventListener("change", ask);
why.addEventListener("change", ask);
method.addEventListener("change", ask);
policy.addEventListener("change", ask);
results.addEventListener("click", choose);
start();
