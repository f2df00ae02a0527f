"""The splits of a data set as raw texts and numbers, which is what every baseline takes."""

from __future__ import annotations

import typing
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from heedful.data.cross_folds import cross_folds
from heedful.data.examples import Corpus, Example
from heedful.model.decisions import kind_of
from heedful.run.sources import Corpora, Source
from heedful.tasks.prepared import Protocol

Texts = Sequence[tuple[str, ...]]
"""One string an example, or two for a pair."""

Numbers = NDArray[np.int64] | NDArray[np.float64]
"""Numbers of classes, or scores, [N]."""
Rows: typing.TypeAlias = "sparse.csr_matrix | NDArray[np.float32]"
"""A row an example, sparse or not, [N, V]."""


class Features(typing.Protocol):
    """What turns texts into rows.

    Attributes:
        bytes: what it takes on disk.
    """

    @property
    def bytes(self) -> int:
        """See the class."""

    def fit(self, X: Texts) -> typing.Self:
        """Collect what it needs from training texts."""

    def transform(self, X: Texts) -> Rows:
        """Return one row an example."""

    def fit_transform(self, X: Texts) -> Rows:
        """Collect what it needs from training texts, and return their rows."""


@dataclass(frozen=True)
class Split:
    """Examples with gold.

    Attributes:
        texts: of each example.
        gold: class numbers, int64, or scores, float64, [N].
        weights: how much each counts, [N]; None where all count alike.
    """

    texts: Texts
    gold: Numbers
    weights: NDArray[np.float64] | None = None

    @property
    def classes(self) -> NDArray[np.int64]:
        """The gold as numbers of classes, [N]."""
        return np.asarray(self.gold, np.int64)

    @property
    def scores(self) -> NDArray[np.float64]:
        """The gold as scores, [N]."""
        return np.asarray(self.gold, np.float64)

    def __len__(self) -> int:
        return len(self.texts)

    def equals(self, other: Split) -> bool:
        """Return whether both hold the same examples in the same order."""
        own, others = (np.ones(len(each)) if each.weights is None else each.weights for each in (self, other))
        same = np.array_equal(own, others) and np.array_equal(self.gold, other.gold)
        return same and list(self.texts) == list(other.texts)

    def take(self, rows: NDArray[np.int64]) -> Split:
        """Return some of the examples."""
        weights = None if self.weights is None else self.weights[rows]
        return Split([self.texts[row] for row in rows], self.gold[rows], weights)


@dataclass(frozen=True)
class Splits:
    """A data set for baselines.

    Attributes:
        task: what the gold is for, ``model.task``.
        labels: class names in the order of their numbers; empty for scores.
        train: what is trained on.
        dev: what settings are chosen on; None where few examples are chosen on by cross-validation.
        test: what is read once; None where there is none.
        protocol: how the splits came about.
        seed: of the run, for systems that draw.
    """

    task: str
    labels: tuple[str, ...]
    train: Split
    dev: Split | None
    test: Split | None
    protocol: Protocol
    seed: int = 0

    @property
    def choosing(self) -> Split:
        """The examples that settings are chosen on: dev, or by cross-validation the training examples."""
        return self.train if self.dev is None else self.dev

    @property
    def is_weighted(self) -> bool:
        """Whether some examples that are learned from, or chosen on, count more than others."""
        return self.train.weights is not None or self.choosing.weights is not None

    @cached_property
    def folds(self) -> NDArray[np.int64]:
        """The fold of each training example, where cross-validation chooses, [N]."""
        strata = self.train.classes if self.labels else np.zeros(len(self.train), np.int64)
        return cross_folds(strata, list(self.train.texts), 5, self.seed)

    def trains_like(self, other: Splits) -> bool:
        """Return whether both give the same training, dev and test examples, so that the same is trained."""
        pairs = ((self.train, other.train), (self.dev, other.dev), (self.test, other.test))
        return all(
            one is two or (one is not None and two is not None and one.equals(two)) for one, two in pairs
        )

    def limited(self, examples: int, seed: int) -> Splits:
        """Keep some training examples, drawn without replacement; all of them where there are no more.

        Args:
            examples: how many; 0 for all.
            seed: of the draw.

        Returns:
            The data set; dev and test stay as they are.
        """
        if not 0 < examples < len(self.train):
            return self
        rows = np.sort(np.random.default_rng(seed).choice(len(self.train), examples, replace=False))
        return replace(self, train=self.train.take(rows))


def example_weights(examples: Iterable[Example]) -> NDArray[np.float64] | None:
    """Return how much each example counts, [N]; None where all count alike."""
    weights = np.array([example.weight for example in examples], np.float64)
    return weights if len(weights) and np.ptp(weights) else None


def parts_of(source: Source) -> Corpora:
    """Read the parts of a run; examples of a test part count alike, as in every evaluation."""
    parts = source.load()
    test = parts.get("test")
    if test is None or example_weights(test.examples) is None:
        return parts
    return {**parts, "test": replace(test, examples=[replace(each, weight=1.0) for each in test.examples])}


def read_splits(source: Source, grades: int = 5) -> Splits:
    """Read the texts of a run.

    Args:
        source: where its examples come from, as `find_source` says; of texts or pairs.
        grades: the highest score, where there are scores.

    Returns:
        The examples that have gold, in the order in which a run evaluates them.
    """
    from heedful.data.gold import collect_labels, with_known_labels

    corpora = parts_of(source)
    labels = source.labels
    if kind_of(source.task).outputs == "classes" and not labels:
        labels = collect_labels(corpora["train"].examples, corpora["train"].source)
    if "dev" in corpora:
        corpora = {**corpora, "dev": with_known_labels(corpora["dev"], labels)}
    numbers = {name: number for number, name in enumerate(labels)}
    splits = {name: _split(corpus, numbers) for name, corpus in corpora.items()}
    return Splits(
        source.task, labels, splits["train"], splits.get("dev"), splits.get("test"), source.protocol
    )


def _split(corpus: Corpus, numbers: dict[str, int]) -> Split:
    examples = [example for example in corpus.examples if example.target is not None]
    texts, weights = [example.texts for example in examples], example_weights(examples)
    if numbers:
        gold = [str(example.target) for example in examples]
        unseen = sorted(set(gold) - numbers.keys())  # numbered as `heedful.data.gold.with_unseen` does
        every = {**numbers, **{name: len(numbers) + k for k, name in enumerate(unseen)}}
        return Split(texts, np.array([every[name] for name in gold], np.int64), weights)
    scores = np.array([example.target for example in examples], np.float64)
    return Split(texts, scores, weights)
