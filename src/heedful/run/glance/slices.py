"""Slices of labeled texts in which a model may be weak: by length, by unknown words, and by the columns of the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heedful.data.examples import Example
from heedful.data.readers.column_kinds import kinds_of
from heedful.evaluation import Interval, accuracy_interval
from heedful.evaluation.metrics import length_bins
from heedful.model.answers import Answer

FEWEST = 10
"""Rows of a slice that is looked at."""
_MOST_VALUES = 20


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
    answers: Sequence[Answer],
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
    for kind, names in _names(examples, answers, read):
        values = np.array(names)
        for value in dict.fromkeys(names):
            rows = right[values == value]
            if FEWEST <= len(rows) < len(right):
                interval = accuracy_interval(int(rows.sum()), len(rows))
                found.append(
                    Slice(f"{kind}: {value}", len(rows), float(rows.mean()), interval, interval.high < whole)
                )
    return sorted(found, key=lambda each: (not each.weak, each.interval.high))


def _names(
    examples: Sequence[Example], answers: Sequence[Answer], read: Sequence[str]
) -> Iterator[tuple[str, list[str]]]:
    lengths = np.array([answer.tokens for answer in answers], np.int64)
    yield "words", length_bins(lengths)
    yield "unknown words", [_unknown(answer) for answer in answers]
    yield "length", ["cut" if answer.truncated else "read whole" for answer in answers]
    fields = [example.fields or {} for example in examples]
    for name, kind in kinds_of(fields).items():
        if name not in read and not kind.is_constant and len(kind.counts) <= _MOST_VALUES:
            yield name, [str(record.get(name)) for record in fields]


def _unknown(answer: Answer) -> str:
    share = answer.unknown / max(1, sum(answer.tokens))
    return "none" if not answer.unknown else "up to a tenth" if share <= 0.1 else "more than a tenth"
