"""Very many classes: of each class the mean direction of its texts, which takes no fit and little memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from heedful.tasks.sentences.cross_validation import PartRows
from heedful.tasks.sentences.linear_fits import LinearFit
from heedful.tasks.sentences.linear_targets import ClassTargets, Floats
from heedful.tasks.sentences.part_weights import Joining
from heedful.tasks.sentences.row_blocks import DenseRows

Rows = NDArray[np.floating]
FEW_EACH = 10
"""Examples of a class, on average, below which a network learns nothing of very many classes."""
MANY_CLASSES = 200
"""Classes from which that is asked."""


def too_few_each(rows: int, classes: int) -> bool:
    """Return whether there are so many classes of so few examples that a network has nothing to learn from."""
    return classes > MANY_CLASSES and rows < FEW_EACH * classes


def means_join(
    parts: Sequence[PartRows],
    training: tuple[NDArray[np.int64], Floats],
    outputs: int,
    held: ClassTargets | None,
) -> Joining | None:
    """Return parts that know of each class the mean direction of its texts, and wait for their weights.

    Args:
        parts: what may join; those whose rows are not dense are left out.
        training: classes of the examples that were read, [N], and how much each of them counts, [N].
        outputs: how many classes there are, Y.
        held: gold of the further examples that the parts have rows of; they decide on the weights. None where there are
            none: then each training example is judged by means without it.

    Returns:
        The parts; None where none has dense rows.
    """
    classes, weights = training
    found = []
    for part in parts:
        rows = part.rows.array if isinstance(part.rows, DenseRows) else part.rows
        if not isinstance(rows, np.ndarray):
            continue
        fit = class_means(rows, classes, outputs, weights)
        if held is not None and part.held is not None:
            logits = fit.logits(part.held)
        else:
            logits = without_itself(rows, classes, outputs, weights)
        found.append(part.of_fit(fit, logits))
    if not found:
        return None
    return Joining(ClassTargets.of_classes(classes, outputs, weights) if held is None else held, tuple(found))


def class_means(rows: Rows, classes: NDArray[np.int64], outputs: int, weights: Floats) -> LinearFit:
    """Return the linear model whose logit of a class is how far a row lies in the direction of its mean.

    With ``m`` the mean of all rows and ``m_c`` that of a class, the logit is ``(x - m) · (m_c - m) / |m_c - m|``. Time
    and memory grow with rows plus classes, not with their product.

    Args:
        rows: features of the examples, [N, n].
        classes: their classes, [N].
        outputs: how many classes there are, Y.
        weights: how much each example counts, [N].

    Returns:
        The model; 0 for a class without an example.
    """
    center, sums, _ = _sums(rows, classes, outputs, weights)
    directions = _unit(sums)
    return LinearFit(np.ascontiguousarray(directions.T), -directions @ center)


def without_itself(rows: Rows, classes: NDArray[np.int64], outputs: int, weights: Floats) -> Floats:
    """Return the logits of every row, [N, Y], where the mean of its own class leaves it out; see `class_means`.

    The mean of all rows stays: one example in many changes it by next to nothing. A class of one example says 0.
    """
    _, sums, inside = _sums(rows, classes, outputs, weights)
    logits: Floats = inside @ _unit(sums).T  # of few rows: with more a part is held out
    others = _unit(sums[classes] - weights[:, None] * inside)
    logits[np.arange(len(classes)), classes] = (inside * others).sum(axis=1)
    return logits


def _sums(
    rows: Rows, classes: NDArray[np.int64], outputs: int, weights: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the mean of all rows, [n], the weighed sum of each class around it, [Y, n], and the rows around it."""
    center = weights @ rows.astype(np.float64) / weights.sum()
    inside = rows - center
    sums = np.zeros((outputs, rows.shape[1]))
    np.add.at(sums, classes, weights[:, None] * inside)
    return center, sums, inside


def _unit(rows: Floats) -> Floats:
    lengths = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    return np.asarray(rows / np.where(lengths > 1e-9, lengths, 1.0)) * (lengths > 1e-9)
