"""Train the network of en-sentences further: words by their spelling, and a smaller pooling.

    python packages/heedful-en/making/refine_sentences.py OUT MORE RUN REFINED [--threads 1] [--bfloat16]

OUT and MORE have the blocks of `collect_sentences.py` and of `sentence_names.py`, with the teacher's vectors; RUN is a
finished run of `train_sentences.py`. REFINED gets the settings, the checkpoints and the weights; an interrupted run
continues at its last checkpoint.

Every word gets the mean of the vectors of its n-grams of characters beside a vector of its own, so that an unknown
word, a name or a number above all, has a vector too. The n-grams begin random, and a word's own vector as what is
missing to the vector that it had. In training a word beyond the most frequent ones is at times without its own vector.
Words of Numberbatch keep one, others where they are frequent. The pooling keeps those of its hidden units whose weights
are largest.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch.nn import functional

from heedful.storage.shared_rows import BASEFORMS, ROWS, read_rows
from heedful.structures import Sentences, Spellings
from heedful.text.vectors import read_baseforms
from heedful.text.vocabulary import NgramRule, Vocabulary
from train_sentences import VECTORS, Corpus, Recipe, Student, Training, steps_of, words_of

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Refining(Recipe):
    """What the further training does."""

    lr: float = 6e-4
    table_lr: float = 6e-4
    warmup: int = 100
    passes: int = 4
    hidden: int = 256
    ngrams: int = 9_000
    ngrams_lr: float = 2e-3
    ngram_norm: float = 24.0
    left_out: float = 0.15
    common: int = 2_000
    least_form: int = 20
    least_other: int = 8


@dataclass(frozen=True, eq=False)
class SpelledCorpus(Corpus):
    """Sentences whose ids are numbers of distinct words, the most frequent first.

    Attributes:
        own: row of each distinct word in the table, 1 for none.
        ngrams: rows of the n-grams of all distinct words end to end.
        starts: where those of each begin, and the end.
        common: distinct words that always keep their own vector.
        left_out: the share of the other distinct words of a batch that are without it.
        drawn: what chooses them.
    """

    own: Numbers
    ngrams: Numbers
    starts: Numbers
    common: int
    left_out: float
    drawn: np.random.Generator

    def sentences(self, numbers: Numbers) -> Sentences:
        """Return a padded batch, each distinct word spelled once."""
        rows = [self.ids[self.offsets[n] : self.offsets[n + 1]] for n in numbers]
        ids = np.full((len(rows), max(1, *map(len, rows))), -1, np.int64)
        for place, row in zip(ids, rows, strict=True):
            place[: len(row)] = row
        valid = ids >= 0
        distinct, back = np.unique(ids[valid], return_inverse=True)
        places = np.full(ids.shape, len(distinct), np.int64)
        places[valid] = back
        gone = (self.drawn.random(len(distinct)) < self.left_out) & (distinct >= self.common)
        own = np.append(np.where(gone, 1, self.own[distinct]), 0)
        spelled = [self.ngrams[self.starts[word] : self.starts[word + 1]] for word in distinct]
        ends = np.cumsum([0, *map(len, spelled), 0])
        spellings = Spellings(*map(torch.from_numpy, (places, np.concatenate(spelled), ends)))
        return Sentences(torch.from_numpy(own[places]), torch.from_numpy(valid), spellings=spellings)


def read_words(out: Path, more: Path) -> tuple[Counter[str], list[str], NDArray[np.int32], Numbers]:
    """Read all blocks: counts in OUT, the distinct words, the number of each word, and where sentences begin."""
    read = [
        [[word.lower() for word in words_of(text)] for text in block.read_text(encoding="utf-8").split("\n")[:-1]]
        for folder in (out, more)
        for block in sorted(folder.glob("sentences-*.txt"))
    ]  # fmt: skip
    first = len(list(out.glob("sentences-*.txt")))
    counts = Counter(word for block in read[:first] for row in block for word in row)
    every = sorted(counts, key=lambda word: (-counts[word], word))
    places = {word: place for place, word in enumerate(every)}
    for block in read[first:]:
        for row in block:
            for word in row:
                places.setdefault(word, len(places))
    ids = [places[word] for block in read for row in block for word in row]
    lengths = [len(row) for block in read for row in block]
    return counts, list(places), np.array(ids, np.int32), np.cumsum([0, *lengths])


def vocabulary_of(counts: Counter[str], recipe: Refining) -> Vocabulary:
    """Return the words that have a vector of their own, and the rule of the n-grams."""
    known, baseforms = set(read_rows(VECTORS / ROWS).words), read_baseforms(VECTORS / BASEFORMS)

    def keeps(word: str) -> bool:
        is_form = baseforms.get(word) in known
        return word in known or counts[word] >= (recipe.least_form if is_form else recipe.least_other)

    kept = {word: count for word, count in counts.items() if keeps(word)}
    return Vocabulary.build(kept, baseforms=baseforms, ngrams=NgramRule(rows=recipe.ngrams))


def spelled(vocabulary: Vocabulary, word: str) -> Numbers:
    """Return the rows of a word's n-grams."""
    return vocabulary.rows_of_ngrams(word).astype(np.int64)


