"""What the second text of a pair gives away alone: a bag-of-words baseline that never sees the premise."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from heedful.data.examples import Example
from heedful.text.boundaries import UNSPACED_CLASS

Tokenize = Callable[[str], Sequence[str]]
_SMOOTHING = 1.0
_RAREST = 20


@dataclass(frozen=True)
class TellingWord:
    """A word of the hypothesis that goes with one class more often than chance.

    Attributes:
        word: the word, in lower case.
        label: the class.
        share: part of the hypotheses with the word that have the class.
        count: hypotheses with the word.
    """

    word: str
    label: str
    share: float
    count: int


@dataclass(frozen=True)
class GiveAway:
    """How well the hypothesis alone predicts the class.

    Attributes:
        accuracy: of naive Bayes on hypotheses it was not fitted on.
        majority: of always answering the most frequent class.
        words: the most telling words, at most five.
    """

    accuracy: float
    majority: float
    words: tuple[TellingWord, ...]


def hypothesis_only(train: Sequence[Example], test: Sequence[Example], tokenize: Tokenize) -> GiveAway:
    """Fit multinomial naive Bayes on the hypotheses of ``train`` and apply it to ``test``.

    Each word counts once a hypothesis; add-one smoothing. High accuracy means that the pairs can be answered without
    being compared (Gururangan et al., 2018; Poliak et al., 2018).

    Returns Accuracy, that of the majority class, and the most telling words.
    """
    labels = sorted({str(example.target) for example in train})
    number = {label: place for place, label in enumerate(labels)}
    vocabulary: dict[str, int] = {}
    bags = [_bag(example, tokenize) for example in train]
    columns = [vocabulary.setdefault(word, len(vocabulary)) for bag in bags for word in bag]
    rows = [number[str(example.target)] for example, bag in zip(train, bags, strict=True) for _ in bag]
    counts = np.zeros((len(labels), len(vocabulary)))
    np.add.at(counts, (rows, columns), 1.0)
    prior = np.bincount([number[str(example.target)] for example in train], minlength=len(labels)).astype(
        float
    )
    log_word = np.log(counts + _SMOOTHING) - np.log((counts + _SMOOTHING).sum(axis=1, keepdims=True))
    correct = 0
    for example in test:
        known = [vocabulary[word] for word in _bag(example, tokenize) if word in vocabulary]
        best = int(np.argmax(np.log(prior) + log_word[:, known].sum(axis=1)))
        correct += labels[best] == example.target
    majority = labels[int(np.argmax(prior))]
    return GiveAway(
        correct / len(test),
        sum(example.target == majority for example in test) / len(test),
        _telling(counts, prior, labels, list(vocabulary)),
    )


def _bag(example: Example, tokenize: Tokenize) -> list[str]:
    given = example.words[-1] if example.words else None
    return sorted({word.lower() for word in (given or tokenize(example.texts[-1]))})


def _telling(
    counts: np.ndarray, prior: np.ndarray, labels: list[str], words: list[str], most: int = 5
) -> tuple[TellingWord, ...]:
    """Take the words whose share of one class lies most standard deviations above that class's own share."""
    share = prior / prior.sum()
    total = counts.sum(axis=0)
    deviation = np.sqrt(np.maximum(total * share[:, None] * (1 - share[:, None]), 1e-12))
    surprise = np.where(total >= _RAREST, (counts - total * share[:, None]) / deviation, -np.inf)
    best = surprise.argmax(axis=0)
    order = np.argsort(-surprise.max(axis=0), kind="stable")[:most].tolist() if words else []
    return tuple(
        TellingWord(words[i], labels[best[i]], float(counts[best[i], i] / total[i]), int(total[i]))
        for i in order
        if np.isfinite(surprise[best[i], i]) and surprise[best[i], i] > 3
    )


Key = tuple[str, ...]
_WORDS = re.compile(rf"[^\W{UNSPACED_CLASS}]+|[{UNSPACED_CLASS}]")
_MARKS = re.compile("[^\\s\ufe0f]")


def normalized(text: str) -> str:
    """Return a text in lower case without punctuation and with single spaces, so that near copies are equal.

    A character is a word where no spaces are written between words, and so are the signs of a text that has no others,
    as emoji, so that it makes no difference whether a text or its words are given.
    """
    return " ".join(_WORDS.findall(text.casefold())) or " ".join(_MARKS.findall(text))


def keys(examples: Sequence[Example]) -> list[Key]:
    """Return the normalized texts of each example, in order of premise and hypothesis."""
    return [tuple(normalized(text) for text in example.texts) for example in examples]


@dataclass(frozen=True)
class Repeats:
    """What one part repeats.

    Attributes:
        rows: rows that repeat an earlier one.
        conflicting: rows that repeat an earlier one with other gold.
    """

    rows: list[int]
    conflicting: list[int]


def repeats(examples: Sequence[Example], of: Sequence[Key]) -> Repeats:
    """Find rows that repeat an earlier row of the same part."""
    first: dict[Key, Example] = {}
    again: list[int] = []
    conflicting: list[int] = []
    for example, key in zip(examples, of, strict=True):
        earlier = first.setdefault(key, example)
        if earlier is example:
            continue
        again.append(example.row)
        if earlier.target != example.target:
            conflicting.append(example.row)
    return Repeats(again, conflicting)


@dataclass(frozen=True)
class LeakedRows:
    """Rows of a part that another part has too.

    Attributes:
        ordered: places in the part, texts in the same order.
        swapped: places found only when premise and hypothesis change places.
    """

    ordered: list[int]
    swapped: list[int]


def shared(part: Sequence[Key], other: Sequence[Key]) -> LeakedRows:
    """Find what a part shares with another one."""
    there = set(other)
    ordered = [place for place, key in enumerate(part) if key in there]
    swapped = [
        place
        for place, key in enumerate(part)
        if len(key) == 2 and key not in there and (key[1], key[0]) in there
    ]
    return LeakedRows(ordered, swapped)
