// Text before it is cut into words, as heedful.text.normalization has it, whose expressions and kinds of characters this
// reads. The forms NFKC and NFC are the browser's: those of characters that Python knows never change.

class Normalizer {
  constructor({ hidden, kinds, unit, mark, pictograph, quotes, most_marks: most, emoji }) {
    Object.assign(this, { mark, pictograph, quotes, most });
    this.hidden = hidden.map((source) => new RegExp(source, "gu"));
    this.kinds = new Runs(kinds);
    this.unit = new RegExp(unit, "gs");
    this.emoji = emoji && new RegExp(`(${emoji})`, "u");
    this.white = new RegExp(`[${WHITE}]`, "u");
  }

  // The words of a chunk with their places in it: {word, start, end}.
  words(chunk, split) {
    const { text, starts, ends } = this.normalized(chunk);
    const parts = this.emoji ? text.split(this.emoji) : [text];
    let reached = 0, place = 0;
    return parts.flatMap((part, number) => (number % 2 ? [part] : split(part))).map((word) => {
      const start = Math.max(reached, starts[place]);
      place += word.length;
      reached = Math.max(start, ends[place - 1]);
      return { word, start, end: reached };
    });
  }

  // The normalized chunk, and for each unit of it where what it comes from starts and ends.
  normalized(chunk) {
    const { characters, places } = this.shown(chunk), starts = [], ends = [], parts = [];
    const put = (part, first, last) => {
      parts.push(part);
      for (let unit = 0; unit < part.length; unit += 1) {
        starts.push(places[first]);
        ends.push(places[last]);
      }
    };
    for (const { index, 0: { length } } of characters.map((each) => this.kinds.of(each)).join("").matchAll(this.unit)) {
      const unit = characters.slice(index, index + Math.min(length, this.most + 2));
      put(length === 1 && unit[0] < "\x80" ? unit[0] : this.formed(unit), index, index + length);
    }
    return { text: parts.join(""), starts, ends };
  }

  // The characters that show, and the place of each with the end of the chunk behind them.
  shown(chunk) {
    let characters = [...chunk], places = [0];
    for (const each of characters) places.push(places.at(-1) + each.length);
    for (const pattern of this.hidden) {
      const matches = [...characters.join("").matchAll(pattern)];
      const gone = new Set(matches.filter((match) => match[1] === undefined).map(({ index }) => index));
      if (!gone.size) continue;
      let at = 0;
      const kept = characters.map((each) => { at += each.length; return !gone.has(at - each.length); });
      places = [...places.slice(0, -1).filter((_, number) => kept[number]), places.at(-1)];
      characters = characters.filter((_, number) => kept[number]);
    }
    return { characters, places };
  }

  // One character with its marks.
  formed(unit) {
    const size = (text) => [...text.normalize("NFKD")].length, first = this.kinds.of(unit[0]);
    let end = first === this.mark ? 0 : 1, room = this.most + 1 - (end ? size(unit[0]) : 0);
    while (end < unit.length && (room -= size(unit[end])) >= 0) end += 1;
    const kept = unit.slice(0, end).join("");
    if (first === this.pictograph) return kept;
    const found = kept.normalize("NFKC"), marks = unit.slice(1, end).join("").normalize("NFKC");
    const form = this.white.test(found) ? (unit[0] + marks).normalize("NFC") : found;
    return Array.from(form, (each) => (Object.hasOwn(this.quotes, each) ? this.quotes[each] : each)).join("");
  }
}

// Runs of code points, each with what is said of all of them.
class Runs {
  constructor(runs) {
    this.starts = runs.map(([start]) => start);
    this.said = runs.map(([, said]) => said);
  }

  of(character) {
    const number = character.codePointAt(0);
    let low = 0, high = this.starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.starts[middle] <= number) low = middle;
      else high = middle;
    }
    return this.said[low];
  }
}
