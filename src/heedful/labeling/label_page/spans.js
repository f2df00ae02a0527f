// Spans of a text, marked with the mouse or by keyboard: arrows move from word to word, Shift widens, a number key labels.
"use strict";

import { characters, made, quoted } from "./drawing.js";
import { Several } from "./answers.js";

export class Spans extends Several {
  constructor(box, labels, answer, area) {
    super(box, labels, answer);
    this.area = area;
    this.spans = [];
    document.addEventListener("selectionchange", () => this.fromMouse());
  }

  show(label, guess, texts) {
    this.letters = characters(texts[0]);
    this.spans = (label ?? guess?.label ?? []).map((each) => [...each]);
    this.words = [...texts[0].matchAll(/[\p{L}\p{N}\p{M}]+|[^\s\p{L}\p{N}\p{M}]/gu)].map((found) => {
      const start = characters(texts[0].slice(0, found.index)).length;
      return [start, start + characters(found[0]).length];
    });
    this.from = this.to = 0;
    this.picked = null;
    super.show(null, null);
    this.paint();
  }

  // The chosen places: what the mouse has selected, or the words between the two ends of the keyboard.
  chosenPlaces() {
    if (this.picked) return this.picked;
    if (!this.words.length) return null;
    const [first, last] = [Math.min(this.from, this.to), Math.max(this.from, this.to)];
    return [this.words[first][0], this.words[last][1]];
  }

  press(label) {
    const places = this.chosenPlaces();
    if (!places) return;
    const [start, end] = places;
    const same = this.spans.some((each) => each[0] === start && each[1] === end && each[2] === label);
    this.spans = this.spans.filter((each) => each[1] <= start || each[0] >= end);
    if (!same) this.spans.push([start, end, label]);
    this.picked = null;
    getSelection().removeAllRanges();
    this.paint();
  }

  key(key, event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (step && this.words.length) {
      this.to = Math.max(0, Math.min(this.words.length - 1, this.to + step));
      if (!event.shiftKey) this.from = this.to;
      this.picked = null;
      this.paint();
      return true;
    }
    if (key === "Backspace" || key === "Delete") {
      const places = this.chosenPlaces();
      if (places) this.spans = this.spans.filter((each) => each[1] <= places[0] || each[0] >= places[1]);
      this.paint();
      return true;
    }
    return super.key(key, event);
  }

  none() { this.answer([]); }
  save() { this.answer(this.spans); }

  fromMouse() {
    const selection = getSelection();
    if (!this.letters || selection.isCollapsed || !this.area.contains(selection.anchorNode) || !this.area.contains(selection.focusNode)) return;
    const places = [this.placeOf(selection.anchorNode, selection.anchorOffset), this.placeOf(selection.focusNode, selection.focusOffset)];
    let [start, end] = places.sort((one, other) => one - other);
    while (start < end && /\s/.test(this.letters[start])) start += 1;
    while (end > start && /\s/.test(this.letters[end - 1])) end -= 1;
    this.picked = start < end ? [start, end] : null;
  }

  placeOf(node, offset) {
    const range = document.createRange();
    range.selectNodeContents(this.area);
    range.setEnd(node, offset);
    const copy = range.cloneContents();
    for (const tag of copy.querySelectorAll(".tag")) tag.remove();
    return characters(copy.textContent).length;
  }

  paint() {
    const [start, end] = this.chosenPlaces() ?? [-1, -1];
    const paragraph = made("p");
    paragraph.dir = "auto";
    const cuts = [...new Set([0, this.letters.length, start, end, ...this.spans.flatMap((each) => each.slice(0, 2))])];
    const places = cuts.filter((each) => each >= 0).sort((one, other) => one - other);
    for (let k = 0; k + 1 < places.length; k += 1) {
      const piece = quoted("span", this.letters.slice(places[k], places[k + 1]).join(""));
      const span = this.spans.find((each) => each[0] <= places[k] && each[1] >= places[k + 1]);
      if (span) piece.classList.add("span");
      if (places[k] >= start && places[k + 1] <= end) piece.classList.add("word", "in");
      if (span && span[1] === places[k + 1]) piece.append(made("span", span[2], "tag"));
      paragraph.append(piece);
    }
    this.area.replaceChildren(paragraph);
  }
}
