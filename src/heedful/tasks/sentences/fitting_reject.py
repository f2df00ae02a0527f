"""Fitting when a model of classes answers that none of them fits, on rows that neither trained nor chose it."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from heedful.data.encoding import EncodedDataset
from heedful.model.decisions.conformal import threshold
from heedful.model.decisions.reject import SIGNALS, STEPS, Reject, doubts
from heedful.model.held_out_scores import HeldScores
from heedful.runtime.pair_features import ExampleFeatures
from heedful.runtime.training_texts import Familiar, distances, unit_rows, word_number
from heedful.tasks.sentences.limit_options import ASIDE, STRANGERS, refuse_too_few

if TYPE_CHECKING:
    from heedful.tasks.sentences.sentence_model import SentenceModel

_log = logging.getLogger(__name__)
Floats = NDArray[np.float64]
_PRIOR, _PENALTY = 0.5, 1e-2
"""The weight of a signal of which the rows say nothing, and what being far from it costs."""
_LEAST = np.array([0.05, 0.05, 0.01, 0.05])
"""The least deviation of each signal: rows in which nothing is new say little of how new a word may be."""
_BLOCK = 1024


def words_of_rows(dataset: EncodedDataset) -> list[list[list[str]]]:
    """Return for each example the words of each of its texts."""
    assert dataset.kept is not None  # the settings of a run that rejects keep the words
    return dataset.kept.examples(range(len(dataset)))


def vectors_of(features: ExampleFeatures | None, examples: list[list[list[str]]]) -> NDArray[np.float32]:
    """Return the vectors of examples, [N, D]; of no numbers where a model has none."""
    if features is None:
        return np.zeros((len(examples), 0), np.float32)
    blocks = [
        features.of(examples[start : start + _BLOCK]) for start in range(0, max(1, len(examples)), _BLOCK)
    ]
    return np.concatenate(blocks)


@dataclass(frozen=True, eq=False)
class Known:
    """The training examples, from which a text may be far.

    Attributes:
        words: for each the words of each text.
        vectors: [N, D].
        gold: numbers of their classes, [N].
        classes: how many there are, Y.
        features: what gave the vectors.
        weights: how much each counts, [N], 0 or more; None where all count alike.
    """

    words: list[list[list[str]]]
    vectors: NDArray[np.float32]
    gold: NDArray[np.int64]
    classes: int
    features: ExampleFeatures | None
    weights: NDArray[np.float32] | None = None

    @classmethod
    def of(cls, dataset: EncodedDataset, classes: int, features: ExampleFeatures | None) -> Known:
        """Read training examples."""
        words = words_of_rows(dataset)
        assert dataset.targets is not None  # they have gold
        gold = dataset.targets.astype(np.int64)
        return cls(words, vectors_of(features, words), gold, classes, features, dataset.weights)

    def familiar(self) -> Familiar:
        """Return what a model keeps of them."""
        counting = self._counting(np.arange(len(self.gold)))
        found = np.array(sorted(self._numbers(counting.tolist())), np.uint32)
        centers, _ = self._centers(counting)
        if not self.vectors.shape[1]:
            centers = np.zeros((0, 0), np.float32)
        return Familiar(found, centers, self.features)

    def signals(self, inside: NDArray[np.int64], outside: NDArray[np.int64], *, without: bool) -> Floats:
        """Return distance and new words of some examples as others see them, [M, 2].

        Args:
            inside: places of the examples.
            outside: places of those that count as known.
            without: whether the class of each example counts as unknown.

        Returns:
            The signals.
        """
        outside = self._counting(outside)
        owners: dict[int, int] = {}  # a word to the one class that has it, or -1
        for place in outside.tolist():
            own = int(self.gold[place])
            for number in self._numbers([place]):
                owners[number] = own if owners.get(number, own) == own else -1
        centers, present = self._centers(outside)
        found = np.zeros((len(inside), 2))
        for row, place in enumerate(inside.tolist()):
            own = int(self.gold[place])
            numbers = [word_number(word) for side in self.words[place] for word in side]
            strange = [n not in owners or (without and owners[n] == own) for n in numbers]
            found[row, 1] = sum(strange) / len(strange) if strange else 1.0
            if self.vectors.shape[1]:
                seen = centers[present != own] if without else centers
                found[row, 0] = distances(self.vectors[place : place + 1], seen)[0]
        return found

    def _numbers(self, places: Iterable[int]) -> set[int]:
        return {word_number(word) for place in places for side in self.words[place] for word in side}

    def _counting(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the places of examples whose weight is above 0; all of them where none is."""
        own = places if self.weights is None else places[self.weights[places] > 0]
        return own if len(own) else places

    def _centers(self, places: NDArray[np.int64]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        rows, gold = self.vectors[places], self.gold[places]
        present = np.unique(gold)
        if self.weights is not None and self.weights[places].any():  # of a mean the length does not count
            rows = rows * self.weights[places][:, None]
        centers = np.stack([rows[gold == each].mean(axis=0, dtype=np.float64) for each in present])
        return unit_rows(centers), present


def without_own(logits: NDArray[np.floating], gold: NDArray[np.int64], temperature: float) -> Floats:
    """Return doubt and flatness, [N, 2], of rows as if their own class did not exist."""
    left = np.ones(logits.shape, bool)
    left[np.arange(len(gold)), gold] = False
    return doubts(logits[left].reshape(len(gold), logits.shape[1] - 1), temperature)


def fit_reject(
    known: Floats,
    strangers: Floats | None,
    label: str,
    keep: float,
    fitted: str,
    weights: Floats | None = None,
) -> Reject:
    """Weigh the signals, and set the threshold that keeps a share of known texts.

    The weights are those of a logistic regression that tells strangers from known texts, both counted as if there were
    as many, none below 0; a penalty draws them to one value, at which all signals stay without strangers.

    Args:
        known: signals of known texts, [N, 4].
        strangers: signals of texts of no class, [M, 4]; None where none are at hand.
        label: what is answered to a text of no class.
        keep: the share of known texts that keep their class.
        fitted: from which rows, for the model card.
        weights: how much each known text counts, [N], above 0; None where all count alike.

    Returns:
        The rule.

    Raises:
        UsageError: if there are too few known texts for such a share.
    """
    means = np.average(known, axis=0, weights=weights)
    spread = np.sqrt(np.average((known - means) ** 2, axis=0, weights=weights))
    deviations = np.maximum(spread, _LEAST)
    own = (known - means) / deviations
    shares = np.full(len(SIGNALS), _PRIOR)
    if strangers is not None and len(strangers):
        shares = _weights(own, (strangers - means) / deviations, weights)
    scores = own @ shares
    refuse_too_few(keep, len(scores))
    limit = threshold(scores, keep, weights)
    quantiles = _quantiles(scores, weights)
    own_rows = [tuple(map(float, row)) for row in (shares, means, deviations, quantiles)]
    return Reject(label, keep, own_rows[0], own_rows[1], own_rows[2], own_rows[3], limit, fitted)


def _quantiles(scores: Floats, weights: Floats | None) -> Floats:
    """Return scores at even shares of the rows, from the least to the greatest, [STEPS + 1]."""
    even = np.linspace(0, 1, STEPS + 1)
    if weights is None:
        return np.quantile(scores, even)
    order = np.argsort(scores, kind="stable")
    sums = np.cumsum(weights[order])
    shares = (sums - sums[0]) / max(float(sums[-1] - sums[0]), 1e-300)
    return np.interp(even, shares, scores[order])


def _weights(known: Floats, strangers: Floats, counting: Floats | None) -> Floats:
    """Fit the logistic regression; a signal whose weight would be below 0 is left out, the most wrong one first."""
    x = np.concatenate([known, strangers])
    x = np.clip(x, -20, 20)
    gold = np.repeat([0.0, 1.0], [len(known), len(strangers)])
    own = np.ones(len(known)) if counting is None else counting
    count = np.concatenate([0.5 / own.sum() * own, np.full(len(strangers), 0.5 / len(strangers))])
    used = np.ones(x.shape[1], bool)
    while used.any():
        design = np.concatenate([x[:, used], np.ones((len(x), 1))], axis=1)
        penalty = np.append(np.full(int(used.sum()), _PENALTY), 1e-9)
        start = np.append(np.full(int(used.sum()), _PRIOR), 0.0)
        weights = start.copy()
        for _ in range(50):
            share = 1 / (1 + np.exp(-np.clip(design @ weights, -30, 30)))
            slope = design.T @ (count * (share - gold)) + penalty * (weights - start)
            curve = (design * (count * share * (1 - share))[:, None]).T @ design + np.diag(penalty)
            step = np.linalg.solve(curve, slope)
            weights -= step * min(1.0, 5.0 / max(float(np.abs(step).max()), 1e-12))
            if np.abs(step).max() < 1e-8:
                break
        if weights[:-1].min() >= 0:
            found = np.zeros(len(used))
            found[used] = weights[:-1]
            return found
        used[np.flatnonzero(used)[int(weights[:-1].argmin())]] = False
    return np.full(len(used), _PRIOR)  # every signal is on the wrong side: these strangers are not strange


def of_held(
    held: HeldScores, temperature: float, far: Floats, without: Floats
) -> tuple[Floats, Floats | None]:
    """Return the signals of known rows, and of the same rows as if their own class did not exist.

    Args:
        held: what the model gave for rows that chose nothing.
        temperature: of its probabilities.
        far: distance and new words of these rows, [N, 2].
        without: likewise, as if their own class did not exist, [N, 2].

    Returns:
        [N, 4] each; None in place of the second where there are but two classes, of which nothing would be left to
        doubt.
    """
    gold = held.gold.astype(np.int64)
    known = np.concatenate([doubts(held.logits, temperature), far], axis=1)
    if held.logits.shape[1] < 3:
        return known, None
    return known, np.concatenate([without_own(held.logits, gold, temperature), without], axis=1)


def rejecting(
    model: SentenceModel[Any], datasets: Mapping[str, EncodedDataset], label: str, keep: float
) -> tuple[Reject | None, Familiar | None]:
    """Return when a trained model answers that no class fits, and what it needs to know of its training texts.

    Args:
        model: the model, with its scores of rows that chose nothing.
        datasets: "train", and what was set aside; texts of no class, if any are at hand.
        label: what is answered to such a text.
        keep: the share of known texts that keep their class.

    Returns:
        The rule and the record; None each where there are no rows to fit them on.
    """
    held, about, training = model.held_scores, model.about, datasets["train"]
    if held is None or training.kept is None:
        _log.warning(
            "no rows are left to learn from when no class fits, so every text is answered with a class"
        )
        return None, None
    features = None if about.sentence is None else about.sentence.features
    known = Known.of(training, len(model.labels), features)
    familiar = known.familiar()
    if held.source == "held_out":
        far, without = _of_aside(known, Known.of(datasets[ASIDE], len(model.labels), features))
    else:
        far, without = _of_folds(known, model.folds)
    own, strangers = of_held(held, about.temperature, far, without)
    fitted = "rows as if their class did not exist" if strangers is not None else "no texts of no class"
    if (others := datasets.get(STRANGERS)) is not None:
        logits = model.run(others)[0]
        unlike = familiar.of(words_of_rows(others))
        strangers = np.concatenate([doubts(logits, about.temperature), unlike], axis=1)
        fitted = f"{len(others):,} texts of no class"
    weights = held.weights
    if weights is not None:  # a row of weight 0 is none
        counts = np.flatnonzero(weights)
        if strangers is not None and len(strangers) == len(own) and STRANGERS not in datasets:
            strangers = strangers[counts]
        own, weights = own[counts], weights[counts]
    fitted = f"{len(own):,} known rows and {fitted}"
    return fit_reject(own, strangers, label, keep, fitted, weights), familiar


def _of_aside(known: Known, aside: Known) -> tuple[Floats, Floats]:
    """Return distance and new words of rows that were set aside, and as if their class did not exist."""
    both = Known(
        known.words + aside.words,
        np.concatenate([known.vectors, aside.vectors]),
        np.concatenate([known.gold, aside.gold]),
        known.classes,
        known.features,
        _both_weights(known, aside),
    )
    outside = np.arange(len(known.gold))
    inside = len(known.gold) + np.arange(len(aside.gold))
    return both.signals(inside, outside, without=False), both.signals(inside, outside, without=True)


def _both_weights(known: Known, aside: Known) -> NDArray[np.float32] | None:
    if known.weights is None and aside.weights is None:
        return None
    each = [
        np.ones(len(own.gold), np.float32) if own.weights is None else own.weights for own in (known, aside)
    ]
    return np.concatenate(each)


def _of_folds(known: Known, folds: NDArray[np.int64] | None) -> tuple[Floats, Floats]:
    """Return the same of training rows, each as the other folds see it."""
    assert folds is not None  # there are out-of-fold scores
    found = np.zeros((2, len(known.gold), 2))
    for fold in np.unique(folds):
        inside, outside = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        if len(outside):
            found[0, inside] = known.signals(inside, outside, without=False)
            found[1, inside] = known.signals(inside, outside, without=True)
    return found[0], found[1]
