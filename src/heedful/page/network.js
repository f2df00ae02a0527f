// The steps of a network, as heedful.runtime computes them: one small function for each operator, with the kernels of
// WebAssembly for dense layers and for DiSAN's attention. A value is {rows, cols, data}: a row for each word of a text,
// or one row for the whole text. `seen`, where it is not null, gathers what the pictures show.

const ALIGNMENT = 64;
const GROUP = 4;  // terms that lie together in a matrix of whole numbers
const ACTIVATIONS = {
  linear: (x) => x,
  elu: (x) => (x > 0 ? x : Math.expm1(x)),
  relu: (x) => Math.max(x, 0),
  sigmoid: (x) => 1 / (1 + Math.exp(-x)),
  tanh: Math.tanh,
  logsigmoid: (x) => Math.min(x, 0) - Math.log1p(Math.exp(-Math.abs(x))),
};
const FUSED = ["linear", "elu", "relu"];  // by their numbers in the kernel
const MOST_BOUND = 40;  // a larger bound of DiSAN's scores would leave the range of float32 in the kernel
const FACTORED = 40;  // largest variation of a score over the words for which a weight is computed as a product

const value = (rows, cols, data = new Float32Array(rows * cols)) => ({ rows, cols, data });
const row = (x, i) => x.data.subarray(i * x.cols, (i + 1) * x.cols);
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

// The kernels with their memory. Constant arrays are kept for good; what a call reads and writes lies behind them.
class Kernels {
  static async load(bytes) {
    const { instance } = await WebAssembly.instantiate(bytes);
    return new Kernels(instance.exports);
  }

  constructor(exports) {
    exports._initialize();
    Object.assign(this, { exports, panel: exports.panel() });
    this.free = exports.__heap_base.value;
    [this.free] = this.place([0]);
  }

  // Copies arrays behind each other, or leaves room for so many numbers; returns their addresses.
  place(parts) {
    let end = this.free;
    const addresses = parts.map((part) => {
      const start = Math.ceil(end / ALIGNMENT) * ALIGNMENT;
      end = start + (typeof part === "number" ? 4 * part : part.byteLength);
      return start;
    });
    const { memory } = this.exports, missing = end - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / 65536));
    parts.forEach((part, number) => {
      if (typeof part === "number") return;
      const bytes = new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
      new Uint8Array(memory.buffer).set(bytes, addresses[number]);
    });
    return addresses;
  }

  keep(array) {
    const [address] = this.place([array]);
    this.free = address + array.byteLength;
    return address;
  }

  read(address, rows, cols) {
    return value(rows, cols, new Float32Array(this.exports.memory.buffer, address, rows * cols).slice());
  }

  additive(query, key, { rows, cols, data }, keep, scale) {
    const parts = [query.data, key.data, data, keep, rows * cols, rows * rows, rows * 4];
    const [q, k, v, sees, output, map, room] = this.place(parts);
    this.exports.additive(q, k, v, sees, rows, cols, scale, output, map, room);
    return [this.read(output, rows, cols), this.read(map, rows, rows)];
  }
}

// A constant matrix, packed for the kernel.
class Matrix {
  constructor(kernels, { shape: [outputs, terms], data, scales }) {
    const { panel } = kernels, packed = new data.constructor(Math.ceil(outputs / panel) * terms * panel);
    for (let k = 0; k < outputs; k += 1) {
      const start = (k - (k % panel)) * terms + (k % panel);
      for (let t = 0; t < terms; t += 1) packed[start + t * panel] = data[k * terms + t];
    }
    Object.assign(this, { kernels, outputs, terms, packed: kernels.keep(packed) });
    this.scales = scales ? kernels.keep(scales) : 0;
  }

  apply(x, bias = 0, activation = "linear") {
    const { kernels, outputs, terms } = this;
    if (!x.rows) return value(0, outputs);
    const [input, output, room] = kernels.place([x.data, x.rows * outputs, x.rows * kernels.panel]);
    const fused = FUSED.indexOf(activation);
    kernels.exports.dense(input, this.packed, this.scales, bias, output, x.rows, terms, outputs, fused, room);
    return kernels.read(output, x.rows, outputs);
  }
}

