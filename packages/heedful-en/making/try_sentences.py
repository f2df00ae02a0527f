"""Try changes of the recipe of en-sentences on a part of the sentences, each from the beginning.

    python packages/heedful-en/making/try_sentences.py OUT DATA FIGURES [--blocks 24] [--only mtsa,rows] [--bfloat16]

OUT has the blocks of `collect_sentences.py` and `embed_sentences.py`, DATA the data sets. Every row is trained for one
round and judged on what chose nothing yet: Spearman's correlation on the dev part of STS-B, and logistic regression on
the states with five folds of 1,000 training rows of TREC and SST-2. Test parts are not read. Rows that FIGURES has are
not trained again.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from torch import Tensor, nn
from torch.nn import functional

from heedful.data.catalog import load as load_set
from heedful.encoders.mtsa import MtsaConfig, MtsaEncoder
from heedful.nn import WordEmbedding
from heedful.nn.pooling import SourceToToken, mean_of
from heedful.structures import Sentences
from heedful.text.vectors import read_baseforms
from heedful.text.vocabulary import NgramRule, Vocabulary
from measure_sentences import Features, spearman
from train_sentences import (
    BASEFORMS,
    VECTORS,
    Corpus,
    Recipe,
    Student,
    Training,
    first_table,
    read_blocks,
    steps_of,
    train_words,
    words_of,
)  # fmt: skip

FEW, LENGTH = 1_000, 8.0


@dataclass(frozen=True)
class Try:
    """A change of the recipe.

    Attributes:
        recipe: the settings that differ.
        encoder: "disan" or "mtsa".
        frozen: whether the word vectors stay as the first phase left them, with one trained layer over them.
        ngrams: whether the n-grams of a word add to its vector.
        blocks: how many times the blocks of the other rows.
        buckets: fixed random vectors, one of which an unknown word is by its spelling; 0 for the nearest known word.
    """

    recipe: dict[str, float] = field(default_factory=dict)
    encoder: str = "disan"
    frozen: bool = False
    ngrams: bool = False
    blocks: int = 1
    buckets: int = 0


TRIES = {
    "as shipped": Try(),
    "twice the sentences": Try(blocks=2),
    "mtsa": Try(encoder="mtsa"),
    "loss of cosines alone": Try({"similarity": 0.0}),
    "similarities weigh 20": Try({"similarity": 20.0}),
    "20,000 rows": Try({"rows": 20_000}),
    "frozen table with a layer": Try({"words_lr": 0.0}, frozen=True),
    "n-grams of words": Try(ngrams=True),
    "unknown words as random vectors": Try(buckets=1_000),
}


class Tried(Student):
    """The network with another encoder, a layer over a frozen table, or n-grams."""

    def __init__(self, tried: Try, table: Tensor, width_out: int, vocabulary: Vocabulary) -> None:
        super().__init__(table, width_out)
        if tried.buckets:
            drawn = torch.randn(tried.buckets, table.shape[1], generator=torch.Generator().manual_seed(0))
            self.embedding = WordEmbedding(table, functional.normalize(drawn, dim=-1) * LENGTH)
        width, last = table.shape[1], self.output.weight
        if tried.encoder == "mtsa":
            self.encoder = MtsaEncoder(width, MtsaConfig(dropout=0.0))
            self.pooling = SourceToToken(self.encoder.width_out, activation="elu", dropout=0.0)
            self.output = nn.Linear(self.pooling.width_out + width, len(last), bias=False)
        self.adapter = nn.Linear(width, width, bias=False) if tried.frozen else None
        if self.adapter is not None:
            nn.init.zeros_(self.adapter.weight)
        self.bag, self.rows = None, None
        if tried.ngrams:
            spelled = [vocabulary.rows_of_ngrams(word) for word in ("", "", *vocabulary.trainable)]
            width_of = max(map(len, spelled))
            rows = np.zeros((len(spelled), width_of), np.int64)
            for place, row in zip(rows, spelled, strict=True):
                place[: len(row)] = np.asarray(row, np.int64) + 1
            self.rows = torch.from_numpy(rows)
            self.bag = nn.EmbeddingBag(int(rows.max()) + 1, width, mode="mean", padding_idx=0)
            nn.init.zeros_(self.bag.weight)

    def forward(self, sentences: Sentences, *, words_alone: bool = False) -> Tensor:
        """Return vectors of unit length, [B, 384]."""
        if not words_alone:
            return functional.normalize(self.output(self.states_of(sentences)), dim=-1)
        mean = functional.normalize(mean_of(self._words(sentences), sentences.valid), dim=-1)
        return functional.normalize(functional.linear(mean, self.output.weight[:, -mean.shape[1] :]), dim=-1)

    def states_of(self, sentences: Sentences) -> Tensor:
        """Return what the last layer reads."""
        return self.states(self._words(sentences), sentences)

    def _words(self, sentences: Sentences) -> Tensor:
        words = self.embedding.embed(sentences).tokens
        if self.adapter is not None:
            words = words + self.adapter(words)
        if self.bag is not None and self.rows is not None:
            known, back = torch.unique(sentences.ids, return_inverse=True)
            words = words + self.bag(self.rows[known])[back]
        return words


def read(network: Tried, vocabulary: Vocabulary, texts: Sequence[str], *, states: bool) -> Features:
    """Return the states or the vectors of texts."""
    rows = [list(vocabulary.ids(words_of(text))) or [1] for text in texts]
    made: list[NDArray[np.float32]] = []
    with torch.inference_mode():
        for start in range(0, len(rows), 64):
            part = rows[start : start + 64]
            offsets = np.concatenate([[0], np.cumsum([len(row) for row in part])])
            corpus = Corpus(np.concatenate(part).astype(np.int32), offsets, np.zeros((0, 0), np.float16))
            batch = corpus.sentences(np.arange(len(part)))
            made.append((network.states_of(batch) if states else network(batch)).float().numpy())
    return np.concatenate(made)


def judged(network: Tried, vocabulary: Vocabulary, data: Path) -> dict[str, float]:
    """Return the figures of a network, from dev and training parts alone."""
    network.eval()
    figures = {
        "STS-B dev": spearman(lambda texts: read(network, vocabulary, texts, states=False), data, "dev")
    }
    for name in ("trec", "sst-2"):
        rows = load_set(name, "train", data).examples
        some = np.random.default_rng(0).choice(len(rows), FEW, replace=False)
        features = read(network, vocabulary, [rows[row].texts[0] for row in some], states=True)
        gold = [str(rows[row].target) for row in some]
        scores = cross_val_score(LogisticRegression(C=16, max_iter=300), features, gold, cv=5)
        figures[name] = 100 * float(scores.mean())
    return figures


def train(tried: Try, out: Path, data: Path, blocks: int, *, bfloat16: bool) -> dict[str, float]:
    """Train one row and judge it."""
    recipe = replace(Recipe(), **tried.recipe)
    torch.manual_seed(recipe.seed)
    counted = Vocabulary.from_json((out / "vocabulary.json").read_text(encoding="ascii"))
    kept = counted.trainable[: recipe.rows - 2]
    vocabulary = Vocabulary.build(
        {word: len(kept) - rank for rank, word in enumerate(kept)},
        baseforms=read_baseforms(VECTORS / BASEFORMS),
        oov="hash" if tried.buckets else "nearest",
        buckets=tried.buckets,
        ngrams=NgramRule(rows=20_000) if tried.ngrams else None,
    )
    corpus = _corpus(out, blocks * tried.blocks, counted, vocabulary)
    network = Tried(tried, first_table(vocabulary, recipe), corpus.vectors.shape[1], vocabulary)
    total = steps_of(corpus, recipe.batch, [recipe.seed, 0])
    training = Training(network, recipe, out, total, bfloat16=bfloat16)
    if not tried.frozen:
        train_words(network, corpus, recipe)
    else:
        network.embedding.weight.requires_grad_(False)
    began = time.perf_counter()
    for numbers in corpus.batches(recipe.batch, np.random.default_rng([recipe.seed, 0])):
        training.learn(corpus.sentences(numbers), corpus.targets(numbers))
    seconds = time.perf_counter() - began
    dense = sum(part.numel() for part in network.dense())
    return {**judged(network, vocabulary, data), "sentences": len(corpus.vectors), "parameters": dense,
            "seconds": seconds}  # fmt: skip


def _corpus(out: Path, blocks: int, counted: Vocabulary, vocabulary: Vocabulary) -> Corpus:
    """Read blocks; the rows of words that a smaller table lacks become those of its nearest words."""
    corpus = read_blocks(out, 0, blocks, counted)
    if len(vocabulary.trainable) == len(counted.trainable):
        return corpus
    rows = [0, 1, *(vocabulary.ids([word])[0] for word in counted.trainable)]
    return Corpus(np.array(rows, np.int32)[corpus.ids], corpus.offsets, corpus.vectors)


def main() -> None:
    """Read the command line and train the rows that are missing."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("out", type=Path)
    options.add_argument("data", type=Path)
    options.add_argument("figures", type=Path)
    options.add_argument("--blocks", type=int, default=24)
    options.add_argument("--only", default="", help="names of rows, with commas between")
    options.add_argument("--bfloat16", action="store_true")
    given = options.parse_args()
    torch.set_num_threads(1)
    figures = json.loads(given.figures.read_text(encoding="utf-8")) if given.figures.exists() else {}
    for name, tried in TRIES.items():
        if name in figures or (given.only and name not in given.only.split(",")):
            continue
        figures[name] = train(tried, given.out, given.data, given.blocks, bfloat16=given.bfloat16)
        given.figures.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        print(name, json.dumps(figures[name]), flush=True)


if __name__ == "__main__":
    main()
