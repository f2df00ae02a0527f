"""What linear parts learn of several label columns: one class of each, of which some may be missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from heedful.tasks.sentences.linear_targets import Floats, ShareTargets


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
