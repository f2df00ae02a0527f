"""The wide part of a model: what a linear model reads of a text, and the scores that it adds to the network's logits.

A text is read as numbers: its words, pairs of neighboring words, and runs of characters inside words.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError
from heedful.text.vocabulary import MASK

WORDS, CHARACTERS = 0, 1
"""The two kinds of features; the lowest bit of a number says which kind it is."""
_MOST = 16
_REMEMBERED = 1 << 16

WIDE = (2, 2, 5)
"""Phrases of one and two words, and runs of 2 to 5 characters: what a wide part reads."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """One feature of a text.

    Attributes:
        number: of the feature.
        start: the first word that it touches, from 0.
        end: the word after the last.
        text: what it says; of a run of characters, with ``<`` and ``>`` at the edges of the word.
    """

    number: int
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class PhraseRule:
    """Which features a text has; all words are lower-cased.

    A feature's number is 30 bits of the 8-byte BLAKE2b digest of its UTF-8 form, and one bit for its kind, so that it
    is the same on every machine. Among a million features about 500 pairs share a number.

    Attributes:
        words: words of the longest phrase, up to 16; 0 for no phrases.
        shortest: characters of the shortest run, edges counted.
        longest: characters of the longest run, up to 16; 0 for no runs.

    Raises:
        UsageError: if a number is out of its range.
    """

    words: int = 0
    shortest: int = 2
    longest: int = 0

    def __post_init__(self) -> None:
        for name, least in (("words", 0), ("shortest", 1), ("longest", 0)):
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= _MOST:
                raise UsageError(f"wide: {name} must be from {least} to {_MOST}; got {value!r}")

    @property
    def reads(self) -> bool:
        """Whether there are any features; by default there are none."""
        return bool(self.words or self.longest)

    def numbers(self, words: Sequence[str], side: int = 0) -> NDArray[np.int32]:
        """Return the features of a text.

        Args:
            words: of the text.
            side: 0 for a text or the first of a pair, 1 for the second; the same word is another feature there.

        Returns:
            The numbers, each once, ascending.
        """
        folded = _folded(words)
        phrases = [_number(WORDS, side, text) for _, _, text in self._spans(folded)]
        runs = [_numbers_of(self, side, word) for word in dict.fromkeys(folded) if word != MASK]
        return ascending([np.array(phrases, np.int32), *runs])

    def phrases(self, words: Sequence[str], side: int = 0) -> Iterator[Phrase]:
        """Yield every occurrence of every feature of a text; see `numbers`.

        Args:
            words: of the text.
            side: which text of a pair it is.

        Yields:
            Phrases of words first, then the runs of characters of each word.
        """
        folded = _folded(words)
        for start, end, text in self._spans(folded):
            yield Phrase(_number(WORDS, side, text), start, end, text)
        for place, word in enumerate(folded):
            if word == MASK:
                continue
            numbers = _numbers_of(self, side, word)
            for number, text in zip(numbers.tolist(), self._texts(word), strict=True):
                yield Phrase(number, place, place + 1, text)

    def _spans(self, words: Sequence[str]) -> Iterator[tuple[int, int, str]]:
        for length in range(1, self.words + 1):
            for start in range(len(words) - length + 1):
                if MASK not in words[start : start + length]:
                    yield start, start + length, " ".join(words[start : start + length])

    def _texts(self, word: str) -> list[str]:
        marked = f"<{word}>"
        return [
            marked[start : start + length]
            for length in range(self.shortest, self.longest + 1)
            for start in range(len(marked) - length + 1)
        ]


def ascending(numbers: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    """Return the numbers of several arrays, each once, ascending."""
    found = np.sort(np.concatenate(numbers))  # np.unique imports numpy.ma, which takes longer than a text
    first = np.ones(len(found), bool)
    np.not_equal(found[1:], found[:-1], out=first[1:])
    return found[first]


def _folded(words: Sequence[str]) -> list[str]:
    """Return the words in lower case; a masked word stays what it is, and is part of no feature."""
    return [word if word == MASK else word.lower() for word in words]


@lru_cache(maxsize=_REMEMBERED)
def _numbers_of(rule: PhraseRule, side: int, word: str) -> NDArray[np.int32]:
    return np.array([_number(CHARACTERS, side, text) for text in rule._texts(word)], np.int32)


@lru_cache(maxsize=_REMEMBERED)
def _number(kind: int, side: int, text: str) -> int:
    content = f"{kind}{side}{text}".encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(content, digest_size=8).digest()
    return int.from_bytes(digest, "little") % (1 << 30) * 2 + kind


Numbers = NDArray[np.int32]


class OfExamples(Protocol):
    """The features of some examples, in order."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Numbers]: ...


