"""Train the network of en-sentences further, with a smaller pooling, and give unknown words vectors by their spelling.

    python packages/heedful-en/making/refine_sentences.py OUT RUN REFINED [--threads 1] [--bfloat16]

OUT has the blocks of `collect_sentences.py` and `embed_sentences.py`; RUN is a finished run of `train_sentences.py`.
REFINED gets the settings, the checkpoints and the weights; an interrupted run continues at its last checkpoint.

Words of Numberbatch keep their vector, others where they are frequent. The vector of an unknown word is the mean of
those of its n-grams of characters, which are random: a name is then like itself in another text, and like its other
forms. A network learns to leave out the random vectors that it is trained with, as the teacher knows more names than
it does; so they are drawn anew at the end, and longer. An unknown word that is one edit away from a known one is read
as that. The pooling keeps those of its hidden units whose weights are largest.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn import functional

from heedful.storage.shared_rows import BASEFORMS, ROWS, read_rows
from heedful.structures import Sentences, Spellings
from heedful.text.vectors import read_baseforms
from heedful.text.vocabulary import NgramRule, Vocabulary
from train_sentences import VECTORS, Corpus, Recipe, Student, Training, steps_of, words_of

Numbers = NDArray[np.int64]
REMARK = (
    "Every sentence was read five times\nin the first training and three times in the second; the teacher's vectors "
    "and the products of\nthe trainings were computed in bfloat16."
)


@dataclass(frozen=True)
class Refining(Recipe):
    """What the further training does."""

    lr: float = 6e-4
    table_lr: float = 6e-4
    warmup: int = 100
    passes: int = 3
    hidden: int = 256
    ngrams: int = 3_000
    ngram_norm: float = 16.0
    last_ngrams: int = 4_000
    last_norm: float = 32.0
    least_form: int = 12
    least_other: int = 4


@dataclass(frozen=True, eq=False)
class SpelledCorpus(Corpus):
    """Sentences whose ids are numbers of distinct words.

    Attributes:
        own: row of each distinct word in the table, 1 for none.
        ngrams: rows of the n-grams of all distinct words end to end; known words have none.
        starts: where those of each begin, and the end.
    """

    own: Numbers
    ngrams: Numbers
    starts: Numbers

    @classmethod
    def of(cls, corpus: Corpus, words: Sequence[str], vocabulary: Vocabulary) -> SpelledCorpus:
        """Spell the distinct words of a corpus whose ids are their numbers."""
        runs = [spelled(vocabulary, word) for word in words]
        own, starts = vocabulary.ids(words).astype(np.int64), np.cumsum([0, *map(len, runs)])
        return cls(corpus.ids, corpus.offsets, corpus.vectors, own, np.concatenate(runs), starts)

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
        own = np.append(self.own[distinct], 0)
        runs = [self.ngrams[self.starts[word] : self.starts[word + 1]] for word in distinct]
        ends = np.cumsum([0, *map(len, runs), 0])
        spellings = Spellings(*map(torch.from_numpy, (places, np.concatenate(runs), ends)))
        return Sentences(torch.from_numpy(own[places]), torch.from_numpy(valid), spellings=spellings)


def read_words(out: Path) -> tuple[Counter[str], list[str], NDArray[np.int32], Numbers]:
    """Read all blocks: counts, the distinct words, the number of each word, and where sentences begin."""
    read = [
        [word.lower() for word in words_of(text)]
        for block in sorted(out.glob("sentences-*.txt"))
        for text in block.read_text(encoding="utf-8").split("\n")[:-1]
    ]
    counts = Counter(word for row in read for word in row)
    every = sorted(counts, key=lambda word: (-counts[word], word))
    places = {word: place for place, word in enumerate(every)}
    ids = [places[word] for row in read for word in row]
    return counts, every, np.array(ids, np.int32), np.cumsum([0, *map(len, read)])


def vocabulary_of(counts: Counter[str], recipe: Refining) -> Vocabulary:
    """Return the words that have a vector of their own, and the rule of the n-grams."""
    known, baseforms = set(read_rows(VECTORS / ROWS).words), read_baseforms(VECTORS / BASEFORMS)

    def keeps(word: str) -> bool:
        is_form = baseforms.get(word) in known
        return word in known or counts[word] >= (recipe.least_form if is_form else recipe.least_other)

    kept = {word: count for word, count in counts.items() if keeps(word)}
    rule = NgramRule(rows=recipe.ngrams, unknown_alone=True)
    return Vocabulary.build(kept, baseforms=baseforms, ngrams=rule)


def spelled(vocabulary: Vocabulary, word: str) -> Numbers:
    """Return the rows of a word's n-grams."""
    return vocabulary.rows_of_ngrams(word).astype(np.int64)


