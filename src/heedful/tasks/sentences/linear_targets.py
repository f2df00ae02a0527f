"""What linear parts learn: the gold of examples as each task means it, and how much each example counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
SMOOTHING = 0.25
"""Added to every count of `log_ratios`."""


@dataclass(frozen=True, eq=False)
class LinearTargets(ABC):
    """The gold of some examples; a linear model gives logits z [N, Y], and each example a loss.

    Attributes:
        weights: how much each example counts, 1 on average, [N].
    """

    weights: Floats

    def __len__(self) -> int:
        return len(self.weights)

    @property
    @abstractmethod
    def outputs(self) -> int:
        """Columns Y of the logits."""

    @property
    @abstractmethod
    def varies(self) -> bool:
        """Whether there is anything to learn: gold that is the same for all needs no features."""

    @property
    def terms(self) -> int:
        """Likelihoods that the loss of an example is the mean of: 1, or of labels their number."""
        return 1

    @property
    def beyond(self) -> Floats | float:
        """Logits that those of a linear model are added to, [N, Y]; 0 where it learns the gold from the start."""
        return 0.0

    @abstractmethod
    def smoothed(self) -> Self:
        """Return the same gold, drawn towards knowing nothing as far as one example more would draw it."""

    def evened(self) -> Self:
        """Return the same gold, of which every class counts as much as any other; unchanged where there are none."""
        return self

    @abstractmethod
    def losses(self, logits: Floats) -> Floats:
        """Return the loss of each example, [N]."""

    @abstractmethod
    def slopes(self, logits: Floats) -> Floats:
        """Return the derivative of each example's loss by its logits, [N, Y]."""

    @abstractmethod
    def curvatures(self, logits: Floats) -> Floats:
        """Return the second derivative of each example's loss by each of its logits, [N, Y]."""

    @abstractmethod
    def of(self, places: NDArray[np.int64]) -> Self:
        """Return the gold of some of the examples, with the weights that they have."""

    @abstractmethod
    def with_(self, other: Self) -> Self:
        """Return the gold of these examples and of others behind them."""

    @abstractmethod
    def membership(self) -> Floats | None:
        """Return how far each example belongs to each output, 0 to 1, [N, Y]; None for numbers."""

    @abstractmethod
    def strata(self) -> NDArray[np.int64]:
        """Return a number for each example, [N]; examples of one number are spread evenly over folds."""

    def loss(self, logits: NDArray[np.floating]) -> float:
        """Return the weighted mean of the losses of logits, [N, Y]."""
        return float(self.weights @ self.losses(np.asarray(logits, np.float64)) / self.weights.sum())


@dataclass(frozen=True, eq=False)
class ShareTargets(LinearTargets):
    """Gold that says how far each example belongs to each output.

    Attributes:
        shares: 0 to 1, [N, Y].
    """

    shares: Floats

    @property
    def outputs(self) -> int:
        """See `LinearTargets.outputs`."""
        return self.shares.shape[1]

    def of(self, places: NDArray[np.int64]) -> Self:
        """See `LinearTargets.of`."""
        return replace(self, weights=self.weights[places], shares=self.shares[places])

    def with_(self, other: Self) -> Self:
        """See `LinearTargets.with_`."""
        weights = np.concatenate([self.weights, other.weights])
        return replace(self, weights=weights, shares=np.concatenate([self.shares, other.shares]))

    def membership(self) -> Floats:
        """See `LinearTargets.membership`."""
        return self.shares


