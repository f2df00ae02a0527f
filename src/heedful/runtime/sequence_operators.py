"""Operators that look at the words of a text together: poolings, one row spread over all words, and recurrent layers.

A recurrent layer reads a text word by word, from its beginning or from its end.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from heedful.errors import UsageError
from heedful.runtime import kernels
from heedful.runtime.kernels import Floats, Lengths, TextRows
from heedful.runtime.operators import LINKS, TOGETHER, operator, weighing
from heedful.runtime.step_chains import ChainLink
from heedful.runtime.steps import Compute, Step, sigmoid


@operator
def mean(step: Step) -> Compute:
    """The mean of the words, [1, D]; zero without words."""
    step.takes(1)
    together = mean_together(step)
    if together is not None:
        return lambda x: together((len(x),), x).whole
    return lambda x: x.sum(axis=0, keepdims=True) / np.float32(max(len(x), 1))


def mean_together(step: Step) -> Callable[..., TextRows] | None:
    """Several texts by the compiled kernel."""
    if not kernels.compiled():
        return None
    return lambda lengths, x: TextRows((1,) * len(lengths), kernels.mean(kernels.contiguous(x)[0], lengths))


TOGETHER["mean"] = mean_together
LINKS["mean"] = lambda step: ChainLink("mean", sum) if kernels.compiled() else None


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


def weighted_sum_together(step: Step) -> Callable[..., TextRows] | None:
    """Several texts by the compiled kernel; where words share a score, or without the kernel, it is NumPy's."""
    if not kernels.compiled():
        return None

    def compute(lengths: Lengths, x: Floats, score: Floats) -> TextRows:
        if x.shape != score.shape:
            each = zip(TextRows(lengths, x).parts, TextRows(lengths, score).parts, strict=True)
            return TextRows.of([weighted_sum(step)(*values) for values in each])
        x, score = kernels.contiguous(x, score)
        return TextRows((1,) * len(lengths), kernels.weighted_sum(x, score, lengths))

    return compute


TOGETHER["weighted_sum"] = weighted_sum_together


def _weighted_sum_link(step: Step) -> ChainLink | None:
    if not kernels.compiled():
        return None
    return ChainLink("weighted_sum", lambda widths: widths[0] if widths[0] == widths[1] else 0)


LINKS["weighted_sum"] = _weighted_sum_link


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


def _read(step: Step, states: Callable[[Floats], Floats]) -> Compute:
    """Turn the words round before and after, where a step says so."""
    backwards = step.flag("backwards")

    def compute(x: Floats) -> Floats:
        return states(x[::-1])[::-1] if backwards else states(x)

    return compute


@operator
def lstm(step: Step) -> Compute:
    """An LSTM with a constant added to the forget gate; see `heedful.nn.recurrent.Lstm`."""
    step.takes(1)
    inputs, recurrent = step.matrix("input"), step.matrix("state")
    width = recurrent.terms
    bias = step.floats("bias", inputs.outputs)
    bias[width : 2 * width] += np.float32(step.number("forget", 0.0))
    if inputs.outputs != 4 * width or recurrent.outputs != 4 * width:
        raise step.refuse("weights", "four gates")

    def states(x: Floats) -> Floats:
        gates = inputs.apply(x, bias)
        state, cell = np.zeros((1, width), np.float32), np.zeros((1, width), np.float32)
        output = np.empty((len(x), width), np.float32)
        for t in range(len(x)):
            gate = gates[t] + recurrent.apply(state)
            opened = sigmoid(gate)
            candidate = np.tanh(gate[:, 2 * width : 3 * width])
            cell = opened[:, width : 2 * width] * cell + opened[:, :width] * candidate
            state = opened[:, 3 * width :] * np.tanh(cell)
            output[t] = state[0]
        return output

    return _read(step, states)


@operator
def gru(step: Step) -> Compute:
    """A GRU that resets the state before the candidate's product; see `heedful.nn.recurrent.Gru`."""
    step.takes(1)
    gates_input, gates_state = step.matrix("gates_input"), step.matrix("gates_state")
    candidate_input, candidate_state = step.matrix("candidate_input"), step.matrix("candidate_state")
    width = candidate_state.terms
    if gates_input.outputs != 2 * width or gates_state.outputs != 2 * width or gates_state.terms != width:
        raise step.refuse("weights", "two gates")
    gates_bias, candidate_bias = step.floats("gates_bias", 2 * width), step.floats("candidate_bias", width)

    def states(x: Floats) -> Floats:
        gates, candidates = gates_input.apply(x, gates_bias), candidate_input.apply(x, candidate_bias)
        state, output = np.zeros((1, width), np.float32), np.empty((len(x), width), np.float32)
        for t in range(len(x)):
            both = sigmoid(gates[t] + gates_state.apply(state))
            reset, update = both[:, :width], both[:, width:]
            new = np.tanh(candidates[t] + candidate_state.apply(reset * state))
            state = new + update * (state - new)
            output[t] = state[0]
        return output

    return _read(step, states)
