"""Operators that make one row of the words of a text, or spread one row over them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from heedful.errors import UsageError
from heedful.runtime import kernels
from heedful.runtime.kernels import Floats
from heedful.runtime.operators import TOGETHER, operator, weighing
from heedful.runtime.rows import Lengths, Rows
from heedful.runtime.steps import Compute, Step


@operator
def mean(step: Step) -> Compute:
    """The mean of the words, [1, D]; zero without words."""
    step.takes(1)
    return lambda x: x.sum(axis=0, keepdims=True) / np.float32(max(len(x), 1))


@weighing
def mean_weights(step: Step) -> Compute:
    """The same weight for every word, [L, 1]."""
    return lambda x: np.full((len(x), 1), 1 / max(len(x), 1))


@weighing
def maximum_weights(step: Step) -> Compute:
    """1 where a word holds the largest value of a feature, [L, D]."""
    return lambda x: np.equal(np.arange(len(x))[:, None], x.argmax(axis=0)) if len(x) else x


@operator
def maximum(step: Step) -> Compute:
    """The largest value of each feature over the words, [1, D]; zero without words."""
    step.takes(1)
    return lambda x: x.max(axis=0, keepdims=True) if len(x) else np.zeros((1, x.shape[1]), np.float32)


@weighing
def weighted_sum_weights(step: Step) -> Compute:
    """The softmax of the scores over the words, for each feature: [L, D], or [L, 1] where they share their scores."""
    step.takes(2)

    def weights(x: Floats, score: Floats) -> Floats:
        if not len(x):
            return score
        each = np.exp(score - score.max(axis=0))
        shares: Floats = each / each.sum(axis=0)
        return shares

    return weights


@operator
def weighted_sum(step: Step) -> Compute:
    """The words weighed by the softmax of their scores over the words, for each feature: [1, D]; zero without words."""
    step.takes(2)
    together = weighted_sum_together(step)

    def compute(x: Floats, score: Floats) -> Floats:
        if together is not None and x.shape == score.shape:
            return together((len(x),), x, score).whole
        if not len(x):
            return np.zeros((1, x.shape[1]), np.float32)
        weights = np.exp(score - score.max(axis=0))
        return np.sum(weights * x, axis=0, keepdims=True) / weights.sum(axis=0, keepdims=True)

    return compute


def weighted_sum_together(step: Step) -> Callable[..., Rows] | None:
    """Several texts by the compiled kernel; where words share a score, or without the kernel, it is NumPy's."""
    if not kernels.compiled():
        return None

    def compute(lengths: Lengths, x: Floats, score: Floats) -> Rows:
        if x.shape != score.shape:
            each = zip(Rows(lengths, x).parts, Rows(lengths, score).parts, strict=True)
            return Rows.of([weighted_sum(step)(*values) for values in each])
        x, score = kernels.contiguous(x, score)
        return Rows((1,) * len(lengths), kernels.weighted_sum(x, score, lengths))

    return compute


TOGETHER["weighted_sum"] = weighted_sum_together


@operator
def inner(step: Step) -> Compute:
    """The inner product of two values, one number a row: [L, 1]."""
    step.takes(2)
    return lambda x, y: np.sum(x * y, axis=1, keepdims=True)


@operator
def total(step: Step) -> Compute:
    """The sum of the rows, [1, D]."""
    step.takes(1)
    return lambda x: x.sum(axis=0, keepdims=True)


@operator
def repeat(step: Step) -> Compute:
    """The one row of a value, once for each row of another."""
    step.takes(2)
    return lambda x, like: np.repeat(x, len(like), axis=0)


@operator
def prepend(step: Step) -> Compute:
    """A constant row in front of the words."""
    step.takes(1)
    row = step.weights.floats(step.tensor("row")).reshape(1, -1)
    return lambda x: np.concatenate([row, x])


@weighing
def fuse_weights(step: Step) -> Compute:
    """The share of each state, [L, K]."""
    count, odd = divmod(len(step.of), 2)
    if odd or not count:
        raise UsageError("fuse: as many scores as states expected")

    def weights(*values: Floats) -> Floats:
        scores = np.concatenate(values[count:], axis=1)
        if scores.shape[1] != count:
            raise UsageError("fuse: one score a state expected")
        each = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares: Floats = each / each.sum(axis=1, keepdims=True)
        return shares

    return weights


@operator
def fuse(step: Step) -> Compute:
    """States of several attentions, each followed by its score, summed with the softmax of the scores, word by word."""
    weights = fuse_weights(step)

    def compute(*values: Floats) -> Floats:
        states = np.stack(values[: len(values) // 2], axis=1)
        return np.sum(states * weights(*values)[:, :, None], axis=1)

    return compute