@dataclass(frozen=True, eq=False)
class ClassTargets(ShareTargets):
    """Classes, with the cross-entropy of the softmax; or grades of relatedness, of which an example has two neighbors.

    The rows of ``shares`` sum to 1.
    """

    @classmethod
    def of_classes(cls, classes: NDArray[np.int64], outputs: int, weights: Floats) -> ClassTargets:
        """Take one class an example.

        Args:
            classes: numbers of the classes, [N].
            outputs: how many classes there are, Y.
            weights: how much each example counts, [N].

        Returns:
            The targets.
        """
        shares = np.zeros((len(classes), outputs), np.float32)
        shares[np.arange(len(classes)), classes] = 1
        return cls(weights, shares)  # type: ignore[arg-type]

    def present(self) -> NDArray[np.bool_]:
        """Return which classes have an example that counts, [Y]."""
        found: NDArray[np.bool_] = self.weights @ self.shares > 0
        return found

    def only(self, classes: NDArray[np.bool_]) -> Self:
        """Return the same gold with some of the classes alone, those of every example among them."""
        return replace(self, shares=self.shares[:, classes])

    @property
    def varies(self) -> bool:
        """See `LinearTargets.varies`."""
        return bool(np.count_nonzero(self.weights @ self.shares) > 1)

    def smoothed(self) -> Self:
        """See `LinearTargets.smoothed`."""
        share = 1 / (len(self) + 1)
        return replace(self, shares=(1 - share) * self.shares + share / self.outputs)

    def evened(self) -> Self:
        """See `LinearTargets.evened`."""
        total = self.weights @ self.shares
        each = self.weights * (self.shares @ (1 / np.where(total > 0, total, 1)))
        return replace(self, weights=each * (self.weights.sum() / max(each.sum(), 1e-300)))

    def losses(self, logits: Floats) -> Floats:
        """See `LinearTargets.losses`."""
        shifted = logits - logits.max(axis=1, keepdims=True)
        found: Floats = np.log(np.exp(shifted).sum(axis=1)) - (self.shares * shifted).sum(axis=1)
        return found

    def slopes(self, logits: Floats) -> Floats:
        """See `LinearTargets.slopes`."""
        found = np.exp(logits - logits.max(axis=1, keepdims=True))
        found /= found.sum(axis=1, keepdims=True)
        found -= self.shares
        return found

    def curvatures(self, logits: Floats) -> Floats:
        """See `LinearTargets.curvatures`."""
        likely = self.slopes(logits) + self.shares
        return likely * (1 - likely)

    def strata(self) -> NDArray[np.int64]:
        """See `LinearTargets.strata`."""
        found: NDArray[np.int64] = self.shares.argmax(axis=1)
        return found


@dataclass(frozen=True, eq=False)
class FlagTargets(ShareTargets):
    """Any number of labels, each with the cross-entropy of its own sigmoid; the loss is their mean.

    A share is 1 where an example has a label.
    """

    @property
    def varies(self) -> bool:
        """See `LinearTargets.varies`."""
        return bool((self.shares != self.shares[:1]).any())

    @property
    def terms(self) -> int:
        """See `LinearTargets.terms`."""
        return self.outputs

    def smoothed(self) -> Self:
        """See `LinearTargets.smoothed`."""
        share = 1 / (len(self) + 1)
        return replace(self, shares=(1 - share) * self.shares + share / 2)

    def losses(self, logits: Floats) -> Floats:
        """See `LinearTargets.losses`."""
        found: Floats = (np.logaddexp(0, logits) - self.shares * logits).mean(axis=1)
        return found

    def slopes(self, logits: Floats) -> Floats:
        """See `LinearTargets.slopes`."""
        found: Floats = (0.5 * (1 + np.tanh(0.5 * logits)) - self.shares) / self.outputs
        return found

    def curvatures(self, logits: Floats) -> Floats:
        """See `LinearTargets.curvatures`."""
        return (1 - np.tanh(0.5 * logits) ** 2) / 4 / self.outputs

    def strata(self) -> NDArray[np.int64]:
        """See `LinearTargets.strata`: the rarest label of an example, which folds can least do without."""
        counts = self.shares.sum(axis=0)
        ranked = np.where(self.shares > 0, counts, np.inf)
        found: NDArray[np.int64] = np.where(self.shares.any(axis=1), ranked.argmin(axis=1), self.outputs)
        return found


