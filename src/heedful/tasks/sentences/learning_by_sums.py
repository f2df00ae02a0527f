"""Learning from sums over all rows that a model ever had: discriminants of whole texts beside naive Bayes of words.

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
from heedful.model.training_sums import KeptSums
from heedful.tasks.sentences.discriminant import Discriminant, Solved
from heedful.tasks.sentences.fitting_wide import MOST_FEATURES, MOST_WEIGHTS, empty_part
from heedful.tasks.sentences.linear_fits import LinearFit
from heedful.tasks.sentences.linear_targets import SMOOTHING, ClassTargets, Floats
from heedful.text.wide_part import PhraseRule, WidePart

PENALTIES = ((1.0, 1.0), (3.0, 1.0), (10.0, 1.0), (30.0, 4.0), (100.0, 8.0))
"""Added to the products of each feature with itself, where the values of a row have a length of about 2; and what the
products of sentence vectors count: with many classes they tell more than the states."""
SIZES = (0.2, 0.35, 0.6, 1.0, 1.6, 2.5)
"""What the logits of the discriminants are multiplied by."""
BAYES = (0.0, 0.04, 0.08, 0.14, 0.22, 0.35)
"""What the logits of naive Bayes count beside them."""
SETTINGS = len(PENALTIES) * len(SIZES) * len(BAYES)
_FADING = 0.75
"""How much of what earlier rows said of the settings still counts: more rows want weaker penalties."""
_JUDGED = 200
_BLOCK = 1_024


@dataclass(frozen=True, eq=False)
class Wholes:
    """What is known of the features of whole texts beside those of the rows.

    Attributes:
        names: features of the names of the classes, [Y, D]; None where they say nothing.
        vectors: which features are the vector of a sentence encoder, [D].
    """

    names: NDArray[np.floating] | None
    vectors: NDArray[np.bool_]

    @classmethod
    def nothing(cls, width: int) -> Wholes:
        """Return that nothing is known."""
        return cls(None, np.zeros(width, np.bool_))


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
    features: Sequence[tuple[str, int]],
    outputs: int,
    rows: SumRows,
    rule: PhraseRule,
    share: float,
    wholes: Wholes | None = None,
) -> KeptSums:
    """Return sums of rows before which there were none, with what they say of the settings.

    Args:
        features: name and number of the features of whole texts, D in all.
        outputs: how many classes there are, Y.
        rows: the rows.
        rule: which features of words a text has.
        share: what the values of words count in their square beside those of whole texts.
        wholes: what else is known of whole texts; None for nothing.

    Returns:
        The sums.
    """
    sums = with_rows(no_sums(features, outputs), rows, rule)
    return replace(sums, losses=_losses(_solved(sums, wholes), _Bayes.of(sums, rule, share), rows))


def learned_by_sums(
    sums: KeptSums,
    rows: SumRows,
    rule: PhraseRule,
    share: float,
    wholes: Wholes | None = None,
    most: int | None = None,
) -> BySums:
    """Learn from sums.

    Args:
        sums: of all rows, those here among them.
        rows: those that choose, by their weights, how strongly what is regularized, beside what earlier ones chose.
        rule: which features of words a text has.
        share: what the values of words count in their square beside those of whole texts.
        wholes: what else is known of whole texts; None for nothing.
        most: how many of the rows choose at most; None for the usual number.

    Returns:
        What was learned.
    """
    solved, bayes = _solved(sums, wholes), _Bayes.of(sums, rule, share)
    sums = replace(sums, losses=_FADING * sums.losses + _losses(solved, bayes, rows, most))
    place, size, part = list(product(range(len(PENALTIES)), SIZES, BAYES))[int(np.argmin(sums.losses))]
    best = solved[place]
    logits = size * best.without_itself(rows.dense, rows.classes) + part * bayes.without_itself(rows)
    return BySums(best.fit(size), bayes.part(part), logits, sums)


def _solved(sums: KeptSums, wholes: Wholes | None) -> list[Solved]:
    """Return the discriminants for each of the `PENALTIES`."""
    known = Wholes.nothing(sums.totals.shape[1]) if wholes is None else wholes
    made = Discriminant.of(sums, known.names)
    stresses = {stress for _, stress in PENALTIES}
    scaled = {each: made.scaled(np.where(known.vectors, np.sqrt(each), 1.0)) for each in stresses}
    return [scaled[stress].solved(penalty) for penalty, stress in PENALTIES]


def _losses(solved: Sequence[Solved], bayes: _Bayes, rows: SumRows, most: int | None = None) -> Floats:
    """Return what each setting loses on rows that are left out one by one, at most so many of them."""
    new = np.flatnonzero(rows.weights > 0)
    step = max(-(-len(new) // (_JUDGED if most is None else most)), 1)
    judged = rows.of(new[::step])
    words = bayes.without_itself(judged)
    targets = ClassTargets.of_classes(judged.classes, words.shape[1], judged.weights)
    losses = []
    for each in solved:
        answers = each.without_itself(judged.dense, judged.classes)
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