// A constant matrix of whole numbers, whose products are computed in such: packed[outputs / panel][terms / GROUP][panel][GROUP].
class WholeMatrix {
  constructor(kernels, { shape: [outputs, terms], data, scales }) {
    const { panel } = kernels, groups = Math.ceil(terms / GROUP), sums = new Int32Array(outputs);
    const packed = new Int8Array(Math.ceil(outputs / panel) * panel * groups * GROUP);
    for (let k = 0; k < outputs; k += 1)
      for (let t = 0; t < terms; t += 1) {
        const number = data[k * terms + t], group = Math.floor(k / panel) * groups + Math.floor(t / GROUP);
        packed[(group * panel + (k % panel)) * GROUP + (t % GROUP)] = number;
        sums[k] += number;
      }
    Object.assign(this, { kernels, outputs, terms });
    this.addresses = [packed, sums, scales].map((part) => kernels.keep(part));
  }

  apply(x, bias = 0, activation = "linear") {
    const { kernels, outputs, terms, addresses } = this, { exports } = kernels;
    if (!x.rows) return value(0, outputs);
    const size = Math.ceil(exports.whole_room(x.rows, terms) / 4);
    const [input, output, room] = kernels.place([x.data, x.rows * outputs, size]);
    exports.whole(input, ...addresses, bias, output, x.rows, terms, outputs, FUSED.indexOf(activation), room);
    return kernels.read(output, x.rows, outputs);
  }
}

// One step of the description, with what its settings and weights become.
class Step {
  constructor(description, tensors, kernels) {
    Object.assign(this, { ...description, settings: description, tensors, kernels });
    this.named = description.weights ?? {};
  }

  tensor(role) { return this.tensors[this.named[role]]; }
  has(role) { return role in this.named; }
  matrix(role) {
    const tensor = this.tensor(role), inWhole = this.settings.whole && tensor.scales;
    return new (inWhole ? WholeMatrix : Matrix)(this.kernels, tensor);
  }

  // The tensor of a role as floats.
  floats(role) {
    const { shape, data, scales } = this.tensor(role);
    if (!scales) return data;
    const width = data.length / shape[0];
    return Float32Array.from(data, (number, place) => number * scales[Math.floor(place / width)]);
  }

  // The address of a bias, or 0.
  bias(role = "bias") { return this.has(role) ? this.kernels.keep(this.floats(role)) : 0; }
}

// Which words see which, [length, length], 1 or 0; after heedful.attention.visibility.
function visible(mask, length, opened) {
  const keep = new Uint8Array(length * length);
  for (let i = 0; i < length; i += 1)
    for (let j = 0; j < length; j += 1)
      keep[i * length + j] = sees(mask, j - i) || opened?.data[i * length + j] > 0 ? 1 : 0;
  return keep;
}

function sees({ band, both, either }, offset) {
  if (both) return both.every((part) => sees(part, offset));
  if (either) return either.some((part) => sees(part, offset));
  const [low, high, diagonal] = band;
  return offset >= (low ?? -Infinity) && offset <= (high ?? Infinity) && (diagonal || offset !== 0);
}

// Computes a number of two values, element by element; a value with one row, or one column, serves all.
function pairwise(x, y, compute) {
  const rows = x.rows === 1 ? y.rows : x.rows, cols = Math.max(x.cols, y.cols), made = value(rows, cols);
  const at = (z, i, c) => z.data[(z.rows === 1 ? 0 : i * z.cols) + (z.cols === 1 ? 0 : c)];
  for (let i = 0; i < rows; i += 1)
    for (let c = 0; c < cols; c += 1) made.data[i * cols + c] = compute(at(x, i, c), at(y, i, c));
  return made;
}

const mapped = (x, compute) => value(x.rows, x.cols, x.data.map(compute));

function beside(values) {
  const made = value(values[0].rows, sum(values.map((x) => x.cols)));
  for (let i = 0; i < made.rows; i += 1) {
    let start = i * made.cols;
    for (const x of values) {
      made.data.set(row(x, i), start);
      start += x.cols;
    }
  }
  return made;
}

