/** Text models of Heedful in browsers, workers and Node. Write a model file with `heedful export MODEL --javascript FILE`. */

/** What keeps a model from being opened, or from answering a text; the message is one line. */
export class ModelError extends Error {}

/**
 * Open a model file.
 *
 * @param source an address, in Node also a path, or whatever holds the bytes of the file.
 * @returns the model. The promise is rejected with a `ModelError` if the file cannot be read, is damaged, or if the
 *   browser lacks WebAssembly SIMD.
 */
export function load(source: string | URL | ArrayBuffer | ArrayBufferView | Blob | Response): Promise<HeedfulModel>;

/** A model that was loaded. All methods compute at once, in the thread that calls them. */
export class HeedfulModel {
  private constructor();

  /** What is answered. */
  readonly task: "text" | "pair" | "labels" | "number" | "relatedness" | "pair-number" | "vector" | "tags";
  /** The name of the run that trained the model, or of its encoder. */
  readonly title: string;
  /** The labels or tags, in the order of the network; none where the answer is a number. */
  readonly labels: string[];
  /** What the texts of a request are called: one name, or two. */
  readonly texts: string[];

  /**
   * Answer a text, or two.
   *
   * @param text the text, or the first of two.
   * @param second the other text, where the model reads two.
   * @returns the fields of `heedful predict --json`; which ones, the task says.
   */
  predict(text: string, second?: string): Prediction;

  /** Answer as `predict` does, and say what each word contributes and what the network looked at. Not for vectors and tags. */
  explain(text: string, second?: string): Explanation;

  /** The vector of a text, of unit length. Only for models of the task "vector". */
  encode(text: string): Float32Array;
}

export type Prediction = Answer | LabelsAnswer | TagsAnswer;

interface Read {
  /** How many words were read of each text. */
  tokens: number[];
  /** How many of them the model does not know. */
  unknown: number;
  /** Whether a text was cut, where the model cuts long ones. */
  truncated: boolean;
  /** Whether a text has no words. */
  empty: boolean;
  /** Labels of which one is right as often as the file promises, the likeliest first; only of files with `--coverage`. */
  prediction_set?: string[];
  /** Of a number, the ends between which it lies so often; likewise. */
  interval?: [least: number, greatest: number];
}

/** One class or one number. */
export interface Answer extends Read {
  /** The class, or the name for none of them where the model rejects texts; null where the answer is a number. */
  label: string | null;
  /** The probability of each parent of classes that are paths, of which `label` may be one; only of files with `--tree`. */
  parents?: Record<string, number>;
  /** How unlike all training texts the text is; only of models that reject texts. */
  unlike?: number;
  /** The share of known texts that are less unlike; likewise. */
  unlike_share?: number;
  /** Of every class, or of every grade; empty for other numbers. */
  probabilities: Record<string, number>;
  /** The number; for two texts of a model of vectors their cosine. Null where the answer is a class. */
  score: number | null;
}

/** Several labels, or a class of each of several label columns. */
export interface LabelsAnswer extends Read {
  /** Those that reach their threshold, the likeliest first; of label columns one of each, such as "mood: glad". */
  labels: string[];
  /** Of every label, each by itself; of label columns those of a column sum to 1. */
  probabilities: Record<string, number>;
}

/** A tag for each word. Places in the text count as JavaScript's strings do, in UTF-16 units. */
export interface TagsAnswer {
  words: string[];
  offsets: [start: number, end: number][];
  tags: string[];
  probabilities: number[];
  /** What BIO or BIOES mark; places count words. */
  spans: { role: string; start: number; end: number; text: string; probability: number }[];
  unknown: number;
  truncated: boolean;
}

export interface Explanation {
  prediction: Prediction;
  texts: TextSeen[];
  /** To the answer first, and to the likeliest others. */
  contributions: Contribution[];
  /** Weights between the words of two texts, for networks that compare them. */
  alignments: { name: string; rows: string[]; columns: string[]; weights: number[][] }[];
}

/** One text as the model read it. */
export interface TextSeen {
  name: string;
  words: string[];
  offsets: [start: number, end: number][];
  unknown: boolean[];
  /** The share of each word in the vector of the text; null where a network has none. */
  weights: number[] | null;
  /** Attention maps; each row is a word, each column one that it looks at. */
  maps: { name: string; weights: number[][] }[];
  gates: { name: string; means: number[] }[];
}

/** What each word contributes to one number: `base` and all of `words` add up to `sum`. */
export interface Contribution {
  /** The class or label; null where a number is explained. */
  label: string | null;
  /** What the numbers are parts of, such as the log-odds of a class. */
  of: string;
  isLogOdds: boolean;
  probability: number | null;
  /** What is there without any word. */
  base: number;
  /** Of each text, of each word. */
  words: number[][];
  sum: number;
  /** What neighboring words add only together; their own numbers share it already. */
  together: { side: number; start: number; end: number; text: string; value: number }[];
  /** The same of a word of the first text and one of the second. */
  across: { first: number; second: number; value: number }[];
  /** Choices of words that were computed; 0 where the result is exact. */
  choices: number;
  /** How many neighboring words share one number; 1 except in long texts. */
  run: number;
}
