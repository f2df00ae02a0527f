"""Gold as numbers: classes and scores, which several tasks share."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heedful.data.examples import Corpus, Example, Gold, LabelSet
from heedful.data.tokens import TokenizedCorpus, place
from heedful.errors import DataError, UsageError, nearest

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Targets:
    """The gold of a corpus as numbers.

    Attributes:
        values: one row an example, [N, ...]; anything where gold is missing.
        present: where there is gold, [N] bool.
        labels: the names that the numbers refer to: those that a model knows, then those that only this corpus has,
            which no prediction meets. Empty for numbers.
    """

    values: NDArray[np.generic]
    present: NDArray[np.bool_]
    labels: tuple[str, ...] = ()


def collect_labels(
    examples: Iterable[Example], source: Path | None = None, least: int = 2
) -> tuple[str, ...]:
    """Return the distinct labels of training data in alphabetical order; missing gold is passed over.

    Raises DataError if a target is no string, or there are fewer labels than `least`: one is enough beside those of a
    model that learns on.
    """
    labels = set()
    for position, example in enumerate(examples, start=1):
        if isinstance(example.target, str):
            labels.add(example.target)
        elif example.target is not None:
            raise _no_label(example.target, place(source, example.row or position))
    if len(labels) < least:
        raise DataError(
            f"{source or 'training data'}: expected at least two different labels, got {sorted(labels)}. "
            "Check the label column; with one class there is nothing to learn."
        )
    return tuple(sorted(labels))


def has_gold(corpus: TokenizedCorpus) -> NDArray[np.bool_]:
    """Return which examples of a corpus have gold, [N] bool."""
    return np.fromiter((target is not None for target in corpus.targets), bool, len(corpus))


def class_targets(corpus: TokenizedCorpus, labels: tuple[str, ...]) -> Targets:
    """Turn class names into numbers; one that is not among the labels gets a number after theirs, and a warning.

    Returns the numbers, [N] int64. Raises DataError, naming the row, if gold is no string. Raises UsageError if the
    labels are none, or one is there twice.
    """
    if not labels or len(set(labels)) < len(labels):
        raise UsageError(f"labels: expected the distinct class names in order, got {list(labels)}")
    found = [(target,) if isinstance(target, str) else () for target in corpus.targets]
    every = with_unseen(found, labels, corpus)
    number = {label: n for n, label in enumerate(every)}
    classes = [
        0 if target is None else _class_number(target, number, corpus, position)
        for position, target in enumerate(corpus.targets)
    ]
    return Targets(np.array(classes, np.int64), has_gold(corpus), every)


def with_known_labels(corpus: Corpus, labels: Sequence[str]) -> Corpus:
    """Leave out the examples with a label that training does not have, which can choose nothing, and count them.

    Args:
        corpus: the dev split.
        labels: those of the training split; none for numbers.

    Returns:
        The others.

    Raises:
        DataError: if none is left.
    """
    known = frozenset(labels)
    kept = [example for example in corpus.examples if known.issuperset(_names(example.target))]
    if not known or len(kept) == len(corpus.examples):
        return corpus
    refuse_unseen_alone(replace(corpus, examples=kept or corpus.examples), labels)
    reason = "a label that training does not have"
    left_out = Counter({reason: len(corpus.examples) - len(kept)})
    return replace(corpus, examples=kept, skipped=corpus.skipped + left_out)


def refuse_unseen_alone(corpus: Corpus, labels: Sequence[str]) -> None:
    """Refuse examples none of which has a label that a model knows, as where another column is read.

    Args:
        corpus: the examples.
        labels: those of the model; none for numbers.

    Raises:
        DataError: naming the first row and the nearest label.
    """
    known = frozenset(labels)
    found = [(example, name) for example in corpus.examples for name in _names(example.target)]
    if not known or not found or any(name in known for _, name in found):
        return
    example, name = found[0]
    said = f"unknown label {name!r}; {nearest(name, list(labels))}"
    raise DataError(
        f"{place(corpus.source, example.row or 1)}: {said}{'' if said.endswith('?') else '.'} No example has a label "
        "that training had: check the label column"
    )


def _names(target: Gold) -> tuple[str, ...]:
    """Return the labels of an example; none of numbers and of tags, which are looked at elsewhere."""
    return target.names if isinstance(target, LabelSet) else (target,) if isinstance(target, str) else ()


def with_unseen(
    found: Sequence[Sequence[str]], labels: tuple[str, ...], corpus: TokenizedCorpus
) -> tuple[str, ...]:
    """Return the labels of a model, then those of a corpus that it does not know, in alphabetical order.

    Args:
        found: the labels of each example.
        labels: those of the model.
        corpus: the examples; a warning names the first row with an unknown label and the nearest known one.

    Returns:
        All labels.
    """
    known = frozenset(labels)
    rows = [(k, name) for k, names in enumerate(found) for name in names if name not in known]
    if not rows:
        return labels
    where, name = place(corpus.source, int(corpus.rows[rows[0][0]])), rows[0][1]
    hint = nearest(name, list(labels))
    _LOG.warning(
        "%s: %d examples have labels that training did not have, the first %r%s; no prediction can be right there",
        where,
        len({k for k, _ in rows}),
        name,
        f" ({hint})" if hint.startswith("did") else "",
    )
    return (*labels, *sorted({name for _, name in rows}))


def score_targets(corpus: TokenizedCorpus) -> Targets:
    """Return scores as numbers.

    Returns the scores, [N] float32. Raises DataError, naming the row, if gold is no finite number.
    """
    scores = [
        0.0 if target is None else _score(target, corpus, position)
        for position, target in enumerate(corpus.targets)
    ]
    return Targets(np.array(scores, np.float32), has_gold(corpus))


def _class_number(target: Gold, number: dict[str, int], corpus: TokenizedCorpus, position: int) -> int:
    if isinstance(target, str):
        return number[target]
    raise _no_label(target, place(corpus.source, int(corpus.rows[position])))


def _score(target: Gold, corpus: TokenizedCorpus, position: int) -> float:
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


def spread_of_most(numbers: NDArray[np.floating]) -> float:
    """Return 1.4826 times the median distance of numbers from their median: their deviation, were they normal."""
    return float(1.4826 * np.median(np.abs(numbers - np.median(numbers))))