@dataclass(frozen=True, eq=False)
class NumberTargets(LinearTargets):
    """Numbers, in standard deviations from a mean, with the squared error.

    Attributes:
        numbers: of the examples, standardized, [N].
        huber: whether the loss grows only linearly beyond one standard deviation.
    """

    numbers: Floats
    huber: bool = False

    @property
    def outputs(self) -> int:
        """See `LinearTargets.outputs`."""
        return 1

    @property
    def varies(self) -> bool:
        """See `LinearTargets.varies`."""
        return bool(np.ptp(self.numbers[self.weights > 0]) > 0) if self.weights.any() else False

    def smoothed(self) -> Self:
        """See `LinearTargets.smoothed`: the squared error of numbers has one best weight as it is."""
        return self

    def losses(self, logits: Floats) -> Floats:
        """See `LinearTargets.losses`."""
        off = np.abs(logits[:, 0] - self.numbers)
        found: Floats = np.where(off < 1, off**2, 2 * off - 1) if self.huber else off**2
        return found / 2

    def slopes(self, logits: Floats) -> Floats:
        """See `LinearTargets.slopes`."""
        off = logits - self.numbers[:, None]
        return np.clip(off, -1, 1) if self.huber else off

    def curvatures(self, logits: Floats) -> Floats:
        """See `LinearTargets.curvatures`."""
        return np.ones((len(self), 1))

    def of(self, places: NDArray[np.int64]) -> Self:
        """See `LinearTargets.of`."""
        return replace(self, weights=self.weights[places], numbers=self.numbers[places])

    def with_(self, other: Self) -> Self:
        """See `LinearTargets.with_`."""
        weights = np.concatenate([self.weights, other.weights])
        return replace(self, weights=weights, numbers=np.concatenate([self.numbers, other.numbers]))

    def membership(self) -> None:
        """See `LinearTargets.membership`: numbers belong to no class."""
        return

    def strata(self) -> NDArray[np.int64]:
        """See `LinearTargets.strata`: fifths of the numbers in order."""
        ranks = np.argsort(np.argsort(self.numbers, kind="stable"), kind="stable")
        found: NDArray[np.int64] = ranks * 5 // max(len(ranks), 1)
        return found


@dataclass(frozen=True, eq=False)
class ColumnTargets(ShareTargets):
    """A class of each label column, with the cross-entropy of the softmax over the column; the loss is their mean.

    In each column the rows of ``shares`` sum to 1, or to 0 where the class is missing, which adds nothing to the loss.

    Attributes:
        places: the places of the classes of each column.
    """

    places: Sequence[NDArray[np.int64]]

    @property
    def varies(self) -> bool:
        """See `LinearTargets.varies`."""
        total = self.weights @ self.shares
        return any(np.count_nonzero(total[own]) > 1 for own in self.places)

    @property
    def terms(self) -> int:
        """See `LinearTargets.terms`."""
        return len(self.places)

    def smoothed(self) -> Self:
        """See `LinearTargets.smoothed`."""
        share, smooth = 1 / (len(self) + 1), self.shares.astype(np.float64)
        for own in self.places:
            there = self.shares[:, own].sum(axis=1, keepdims=True)
            smooth[:, own] = (1 - share) * self.shares[:, own] + share * there / len(own)
        return replace(self, shares=smooth)

    def losses(self, logits: Floats) -> Floats:
        """See `LinearTargets.losses`."""
        found = np.zeros(len(logits))
        for own in self.places:
            shifted = logits[:, own] - logits[:, own].max(axis=1, keepdims=True)
            there = self.shares[:, own].sum(axis=1)
            found += there * np.log(np.exp(shifted).sum(axis=1)) - (self.shares[:, own] * shifted).sum(axis=1)
        return found / len(self.places)

    def slopes(self, logits: Floats) -> Floats:
        """See `LinearTargets.slopes`."""
        return (self._likely(logits) - self.shares) / len(self.places)

    def curvatures(self, logits: Floats) -> Floats:
        """See `LinearTargets.curvatures`."""
        likely = self._likely(logits)
        return likely * (1 - likely) / len(self.places)

    def strata(self) -> NDArray[np.int64]:
        """See `LinearTargets.strata`: the rarest class of an example, which folds can least do without."""
        ranked = np.where(self.shares > 0, self.shares.sum(axis=0), np.inf)
        found: NDArray[np.int64] = np.where(
            (self.shares > 0).any(axis=1), ranked.argmin(axis=1), self.outputs
        )
        return found

    def _likely(self, logits: Floats) -> Floats:
        """Return the probabilities of the columns that an example has, [N, Y]; 0 in the others."""
        found = np.zeros(logits.shape)
        for own in self.places:
            weights = np.exp(logits[:, own] - logits[:, own].max(axis=1, keepdims=True))
            there = self.shares[:, own].sum(axis=1, keepdims=True)
            found[:, own] = there * weights / weights.sum(axis=1, keepdims=True)
        return found