def begin(run: Path, vocabulary: Vocabulary, recipe: Refining) -> Student:
    """Return the network of a finished run, with n-grams and fewer hidden units; known words have the same vectors."""
    weights = load_file(run / "student.safetensors")
    before = Vocabulary.from_json((run / "vocabulary.json").read_text(encoding="ascii"))
    old = weights.pop("embedding.weight")
    weights.pop("embedding.frozen", None)
    drawn = torch.randn(recipe.ngrams, old.shape[1], generator=torch.Generator().manual_seed(recipe.seed))
    ngrams = functional.normalize(drawn, dim=-1) * recipe.ngram_norm
    shared = read_rows(VECTORS / ROWS)
    rows, vectors = {word: row for row, word in enumerate(shared.words)}, shared.matrix
    table = torch.zeros(len(vocabulary), old.shape[1])
    for row, word in enumerate(vocabulary.trainable, start=2):
        if before.knows(word):
            table[row] = old[before.id(word)]
        elif word in rows:
            vector = torch.from_numpy(vectors[rows[word]].astype(np.float32))
            table[row] = functional.normalize(vector, dim=0) * recipe.vector_norm
        table[row] -= ngrams[torch.from_numpy(spelled(vocabulary, word))].mean(0)
    network = Student(table, len(weights["output.weight"]), ngrams=ngrams, hidden=recipe.hidden)
    assert network.embedding.ngrams is not None  # as they were given
    network.embedding.ngrams.sparse = False
    worth = weights["pooling.hidden.weight"].norm(dim=1) * weights["pooling.score.weight"].norm(dim=0)
    kept = worth.argsort(descending=True)[: recipe.hidden].sort().values
    for name, chosen in (
        ("hidden.weight", (kept,)),
        ("hidden.bias", (kept,)),
        ("score.weight", (slice(None), kept)),
    ):
        weights[f"pooling.{name}"] = weights[f"pooling.{name}"][chosen]
    network.load_state_dict(weights, strict=False)
    return network


class Refinement(Training):
    """A training of n-grams too."""

    def __init__(
        self, network: Student, recipe: Refining, run: Path, total: int, *, bfloat16: bool = False
    ) -> None:
        super().__init__(network, recipe, run, total, bfloat16=bfloat16)
        assert network.embedding.ngrams is not None  # `begin` gave them
        ngrams = torch.optim.Adam([network.embedding.ngrams.weight], recipe.ngrams_lr)
        self.members["ngrams"] = (ngrams, recipe.ngrams_lr)


def vectors_of(folders: Sequence[Path]) -> NDArray[np.float16]:
    """Read the teacher's vectors of all blocks."""
    blocks = [block for folder in folders for block in sorted(folder.glob("sentences-*.txt"))]
    return np.concatenate([np.load(block.with_suffix(".npy")) for block in blocks])


def train(corpus: Corpus, training: Refinement, recipe: Refining, start: int) -> None:
    """Take the steps behind `start`."""
    done, mean = 0, 0.0
    for number in range(recipe.passes):
        for numbers in corpus.batches(recipe.batch, np.random.default_rng([recipe.seed, 50 + number])):
            done += 1
            sentences = corpus.sentences(
                numbers
            )  # also of steps that are done: what is left out is drawn in order
            if done <= start:
                continue
            mean += (training.learn(sentences, corpus.targets(numbers)) - mean) / min(done - start, 100)
            if done % 100 == 0:
                print(f"step {done} of {training.total}, loss {mean:.4f}", flush=True)
            if done % recipe.checkpoint_every == 0:
                training.save()


def main() -> None:
    """Read the command line and train."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("out", "more", "run", "refined"):
        options.add_argument(name, type=Path)
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--bfloat16", action="store_true")
    given, recipe = options.parse_args(), Refining()
    torch.set_num_threads(given.threads)
    torch.manual_seed(recipe.seed)
    given.refined.mkdir(parents=True, exist_ok=True)
    counts, words, ids, offsets = read_words(given.out, given.more)
    vocabulary = vocabulary_of(counts, recipe)
    (given.refined / "vocabulary.json").write_text(vocabulary.to_json(), encoding="ascii")
    settings = {"recipe": asdict(recipe), "bfloat16": given.bfloat16}
    (given.refined / "settings.json").write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
    runs = [spelled(vocabulary, word) for word in words]
    corpus = SpelledCorpus(
        ids,
        offsets,
        vectors_of((given.out, given.more)),
        vocabulary.ids(words).astype(np.int64),
        np.concatenate(runs),
        np.cumsum([0, *map(len, runs)]),
        recipe.common,
        recipe.left_out,
        np.random.default_rng(1),
    )
    network = begin(given.run, vocabulary, recipe)
    total = steps_of(corpus, recipe.batch, [recipe.seed, 50]) * recipe.passes
    training = Refinement(network, recipe, given.refined, total, bfloat16=given.bfloat16)
    if (given.refined / "step.json").exists():
        training.restore()
    train(corpus, training, recipe, training.step)
    training.save()
    tensors = {name: x.detach().contiguous() for name, x in network.state_dict().items()}
    save_file(tensors, given.refined / "student.safetensors")


if __name__ == "__main__":
    main()
