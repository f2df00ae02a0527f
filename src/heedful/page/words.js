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
const TAG = "<tag>", LINK = "<link>";

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
    this.starts = classes.map(([start]) => start);
    this.kinds = classes.map(([, kind]) => kind);
    this.rules = new RegExp(rules, "gs");
  }

  kind(character) {
    const number = character.codePointAt(0);
    let low = 0, high = this.starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.starts[middle] <= number) low = middle;
      else high = middle;
    }
    return this.kinds[low];
  }

  cut(chunk) {
    const characters = [...chunk];
    const classes = characters.map((character) => this.kind(character)).join("");
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
    this.chunk = new RegExp(`[^${WHITE}]+`, "gu");
    if (markup === "keep") return;
    const inWord = `[${characters.words}_]`;
    this.markups = new RegExp(
      `(<!-{2}.{0,2000}?-{2}>|</?[a-zA-Z][a-zA-Z0-9:-]{0,40}(?:[${WHITE}][^<>]{0,2000})?/?>)` +
        `|((?<!${inWord})(?:https?|ftp)://[^${WHITE}<>"]+|(?<!${inWord})www\\.[^${WHITE}<>"]+\\.[^${WHITE}<>"]+)`,
      "gsu");
  }

  // The words of a text, each with its place: {word, start, end}.
  words(text) {
    const found = [];
    let reached = 0;
    for (const match of this.markup === "keep" ? [] : text.matchAll(this.markups)) {
      const bare = match[2] === undefined ? match[0] : match[0].replace(/[.,;:!?)\]}'’”]+$/, "");
      this.between(text.slice(reached, match.index), reached, found);
      reached = match.index + match[0].length;
      const place = { start: match.index, end: match.index + bare.length };
      if (this.markup === "token") found.push({ word: match[2] === undefined ? TAG : LINK, ...place });
      this.between(text.slice(place.end, reached), place.end, found);
    }
    this.between(text.slice(reached), reached, found);
    return found;
  }

  between(text, offset, found) {
    for (const match of text.matchAll(this.chunk)) {
      let start = offset + match.index;
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
  }

  look(word) {
    const folded = this.lowercase ? word.toLowerCase() : word;
    const row = this.rows.get(folded);
    if (row !== undefined) return { row, known: true };
    if (this.buckets) return { row: this.first + Number(blake2(folded) % this.buckets), known: false };
    return { row: this.rows.get(this.nearest?.word(folded)) ?? 1, known: false };
  }
}

// The most frequent known word that is one edit away; see heedful.text.nearest.
class Nearest {
  constructor(words, { letters }) {
    this.letters = new RegExp(`^[${letters}]{4,40}$`, "u");
    this.words = words.filter((word) => this.letters.test(word));
    this.index = new Map();
    this.words.forEach((word, number) => {
      for (const form of new Set([word, ...deletions(word)])) {
        if (!this.index.has(form)) this.index.set(form, []);
        this.index.get(form).push(number);
      }
    });
  }

  word(unknown) {
    if (!this.letters.test(unknown)) return undefined;
    const near = [unknown, ...deletions(unknown)].flatMap((form) => this.index.get(form) ?? []);
    const found = near.sort((a, b) => a - b).find((number) => oneEdit([...unknown], [...this.words[number]]));
    return found === undefined ? undefined : this.words[found];
  }
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

// BLAKE2b of a word with a digest of 8 bytes, as one number, little-endian (RFC 7693).
const WHOLE = (1n << 64n) - 1n;
const START = [
  0x6a09e667f3bcc908n, 0xbb67ae8584caa73bn, 0x3c6ef372fe94f82bn, 0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n, 0x9b05688c2b3e6c1fn, 0x1f83d9abfb41bd6bn, 0x5be0cd19137e2179n,
];
const ORDER = [
  "0123456789abcdef", "ea489fd61c02b753", "b8c052fdae367194", "7931dcbe265a40f8", "905724afe1bc683d",
  "2c6a0b834d75fe19", "c51fed4a0763928b", "db7ec13950f4862a", "6fe9b308c2d714a5", "a2847615fb9e3cd0",
].map((row) => Array.from(row, (digit) => parseInt(digit, 16)));
const QUARTERS = ["048c", "159d", "26ae", "37bf", "05af", "16bc", "278d", "349e"].map((row) =>
  Array.from(row, (digit) => parseInt(digit, 16)));

function blake2(word) {
  const bytes = new TextEncoder().encode(word);
  const blocks = Math.max(1, Math.ceil(bytes.length / 128));
  const padded = new DataView(new ArrayBuffer(blocks * 128));
  bytes.forEach((byte, place) => padded.setUint8(place, byte));
  const state = [...START];
  state[0] ^= 0x01010008n;  // one digest of 8 bytes, no key
  for (let block = 0; block < blocks; block += 1) {
    const last = block === blocks - 1;
    const words = ORDER[0].map((place) => padded.getBigUint64(block * 128 + place * 8, true));
    const v = [...state, ...START];
    v[12] ^= BigInt(last ? bytes.length : (block + 1) * 128);
    if (last) v[14] ^= WHOLE;
    const turned = (to, by, bits) => {
      const both = v[to] ^ v[by];
      v[to] = ((both >> bits) | (both << (64n - bits))) & WHOLE;
    };
    for (let round = 0; round < 12; round += 1) {
      const order = ORDER[round % 10];
      QUARTERS.forEach(([a, b, c, d], quarter) => {
        v[a] = (v[a] + v[b] + words[order[2 * quarter]]) & WHOLE;
        turned(d, a, 32n);
        v[c] = (v[c] + v[d]) & WHOLE;
        turned(b, c, 24n);
        v[a] = (v[a] + v[b] + words[order[2 * quarter + 1]]) & WHOLE;
        turned(d, a, 16n);
        v[c] = (v[c] + v[d]) & WHOLE;
        turned(b, c, 63n);
      });
    }
    state.forEach((_, place) => { state[place] ^= v[place] ^ v[place + 8]; });
  }
  return state[0];
}
