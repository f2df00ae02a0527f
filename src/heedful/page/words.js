// From a text to the rows of the word vectors: the tokenizers and the vocabulary of heedful.text, with equal results.
// The classes of characters come from Python ("characters"), so that no browser's own Unicode version decides.

const WHITE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const SEVERAL_WORDS = {
  cannot: 3, gonna: 3, gotta: 3, wanna: 3, gimme: 3, lemme: 3, "d'ye": 2, "more'n": 4, "'tis": 2, "'twas": 2,
};
const ABBREVIATION =
  "mr|mrs|ms|dr|prof|st|mt|jr|sr|rev|gen|col|capt|lt|sgt|gov|sen|hon|messrs|vs|etc|inc|ltd|co|corp|bros|ave|blvd" +
  "|rd|dept|vol|pp|ft|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|ph\\.d|e\\.g|i\\.e|a\\.m|p\\.m";
const SECOND_SPLIT = /([-−—–/~"'“’”‘°])/u;
// What Python's re.IGNORECASE takes for these letters, beside both cases.
const MORE_CASES = { i: "İı", s: "ſ", k: "\u212a" };
const TAG = "<tag>", LINK = "<link>", MASK = "[MASK]";
const UNKNOWN = 1; // the row of a word that no other stands for
const LONGEST_WORD = 1000;  // characters that n-grams are taken from
const REMEMBERED = 20000;  // words and features whose rows are kept

const anyCase = (source) =>
  source.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}${MORE_CASES[letter] ?? ""}]`);

// Rules after the Penn Treebank, as heedful.text.tokenize has them.
class Treebank {
  constructor({ digits, letters_numbers: rest }) {
    this.mark = new RegExp(
      "(\\.{2,}|…|-{2,}|[–—]+|``|''|[\"“”„«»‹›‘`]|[\\][(){}<>]|[;@#$£€¥%&?!¿¡]" +
        `|(?<![${digits}])[,:]|[,:](?![${digits}]))`, "u");
    this.clitic = new RegExp(`(?:${anyCase("n['’]t")}|['’](?:${anyCase("s|m|d|ll|re|ve")}))$`, "u");
    this.keepsStop = new RegExp(`^(?:(?:${anyCase(ABBREVIATION)})\\.|(?:[${rest}]\\.){2,}|[A-HJ-Z]\\.)$`, "u");
  }

  cut(chunk) {
    return chunk.split(this.mark).flatMap((part, number) =>
      number % 2 ? [part] : part ? this.unmarked(part) : []);
  }

  // A piece that holds no mark: apostrophes around it, its full stop, its clitic.
  unmarked(part) {
    const clitic = this.clitic.exec(part);
    if (Object.hasOwn(SEVERAL_WORDS, part.toLowerCase()) || clitic?.index === 0) return this.wordAndClitic(part);
    const bare = part.replace(/^['’]+/, "");
    const before = [...part.slice(0, part.length - bare.length)];
    let word = bare.replace(/['’]+$/, "");
    const after = [...bare.slice(word.length)];
    if (word.endsWith(".") && !this.keepsStop.test(word)) {
      word = word.slice(0, -1);
      after.unshift(".");
      const quoted = word.replace(/['’]+$/, "");
      after.unshift(...word.slice(quoted.length));
      word = quoted;
    }
    return [...before, ...(word ? this.wordAndClitic(word) : []), ...after];
  }

  wordAndClitic(word) {
    const lower = word.toLowerCase();
    const cut = Object.hasOwn(SEVERAL_WORDS, lower) ? SEVERAL_WORDS[lower] : this.clitic.exec(word)?.index ?? 0;
    return cut ? [word.slice(0, cut), word.slice(cut)] : [word];
  }
}

// The word boundaries of Unicode: the rules run over one letter for the class of each character.
class UnicodeWords {
  constructor({ classes, rules }) {
    this.classes = new Runs(classes);
    this.rules = new RegExp(rules, "gs");
  }

  cut(chunk) {
    const characters = [...chunk];
    const classes = characters.map((character) => this.classes.of(character)).join("");
    return Array.from(classes.matchAll(this.rules), (match) =>
      characters.slice(match.index, match.index + match[0].length).join(""));
  }
}

class Tokenizer {
  constructor({ tokenizer, markup, characters }) {
    const whole = (chunk) => (chunk ? [chunk] : []);
    const twice = (word) => word.split(SECOND_SPLIT).filter(Boolean);
    const [name, hyphens] = tokenizer.split("_split_");
    const rules = { treebank: Treebank, unicode: UnicodeWords }[name];
    const made = rules && new rules(characters);
    const first = made ? (chunk) => made.cut(chunk) : whole;
    this.split = hyphens ? (chunk) => first(chunk).flatMap(twice) : first;
    this.markup = markup;
    this.normalizer = characters.normalization && new Normalizer(characters.normalization);
    this.chunk = new RegExp(`[^${WHITE}]+`, "gu");
    if (markup === "keep") return;
    const inWord = `[${characters.words}_]`;
    this.markups = new RegExp(
      `(<!-{2}|</?[a-zA-Z][a-zA-Z0-9:-]{0,40}(?:[${WHITE}][^<>]{0,2000})?/?>)` +
        `|((?<!${inWord})(?:https?|ftp)://[^${WHITE}<>"]+|(?<!${inWord})www\\.[^${WHITE}<>"]+\\.[^${WHITE}<>"]+)`,
      "gu");
  }

  // The words of a text, each with its place: {word, start, end}.
  words(text) {
    const found = [];
    let reached = 0;
    for (const match of this.markup === "keep" ? [] : this.marked(text)) {
      const bare = match[2] === undefined ? match[0] : match[0].replace(/[.,;:!?)\]}'’”]+$/, "");
      this.between(text.slice(reached, match.index), reached, found);
      const place = { start: match.index, end: match.index + bare.length };
      if (this.markup === "token") found.push({ word: match[2] === undefined ? TAG : LINK, ...place });
      reached = place.end;  // marks behind a link belong to what follows it
    }
    this.between(text.slice(reached), reached, found);
    return found;
  }

  // The tags and links of a text; a comment is a tag if it holds at most 2,000 characters.
  *marked(text) {
    this.markups.lastIndex = 0;
    let closed = 0, match, size = 0, counted = [-1, -1];  // how many characters are between two places
    while ((match = this.markups.exec(text))) {
      const { index } = match, begun = this.markups.lastIndex;
      if (match[0] !== "<!--") {
        yield match;
        continue;
      }
      if (closed < begun) closed = text.indexOf("-->", begun);
      if (closed < 0) closed = Infinity;
      if (closed - begun > 4000) continue;
      if (counted[1] === closed) size -= [...text.slice(counted[0], begun)].length;
      else size = [...text.slice(begun, closed)].length;
      counted = [begun, closed];
      if (size > 2000) continue;
      this.markups.lastIndex = closed + 3;
      yield { index, 0: text.slice(index, closed + 3) };
    }
  }

  between(text, offset, found) {
    for (const match of text.matchAll(this.chunk)) {
      let start = offset + match.index;
      if (this.normalizer && /[^\0-\x7f]/.test(match[0])) {
        for (const { word, start: first, end } of this.normalizer.words(match[0], this.split))
          found.push({ word, start: start + first, end: start + end });
        continue;
      }
      for (const word of this.split(match[0])) {
        found.push({ word, start, end: start + word.length });
        start += word.length;
      }
    }
  }
}

// Words to rows of the tables: as heedful.text.vocabulary, whose description this reads.
class Vocabulary {
  constructor(plain, characters) {
    this.lowercase = plain.lowercase;
    this.rows = new Map([...plain.trainable, ...plain.extra].map((word, number) => [word, number + 2]));
    const own = new Map(this.rows);
    for (const [form, base] of Object.entries(plain.baseforms))
      if (!own.has(form) && own.has(base)) this.rows.set(form, own.get(base));
    this.first = 2 + plain.trainable.length + plain.extra.length;
    this.buckets = BigInt(plain.buckets);
    this.nearest = plain.oov === "nearest" ? new Nearest(plain.trainable, characters) : null;
    this.runs = plain.ngrams ? new Ngrams(plain.ngrams, characters) : null;
  }

  // The rows of a word's n-grams; none of a masked word, and none where there is no table of them or it is for others.
  ngrams(word) {
    if (!this.runs || word === MASK || (this.runs.unknown_alone && this.look(word).row !== UNKNOWN)) return [];
    return this.runs.rowsOf(this.lowercase && !this.runs.cased ? word.toLowerCase() : word);
  }

  // The word, or a masked one where no row stands for it and only such words have n-grams: then it is without them.
  withoutNgrams(word) { return this.runs?.unknown_alone && this.look(word).row === UNKNOWN ? MASK : word; }

  look(word) {
    const folded = this.lowercase ? word.toLowerCase() : word;
    const row = this.rows.get(folded);
    if (row !== undefined) return { row, known: true };
    if (this.buckets) return { row: this.first + Number(blake2(folded).whole % this.buckets), known: false };
    return { row: this.rows.get(this.nearest?.word(folded)) ?? UNKNOWN, known: false };
  }
}

// Which rows of the table of n-grams a word has; see heedful.text.unknown_words.
class Ngrams {
  constructor(rule, { capitals, letters, digit_signs: signs }) {
    Object.assign(this, { cased: false, ...rule, known: new Map() });
    const kind = (inside) => new RegExp(`^[${inside}]$`, "u");
    this.kinds = this.cased ? [["X", kind(capitals)], ["x", kind(letters)], ["d", kind(signs)]] : [];
  }

  rowsOf(whole) {
    const word = whole.length > LONGEST_WORD ? [...whole].slice(0, LONGEST_WORD).join("") : whole;
    let found = this.known.get(word);
    if (found === undefined) {
      found = this.of(word).flatMap((ngram) => this.hashed(ngram));
      if (this.known.size >= REMEMBERED) this.known.clear();
      this.known.set(word, found);
    }
    return found;
  }

  of(word) {
    const marked = [...`<${word}>`], found = this.cased ? [`<<${this.shape(word)}`] : [];
    if (marked.length < this.shortest) found.push(marked.join(""));
    for (let length = this.shortest; length <= this.longest; length += 1)
      for (let start = 0; start + length <= marked.length; start += 1)
        found.push(marked.slice(start, start + length).join(""));
    return found;
  }

  hashed(ngram) {
    const { low, high } = blake2(ngram);
    return [low, high].slice(0, this.hashes).map((part) => part % this.rows);
  }

  // The kinds of a word's characters, runs of one kind once.
  shape(word) {
    const kinds = [...word].map((character) => this.kinds.find(([, is]) => is.test(character))?.[0] ?? character);
    return kinds.filter((kind, place) => kind !== kinds[place - 1]).join("");
  }
}

// The most frequent known word that is one edit away; see heedful.text.unknown_words.
// The first word that one edit makes of an unknown one. Nothing is made of the words beforehand: most texts ask for none.
class Nearest {
  constructor(words, { letters }) {
    Object.assign(this, { words, letters: new RegExp(`^[${letters}]{4,40}$`, "u"), found: new Map() });
  }

  word(unknown) {
    if (!this.letters.test(unknown)) return undefined;
    if (!this.found.has(unknown)) {
      const characters = [...unknown];
      const isNear = (word) => mayBeNear(unknown, word) && this.letters.test(word) && oneEdit(characters, [...word]);
      if (this.found.size >= REMEMBERED) this.found.clear();
      this.found.set(unknown, this.words.find(isNear));
    }
    return this.found.get(unknown);
  }
}

// Whether little is left of two words between their common beginning and their common end: two characters have four units at most.
function mayBeNear(first, second) {
  const short = Math.min(first.length, second.length), long = Math.max(first.length, second.length);
  if (long - short > 2) return false;
  let start = 0, end = 0;
  while (start < short && first.charCodeAt(start) === second.charCodeAt(start)) start += 1;
  while (end < short - start && first.charCodeAt(first.length - 1 - end) === second.charCodeAt(second.length - 1 - end)) end += 1;
  return long - start - end <= 4;
}

function deletions(word) {
  const characters = [...word];
  return characters.map((_, place) => characters.filter((_, other) => other !== place).join(""));
}

function oneEdit(first, second) {
  if (Math.abs(first.length - second.length) > 1) return false;
  if (first.length !== second.length) {
    const [short, long] = first.length < second.length ? [first, second] : [second, first];
    return deletions(long.join("")).includes(short.join(""));
  }
  const wrong = first.flatMap((character, place) => (character === second[place] ? [] : [place]));
  const [a, b] = wrong;
  return wrong.length === 1 || (wrong.length === 2 && b === a + 1 && first[a] === second[b] && first[b] === second[a]);
}