function part(x, first, last) {
  const made = value(x.rows, last - first);
  for (let i = 0; i < x.rows; i += 1) made.data.set(row(x, i).subarray(first, last), i * made.cols);
  return made;
}

// x y^T
function products(x, y) {
  const made = value(x.rows, y.rows);
  for (let i = 0; i < x.rows; i += 1)
    for (let j = 0; j < y.rows; j += 1) {
      let total = 0;
      for (let c = 0; c < x.cols; c += 1) total += x.data[i * x.cols + c] * y.data[j * y.cols + c];
      made.data[i * y.rows + j] = total;
    }
  return made;
}

// weights x
function combined(weights, x) {
  const made = value(weights.rows, x.cols), total = new Float64Array(x.cols);
  for (let i = 0; i < made.rows; i += 1) {
    total.fill(0);
    for (let j = 0; j < x.rows; j += 1) {
      const weight = weights.data[i * x.rows + j];
      if (weight) for (let c = 0; c < x.cols; c += 1) total[c] += weight * x.data[j * x.cols + c];
    }
    made.data.set(total, i * x.cols);
  }
  return made;
}

// The softmax of each row over what is kept; zeros in a row without any.
function softmax(scores, keep) {
  const made = value(scores.rows, scores.cols);
  for (let i = 0; i < scores.rows; i += 1) {
    const from = row(scores, i), to = row(made, i);
    let top = -Infinity, total = 0;
    for (let j = 0; j < from.length; j += 1) if (!keep || keep[i * from.length + j]) top = Math.max(top, from[j]);
    for (let j = 0; j < from.length; j += 1)
      if (!keep || keep[i * from.length + j]) total += to[j] = Math.exp(from[j] - top);
    for (let j = 0; j < from.length; j += 1) if (total) to[j] /= total;
  }
  return made;
}

// Averages the rows of x with a softmax for each feature; returns the average and each row's mean share.
function averaged(scores, x) {
  const made = value(1, x.cols), shares = new Float32Array(x.rows), weights = new Float64Array(x.rows);
  for (let c = 0; c < x.cols; c += 1) {
    const at = (j) => scores.data[j * scores.cols + (scores.cols === 1 ? 0 : c)];
    let top = -Infinity, total = 0, mean = 0;
    for (let j = 0; j < x.rows; j += 1) top = Math.max(top, at(j));
    for (let j = 0; j < x.rows; j += 1) total += weights[j] = Math.exp(at(j) - top);
    for (let j = 0; j < x.rows; j += 1) {
      mean += (weights[j] / total) * x.data[j * x.cols + c];
      shares[j] += weights[j] / total / x.cols;
    }
    made.data[c] = mean;
  }
  return [made, shares];
}

// Attention with a weight for every feature, query by query: score(i, others) gives the scores of the words it sees.
function featureWise(x, keep, score) {
  const made = value(x.rows, x.cols), map = value(x.rows, x.rows);
  for (let i = 0; i < x.rows; i += 1) {
    const others = Array.from(x.data.subarray(0, x.rows).keys()).filter((j) => keep[i * x.rows + j]);
    if (!others.length) continue;
    const chosen = chosenRows(x, others), [average, shares] = averaged(score(i, others), chosen);
    made.data.set(average.data, i * x.cols);
    others.forEach((j, place) => { map.data[i * x.rows + j] = shares[place]; });
  }
  return [made, map];
}

function chosenRows(x, numbers) {
  const made = value(numbers.length, x.cols);
  numbers.forEach((j, place) => made.data.set(row(x, j), place * x.cols));
  return made;
}

function reversed(x) {
  return chosenRows(x, Array.from({ length: x.rows }, (_, i) => x.rows - 1 - i));
}

// Reads a text word by word: next(t) sets and returns the state after word t.
function recurrent(step, states) {
  return ([x]) => (step.backwards ? reversed(states(reversed(x))) : states(x));
}

const bounded = (scale) => (z) => scale * Math.tanh(z / scale);

