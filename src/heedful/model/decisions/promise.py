"""Answers with a promise: a set of labels that holds the right one, or an interval that holds the number, so often."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.errors import ArtifactError, UsageError
from heedful.model.answers import Answer, LabelsAnswer
from heedful.model.decisions.conformal import (
    METHODS,
    Method,
    class_thresholds,
    oddness,
    share_threshold,
    threshold,
)
from heedful.model.decisions.decision import Decision
from heedful.model.decisions.kinds import Kind
from heedful.model.decisions.label_columns import column_places
from heedful.model.held_out_scores import HeldScores, held_scores

NO_ROWS = (
    "coverage: this model keeps no scores of rows that it was not trained on; train it again with --set "
    "model.task_options.held_out=0.1, which sets a tenth of the training rows aside, or on few rows, which are "
    "cross-validated (data.few_rows)"
)


@dataclass(frozen=True)
class Wish:
    """What is asked of sets.

    Attributes:
        coverage: how often a set is to hold what is right, above 0 and below 1.
        method: of classes how sets are made; see `heedful.model.decisions.conformal`.
        by_class: of classes whether the promise is to hold for each class by itself.

    Raises:
        UsageError: if the coverage is out of range, or there is no such method.
    """

    coverage: float
    method: Method = "lac"
    by_class: bool = False

    def __post_init__(self) -> None:
        known = isinstance(self.coverage, int | float) and not isinstance(self.coverage, bool)
        if not (known and 0 < self.coverage < 1):
            raise UsageError(
                f"coverage: expected a number above 0 and below 1, such as 0.9; got {self.coverage!r:.40}. Only a set "
                "of everything would always be right"
            )
        if self.method not in METHODS:
            raise UsageError(f"method: expected {', '.join(METHODS)}; got {self.method!r:.40}")


Chosen = Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class Promise:
    """What turns an answer into one with a set or an interval.

    Attributes:
        wish: what was asked for.
        rows: how many rows calibrated.
        source: see `HeldScores.source`.
        clause: what is promised, with {share} and {each} to be filled in.
        every: classes that are in every set because too few rows have them.
        add: returns an answer with its set or interval.
        weighted: whether rows count by weights of their own.
        limits: what `add` compares with: of classes and label columns the largest ``1 - p`` of each, with "lac"; of
            several labels the least probability; of numbers how far they may lie from the answer. Empty otherwise.
    """

    wish: Wish
    rows: int
    source: str
    clause: str
    every: int
    add: Chosen
    weighted: bool = False
    limits: tuple[float, ...] = ()

    def sentence(self) -> str:
        """Return what is promised, from which rows, and under which assumption."""
        each, share = " of each class" if self.wish.by_class else "", f"{self.wish.coverage:.4g}"
        if self.source == "held_out":
            said = self.clause.format(share=f"{'about' if self.weighted else 'at least'} {share}", each=each)
            said += f", on average, by {self.rows:,} rows that were set aside and chose nothing"
        else:
            said = self.clause.format(share=f"about {share}", each=each)
            bound = max(0.0, 2 * self.wish.coverage - 1)
            said += (
                f", by out-of-fold scores of {self.rows:,} training rows. For such scores (CV+) a share of {bound:.4g} "
                "is proved, and for the models of the folds; this one was fitted on all rows"
            )
        if self.weighted:
            said += ". Rows count by their weights, and so does a new text on average"
        said += ". Assumes that new texts come from where these rows came from (exchangeable rows)"
        if self.every:
            said += f". Too few rows have {self.every:,} of the classes, which are in every set"
        return said


def promise_of(metrics: Mapping[str, object], decision: Decision[Any], kind: Kind, wish: Wish) -> Promise:
    """Calibrate sets on the scores that a model keeps of rows that chose nothing.

    Args:
        metrics: the figures of the model.
        decision: what turns its logits into answers.
        kind: what is known of its task.
        wish: what is asked for.

    Returns:
        What adds a set or an interval to its answers.

    Raises:
        UsageError: if it keeps no such scores, its answers have no sets, or the wish is for classes alone.
        ArtifactError: if the scores are damaged.
    """
    refuse_without_sets(kind, kind.noun)
    make = _MAKERS[kind.outputs]
    if kind.outputs != "classes" and (wish.by_class or wish.method != METHODS[0]):
        raise UsageError(
            f"coverage: a method and sets by class are for classes; this is a model of {kind.noun}"
        )
    held = _held(_Same(metrics))
    if held is None or not len(held.gold):
        raise UsageError(NO_ROWS)
    _refuse_damaged(held, decision, kind)
    held = held.counting()
    if math.isinf(threshold(np.zeros(len(held.gold)), wish.coverage)):
        needed = math.ceil(wish.coverage / (1 - wish.coverage) - 1e-6)
        raise UsageError(
            f"coverage: {wish.coverage:.10g} takes at least {needed:,} rows that chose nothing, and this model keeps "
            f"the scores of {len(held.gold):,}; ask for less, or train with more rows"
        )
    return make(held, decision, wish)


def _refuse_damaged(held: HeldScores, decision: Decision[Any], kind: Kind) -> None:
    """Refuse scores that are not those of such a model.

    Raises ArtifactError.
    """
    gold, outputs = held.gold, held.logits.shape[1]
    several = kind.outputs in ("labels", "columns")
    if kind.outputs in ("classes", "labels", "columns"):
        fits = outputs == len(decision.names)
        if several:
            fits = fits and gold.shape == held.logits.shape and bool(np.isin(gold, (0, 1)).all())
        else:
            fits = (
                fits and gold.ndim == 1 and gold.dtype.kind == "i" and 0 <= gold.min() <= gold.max() < outputs
            )
    else:
        fits = gold.ndim == 1
    if not fits:
        raise ArtifactError(
            f"the figures of the model: the scores of rows that chose nothing are not those of a model of {kind.noun} "
            f"with {outputs:,} outputs; train it again"
        )


def refuse_without_sets(kind: Kind, noun: str) -> None:
    """Refuse a coverage of answers that have no sets; ``noun`` is what the model is a model of.

    Raises UsageError.
    """
    if kind.outputs not in _MAKERS:
        raise UsageError(f"coverage: answers of a model of {noun} have no sets with a promise")


@dataclass(frozen=True)
class _Same:
    """Figures as a key: the same ones are read once."""

    metrics: Mapping[str, object]

    def __hash__(self) -> int:
        return id(self.metrics)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.metrics is self.metrics


@lru_cache(8)
def _held(same: _Same) -> HeldScores | None:
    return held_scores(same.metrics)


def _of_classes(held: HeldScores, decision: Decision[Any], wish: Wish) -> Promise:
    shares, gold = decision.probabilities(held.logits), held.gold.astype(np.int64)
    names = decision.names
    own = oddness(shares, wish.method)[np.arange(len(gold)), gold]
    limits = (
        class_thresholds(own, gold, len(names), wish.coverage, held.weights)
        if wish.by_class
        else np.full(len(names), threshold(own, wish.coverage, held.weights))
    )

    def add(answer: Answer) -> Answer:
        probabilities = np.array([list(answer.probabilities.values())])
        return replace(answer, prediction_set=taken(names, probabilities, limits, wish.method))

    every = int(np.isinf(limits).sum())
    clause = "a share of {share} of new texts{each} has the right class in its set"
    plain = tuple(limits.tolist()) if wish.method == "lac" else ()
    return Promise(wish, len(gold), held.source, clause, every, add, held.weights is not None, plain)


def taken(
    names: tuple[str, ...], probabilities: NDArray[np.float64], limits: NDArray[np.float64], method: Method
) -> tuple[str, ...]:
    """Return the classes of a set, the likeliest first; the likeliest is in it even if its oddness is too large."""
    order = np.argsort(-probabilities[0], kind="stable")
    odd = oddness(probabilities, method)[0]
    inside = odd <= limits
    inside[order[0]] = True
    return tuple(names[place] for place in order if inside[place])


def _of_numbers(held: HeldScores, decision: Any, wish: Wish) -> Promise:
    off = np.abs(held.gold.astype(np.float64) - decision.scores(held.logits))
    limit = threshold(off, wish.coverage, held.weights)

    def add(answer: Answer) -> Answer:
        assert answer.score is not None  # these tasks answer with a number
        return replace(answer, interval=(answer.score - limit, answer.score + limit))

    clause = "a share of {share} of new texts has its number in its interval"
    return Promise(wish, len(off), held.source, clause, 0, add, held.weights is not None, (limit,))


def _of_labels(held: HeldScores, decision: Decision[Any], wish: Wish) -> Promise:
    shares = decision.probabilities(held.logits)
    limit = share_threshold(shares, held.gold > 0, wish.coverage, held.weights)  # type: ignore[operator]

    def add(answer: LabelsAnswer) -> LabelsAnswer:
        ranked = sorted(answer.probabilities.items(), key=lambda item: -item[1])
        return replace(answer, prediction_set=tuple(name for name, share in ranked if share >= limit))

    clause = "a set has, on average, a share of {share} of the right labels of its text"
    return Promise(wish, len(held.gold), held.source, clause, 0, add, held.weights is not None, (limit,))


def _of_columns(held: HeldScores, decision: Decision[Any], wish: Wish) -> Promise:
    """Let the promise hold for each label column by itself, calibrated on the rows that have a class of it."""
    odd, gold = 1 - decision.probabilities(held.logits), held.gold.astype(np.float64) > 0
    limits, places = np.full(len(decision.names), np.inf), column_places(decision.names)
    for own in places.values():
        rows = np.flatnonzero(gold[:, own].any(axis=1))
        right = odd[rows][:, own][gold[rows][:, own]]
        limits[own] = threshold(right, wish.coverage, None if held.weights is None else held.weights[rows])

    def add(answer: LabelsAnswer) -> LabelsAnswer:
        shares = np.array([answer.probabilities[name] for name in decision.names])
        inside = (1 - shares <= limits) | np.array([name in answer.labels for name in decision.names])
        ranked = [own[np.argsort(-shares[own], kind="stable")] for own in places.values()]
        found = tuple(decision.names[place] for own in ranked for place in own.tolist() if inside[place])
        return replace(answer, prediction_set=found)

    clause = "in each label column a share of {share} of new texts has its class in the set"
    every = int(np.isinf(limits).sum())
    plain = tuple(limits.tolist())
    return Promise(wish, len(held.gold), held.source, clause, every, add, held.weights is not None, plain)


_MAKERS: Mapping[str, Callable[[HeldScores, Any, Wish], Promise]] = {
    "classes": _of_classes,
    "grades": _of_numbers,
    "number": _of_numbers,
    "labels": _of_labels,
    "columns": _of_columns,
}
