"""Gold: class names and scores, and their numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from heedful.data.examples import Example, Gold
from heedful.data.tokens import TokenisedCorpus, place
from heedful.errors import DataError, nearest

Kind = Literal["class", "score", "none"]


def collect_labels(examples: Iterable[Example], source: Path | None = None) -> tuple[str, ...]:
    """Return the distinct labels of training data in alphabetical order; missing gold is passed over.

    Args:
        examples: the training data.
        source: the file they came from, for messages.

    Returns:
        At least two labels.

    Raises:
        DataError: if a target is no string, or there are fewer than two labels.
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


def targets_of(
    corpus: TokenisedCorpus, kind: Kind, labels: tuple[str, ...]
) -> tuple[NDArray[np.int64] | NDArray[np.float32] | None, NDArray[np.bool_]]:
    """Turn the gold of a corpus into class numbers or scores.

    Args:
        corpus: whose gold.
        kind: what it is: `class` (strings), `score` (numbers) or `none` (not used).
        labels: for `class`, all class names in the order of their numbers.

    Returns:
        The targets, [N] int64 or float32, 0 where gold is missing, None for `none`; and where gold is there, [N] bool,
        everywhere for `none`.

    Raises:
        DataError: naming the row: an unknown label, or gold of the wrong type.
    """
    if kind == "none":
        return None, np.ones(len(corpus), bool)
    has_gold = np.fromiter((target is not None for target in corpus.targets), bool, len(corpus))
    if kind == "class":
        number = {label: n for n, label in enumerate(labels)}
        classes = [
            0 if target is None else _class_number(target, number, corpus, position)
            for position, target in enumerate(corpus.targets)
        ]
        return np.array(classes, np.int64), has_gold
    scores = [
        0.0 if target is None else _score(target, corpus, position)
        for position, target in enumerate(corpus.targets)
    ]
    return np.array(scores, np.float32), has_gold


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
    raise DataError(f"{where}: expected a finite number as score, got {target!r}. Mend or leave out the row.")


def _no_label(target: object, where: str) -> DataError:
    return DataError(
        f"{where}: expected a label as a string, got {target!r}. Labels are strings, in quotes in JSON."
    )