// Each makes, of a step, the function from its values to its result.
const OPERATORS = {
  dense(step) {
    const matrix = step.matrix("weight"), bias = step.bias();
    return ([x]) => matrix.apply(x, bias, step.activation ?? "linear");
  },

  add(step) {
    const bias = step.has("bias") ? [value(1, step.floats("bias").length, step.floats("bias"))] : [];
    return (values) => [...values, ...bias].reduce((x, y) => pairwise(x, y, (a, b) => a + b));
  },

  subtract: () => ([x, y]) => pairwise(x, y, (a, b) => a - b),
  multiply: () => ([x, y]) => pairwise(x, y, (a, b) => a * b),
  unit: () => ([x]) => {
    const made = value(x.rows, x.cols);
    for (let i = 0; i < x.rows; i += 1) {
      const from = row(x, i), length = Math.max(Math.hypot(...from), 1e-12);
      made.data.set(from.map((a) => a / length), i * x.cols);
    }
    return made;
  },

  rescale(step) {
    const [mean, deviation] = step.floats("scale");
    return ([x]) => mapped(x, (a) => a * deviation + mean);
  },

  scaled: ({ factor }) => ([x]) => mapped(x, (a) => a * factor),
  absolute: () => ([x]) => mapped(x, Math.abs),
  activation: ({ settings }) => ([x]) => mapped(x, ACTIVATIONS[settings.name]),

  mix: (step) => ([gate, x, y], seen) => {
    seen?.gate(step, gate);
    return pairwise(y, pairwise(gate, pairwise(x, y, (a, b) => a - b), (g, d) => g * d), (a, b) => a + b);
  },

  concat: () => (values) => beside(values),
  features: ({ first, last }) => ([x]) => part(x, first, last),

  layer_norm(step) {
    const gain = step.floats("weight"), shift = step.floats("bias");
    return ([x]) => {
      const made = value(x.rows, x.cols);
      for (let i = 0; i < x.rows; i += 1) {
        const from = row(x, i), mean = sum(from) / x.cols;
        const deviation = Math.sqrt(from.reduce((t, a) => t + (a - mean) ** 2, 0) / x.cols + step.eps);
        made.data.set(from.map((a, c) => ((a - mean) / deviation) * gain[c] + shift[c]), i * x.cols);
      }
      return made;
    };
  },

  positions: ({ exponent, factor = 1 }) => ([x]) => {
    const made = value(x.rows, x.cols, x.data.slice());
    for (let i = 0; i < x.rows; i += 1)
      for (let c = 0; c < x.cols; c += 1) {
        const angle = i * 10000 ** ((-exponent * (c - (c % 2))) / x.cols);
        made.data[i * x.cols + c] += factor * (c % 2 ? Math.cos(angle) : Math.sin(angle));
      }
    return made;
  },

  convolution(step) {
    const { shape: [filters, width, size] } = step.tensor("weight"), kernel = step.floats("weight");
    const data = kernel.map((_, place) => {
      const f = Math.floor(place / (width * size)), rest = place % (width * size);
      return kernel[f * width * size + (rest % width) * size + Math.floor(rest / width)];
    });
    const matrix = new Matrix(step.kernels, { shape: [filters, width * size], data }), bias = step.bias();
    return ([x]) => {
      const windows = value(x.rows, size * width);
      for (let i = 0; i < x.rows; i += 1)
        for (let s = 0; s < size; s += 1) {
          const j = i + s - step.before;
          if (j >= 0 && j < x.rows) windows.data.set(row(x, j), (i * size + s) * width);
        }
      return matrix.apply(windows, bias);
    };
  },

  projection(step) {
    const { shape: [, heads, width, each] } = step.tensor("weight"), all = step.floats("weight");
    const data = new Float32Array(heads * width * each), start = step.number * data.length;
    for (let h = 0; h < heads; h += 1)
      for (let d = 0; d < width; d += 1)
        for (let c = 0; c < each; c += 1)
          data[(h * each + c) * width + d] = all[start + (h * width + d) * each + c];
    const matrix = new Matrix(step.kernels, { shape: [heads * each, width], data });
    return ([x]) => matrix.apply(x);
  },

  additive: (step) => ([query, key, x, opened], seen) => {
    const keep = visible(step.mask, x.rows, opened), bound = bounded(step.scale);
    const score = (i, others) =>
      pairwise(value(1, x.cols, row(query, i)), chosenRows(key, others), (a, b) => bound(a + b));
    const [made, map] = step.scale <= MOST_BOUND
      ? step.kernels.additive(query, key, x, keep, step.scale)
      : featureWise(x, keep, score);
    seen?.map(step, map);
    return made;
  },

  opened: () => ([query, key]) => {
    const made = value(query.rows, key.rows);
    for (let i = 0; i < query.rows; i += 1)
      for (let j = 0; j < key.rows; j += 1)
        made.data[i * key.rows + j] = i !== j && query.data[i] > 0 && key.data[j] > 0 ? 1 : 0;
    return made;
  },

  feature_product(step) {
    const matrix = step.matrix("weight"), bias = step.bias(), bound = bounded(step.scale);
    return ([x, opened], seen) => {
      const [made, map] = featureWise(x, visible(step.mask, x.rows, opened), (i, others) => {
        const both = pairwise(value(1, x.cols, row(x, i)), chosenRows(x, others), (a, b) => a * b);
        return mapped(matrix.apply(both, bias), bound);
      });
      seen?.map(step, map);
      return made;
    };
  },

  general(step) {
    const matrix = step.matrix("weight"), bias = step.bias(), act = ACTIVATIONS[step.activation];
    return ([query, key, x], seen) => {
      const [made, map] = featureWise(x, visible(step.mask, x.rows), (i, others) => {
        const both = pairwise(value(1, query.cols, row(query, i)), chosenRows(key, others), (a, b) => act(a + b));
        return matrix.apply(both, bias);
      });
      seen?.map(step, map);
      return made;
    };
  },

  tensorized: (step) => ([x, ...rest], seen) => {
    const root = Math.fround(Math.sqrt(x.cols));
    let token = step.pairs ? mapped(products(rest[0], rest[1]), (a) => a / root) : value(x.rows, x.rows);
    if (step.token2token === "sigmoid") token = mapped(token, ACTIVATIONS.logsigmoid);
    const source = step.scored ? rest.at(-1) : value(x.rows, x.cols), keep = visible(step.mask, x.rows);
    const [made, map] = varies(source) <= FACTORED
      ? factored(token, source, x, keep)
      : featureWise(x, keep, (i, others) => {
          const pairs = value(others.length, 1, Float32Array.from(others, (j) => token.data[i * x.rows + j]));
          return pairwise(pairs, chosenRows(source, others), (a, b) => a + b);
        });
    seen?.map(step, map);
    return made;
  },

  heads: (step) => {
    const positions = { relative: relativePositions, "transformer-xl": sinusoids }[step.positions]?.(step);
    return ([query, key, x], seen) => {
      const each = x.cols / step.heads.length, divisor = step.divisor || Math.fround(Math.sqrt(each));
      const contexts = step.heads.map(({ mask, distance }, head) => {
        const [q, k, v] = [query, key, x].map((y) => part(y, head * each, (head + 1) * each));
        const scores = products(q, k);
        positions?.addScores(scores, q, k, head, step.heads.length);
        for (let i = 0; i < x.rows; i += 1)
          for (let j = 0; j < x.rows; j += 1) {
            const far = distance ? (step.alpha ?? 0) * Math.abs(j - i) : 0;
            scores.data[i * x.rows + j] = scores.data[i * x.rows + j] / divisor - far;
          }
        const weights = softmax(scores, visible(mask, x.rows)), context = combined(weights, v);
        positions?.addValues(context, weights);
        seen?.map(step, weights, head);
        return context;
      });
      return beside(contexts);
    };
  },

  product(step) {
    const far = step.has("distances") ? step.floats("distances") : null, divisor = step.divisor ?? 1;
    return ([x, y, z, opened], seen) => {
      const scores = products(x, y);
      for (let i = 0; i < x.rows; i += 1)
        for (let j = 0; j < x.rows; j += 1) {
          const place = i * x.rows + j, bias = far ? far[Math.min(Math.abs(j - i), far.length - 1)] : 0;
          scores.data[place] = scores.data[place] / divisor + bias;
        }
      const weights = softmax(scores, visible(step.mask, x.rows, opened));
      seen?.map(step, weights);
      return combined(weights, z);
    };
  },

  align: () => ([x, y, z], seen) => {
    const weights = softmax(products(x, y));
    seen?.alignment(weights);
    return combined(weights, z);
  },

  mean: (step) => ([x], seen) => {
    seen?.weights(step, new Float32Array(x.rows).fill(1 / x.rows));
    const made = value(1, x.cols);
    for (let i = 0; i < x.rows; i += 1) row(x, i).forEach((a, c) => { made.data[c] += a / x.rows; });
    return made;
  },

  maximum: (step) => ([x], seen) => {
    const made = value(1, x.cols), shares = new Float32Array(x.rows);
    for (let c = 0; c < x.cols && x.rows; c += 1) {
      let best = 0;
      for (let i = 1; i < x.rows; i += 1) if (x.data[i * x.cols + c] > x.data[best * x.cols + c]) best = i;
      made.data[c] = x.data[best * x.cols + c];
      shares[best] += 1 / x.cols;
    }
    seen?.weights(step, shares);
    return made;
  },

  weighted_sum: (step) => ([x, scores], seen) => {
    if (!x.rows) return value(1, x.cols);
    const [made, shares] = averaged(scores, x);
    seen?.weights(step, shares);
    return made;
  },

  inner: () => ([x, y]) => {
    const both = pairwise(x, y, (a, b) => a * b);
    return value(both.rows, 1, Float32Array.from({ length: both.rows }, (_, i) => sum(row(both, i))));
  },

  total: () => ([x]) => {
    const made = value(1, x.cols);
    for (let i = 0; i < x.rows; i += 1) row(x, i).forEach((a, c) => { made.data[c] += a; });
    return made;
  },

  repeat: () => ([x, like]) => chosenRows(x, new Array(like.rows).fill(0)),

  prepend(step) {
    const first = step.floats("row");
    return ([x]) => value(x.rows + 1, x.cols, Float32Array.from([...first, ...x.data]));
  },

  fuse: () => (values) => {
    const count = values.length / 2, made = value(values[0].rows, values[0].cols);
    const weights = softmax(beside(values.slice(count)));
    for (let i = 0; i < made.rows; i += 1)
      for (let k = 0; k < count; k += 1)
        row(values[k], i).forEach((a, c) => { made.data[i * made.cols + c] += weights.data[i * count + k] * a; });
    return made;
  },

  lstm(step) {
    const inputs = step.matrix("input"), state = step.matrix("state"), width = state.terms;
    const given = step.floats("bias").slice();
    for (let c = width; c < 2 * width; c += 1) given[c] += step.forget ?? 0;
    const bias = step.kernels.keep(given), { sigmoid } = ACTIVATIONS;
    return recurrent(step, (x) => {
      const gates = inputs.apply(x, bias), made = value(x.rows, width), cell = new Float32Array(width);
      let last = value(1, width);
      for (let t = 0; t < x.rows; t += 1) {
        const gate = state.apply(last).data.map((a, c) => a + gates.data[t * 4 * width + c]);
        for (let c = 0; c < width; c += 1) {
          const [enter, forget, candidate, out] = [0, 1, 2, 3].map((k) => gate[k * width + c]);
          cell[c] = sigmoid(forget) * cell[c] + sigmoid(enter) * Math.tanh(candidate);
          made.data[t * width + c] = sigmoid(out) * Math.tanh(cell[c]);
        }
        last = value(1, width, row(made, t));
      }
      return made;
    });
  },

  gru(step) {
    const gatesInput = step.matrix("gates_input"), gatesState = step.matrix("gates_state");
    const input = step.matrix("candidate_input"), state = step.matrix("candidate_state"), width = state.terms;
    const gatesBias = step.bias("gates_bias"), bias = step.bias("candidate_bias"), { sigmoid } = ACTIVATIONS;
    return recurrent(step, (x) => {
      const gates = gatesInput.apply(x, gatesBias), candidates = input.apply(x, bias), made = value(x.rows, width);
      let last = value(1, width);
      for (let t = 0; t < x.rows; t += 1) {
        const both = gatesState.apply(last).data.map((a, c) => sigmoid(a + gates.data[t * 2 * width + c]));
        const reset = state.apply(value(1, width, last.data.map((a, c) => a * both[c]))).data;
        for (let c = 0; c < width; c += 1) {
          const candidate = Math.tanh(reset[c] + candidates.data[t * width + c]);
          made.data[t * width + c] = candidate + both[width + c] * (last.data[c] - candidate);
        }
        last = value(1, width, row(made, t));
      }
      return made;
    });
  },
};

