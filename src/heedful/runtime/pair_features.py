"""What a sentence part reads of an example: the features of its text, or how the two texts of a pair relate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from heedful.errors import check_known
from heedful.runtime.sentence_features import Floats, SentenceFeatures
from heedful.runtime.word_alignment import ALIGNED, aligned, grams

Pairing = Literal["none", "ordered", "symmetric"]
"""How the texts of an example are read: as one text, as a first and a second text, or as two in no order."""
OVERLAP = 7
"""Numbers that `overlap` gives."""
POWERS = 3
"""Powers of each cosine that are read: how alike two texts are may matter more where they are very alike."""
SCALE = 0.3
"""Factor of the features that compare one direction at a time: a penalty draws these many to 0 before the others."""
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class ExampleFeatures:
    """Turns the words of an example into numbers.

    Of a text these are its features. Of a pair they are, for the features u and v of its texts in blocks of F features,
    ``0.3 [u, v, |u - v|, sqrt(F) u * v]``, then the first three powers of the cosine of each block, the `overlap` of
    the words and how they are `aligned`. In a symmetric task ``u, v`` are left out, so that the order of the texts
    changes nothing. The factor ``sqrt(F)`` gives products of unit vectors the size of the other numbers.

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
        if self.pairing == "none":
            return self.texts.width
        compared = 4 if self.pairing == "ordered" else 2
        return compared * self.texts.width + POWERS * len(self.texts.blocks) + OVERLAP + ALIGNED

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
        ends = list(accumulate(self.texts.blocks, initial=0))
        blocks = [slice(start, end) for start, end in pairwise(ends)]
        sizes = np.repeat(np.sqrt(np.array(self.texts.blocks, np.float32)), self.texts.blocks)
        made = np.zeros((len(examples), self.width), np.float32)
        for row, u, v, (one, other) in zip(made, first, second, examples, strict=True):
            own = [np.abs(u - v), sizes * (u * v)] if symmetric else [u, v, np.abs(u - v), sizes * (u * v)]
            cosines = [_cosine(u[block], v[block]) for block in blocks]
            powers = [cosine**power for cosine in cosines for power in range(1, POWERS + 1)]
            near = overlap(one, other)
            found = aligned(one, other, self.texts.vectors)
            if symmetric:
                near[1], near[2] = min(near[1], near[2]), max(near[1], near[2])
                near[6] = abs(near[6])
                found = np.sort(found, axis=1)
            row[:] = np.concatenate([np.float32(SCALE) * np.concatenate(own), powers, near, found.ravel()])
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
            _jaccard(set().union(*map(grams, one)), set().union(*map(grams, other))),
            float(one == other),
            np.log((len(one) + 1) / (len(other) + 1)),
        ]
    )


def _jaccard(one: set[T], other: set[T]) -> float:
    either = len(one | other)
    return len(one & other) / either if either else 0.0


def _cosine(u: Floats, v: Floats) -> float:
    norms = float(np.linalg.norm(u)) * float(np.linalg.norm(v))
    return float((u.astype(np.float64) * v).sum()) / norms if norms else 0.0
