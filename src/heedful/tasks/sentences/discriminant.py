"""Linear discriminants from sums over rows: classes have means, and rows spread around them alike in all classes.

With ``m_c`` the mean of a class, ``n`` the number of rows and ``W`` the products of rows around the means of their
classes, the logit of a class is ``-n/2 (x - m_c)' (W + p I)^-1 (x - m_c)``, of which only what differs between classes
counts, plus half the logarithm of how many rows the class has: a new one is not to outweigh the old. Where the names of
classes say something, each stands for one more row of its class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError
from heedful.model.training_sums import KeptSums
from heedful.tasks.sentences.linear_fits import LinearFit
from heedful.tasks.sentences.linear_targets import Floats

PRIOR = 0.5
"""What the logarithm of the number of rows of a class counts."""
_RARE = 10.0
"""Added to that number: few rows say little of how often a class is."""
_ABSENT = 0.5
"""Rows below which a class has no mean, and is taken to lie in the middle of all classes."""
_FEW = 0.5
"""Directions as a share of the features, up to which the products are handled along their own directions."""
_NEXT_TO_NOTHING = 0.01
"""Spread beyond these directions, far below any penalty."""
_MOST_SHARE = 0.95
"""How much of the spread in its own direction a row may be; without it nothing would be known."""


@dataclass(frozen=True, eq=False)
class Discriminant:
    """What linear discriminants need of rows.

    Attributes:
        within: products of the rows around the means of their classes, [D, D].
        means: of each class, [Y, D], from ``middle`` on; 0 for a class without a row.
        middle: mean of the means, [D].
        counts: rows of each class, [Y]; names that are taught are among them.
        scale: what each feature is multiplied by before it is penalized, [D].
    """

    within: Floats
    means: Floats
    middle: Floats
    counts: Floats
    scale: Floats

    @classmethod
    def of(cls, sums: KeptSums, names: NDArray[np.floating] | None = None) -> Discriminant:
        """Take sums, and the features of the names of the classes, [Y, D], where each says something."""
        counts = sums.classes
        there = counts > 0
        own = sums.totals / np.where(there, counts, 1)[:, None]
        around = (own - sums.totals.sum(axis=0) / max(sums.rows, 1e-300)) * np.sqrt(counts)[:, None]
        within = sums.products - around.T @ around
        if names is not None:
            away = (names - own) * np.sqrt(counts / (counts + 1))[:, None]
            within += away.T @ away
            own = (sums.totals + names) / (counts + 1)[:, None]
            counts, there = counts + 1, np.ones_like(there)
        middle = own[there].mean(axis=0) if there.any() else np.zeros(own.shape[1])
        return cls(within, np.where(there[:, None], own - middle, 0), middle, counts, np.ones(len(middle)))

    @cached_property
    def directions(self) -> Floats | None:
        """[D, r] whose product with itself ``within`` is; None where the rows may have too many directions."""
        from scipy.linalg.lapack import dpstrf

        if self.counts.sum() > _FEW * len(self.within):
            return None
        packed, order, rank, _ = dpstrf(self.within, tol=_NEXT_TO_NOTHING, lower=1)
        found = np.zeros((len(packed), rank))
        found[order - 1] = np.tril(packed)[:, :rank]
        return found

    @cached_property
    def _gram(self) -> Floats:
        assert self.directions is not None  # the caller looked
        inside = self.directions * self.scale[:, None]
        return np.asarray(inside.T @ inside)

    def scaled(self, scale: Floats) -> Discriminant:
        """Return the same with features that are multiplied by numbers, [D], before they are penalized."""
        found = replace(self, scale=scale)
        found.__dict__["directions"] = self.directions
        return found

    def solved(self, penalty: float) -> Solved:
        """Return the discriminants for a penalty."""
        from scipy.linalg import cho_factor, cho_solve

        scale, directions = self.scale, self.directions
        if directions is None:
            factor = _factor(self.within * scale[:, None] * scale, penalty)

            def inverse(rows: NDArray[np.floating]) -> Floats:
                return scale * np.asarray(cho_solve(factor, (rows * scale).T, check_finite=False).T)

        else:
            inside = directions * scale[:, None]
            factor = cho_factor(
                self._gram + penalty * np.eye(len(self._gram)), lower=True, check_finite=False
            )

            def inverse(rows: NDArray[np.floating]) -> Floats:
                own = rows * scale
                back = inside @ cho_solve(factor, (own @ inside).T, check_finite=False)
                return scale * (own - np.asarray(back.T)) / penalty

        return Solved(self, inverse, inverse(self.means))


@dataclass(frozen=True, eq=False)
class Solved:
    """Linear discriminants for a penalty.

    Attributes:
        made: from what.
        inverse: returns rows of features, [k, D], times the inverse of the penalized products.
        pulls: that of the means, [Y, D].
    """

    made: Discriminant
    inverse: Callable[[NDArray[np.floating]], Floats]
    pulls: Floats

    @property
    def _bias(self) -> Floats:
        """How often each class is, [Y]."""
        return PRIOR * np.log(self.made.counts + _RARE)

    def fit(self, size: float) -> LinearFit:
        """Return the linear model whose logits are those of the discriminants times a number."""
        weights = size * self.made.counts.sum() * self.pulls.T
        own = -0.5 * (self.made.means @ weights).diagonal() + size * self._bias
        return LinearFit(weights, own - self.made.middle @ weights)

    def without_itself(self, dense: NDArray[np.floating], classes: NDArray[np.int64]) -> Floats:
        """Return the logits of rows, [N, Y], each as if it had not been among the rows."""
        made, places = self.made, np.arange(len(classes))
        rows = dense - made.middle
        turned = self.inverse(rows)
        own = np.einsum("nd,nd->n", rows, turned)[:, None]
        shared, each = rows @ self.pulls.T, np.einsum("yd,yd->y", made.means, self.pulls)
        away = own - 2 * shared + each  # the squared distance of each row from each mean
        q = away[places, classes]
        count = made.counts[classes]
        rest = count - np.minimum(1.0, count)
        alone = rest < _ABSENT
        grown = count / np.where(alone, 1, rest)
        share = np.where(alone, 0, np.minimum(grown * q, _MOST_SHARE))
        between = self.pulls[classes] @ made.means.T  # [N, Y]
        cross = own - shared - shared[places, classes][:, None] + between  # (x - m_c)' (x - own mean)
        away += (np.where(alone, 0, grown) / (1 - share))[:, None] * cross**2
        away[places, classes] = np.where(alone, own[:, 0], grown * share / (1 - share))
        bias = np.tile(self._bias, (len(classes), 1))
        bias[places, classes] = PRIOR * np.log(rest + _RARE)
        found: Floats = bias - 0.5 * made.counts.sum() * (away - away.min(axis=1, keepdims=True))
        return found


def _factor(products: Floats, penalty: float) -> tuple[Floats, bool]:
    from scipy.linalg import cho_factor

    for grown in 3.0 ** np.arange(12):  # products that were rounded may be a little less than rows can have
        found = products.copy()
        found[np.diag_indices_from(found)] += grown * penalty
        try:
            lower: tuple[Floats, bool] = cho_factor(found, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            continue
        return lower
    raise UsageError("sums: the products of the features are those of no rows; train the model anew")