// The largest variation of a feature over the words.
function varies(x) {
  let most = 0;
  for (let c = 0; c < x.cols; c += 1) {
    let low = Infinity, high = -Infinity;
    for (let i = 0; i < x.rows; i += 1) {
      low = Math.min(low, x.data[i * x.cols + c]);
      high = Math.max(high, x.data[i * x.cols + c]);
    }
    most = Math.max(most, high - low);
  }
  return most;
}

// MTSA's weights exp(token_ij + source_jc) as the product of two factors.
function factored(token, source, x, keep) {
  const { rows, cols } = x, made = value(rows, cols), map = value(rows, rows);
  const factor = new Float64Array(rows * cols), total = new Float64Array(cols), mean = new Float64Array(cols);
  for (let c = 0; c < cols; c += 1) {
    let top = -Infinity;
    for (let j = 0; j < rows; j += 1) top = Math.max(top, source.data[j * cols + c]);
    for (let j = 0; j < rows; j += 1) factor[j * cols + c] = Math.exp(source.data[j * cols + c] - top);
  }
  for (let i = 0; i < rows; i += 1) {
    const weights = new Float64Array(rows);
    let top = -Infinity;
    for (let j = 0; j < rows; j += 1) if (keep[i * rows + j]) top = Math.max(top, token.data[i * rows + j]);
    for (let j = 0; j < rows; j += 1) weights[j] = keep[i * rows + j] ? Math.exp(token.data[i * rows + j] - top) : 0;
    total.fill(0);
    mean.fill(0);
    for (let j = 0; j < rows; j += 1)
      for (let c = 0; c < cols && weights[j]; c += 1) {
        const weight = weights[j] * factor[j * cols + c];
        total[c] += weight;
        mean[c] += weight * x.data[j * cols + c];
      }
    for (let c = 0; c < cols && total[c]; c += 1) made.data[i * cols + c] = mean[c] / total[c];
    for (let j = 0; j < rows; j += 1)
      for (let c = 0; c < cols && weights[j]; c += 1)
        map.data[i * rows + j] += (weights[j] * factor[j * cols + c]) / total[c] / cols;
  }
  return [made, map];
}

