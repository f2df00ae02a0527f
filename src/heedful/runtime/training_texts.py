"""What training texts were like: their words, and the centers of their vectors; needs no torch."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError
from heedful.runtime.pair_features import ExampleFeatures

FAMILIAR = "familiar"
"""What the names of its tensors begin with."""
Floats = NDArray[np.float32]
Words = NDArray[np.uint32]
Example = Sequence[Sequence[str]]
"""The words of each text of an example."""


def word_number(word: str) -> int:
    """Return the number that a word is kept as, whatever its case: its CRC-32."""
    return zlib.crc32(word.lower().encode("utf-8", "surrogatepass"))


def words_of(examples: Sequence[Example]) -> Words:
    """Return the distinct words of examples as sorted numbers."""
    found = {word for example in examples for side in example for word in side}
    return np.array(sorted(set(map(word_number, found))), np.uint32)


def unit_rows(rows: NDArray[np.floating]) -> Floats:
    """Return rows of unit length; rows of zeros stay."""
    lengths = np.sqrt(np.square(rows.astype(np.float64)).sum(axis=1, keepdims=True))
    return (rows / np.maximum(lengths, 1e-12)).astype(np.float32)


def distances(rows: NDArray[np.floating], centers: Floats) -> NDArray[np.float64]:
    """Return one less the largest cosine with a center, [N], for rows [N, D]."""
    if not len(centers):
        return np.zeros(len(rows))
    turned = unit_rows(rows)
    # one product a row: a product of matrices may round by the number of rows
    return np.array([1.0 - float((centers @ row).max()) for row in turned], np.float64)


@dataclass(frozen=True, eq=False)
class Familiar:
    """What training texts were like.

    Attributes:
        words: numbers of their words, sorted, [V].
        centers: of the vectors of each class, of unit length, [Y, D]; none where there are no vectors.
        features: what gives the vectors, the sentence part of the model; None where it has none.
    """

    words: Words
    centers: Floats
    features: ExampleFeatures | None

    def __post_init__(self) -> None:
        wide = 0 if self.features is None else self.features.width
        fits = self.centers.ndim == 2 and (not len(self.centers) or self.centers.shape[1] == wide)
        if not fits or not np.isfinite(self.centers).all():
            raise UsageError(f"{FAMILIAR}: the centers and the sentence part do not fit")
        if len(self.words) and (self.words[1:] <= self.words[:-1]).any():
            raise UsageError(f"{FAMILIAR}: the numbers of words do not rise")

    def knows(self, word: str) -> bool:
        """Say whether a training text has a word."""
        number = word_number(word)
        place = int(np.searchsorted(self.words, number))
        return place < len(self.words) and int(self.words[place]) == number

    def new_words(self, example: Example) -> list[str]:
        """Return the distinct words that no training text has, in order."""
        return [
            word for word in dict.fromkeys(word for side in example for word in side) if not self.knows(word)
        ]

    def of(self, examples: Sequence[Example]) -> NDArray[np.float64]:
        """Return distance and the share of new words of examples, [N, 2]; an empty text is as far as can be."""
        known = [[self.knows(word) for side in example for word in side] for example in examples]
        new = np.array([1.0 - sum(row) / len(row) if row else 1.0 for row in known])
        far = np.zeros(len(examples))
        if self.features is not None and len(self.centers) and len(examples):
            far = distances(self.features.of(examples), self.centers)
        return np.stack([far, new], axis=1).reshape(len(examples), 2)

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Return the tensors of a folder."""
        own = {"words": self.words.view(np.int32), "centers": self.centers}
        return {f"{FAMILIAR}.{name}": np.ascontiguousarray(array) for name, array in own.items()}


def read_familiar(tensor: Callable[[str], NDArray[Any]], features: ExampleFeatures | None) -> Familiar:
    """Read what `Familiar.tensors` wrote.

    Args:
        tensor: returns a tensor by its whole name; raises UsageError where there is none.
        features: of the sentence part of the model; None for none.

    Returns:
        The record.

    Raises:
        UsageError: if a tensor is missing, of another kind, or does not fit.
    """
    found = {name: np.array(tensor(f"{FAMILIAR}.{name}")) for name in ("words", "centers")}
    kinds = {"words": np.int32, "centers": np.float32}
    wrong = [name for name, kind in kinds.items() if found[name].dtype != kind]
    if wrong or found["words"].ndim != 1:
        raise UsageError(f"tensors of {FAMILIAR} have another kind or shape")
    return Familiar(found["words"].view(np.uint32), found["centers"], features)
