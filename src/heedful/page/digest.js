// BLAKE2b with a digest of 8 bytes (RFC 7693). A number of 64 bits is two neighbors of 32, the lower one first.

const START = Uint32Array.of(
  0xf3bcc908, 0x6a09e667, 0x84caa73b, 0xbb67ae85, 0xfe94f82b, 0x3c6ef372, 0x5f1d36f1, 0xa54ff53a,
  0xade682d1, 0x510e527f, 0x2b3e6c1f, 0x9b05688c, 0xfb41bd6b, 0x1f83d9ab, 0x137e2179, 0x5be0cd19,
);
const digits = (row) => Array.from(row, (digit) => 2 * parseInt(digit, 16));
const ORDER = [
  "0123456789abcdef", "ea489fd61c02b753", "b8c052fdae367194", "7931dcbe265a40f8", "905724afe1bc683d",
  "2c6a0b834d75fe19", "c51fed4a0763928b", "db7ec13950f4862a", "6fe9b308c2d714a5", "a2847615fb9e3cd0",
].map(digits);
const QUARTERS = ["048c", "159d", "26ae", "37bf", "05af", "16bc", "278d", "349e"].map(digits);
const ENCODER = new TextEncoder();

// The number at `to` plus the one at `by` of other numbers.
function plus(v, to, others, by) {
  const low = v[to] + others[by];
  v[to + 1] += others[by + 1] + (low >= 0x100000000 ? 1 : 0);
  v[to] = low;
}

// The number at `to` with that at `by` by "exclusive or", turned right by some bits.
function turned(v, to, by, bits) {
  const low = v[to] ^ v[by], high = v[to + 1] ^ v[by + 1];
  const [first, second] = bits < 32 ? [low, high] : [high, low], rest = bits % 32;
  v[to] = rest ? (first >>> rest) | (second << (32 - rest)) : first;
  v[to + 1] = rest ? (second >>> rest) | (first << (32 - rest)) : second;
}

// {low, high, whole}: the lower and the upper 32 bits of the digest as numbers, and all of it as a BigInt, little-endian.
function blake2(text) {
  const bytes = ENCODER.encode(text), blocks = Math.max(1, Math.ceil(bytes.length / 128));
  const padded = new DataView(new ArrayBuffer(blocks * 128)), state = START.slice();
  bytes.forEach((byte, place) => padded.setUint8(place, byte));
  state[0] ^= 0x01010008;  // one digest of 8 bytes, no key
  const words = new Uint32Array(32), v = new Uint32Array(32);
  for (let block = 0; block < blocks; block += 1) {
    const last = block === blocks - 1;
    for (let word = 0; word < 32; word += 1) words[word] = padded.getUint32(block * 128 + word * 4, true);
    v.set(state);
    v.set(START, 16);
    v[24] ^= last ? bytes.length : (block + 1) * 128;
    if (last) [v[28], v[29]] = [~v[28], ~v[29]];
    for (let round = 0; round < 12; round += 1) {
      const order = ORDER[round % 10];
      for (let quarter = 0; quarter < 8; quarter += 1) {
        const [a, b, c, d] = QUARTERS[quarter];
        plus(v, a, v, b);
        plus(v, a, words, order[2 * quarter]);
        turned(v, d, a, 32);
        plus(v, c, v, d);
        turned(v, b, c, 24);
        plus(v, a, v, b);
        plus(v, a, words, order[2 * quarter + 1]);
        turned(v, d, a, 16);
        plus(v, c, v, d);
        turned(v, b, c, 63);
      }
    }
    state.forEach((_, place) => { state[place] ^= v[place] ^ v[place + 16]; });
  }
  return { low: state[0], high: state[1], get whole() { return (BigInt(state[1]) << 32n) | BigInt(state[0]); } };
}