// A vector an offset, added to keys and values.
function relativePositions(step) {
  const ofKeys = step.floats("keys"), ofValues = step.floats("values");
  const place = (i, j) => Math.min(Math.max(j - i, -step.reach), step.reach) + step.reach;
  return {
    addScores(scores, q) {
      for (let i = 0; i < q.rows; i += 1)
        for (let j = 0; j < q.rows; j += 1)
          for (let c = 0; c < q.cols; c += 1)
            scores.data[i * q.rows + j] += q.data[i * q.cols + c] * ofKeys[place(i, j) * q.cols + c];
    },
    addValues(context, weights) {
      const { rows, cols } = context;
      for (let i = 0; i < rows; i += 1)
        for (let j = 0; j < rows; j += 1)
          for (let c = 0; c < cols; c += 1)
            context.data[i * cols + c] += weights.data[i * rows + j] * ofValues[place(i, j) * cols + c];
    },
  };
}

// Sinusoids of the offset through a projection, as in Transformer-XL.
function sinusoids(step) {
  const content = step.floats("content"), position = step.floats("position"), projection = step.matrix("projection");
  return {
    addScores(scores, q, k, head, heads) {
      if (!q.rows) return;
      const { rows, cols: each } = q, width = heads * each, half = Math.ceil(width / 2);
      const waves = value(2 * rows - 1, width);
      for (let o = 0; o < waves.rows; o += 1)
        for (let c = 0; c < width; c += 1) {
          const angle = (rows - 1 - o) * 10000 ** ((-2 * (c % half)) / width);
          waves.data[o * width + c] = c < half ? Math.sin(angle) : Math.cos(angle);
        }
      const offsets = projection.apply(waves);
      for (let i = 0; i < rows; i += 1)
        for (let j = 0; j < rows; j += 1)
          for (let c = 0; c < each; c += 1) {
            const at = head * each + c, offset = offsets.data[(j - i + rows - 1) * width + at];
            scores.data[i * rows + j] += content[at] * k.data[j * each + c]
              + (q.data[i * each + c] + position[at]) * offset;
          }
    },
    addValues() {},
  };
}

