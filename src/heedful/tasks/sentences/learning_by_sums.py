"""Learning from sums over all rows that a model ever had: ridge regression of whole texts beside naive Bayes of words.

Both follow from `KeptSums` as they would from the rows themselves, so that ten installments give what one gives, and
both say in closed form what they would answer for a row if it had not been among the rows: this chooses the settings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from heedful.data.examples import Ragged
from heedful.model.kept_sums import KeptSums
from heedful.tasks.sentences.fitting_wide import (
    MOST_FEATURES,
    MOST_WEIGHTS,
    empty_part,
)
from heedful.tasks.sentences.linear_fits import LinearFit
from heedful.tasks.sentences.linear_targets import SMOOTHING, ClassTargets, Floats
from heedful.text.wide_part import PhraseRule, WidePart

PENALTIES = (0.3, 1.0, 3.0, 10.0)
"""Added to the products of each feature with itself; the values of a row have a length of about 2."""
SIZES = (2.0, 3.0, 4.0, 6.0, 8.0, 12.0)
"""What the answers of the regression, from 0 to 1, are multiplied by to be logits."""
BAYES = (0.0, 0.02, 0.04, 0.07, 0.11, 0.16)
"""What the logits of naive Bayes count beside them."""
SETTINGS = len(PENALTIES) * len(SIZES) * len(BAYES)
_FADING = 0.75
"""How much of what earlier rows said of the settings still counts: more rows want weaker penalties."""
_JUDGED = 200
_EVENED = 0.5
"""A class of n rows counts as n to the power of 1 less this in the answer: a new one is not to outweigh the old."""
_BLOCK = 1_024
_FEW = 0.5
"""Rows as a share of the features of whole texts, up to which they are seen along their own directions."""
_MOST_SHARE = 0.95
"""How much of its own answer a row may be; without it nothing would be known."""


@dataclass(frozen=True, eq=False)
class SumRows:
    """Rows that sums are of.

    Attributes:
        dense: features of whole texts, [N, D].
        words: words and runs of characters of each, N.
        classes: [N].
        weights: how much each row counts, [N]; 0 for one that neither is summed nor chooses.
    """

    dense: NDArray[np.floating]
    words: Ragged
    classes: NDArray[np.int64]
    weights: Floats

    def of(self, places: NDArray[np.int64]) -> SumRows:
        """Return some of the rows."""
        return SumRows(
            self.dense[places], self.words.take(places), self.classes[places], self.weights[places]
        )


@dataclass(frozen=True, eq=False)
class BySums:
    """What sums teach.

    Attributes:
        dense: the model over features of whole texts, with the bias.
        wide: that over words and runs of characters.
        logits: of rows, as if each had not been among those that were summed, [N, Y].
        sums: the sums, with what the rows say of the settings.
    """

    dense: LinearFit
    wide: WidePart
    logits: Floats
    sums: KeptSums


def no_sums(features: Sequence[tuple[str, int]], outputs: int) -> KeptSums:
    """Return sums of no row."""
    width, none = sum(count for _, count in features), np.zeros(0)
    zeros = np.zeros((outputs, width)), np.zeros((width, width))
    places = np.zeros(0, np.int64)
    return KeptSums(
        tuple(features), np.zeros(outputs), *zeros, np.zeros(0, np.int32), places, none, np.zeros(SETTINGS)
    )


def with_rows(sums: KeptSums, rows: SumRows, rule: PhraseRule) -> KeptSums:
    """Return sums of the rows that there were and of further ones."""
    outputs, weights = len(sums.classes), rows.weights
    member = np.zeros((outputs, len(weights)))
    member[rows.classes, np.arange(len(weights))] = weights
    classes = sums.classes + member.sum(axis=1)
    totals = sums.totals + member @ rows.dense
    products = sums.products.copy()
    for start in range(0, len(weights), _BLOCK):
        block = slice(start, start + _BLOCK)
        exact = np.asarray(rows.dense[block], np.float64)
        products += (exact * weights[block, None]).T @ exact
    before, now = sums.totals.sum(axis=0), totals.sum(axis=0)
    products += np.outer(before, before) / max(sums.rows, 1e-300)
    products -= np.outer(now, now) / max(float(classes.sum()), 1e-300)
    numbers = _numbers(sums, rows, rule, outputs)
    moved = np.searchsorted(numbers, sums.numbers)
    feature, own = np.divmod(sums.places, outputs)
    lengths = rows.words.lengths()
    there = np.searchsorted(numbers, rows.words.values).clip(max=max(len(numbers) - 1, 0))
    known = numbers[there] == rows.words.values if len(numbers) else np.zeros(len(there), np.bool_)
    further = there * outputs + np.repeat(rows.classes, lengths)
    places = np.concatenate([moved[feature] * outputs + own, further[known]])
    found, inverse = np.unique(places, return_inverse=True)
    counted = np.concatenate([sums.counts, np.repeat(weights, lengths)[known]])
    counts = np.bincount(inverse, counted, len(found)).astype(np.float64)
    kept = counts > 0
    return KeptSums(sums.features, classes, totals, products, numbers, found[kept], counts[kept], sums.losses)


def first_sums(
    features: Sequence[tuple[str, int]], outputs: int, rows: SumRows, rule: PhraseRule, share: float
) -> KeptSums:
    """Return sums of rows before which there were none, with what they say of the settings.

    Args:
        features: name and number of the features of whole texts, D in all.
        outputs: how many classes there are, Y.
        rows: the rows.
        rule: which features of words a text has.
        share: what the values of words count in their square beside those of whole texts.

    Returns:
        The sums.
    """
    sums = with_rows(no_sums(features, outputs), rows, rule)
    ridge, dense = _Ridge.of(sums).narrowed(rows)
    return replace(sums, losses=_losses(ridge, _Bayes.of(sums, rule, share), rows, dense))


def learned_by_sums(
    sums: KeptSums,
    rows: SumRows,
    rule: PhraseRule,
    share: float,
    most: int | None = None,
) -> BySums:
    """Learn from sums.

    Args:
        sums: of all rows, those here among them.
        rows: those that choose, by their weights, how strongly what is regularized, beside what earlier ones chose.
        rule: which features of words a text has.
        share: what the values of words count in their square beside those of whole texts.
        most: how many of the rows choose at most; None for the usual number.

    Returns:
        What was learned.
    """
    ridge, bayes = _Ridge.of(sums), _Bayes.of(sums, rule, share)
    sums = replace(sums, losses=_FADING * sums.losses + _losses(ridge, bayes, rows, rows.dense, most))
    best = int(np.argmin(sums.losses))
    penalty, size, part = list(product(PENALTIES, SIZES, BAYES))[best]
    exact, evened = ridge.solved(penalty), _Ridge.evened(sums).solved(penalty).fit(size)
    logits = size * exact.without_itself(rows.dense, rows.classes) + part * bayes.without_itself(rows)
    logits += evened.logits(rows.dense) - exact.fit(size).logits(rows.dense)
    return BySums(evened, bayes.part(part), logits, sums)


def _losses(
    ridge: _Ridge, bayes: _Bayes, rows: SumRows, dense: NDArray[np.floating], most: int | None = None
) -> Floats:
    """Return what each setting loses on rows that are left out one by one, at most so many of them.

    ``dense`` are the features of whole texts as ``ridge`` has them.
    """
    new = np.flatnonzero(rows.weights > 0)
    step = max(-(-len(new) // (_JUDGED if most is None else most)), 1)
    judged, dense = rows.of(new[::step]), dense[new[::step]]
    targets = ClassTargets.of_classes(judged.classes, len(ridge.prior), judged.weights)
    words = bayes.without_itself(judged)
    losses = []
    for penalty in PENALTIES:
        answers = ridge.solved(penalty).without_itself(dense, judged.classes)
        for size, part in product(SIZES, BAYES):
            own = targets.losses(size * answers + part * words)
            losses.append(float(judged.weights @ own) * len(new) / max(len(judged.weights), 1))
    return np.array(losses)


def _numbers(sums: KeptSums, rows: SumRows, rule: PhraseRule, outputs: int) -> NDArray[np.int32]:
    if not rule.reads:
        return sums.numbers
    further = empty_part(rule, rows.words, outputs).numbers
    further = further[~np.isin(further, sums.numbers)]
    room = max(min(MOST_FEATURES, MOST_WEIGHTS // outputs) - len(sums.numbers), 0)
    return np.sort(np.concatenate([sums.numbers, further[:room]])).astype(np.int32)


def _part(
    rule: PhraseRule, numbers: NDArray[np.int32], having: Floats, rows: float, outputs: int
) -> WidePart:
    rarity = (1 + np.log((1 + max(rows, having.max(initial=0))) / (1 + having))).astype(np.float32)
    return WidePart(
        rule, numbers, rarity, np.zeros((len(numbers), outputs), np.float32), np.zeros(outputs, np.float32)
    )


@dataclass(frozen=True, eq=False)
class _Ridge:
    """Ridge regression on which class a row is of.

    Attributes:
        products: of features around their means, [D, D].
        shared: of features and classes, [D, Y].
        means: of the features, [D].
        prior: share of each class, [Y].
        rows: how many there are.
        triangle: the lower triangle whose square the products and a penalty are; None before that was found.
        weights: of the features, [D, Y]; likewise.
    """

    products: Floats
    shared: Floats
    means: Floats
    prior: Floats
    rows: float
    triangle: Floats | None = None
    weights: Floats | None = None

    @classmethod
    def of(cls, sums: KeptSums) -> _Ridge:
        count, rows = sums.classes, max(sums.rows, 1e-300)
        means, prior = sums.totals.sum(axis=0) / rows, count / rows
        shared = (sums.totals - count[:, None] * means).T
        return cls(sums.products, shared, means, prior, sums.rows)

    @classmethod
    def evened(cls, sums: KeptSums) -> _Ridge:
        """Return the regression in which a row counts the less, the more rows its class has.

        Rows are taken to spread around the mean of their class alike in all classes, as linear discriminants take it.
        """
        count = sums.classes
        there = np.where(count > 0, count, 1)
        weights = np.where(count > 0, there ** (1 - _EVENED), 0)
        weights *= sums.rows / max(float(weights.sum()), 1e-300)
        own, rows = sums.totals / there[:, None], max(sums.rows, 1e-300)
        means, prior = weights @ own / rows, weights / rows
        around = (own - sums.totals.sum(axis=0) / rows) * np.sqrt(count)[:, None]
        between = (own - means) * np.sqrt(weights)[:, None]
        products = sums.products - around.T @ around + between.T @ between
        return cls(products, ((own - means) * weights[:, None]).T, means, prior, sums.rows)

    def solved(self, penalty: float) -> _Ridge:
        """Return the same with the weights for a penalty."""
        from scipy.linalg import cholesky, solve_triangular

        extra, eye = penalty, np.eye(len(self.products))
        for _ in range(12):  # products that were rounded may be a little less than what rows can have
            try:
                lower = cholesky(self.products + extra * eye, lower=True)
                break
            except np.linalg.LinAlgError:
                extra *= 3
        half = solve_triangular(lower, self.shared, lower=True)
        return replace(self, triangle=lower, weights=solve_triangular(lower, half, lower=True, trans="T"))

    def narrowed(self, rows: SumRows) -> tuple[_Ridge, NDArray[np.floating]]:
        """Return the same in as many features as there are rows, if those are few, and the rows in these features.

        All rows, from their means on, lie in a space of so many directions: no answer asks for more of the features,
        and the time to solve grows with the third power of their number. Otherwise all is returned as it is.

        Args:
            rows: all that the sums are of.

        Returns:
            The same in other features, and the rows in these.
        """
        count, width = rows.dense.shape
        if not 0 < count <= _FEW * width:
            return self, rows.dense
        around = rows.dense - self.means
        directions = np.linalg.qr(around.T)[0]
        inside = around @ directions
        products = (inside * rows.weights[:, None]).T @ inside
        means = np.zeros(directions.shape[1])
        narrow = replace(self, products=products, shared=directions.T @ self.shared, means=means)
        return narrow, inside

    def without_itself(self, dense: NDArray[np.floating], classes: NDArray[np.int64]) -> Floats:
        """Return the answers for rows, [N, Y], each as if it had not been among the rows."""
        from scipy.linalg import solve_triangular

        assert self.triangle is not None  # it was solved
        assert self.weights is not None
        found = np.zeros((len(classes), len(self.prior)))
        for start in range(0, len(found), _BLOCK):
            own = slice(start, start + _BLOCK)
            inside, gold = dense[own] - self.means, classes[own]
            answers = inside @ self.weights + self.prior
            half = solve_triangular(self.triangle, inside.T, lower=True)
            share = np.einsum("dn,dn->n", half, half) + 1 / max(self.rows, 1)
            right = np.zeros_like(answers)
            right[np.arange(len(gold)), gold] = 1
            found[own] = right - (right - answers) / (1 - np.minimum(share, _MOST_SHARE))[:, None]
        return found

    def fit(self, size: float) -> LinearFit:
        """Return the linear model whose logits are the answers times a number."""
        assert self.weights is not None  # it was solved
        return LinearFit(size * self.weights, size * (self.prior - self.means @ self.weights))


@dataclass(frozen=True, eq=False)
class _Bayes:
    """Naive Bayes log-count ratios of words and runs of characters; see `linear_fits.log_ratios`.

    Attributes:
        empty: the features with their rarity.
        inside: how many rows of each class have a feature, [n, Y].
        scale: what values are multiplied by.
    """

    empty: WidePart
    inside: Floats
    scale: float

    @classmethod
    def of(cls, sums: KeptSums, rule: PhraseRule, share: float) -> _Bayes:
        outputs = len(sums.classes)
        inside = np.zeros((len(sums.numbers), outputs))
        inside.reshape(-1)[sums.places] = sums.counts
        empty = _part(rule, sums.numbers, inside.sum(axis=1), sums.rows, outputs)
        return cls(empty, inside, float(np.sqrt(share)))

    def _ratios(self, inside: Floats, all_: Floats, sums: tuple[Floats, Floats]) -> Floats:
        found: Floats = np.log((inside + SMOOTHING) / sums[0]) - np.log((all_ - inside + SMOOTHING) / sums[1])
        return found

    @property
    def _sums(self) -> tuple[Floats, Floats]:
        all_ = self.inside.sum(axis=1, keepdims=True)
        return (self.inside + SMOOTHING).sum(axis=0), (all_ - self.inside + SMOOTHING).sum(axis=0)

    def without_itself(self, rows: SumRows) -> Floats:
        """Return the logits, [N, Y], each as if its row had not been counted."""
        found, (p, q) = np.zeros((len(rows.classes), self.inside.shape[1])), self._sums
        known = self.inside.sum(axis=0) > 0
        for place, (words, own) in enumerate(zip(rows.words, rows.classes.tolist(), strict=True)):
            features, values = self.empty.values(words)
            inside, all_ = self.inside[features], self.inside[features].sum(axis=1, keepdims=True)
            one = np.minimum(1.0, inside[:, own])
            inside[:, own] -= one
            taken = np.zeros_like(p)
            taken[own] = one.sum()
            ratios = self._ratios(inside, all_ - one[:, None], (p - taken, q - (one.sum() - taken)))
            found[place] = self.scale * (values @ ratios) * known
        return found

    def part(self, weight: float) -> WidePart:
        """Return the part that adds the logits times a number."""
        all_ = self.inside.sum(axis=1, keepdims=True)
        ratios = self._ratios(self.inside, all_, self._sums) * (self.inside.sum(axis=0) > 0)
        return replace(self.empty, weights=(weight * self.scale * ratios).astype(np.float32))
