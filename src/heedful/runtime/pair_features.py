"""What a sentence part reads of an example: the features of its text, or how the two texts of a pair relate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from heedful.errors import check_known
from heedful.runtime.sentence_features import Floats, SentenceFeatures

Pairing = Literal["none", "ordered", "symmetric"]
"""How the texts of an example are read: as one text, as a first and a second text, or as two in no order."""
OVERLAP = 7
"""Numbers that `overlap` gives."""
_GRAM = 3
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class ExampleFeatures:
    """Turns the words of an example into numbers.

    Of a text these are its features. Of a pair with features u and v they are ``u, v, |u - v|, c u * v``, their cosine
    and the `overlap` of the words; in a symmetric task ``u + v`` takes the place of ``u, v``, so that the order of the
    texts changes nothing. The factor ``c = sqrt(F)`` gives products of unit vectors the size of the other numbers.

    Attributes:
        texts: the features of a text.
        pairing: how the texts are read.

    Raises:
        UsageError: if there is no such pairing.
    """

    texts: SentenceFeatures
    pairing: Pairing = "none"

    def __post_init__(self) -> None:
        check_known(self.pairing, get_args(Pairing), f"sentence: there is no pairing {self.pairing!r:.80}")

    @property
    def sides(self) -> int:
        """Texts of an example."""
        return 1 if self.pairing == "none" else 2

    @property
    def width(self) -> int:
        """Numbers of an example, F."""
        blocks = {"none": 1, "ordered": 4, "symmetric": 3}[self.pairing]
        return blocks * self.texts.width + (0 if self.pairing == "none" else 1 + OVERLAP)

    def of(self, examples: Sequence[Sequence[Sequence[str]]]) -> Floats:
        """Return the numbers of examples.

        Args:
            examples: for each example the words of each of its texts.

        Returns:
            [N, F] float32; the row of an example does not depend on the other examples.
        """
        first = self.texts.of([example[0] for example in examples])
        if self.pairing == "none":
            return first
        second = self.texts.of([example[1] for example in examples])
        symmetric = self.pairing == "symmetric"
        made = np.zeros((len(examples), self.width), np.float32)
        for row, u, v, (one, other) in zip(made, first, second, examples, strict=True):
            own = [u + v] if symmetric else [u, v]
            near = overlap(one, other)
            if symmetric:
                near[1], near[2] = min(near[1], near[2]), max(near[1], near[2])
                near[6] = abs(near[6])
            product = np.sqrt(np.float32(len(u))) * (u * v)
            row[:] = np.concatenate([*own, np.abs(u - v), product, [_cosine(u, v)], near])
        return made


def overlap(first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
    """Return how much the words of two texts have in common, in lower case.

    Args:
        first: words of one text.
        second: words of the other.

    Returns:
        [7]: the words in both over those in either; over those of the first; over those of the second; likewise the
        pairs of neighbors, and the runs of three characters, over those in either; whether both are the same; and
        ``log((n1 + 1) / (n2 + 1))`` of their lengths.
    """
    one, other = ([word.lower() for word in words] for words in (first, second))
    both = len(set(one) & set(other))
    return np.array(
        [
            _jaccard(set(one), set(other)),
            both / max(len(set(one)), 1),
            both / max(len(set(other)), 1),
            _jaccard(set(pairwise(one)), set(pairwise(other))),
            _jaccard(_grams(one), _grams(other)),
            float(one == other),
            np.log((len(one) + 1) / (len(other) + 1)),
        ]
    )


def _jaccard(one: set[T], other: set[T]) -> float:
    either = len(one | other)
    return len(one & other) / either if either else 0.0


def _grams(words: Sequence[str]) -> set[str]:
    marked = [f"<{word}>" for word in words]
    return {word[start : start + _GRAM] for word in marked for start in range(max(len(word) - _GRAM, 0) + 1)}


def _cosine(u: Floats, v: Floats) -> float:
    norms = float(np.linalg.norm(u)) * float(np.linalg.norm(v))
    return float((u.astype(np.float64) * v).sum()) / norms if norms else 0.0