def drawn(rows: int, norm: float, seed: int) -> Tensor:
    """Return random vectors of n-grams."""
    return (
        functional.normalize(torch.randn(rows, 300, generator=torch.Generator().manual_seed(seed)), dim=-1)
        * norm
    )


def begin(run: Path, vocabulary: Vocabulary, recipe: Refining) -> Student:
    """Return the network of a finished run, with n-grams and fewer hidden units."""
    weights = load_file(run / "student.safetensors")
    before = Vocabulary.from_json((run / "vocabulary.json").read_text(encoding="ascii"))
    old = weights.pop("embedding.weight")
    weights.pop("embedding.frozen", None)
    ngrams = drawn(recipe.ngrams, recipe.ngram_norm, recipe.seed)
    shared = read_rows(VECTORS / ROWS)
    rows, vectors = {word: row for row, word in enumerate(shared.words)}, shared.matrix
    table = torch.zeros(len(vocabulary), old.shape[1])
    for row, word in enumerate(vocabulary.trainable, start=2):
        if before.knows(word):
            table[row] = old[before.id(word)]
        elif word in rows:
            vector = torch.from_numpy(vectors[rows[word]].astype(np.float32))
            table[row] = functional.normalize(vector, dim=0) * recipe.vector_norm
    network = Student(table, len(weights["output.weight"]), ngrams=ngrams, hidden=recipe.hidden)
    assert network.embedding.ngrams is not None  # as they were given
    network.embedding.ngrams.requires_grad_(False)
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


def vectors_of(out: Path) -> NDArray[np.float16]:
    """Read the teacher's vectors of all blocks."""
    return np.concatenate(
        [np.load(block.with_suffix(".npy")) for block in sorted(out.glob("sentences-*.txt"))]
    )


def train(corpus: Corpus, training: Training, recipe: Refining, *, keeps: bool = True) -> None:
    """Take the steps that are missing, and keep checkpoints."""
    done, mean, start = 0, 0.0, training.step
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
            if keeps and done % recipe.checkpoint_every == 0:
                training.save()


def counted(out: Path, run: Path, training: Training, words: int) -> dict[str, Any]:
    """Return what the card says of the collection and of both trainings."""
    collection = json.loads((out / "collection.json").read_text(encoding="utf-8"))
    return {
        **collection,
        "learned from": collection["sentences"],
        "steps": json.loads((run / "step.json").read_text(encoding="utf-8"))["step"],
        "further steps": training.step,
        "hidden units": len(training.network.pooling.hidden.weight),
        "words": words,
        "remark": REMARK,
    }


def main() -> None:
    """Read the command line and train."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("out", "run", "refined"):
        options.add_argument(name, type=Path)
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--bfloat16", action="store_true")
    given, recipe = options.parse_args(), Refining()
    torch.set_num_threads(given.threads)
    torch.manual_seed(recipe.seed)
    given.refined.mkdir(parents=True, exist_ok=True)
    counts, words, ids, offsets = read_words(given.out)
    vocabulary = vocabulary_of(counts, recipe)
    settings = {"recipe": asdict(recipe), "bfloat16": given.bfloat16}
    (given.refined / "settings.json").write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
    corpus = SpelledCorpus.of(Corpus(ids, offsets, vectors_of(given.out)), words, vocabulary)
    network = begin(given.run, vocabulary, recipe)
    total = steps_of(corpus, recipe.batch, [recipe.seed, 50]) * recipe.passes
    training = Training(network, recipe, given.refined, total, bfloat16=given.bfloat16)
    if (given.refined / "step.json").exists():
        training.restore()
    print(f"{len(vocabulary):,} words, {total:,} steps", flush=True)
    train(corpus, training, recipe)
    training.save()
    tensors = {name: x.detach().contiguous() for name, x in network.state_dict().items()}
    tensors["embedding.ngrams.weight"] = drawn(recipe.last_ngrams, recipe.last_norm, recipe.seed + 1)
    save_file(tensors, given.refined / "student.safetensors")
    rule = NgramRule(rows=recipe.last_ngrams, unknown_alone=True)
    last = replace(vocabulary, oov="nearest", ngrams=rule)
    (given.refined / "vocabulary.json").write_text(last.to_json(), encoding="ascii")
    record = counted(given.out, given.run, training, len(vocabulary.trainable))
    (given.refined / "collection.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