const ROWS_KEPT = 4000;  // vectors of a table along axes that are kept
const rowsOfTable = ({ shape, codes }) => codes?.rows ?? shape[0];

// A row of a table of vectors; one along axes is the sum of so many steps along each (heedful.page.principal_axes).
function vectorAt(table, place) {
  const { shape: [, width], data, scales, codes, kept } = table;
  if (!codes) {
    const from = place * width, scale = scales ? scales[place] : 1;
    return Float64Array.from(data.subarray(from, from + width), (number) => number * scale);
  }
  let found = kept.get(place);
  if (found) return found;
  found = new Float64Array(width);
  for (let axis = 0; axis < codes.axes; axis += 1) {
    const steps = codes.data[place * codes.axes + axis] * scales[axis], start = axis * width;
    if (steps) for (let c = 0; c < width; c += 1) found[c] += data[start + c] * steps;
  }
  if (kept.size >= ROWS_KEPT) kept.clear();
  kept.set(place, found);
  return found;
}

// A network: the steps that read a text, and those from the texts to the answer.
class Network {
  constructor(description, tensors, kernels) {
    this.tables = ["trained", "frozen", "ngrams"].map((table) => tensors[description.words[table]]);
    this.width = description.words.width ?? this.tables[0].shape[1];
    const made = (steps) => steps.map((each) => {
      if (!Object.hasOwn(OPERATORS, each.do)) throw new ModelError(`the step ${each.do} is unknown`);
      const step = new Step(each, tensors, kernels);
      return { step, compute: OPERATORS[each.do](step) };
    });
    Object.assign(this, { description, reading: made(description.read), answering: made(description.answer) });
  }

