"""The simple model that a reader would name first for tags of words: a linear chain over words and their shapes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from heedful.baselines.splits import example_weights, parts_of
from heedful.data.cross_folds import cross_folds
from heedful.data.examples import Corpus, WordTags
from heedful.data.tokens import tokenize_corpus
from heedful.errors import DataError
from heedful.evaluation import Report, evaluate_tags
from heedful.runtime.tag_part import tags_decision
from heedful.tasks import task_named
from heedful.tasks.tags import FOLDS, rarest_tags
from heedful.tasks.words.tag_joining import TagGold, fit_by_folds, fit_on_dev
from heedful.tasks.words.tag_sequences import chosen_tags

if TYPE_CHECKING:
    from heedful.runtime.tag_part import NeighborVectors, TagPart
    from heedful.tasks import Source
    from heedful.text.tokenize import Tokenizer

CRF = "CRF over words, their shapes and neighbors"
MOST_WORDS = 600_000
"""Of more training words a CRF would take minutes."""


@dataclass(frozen=True, eq=False)
class TagSplit:
    """Sentences with the tags of their words.

    Attributes:
        texts: the words of each.
        tags: the tags of each.
        weights: how much each counts, [N]; None where all count alike.
    """

    texts: list[list[str]]
    tags: list[tuple[str, ...]]
    weights: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, corpus: Corpus, cutter: Tokenizer) -> TagSplit:
        """Return the sentences of a corpus that have tags.

        Raises DataError if there is not one tag a word.
        """
        examples = [example for example in corpus.examples if isinstance(example.target, WordTags)]
        read = tokenize_corpus(examples, cutter, corpus.source)
        texts = [[read.words[word] for word in read.sides[0][row]] for row in range(len(examples))]
        tags = [example.target.tags for example in examples if isinstance(example.target, WordTags)]
        if any(len(words) != len(own) for words, own in zip(texts, tags, strict=True)):
            raise DataError(f"{corpus.source or 'data'}: there must be one tag a word")
        return cls(texts, tags, example_weights(examples))

    def gold(self, labels: tuple[str, ...]) -> TagGold:
        """Return the tags as numbers, -1 for one that is not among the labels."""
        number = {tag: place for place, tag in enumerate(labels)}
        every = [number.get(tag, -1) for own in self.tags for tag in own]
        weights = None if self.weights is None else self.weights / self.weights.mean()
        return TagGold(self.texts, np.array(every, np.int64), weights)


@dataclass(frozen=True, eq=False)
class TagRival:
    """A trained chain.

    Attributes:
        labels: the tags.
        part: the fitted model.
        strength: of regularization, that dev or cross-validation chose.
        nested: tags of the training words by models that had no part in them; None where dev chose.
    """

    labels: tuple[str, ...]
    part: TagPart
    strength: float
    nested: NDArray[np.int64] | None

    @classmethod
    def train(
        cls,
        splits: dict[str, TagSplit],
        labels: tuple[str, ...],
        seed: int,
        vectors: NeighborVectors | None = None,
    ) -> TagRival:
        """Fit the chain.

        Args:
            splits: "train", and "dev" unless cross-validation chooses.
            labels: the tags of the training part.
            seed: of the order of the sentences.
            vectors: word vectors that are read too; None for none.

        Returns:
            The model.
        """
        training = splits["train"].gold(labels)
        if "dev" in splits:
            found = fit_on_dev(training, splits["dev"].gold(labels), labels, vectors, seed)
            return cls(labels, found.part, found.strength.words, None)
        folds = cross_folds(rarest_tags(training), [" ".join(text) for text in training.texts], FOLDS, seed)
        chosen = fit_by_folds(training, folds, labels, vectors, seed)
        return cls(labels, chosen.part, chosen.strength.words, chosen.tags)

    def report(self, split: TagSplit, numbers: NDArray[np.int64] | None = None) -> Report:
        """Report on the tags of sentences.

        Args:
            split: the sentences.
            numbers: the tags that were answered, [T]; None to compute them.

        Returns:
            The report, as `heedful evaluate` gives it.
        """
        offsets = np.cumsum([0, *map(len, split.texts)]).astype(np.int64)
        if numbers is None:
            none = np.zeros((0, len(self.labels)), np.float32)
            scores = np.concatenate([none, *map(self.part.emissions, split.texts)])
            numbers = chosen_tags(tags_decision(self.labels, self.part), scores, offsets)
        answered = [[self.labels[k] for k in numbers[a:b]] for a, b in pairwise(offsets)]
        return evaluate_tags(split.tags, answered, every_label(self.labels, split))


def every_label(labels: tuple[str, ...], split: TagSplit) -> tuple[str, ...]:
    """Return the tags of a model, and behind them those that only the gold of some sentences has."""
    return (*labels, *sorted({tag for own in split.tags for tag in own} - set(labels)))


def tag_splits(source: Source, cutter: Tokenizer) -> tuple[dict[str, TagSplit], tuple[str, ...]]:
    """Read the sentences of a run.

    Args:
        source: where its examples come from.
        cutter: cuts texts that do not come in words.

    Returns:
        The parts by name, and the tags of the training part.
    """
    corpora = parts_of(source)
    labels = source.labels or task_named("tags").collect_labels(corpora["train"])
    return {name: TagSplit.of(corpus, cutter) for name, corpus in corpora.items()}, tuple(labels)