def sizes_of(weights: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the root mean square of the weights of each feature, [n] of [n, Y]."""
    squares = np.einsum("ny,ny->n", weights, weights, dtype=np.float64)
    return np.sqrt(squares / max(weights.shape[1], 1))


@dataclass(frozen=True, eq=False)
class WidePart:
    """A fitted linear model; answering with it needs NumPy alone.

    The value of a feature that a text has is its rarity, divided by the Euclidean norm of the rarities of all features
    of the same kind that the text has and the part knows (TF-IDF of presence). Logits are
    ``weight * (bias + sum over features of value * weights)``.

    Attributes:
        rule: which features a text has.
        numbers: the known features, [n] int32, ascending.
        rarity: of each feature, [n] float32: ``1 + log((1 + N) / (1 + texts that have it))``.
        weights: [n, Y] float32.
        bias: [Y] float32.
        weight: what its logits are multiplied by before they are added.

    Raises:
        UsageError: if shapes contradict each other, or numbers are not ascending or not finite.
    """

    rule: PhraseRule
    numbers: Numbers
    rarity: NDArray[np.float32]
    weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    weight: float = 1.0

    def __post_init__(self) -> None:
        count = len(self.numbers)
        shapes = (self.numbers.ndim, self.rarity.shape, self.weights.shape, self.bias.ndim)
        if shapes != (1, (count,), (count, len(self.bias)), 1):
            raise UsageError(f"wide: {count} features and tensors of the shapes {shapes[1:3]} do not fit")
        if count and (np.diff(self.numbers) <= 0).any():
            raise UsageError("wide: the features must be ascending")
        for name in ("rarity", "weights", "bias"):
            if not np.isfinite(getattr(self, name)).all():
                raise UsageError(f"wide: {name} holds numbers that are not finite")
        if not (np.isfinite(self.weight) and self.weight >= 0):
            raise UsageError(f"wide: weight must be 0 or more; got {self.weight!r}")

    @property
    def outputs(self) -> int:
        """Classes Y."""
        return len(self.bias)

    @cached_property
    def sizes(self) -> NDArray[np.float64]:
        """How much each feature counts for the logits, [n]: the root mean square of its weights."""
        return self.weight * sizes_of(self.weights)

    def weighing(self, weight: float) -> WidePart:
        """Return the same part with another weight."""
        return replace(self, weight=weight)

    def beside(self, other: WidePart) -> WidePart:
        """Return one part, with weight 1, that adds what this one and another one of the same features add."""
        both = ((self.weight, self), (other.weight, other))
        weights = sum(weight * part.weights for weight, part in both)
        bias = sum(weight * part.bias for weight, part in both)
        return replace(
            self, weights=np.asarray(weights, np.float32), bias=np.asarray(bias, np.float32), weight=1.0
        )

    def values(self, numbers: Numbers) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return which known features a text has, and their values.

        Args:
            numbers: its features, from `PhraseRule.numbers`, of all sides.

        Returns:
            Rows of `weights`, [k], and values, [k].
        """
        if not len(self.numbers):
            return np.zeros(0, np.int64), np.zeros(0)
        rows = np.searchsorted(self.numbers, numbers).clip(max=len(self.numbers) - 1)
        rows = rows[self.numbers[rows] == numbers]
        values = self.rarity[rows].astype(np.float64)
        kinds = self.numbers[rows] & 1
        for kind in range(CHARACTERS + 1):
            norm = np.linalg.norm(values[kinds == kind])
            values[kinds == kind] /= norm or 1.0
        return rows, values

    def logits(self, features: OfExamples) -> NDArray[np.float32]:
        """Return what is added to the network's logits.

        Args:
            features: of each example.

        Returns:
            [N, Y].
        """
        found = np.empty((len(features), self.outputs), np.float64)
        for number, own in enumerate(features):
            rows, values = self.values(own)
            found[number] = self.bias + values @ self.weights[rows].astype(np.float64)
        return (self.weight * found).astype(np.float32)
