"""Slices of labeled texts in which a model may be weak: by length, by unknown words, and by the columns of the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from heedful.data.examples import Example
from heedful.data.readers.column_kinds import kinds_of
from heedful.evaluation import Interval, accuracy_interval
from heedful.evaluation.metrics import length_bins

FEWEST = 10
"""Rows of a slice that is looked at."""
_MOST_VALUES = 20


class Lengthy(Protocol):
    """What is looked at of an answer: how its text was read."""

    @property
    def tokens(self) -> tuple[int, ...]:
        """Words that were read of each text."""

    @property
    def unknown(self) -> int:
        """How many of them the model does not know."""

    @property
    def truncated(self) -> bool:
        """Whether a text was cut."""


@dataclass(frozen=True)
class Slice:
    """Some of the rows, and how many of their answers are right.

    Attributes:
        name: what the rows share.
        count: how many there are.
        accuracy: share of their answers that is right.
        interval: its 95 % interval.
        weak: whether the whole interval is below the accuracy of all rows.
    """

    name: str
    count: int
    accuracy: float
    interval: Interval
    weak: bool


def slices_of(
    examples: Sequence[Example],
    answers: Sequence[Lengthy],
    right: NDArray[np.bool_],
    read: Sequence[str],
) -> list[Slice]:
    """Cut the rows into slices.

    Args:
        examples: the rows, with the fields of the file.
        answers: to each.
        right: whether it is right, [N].
        read: columns of the texts and the gold, which make no slices.

    Returns:
        The slices, the weakest first.
    """
    whole = float(right.mean())
    found = []
    for name, chosen in sliced(examples, answers, read):
        rows = right[chosen]
        interval = accuracy_interval(int(rows.sum()), len(rows))
        found.append(Slice(name, len(rows), float(rows.mean()), interval, interval.high < whole))
    return sorted(found, key=lambda each: (not each.weak, each.interval.high))


def sliced(
    examples: Sequence[Example], answers: Sequence[Lengthy], read: Sequence[str]
) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield the slices that have at least `FEWEST` rows, but not all.

    Args:
        examples: the rows, with the fields of the file.
        answers: to each.
        read: columns of the texts and the gold, which make no slices.

    Yields:
        What the rows share, and which they are, [N] bool.
    """
    for kind, names in _names(examples, answers, read):
        values = np.array(names)
        for value in dict.fromkeys(names):
            chosen = values == value
            if FEWEST <= chosen.sum() < len(chosen):
                yield f"{kind}: {value}", chosen


def _names(
    examples: Sequence[Example], answers: Sequence[Lengthy], read: Sequence[str]
) -> Iterator[tuple[str, list[str]]]:
    lengths = np.array([answer.tokens for answer in answers], np.int64)
    yield "words", length_bins(lengths)
    yield "unknown words", [_unknown(answer) for answer in answers]
    yield "length", ["cut" if answer.truncated else "read whole" for answer in answers]
    fields = [example.fields or {} for example in examples]
    for name, kind in kinds_of(fields).items():
        if name not in read and not kind.is_constant and len(kind.counts) <= _MOST_VALUES:
            yield name, [str(record.get(name)) for record in fields]


def _unknown(answer: Lengthy) -> str:
    share = answer.unknown / max(1, sum(answer.tokens))
    return "none" if not answer.unknown else "up to a tenth" if share <= 0.1 else "more than a tenth"
