"""How accurate the model is, from texts drawn at random that it answered before their labels were known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from heedful.evaluation.significance import accuracy_interval
from heedful.labeling.forms import Label, LabelForm
from heedful.labeling.label_file import Record
from heedful.labeling.pool import Pool

WINDOW = 60
"""The latest texts of the sample that a point of the curve is measured on."""
LEAST = 10
"""Texts of the sample from which on there is a point."""
_STEP, _POINTS = 5, 40
"""Texts between two points at least, and how many points there are at most, or a few more."""
_DOUBT = 25
"""Texts of either kind from which on it is judged whether uncertain texts are harder than random ones."""


@dataclass(frozen=True)
class Point:
    """A point of the learning curve.

    Attributes:
        labels: how many labels there were.
        texts: how many texts of the sample it is measured on.
        value: the share of right answers, or of numbers the mean error.
        low: where its interval begins.
        high: where it ends.
    """

    labels: int
    texts: int
    value: float
    low: float
    high: float

    def plain(self) -> dict[str, float]:
        """Return plain values for JSON."""
        return asdict(self)


def sample(
    pool: Pool, first: Mapping[str, tuple[int, Record]], passed: frozenset[str]
) -> list[tuple[int, Record]]:
    """Return the labels of a fair sample of the pool.

    The pool has a fixed random order. Its beginning, up to the first text that nobody has labeled, is a fair sample
    whatever the texts were shown for.

    Args:
        pool: the texts.
        first: key to the first label of a text, and how many labels there were before it.
        passed: keys of texts that were skipped, which are in no sample.

    Returns:
        The labels with how many there were before each, in the order in which they were given.
    """
    found = []
    for place in pool.order:
        key = pool.keys[place]
        if key in first:
            found.append(first[key])
        elif key not in passed:
            break
    return sorted(found, key=lambda each: each[0])


def curve(form: LabelForm, drawn: Sequence[tuple[int, Record]]) -> list[Point]:
    """Return the learning curve.

    Args:
        form: what a label is.
        drawn: the sample; labels without a guess are left out.

    Returns:
        A point for every few texts of the sample, each measured on the latest ones; none for too few.
    """
    known = [(labels, off(form, record)) for labels, record in drawn if record.guess is not None]
    step = max(_STEP, len(known) // _POINTS)
    ends = [end for end in range(LEAST, len(known) + 1) if end == len(known) or end % step == 0]
    return [_point(form, known[max(0, end - WINDOW) : end]) for end in ends]


def _point(form: LabelForm, window: Sequence[tuple[int, float]]) -> Point:
    labels, n = window[-1][0] + 1, len(window)
    errors = [error for _, error in window]
    mean = sum(errors) / n
    if form.kind == "number":
        spread = math.sqrt(sum((error - mean) ** 2 for error in errors) / max(1, n - 1))
        half = 1.96 * spread / math.sqrt(n)
        return Point(labels, n, mean, max(0.0, mean - half), mean + half)
    interval = accuracy_interval(round(n - sum(errors)), n)
    return Point(labels, n, 1 - mean, interval.low, interval.high)


def off(form: LabelForm, record: Record) -> float:
    """Return how wrong the guess of a label is: 0 or 1, or of numbers by how much."""
    if form.kind == "number":
        return abs(_number(record.guess) - _number(record.label))
    return float(record.guess != record.label)


def _number(label: Label | None) -> float:
    return float(label) if isinstance(label, int | float) else math.nan


def order_helps(
    form: LabelForm, records: Sequence[Record], drawn: Sequence[tuple[int, Record]]
) -> bool | None:
    """Say whether the model is wrong more often on texts that it was uncertain of than on random ones.

    Where it is not, its uncertainty tells nothing of what it lacks, and random texts are as good.

    Args:
        form: what a label is.
        records: all labels.
        drawn: the sample.

    Returns:
        None while there are too few.
    """
    doubted = [off(form, each) for each in records if each.chosen == "uncertain" and each.guess is not None]
    fair = [off(form, record) for _, record in drawn if record.guess is not None]
    if min(len(doubted), len(fair)) < _DOUBT:
        return None
    doubted, fair = doubted[-WINDOW:], fair[-WINDOW:]
    return sum(doubted) / len(doubted) > sum(fair) / len(fair)
