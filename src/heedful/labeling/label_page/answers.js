// What a person answers: buttons for one class or several labels, a box for a number; spans are in spans.js.
"use strict";

import { made, percent } from "./drawing.js";

const MOST = 30; // buttons at a time; with more labels than keys a filter is shown
const KEYS = 9;

// One class: every button is a whole answer.
export class Classes {
  constructor(box, labels, answer) {
    Object.assign(this, { box, labels, answer, ranked: new Map(), chosen: new Set(), shown: [] });
    this.filter = made("input");
    this.filter.type = "search";
    this.filter.className = "wide";
    this.filter.placeholder = `Filter ${labels.length} labels (F)`;
    this.filter.setAttribute("aria-label", "Filter the labels");
    this.filter.addEventListener("input", () => this.draw());
    this.filter.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && this.shown.length) { event.preventDefault(); this.filter.blur(); this.press(this.shown[0]); }
    });
  }

  show(label, guess) {
    this.chosen = new Set(label === null ? [] : [label].flat());
    this.ranked = new Map(guess?.ranked ?? []);
    this.filter.value = "";
    this.draw();
  }

  draw() {
    const words = this.filter.value.toLowerCase();
    const many = this.labels.length > KEYS;
    let found = this.labels.filter((each) => each.toLowerCase().includes(words));
    if (many && this.ranked.size) found = [...found].sort((one, other) => (this.ranked.get(other) ?? 0) - (this.ranked.get(one) ?? 0));
    this.shown = many ? found.slice(0, MOST) : found;
    const buttons = this.shown.map((label, place) => {
      const button = made("button"), name = made("span", label);
      button.type = "button";
      button.setAttribute("aria-pressed", String(this.chosen.has(label)));
      const chance = this.ranked.get(label);
      if (chance !== undefined && chance >= 0.005) name.append(made("small", ` ${percent(chance)}`));
      button.append(name);
      if (place < KEYS) button.append(made("kbd", String(place + 1)));
      button.addEventListener("click", () => this.press(label));
      return button;
    });
    const more = found.length > MOST ? [made("p", `and ${found.length - MOST} more: filter them`, "note wide")] : [];
    if (many && this.filter.isConnected) {
      for (const each of [...this.box.children]) if (each !== this.filter) each.remove();
      this.box.append(...buttons, ...more);
    } else this.box.replaceChildren(...(many ? [this.filter] : []), ...buttons, ...more);
  }

  press(label) { this.answer(label); }
  none() { this.answer("-"); }

  key(key) {
    if (key === "f" && this.labels.length > KEYS) { this.filter.focus(); return true; }
    const place = Number(key) - 1;
    if (!(place >= 0 && place < Math.min(KEYS, this.shown.length))) return false;
    this.press(this.shown[place]);
    return true;
  }
}

// Several labels: buttons switch, Enter saves.
export class Several extends Classes {
  press(label) {
    if (!this.chosen.delete(label)) this.chosen.add(label);
    this.draw();
  }
  none() { this.answer([]); }
  save() { this.answer(this.labels.filter((each) => this.chosen.has(each))); }
}

// A number: typed, Enter saves.
export class Numbers {
  constructor(box, bounds, answer) {
    this.answer = answer;
    this.input = made("input");
    this.input.type = "text";
    this.input.inputMode = "decimal";
    this.input.className = "wide";
    const between = bounds && bounds[0] !== null ? `Number from ${bounds[0]} to ${bounds[1]}` : "Number";
    this.input.setAttribute("aria-label", between);
    this.input.placeholder = between;
    this.input.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); this.save(); } });
    box.replaceChildren(this.input);
  }
  show(label) {
    this.input.value = label ?? "";
    this.input.focus();
  }
  key(key) {
    if (!/^[0-9.,-]$/.test(key)) return false;
    this.input.focus();
    return "typed";
  }
  save() { if (this.input.value.trim()) this.answer(this.input.value.trim().replace(",", ".")); }
}