  // The vectors of words: of each its own row, and the mean of the rows of its n-grams where it has any.
  vectors(rows, ngrams) {
    const [trained, frozen, runs] = this.tables, { width } = this, made = value(rows.length, width);
    const add = (i, table, place, share = 1) => {
      const vector = vectorAt(table, place);
      for (let c = 0; c < width; c += 1) made.data[i * width + c] += vector[c] * share;
    };
    const first = rowsOfTable(trained);
    rows.forEach((number, i) => {
      if (number >= first) add(i, frozen, number - first);
      else if (number > 1) add(i, trained, number);
      ngrams[i].forEach((place) => add(i, runs, place, 1 / ngrams[i].length));
    });
    return made;
  }

  run(steps, values, seen) {
    for (const { step, compute } of steps) values[step.to] = compute(step.of.map((name) => values[name]), seen);
    return values;
  }

  // The logits of an example. texts: of each the rows of its words and of their n-grams; seen: of each what gathers its
  // pictures, and last what gathers those of the answer.
  answer(texts, seen = []) {
    const given = {};
    texts.forEach(({ rows, ngrams }, side) => {
      const read = this.run(this.reading, { words: this.vectors(rows, ngrams) }, seen[side]);
      for (const [name, x] of Object.entries(read)) given[`${["first", "second"][side]}.${name}`] = x;
    });
    return Array.from(this.run(this.answering, given, seen[texts.length])[this.description.logits].data);
  }
}
