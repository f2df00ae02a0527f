"""Time and peak memory of encoding a generated corpus of the size of SNLI.

    python -m heedful_lab.studies.encoding_time [--pairs 550000]

The sentences are random words, with about the lengths of
SNLI's (14 and 8 tokens on average) and a vocabulary of 40,000 words with Zipf frequencies: plain text that must be
tokenized. Generating them is not timed, but the memory they take is counted.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from heedful.data.batching import BucketSampler
from heedful.data.cache import PreparedData, cache_key, load_or_prepare
from heedful.data.encoding import EncodedDataset, encode
from heedful.data.examples import Example
from heedful.data.tokens import tokenize_corpus
from heedful.text.vocabulary import Vocabulary

LABELS = ("contradiction", "entailment", "neutral")


def generate(pairs: int, seed: int = 0) -> list[Example]:
    """Make pairs of sentences of random words, a clitic or comma here and there, a full stop at the end."""
    rng = np.random.default_rng(seed)
    words = np.array([f"{'bcdfghjklmnp'[n % 12]}{'aeiou'[n % 5]}w{n:x}" for n in range(40_000)])
    words[5:40_000:97] = np.char.add(words[5:40_000:97], "'s")
    words[7:40_000:53] = np.char.add(words[7:40_000:53], ",")
    lengths = 1 + rng.poisson([12, 6], (pairs, 2))
    drawn = np.minimum(rng.zipf(1.3, int(lengths.sum())), len(words)) - 1
    sentences, start = [], 0
    for length in lengths.ravel().tolist():
        sentences.append(" ".join(words[drawn[start : start + length]]) + ".")
        start += length
    return [Example((sentences[2 * n], sentences[2 * n + 1]), LABELS[n % 3], row=n + 1) for n in range(pairs)]


def peak_megabytes() -> float:
    """Return the peak resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Print one line a stage."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=550_000)
    examples = generate(parser.parse_args().pairs)
    print(f"{len(examples):,} pairs generated; peak so far {peak_megabytes():,.0f} MB")

    def prepare() -> PreparedData:
        start = time.perf_counter()
        corpus = tokenize_corpus(examples)
        print(f"tokenize  {time.perf_counter() - start:6.1f} s")
        start = time.perf_counter()
        vocabulary = Vocabulary.build(corpus.counts())
        dataset = encode(corpus, vocabulary, labels=LABELS)
        print(f"encode    {time.perf_counter() - start:6.1f} s, {dataset.report.tokens:,} tokens")
        return PreparedData(vocabulary, {"train": dataset})

    with tempfile.TemporaryDirectory() as folder:
        key = cache_key([], {"pairs": len(examples)})
        start = time.perf_counter()
        prepared = load_or_prepare(key, prepare, Path(folder), dataset=EncodedDataset)
        print(f"together  {time.perf_counter() - start:6.1f} s with writing the cache")
        start = time.perf_counter()
        load_or_prepare(key, prepare, Path(folder), dataset=EncodedDataset)
        print(f"again     {time.perf_counter() - start:6.1f} s, from the cache")
    lengths = prepared.datasets["train"].lengths()
    start = time.perf_counter()
    batches = BucketSampler(lengths, batch_size=64).batches(0)
    print(f"batches   {time.perf_counter() - start:6.1f} s, {len(batches):,} of 64")
    padded = sum(int(np.maximum(lengths[batch].max(axis=0), 1).sum()) * len(batch) for batch in batches)
    print(f"padding   {1 - lengths.sum() / padded:6.1%} of the padded tokens")
    print(f"peak memory {peak_megabytes():,.0f} MB")


if __name__ == "__main__":
    main()
