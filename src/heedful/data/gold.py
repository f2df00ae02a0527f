"""Gold as numbers: classes and scores, which several tasks share."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heedful.data.examples import Example, Gold
from heedful.data.tokens import TokenisedCorpus, place
from heedful.errors import DataError, UsageError, nearest


@dataclass(frozen=True, eq=False)
class Targets:
    """The gold of a corpus as numbers.

    Attributes:
        values: one row an example, [N, ...]; anything where gold is missing.
        present: where there is gold, [N] bool.
    """

    values: NDArray[np.generic]
    present: NDArray[np.bool_]


def collect_labels(examples: Iterable[Example], source: Path | None = None) -> tuple[str, ...]:
    """Return the distinct labels of training data in alphabetical order; missing gold is passed over.

    Raises DataError if a target is no string, or there are fewer than two labels.
    """
    labels = set()
    for position, example in enumerate(examples, start=1):
        if isinstance(example.target, str):
            labels.add(example.target)
        elif example.target is not None:
            raise _no_label(example.target, place(source, example.row or position))
    if len(labels) < 2:
        raise DataError(
            f"{source or 'training data'}: expected at least two different labels, got {sorted(labels)}. "
            "Check the label column."
        )
    return tuple(sorted(labels))


def has_gold(corpus: TokenisedCorpus) -> NDArray[np.bool_]:
    """Return which examples of a corpus have gold, [N] bool."""
    return np.fromiter((target is not None for target in corpus.targets), bool, len(corpus))


def class_targets(corpus: TokenisedCorpus, labels: tuple[str, ...]) -> Targets:
    """Turn class names into numbers.

    Returns the numbers, [N] int64. Raises DataError, naming the row: an unknown label, or gold that is no string.
    Raises UsageError if the labels are none, or one is there twice.
    """
    if not labels or len(set(labels)) < len(labels):
        raise UsageError(f"labels: expected the distinct class names in order, got {list(labels)}")
    number = {label: n for n, label in enumerate(labels)}
    classes = [
        0 if target is None else _class_number(target, number, corpus, position)
        for position, target in enumerate(corpus.targets)
    ]
    return Targets(np.array(classes, np.int64), has_gold(corpus))


def score_targets(corpus: TokenisedCorpus) -> Targets:
    """Return scores as numbers.

    Returns the scores, [N] float32. Raises DataError, naming the row, if gold is no finite number.
    """
    scores = [
        0.0 if target is None else _score(target, corpus, position)
        for position, target in enumerate(corpus.targets)
    ]
    return Targets(np.array(scores, np.float32), has_gold(corpus))


def _class_number(target: Gold, number: dict[str, int], corpus: TokenisedCorpus, position: int) -> int:
    found = number.get(target) if isinstance(target, str) else None
    if found is not None:
        return found
    where = place(corpus.source, int(corpus.rows[position]))
    if not isinstance(target, str):
        raise _no_label(target, where)
    raise DataError(f"{where}: unknown label {target!r}; {nearest(target, list(number))}")


def _score(target: Gold, corpus: TokenisedCorpus, position: int) -> float:
    if isinstance(target, (int, float)) and math.isfinite(target):
        return float(target)
    where = place(corpus.source, int(corpus.rows[position]))
    raise DataError(
        f"{where}: expected a finite number as score, got {target!r}. Correct the row or leave it out."
    )


def _no_label(target: object, where: str) -> DataError:
    return DataError(
        f"{where}: expected a label as a string, got {target!r}. Labels are strings, in quotes in JSON."
    )
