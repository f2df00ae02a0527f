"""The wide part of a model: a linear model over words, phrases and runs of characters, added to a network's logits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError
from heedful.text.phrases import CHARACTERS, PhraseRule

Numbers = NDArray[np.int32]


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

    def weighing(self, weight: float) -> WidePart:
        """Return the same part with another weight."""
        return replace(self, weight=weight)

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

    def logits(self, features: Sequence[Numbers]) -> NDArray[np.float32]:
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
