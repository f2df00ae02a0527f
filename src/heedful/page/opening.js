// Opens a model file: gzip around safetensors, whose metadata say what the model is (heedful.page.model_file). The file
// holds numbers and JSON alone. Whatever it says of its tensors is checked before one of them is read.

const FORMAT = 1;
const MOST_BYTES = 2 ** 31;  // unpacked; what is larger is no model that a browser could hold
const KINDS = { F32: Float32Array, I8: Int8Array, U8: Uint8Array, I16: Int16Array, I32: Int32Array };

// What keeps a model from being opened or from answering, in one line.
class ModelError extends Error {
  name = "ModelError";
}

const fromBase64 = (text) => Uint8Array.fromBase64?.(text) ?? Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

const damaged = (what) => new ModelError(`This file is damaged: ${what}.`);

// The model of the bytes of a file.
async function openModel(bytes) {
  if (typeof DecompressionStream !== "function")
    throw new ModelError("This browser has no DecompressionStream, which unpacks the model. Open it in a newer browser.");
  const kernels = await unpacked(fromBase64(KERNELS));
  if (typeof WebAssembly !== "object" || !WebAssembly.validate(kernels))
    throw new ModelError("This browser has no WebAssembly SIMD, which the model computes with. Open it in a newer one.");
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b)
    throw new ModelError("This is no model file: write one with heedful export MODEL --javascript FILE.");
  const [tensors, about] = tensorsOf(await unpacked(bytes)), compiled = await Kernels.load(kernels);
  try {
    return Model.of(tensors, about, compiled);
  } catch (error) {
    throw damaged(`its network does not fit its tensors (${error.message})`);
  }
}

// What a gzip stream holds, whose checksum is compared.
async function unpacked(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")), parts = [];
  let size = 0;
  try {
    for (const reader = stream.getReader(); ;) {
      const { done, value: part } = await reader.read();
      if (done) break;
      if ((size += part.length) > MOST_BYTES) throw new RangeError("it unpacks to more than 2 GB");
      parts.push(part);
    }
  } catch (error) {
    throw damaged(error.message || "it is no whole gzip file");
  }
  if (new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getUint32(bytes.length - 4, true) !== size)
    throw damaged("something stands behind its end");
  const whole = new Uint8Array(size);
  let start = 0;
  for (const part of parts) {
    whole.set(part, start);
    start += part.length;
  }
  return whole.buffer;
}

// The tensors of a safetensors file by name, {shape, data, scales}, and what the file says of itself.
function tensorsOf(buffer) {
  const [entries, about, first] = headerOf(buffer), made = Object.create(null);
  for (const [name, { dtype, shape, data_offsets: [from, to] }] of Object.entries(entries)) {
    const Kind = Object.hasOwn(KINDS, dtype) ? KINDS[dtype] : null;
    const length = Array.isArray(shape) ? shape.reduce((product, size) => product * size, 1) : NaN;
    const start = first + from, whole = Number.isSafeInteger(length) && shape.every((size) => size >= 0);
    if (!Kind || !whole || !(from >= 0) || to - from !== length * Kind.BYTES_PER_ELEMENT || first + to > buffer.byteLength)
      throw damaged(`its tensor ${name} has another size than the file says`);
    const data = start % Kind.BYTES_PER_ELEMENT ? new Kind(buffer.slice(start, first + to)) : new Kind(buffer, start, length);
    made[name] = { shape, data, scales: null };
  }
  for (const [name, tensor] of Object.entries(made)) {
    tensor.scales = made[`${name}.scale`]?.data ?? null;
    const sizes = made[`${name}.sizes`]?.data, codes = made[`${name}.codes`]?.data;
    if (sizes && codes) Object.assign(tensor, { codes: codesOf(name, sizes, codes), kept: new Map() });
  }
  return [made, about];
}

// The whole numbers of a table along its axes, one row after the other; see heedful.page.principal_axes. sizes: rows, then the
// largest number of each axis.
function codesOf(name, [rows, ...most], packed) {
  const digits = most.map((size) => Math.floor(Math.log(256) / Math.log(2 * size + 1) + 1e-9));
  const right = rows >= 0 && most.every((size) => size >= 1 && size <= 127);
  if (!right || sum(digits.map((count) => Math.ceil(rows / count))) !== packed.length)
    throw damaged(`its tensor ${name} has other numbers than the file says`);
  const axes = most.length, data = new Int8Array(rows * axes);
  let from = 0;
  most.forEach((size, axis) => {
    const base = 2 * size + 1, count = digits[axis];
    for (let start = 0; start < rows; start += count) {
      let byte = packed[from++];
      for (let place = start + count - 1; place >= start; place -= 1) {
        if (place < rows) data[place * axes + axis] = (byte % base) - size;
        byte = (byte / base) | 0;
      }
    }
  });
  return { rows, axes, data };
}

// The entries of the tensors, what the model says of itself, and where the data begin.
function headerOf(buffer) {
  const size = buffer.byteLength < 8 ? Infinity : Number(new DataView(buffer).getBigUint64(0, true));
  if (size > buffer.byteLength - 8) throw damaged("its header is longer than the file");
  try {
    const { __metadata__: { model }, ...entries } = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, size)));
    const about = JSON.parse(model);
    if (about.format === FORMAT) return [entries, about, 8 + size];
    throw new ModelError(`This model file has the format ${about.format}; this version reads ${FORMAT}. Export the model again.`);
  } catch (error) {
    throw error instanceof ModelError ? error : damaged("its header cannot be read");
  }
}
