"""Attention with one weight for every pair of words: in heads, within a text, between two texts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError
from heedful.runtime.feature_attention import check_same, kept, opens_pairs
from heedful.runtime.kernels import Floats
from heedful.runtime.operators import operator, weighing
from heedful.runtime.steps import Compute, Keep, Rule, Step


@weighing
def heads_weights(step: Step) -> Compute:
    """The weights of every head, [H, Q, K]."""
    step.takes(3)
    priors = [HeadPrior(item) for item in step.items("heads")]
    if not priors:
        raise step.refuse("heads", "at least one")
    alpha, divisor = step.number("alpha", 0.0), step.number("divisor", 0.0)
    positions = _positions(step)

    def weights(query: Floats, key: Floats, value: Floats) -> Floats:
        check_same("heads", (query, key, value))
        if query.shape[1] % len(priors):
            raise UsageError(f"{len(priors)} heads do not divide {query.shape[1]} features")
        q, k = (_apart(x, len(priors)) for x in (query, key))
        scores = q @ k.transpose(0, 2, 1)
        if positions is not None:
            scores = scores + positions.scores(q, k)
        scores = scores / np.float32(divisor or q.shape[-1] ** 0.5)
        return np.stack([prior.weights(score, alpha) for prior, score in zip(priors, scores, strict=True)])

    return weights


@operator
def heads(step: Step) -> Compute:
    """Dot-product attention in heads, each with its own mask and distance; reads query, key and value."""
    weights_of, positions = heads_weights(step), _positions(step)

    def compute(query: Floats, key: Floats, value: Floats) -> Floats:
        if not len(query):
            return np.zeros_like(value)
        weights = weights_of(query, key, value)
        context = weights @ _apart(value, len(weights))
        if positions is not None:
            context = context + positions.values(weights)
        return np.ascontiguousarray(context.transpose(1, 0, 2)).reshape(value.shape)

    return compute


def _apart(x: Floats, heads: int) -> Floats:
    """Take the features of heads apart: [H, L, C]."""
    return x.reshape(len(x), heads, x.shape[1] // heads).transpose(1, 0, 2)


class HeadPrior:
    """What one head sees, and whether distance lowers its scores.

    Args:
        description: ``{"mask": mask, "distance": bool}``.

    Attributes:
        rule: the mask.
        far: whether distance lowers the scores.

    Raises:
        UsageError: if it is no such thing.
    """

    def __init__(self, description: object) -> None:
        if not isinstance(description, dict) or not isinstance(description.get("distance", False), bool):
            raise UsageError(f"a head is a table with a mask, and perhaps distance; got {description!r:.80}")
        self.rule, self.far = Rule(description.get("mask")), description.get("distance", False)

    def weights(self, score: Floats, alpha: float) -> Floats:
        """Return the weights of the scores of a head, [Q, K]; ``alpha`` is the slope over the distance."""
        if self.far and alpha:
            place = np.arange(len(score), dtype=np.float32)
            score = score - np.float32(alpha) * np.abs(place[:, None] - place)
        return softmax(score, self.rule.keep(len(score)))


class _Relative:
    """A vector an offset, added to keys and values; see `heedful.encoders.priors.RelativePositions`."""

    def __init__(self, step: Step) -> None:
        self.reach = step.count("reach", 1)
        self.of_keys, self.of_values = (step.weights.floats(step.tensor(name)) for name in ("keys", "values"))
        if self.of_keys.ndim != 2 or not len(self.of_keys) == 2 * self.reach + 1 == len(self.of_values):
            raise UsageError("relative positions: one row an offset expected")

    def _places(self, length: int) -> NDArray[np.int64]:
        position = np.arange(length)
        return np.clip(position[None, :] - position[:, None], -self.reach, self.reach) + self.reach

    def scores(self, query: Floats, key: Floats) -> Floats:
        places = self._places(query.shape[1])
        return np.take_along_axis(
            query @ self.of_keys.T, np.broadcast_to(places, (len(query), *places.shape)), 2
        )

    def values(self, weights: Floats) -> Floats:
        places = self._places(weights.shape[1])
        of_pairs = self.of_values[places]
        return np.einsum("hqk,qkc->hqc", weights, of_pairs)


class _Sinusoids:
    """Sinusoids of the offset through a projection; see `heedful.encoders.priors.SinusoidPositions`."""

    def __init__(self, step: Step) -> None:
        self.content, self.position = (
            step.weights.floats(step.tensor(name)) for name in ("content", "position")
        )
        self.projection = step.matrix("projection")

    def scores(self, query: Floats, key: Floats) -> Floats:
        heads, length, each = query.shape
        width = heads * each
        steps = np.arange(length - 1, -length, -1, dtype=np.float32)
        frequencies = np.float32(10000.0) ** (-np.arange(0, width, 2, dtype=np.float32) / np.float32(width))
        angles = steps[:, None] * frequencies
        waves = np.concatenate([np.sin(angles), np.cos(angles)], axis=1)[:, :width].astype(np.float32)
        rows = self.projection.apply(waves).reshape(-1, heads, each).transpose(1, 2, 0)
        by_offset = (query + self.position) @ rows
        place = np.arange(length)
        places = np.broadcast_to(place[None, :] - place[:, None] + length - 1, (heads, length, length))
        of_position = np.take_along_axis(by_offset, places, 2).astype(np.float32)
        return self.content @ key.transpose(0, 2, 1) + of_position

    def values(self, weights: Floats) -> Floats:
        return np.zeros((), np.float32)


def _positions(step: Step) -> _Relative | _Sinusoids | None:
    name = step.text("positions", ("none", "relative", "transformer-xl"), "none")
    return None if name == "none" else _Relative(step) if name == "relative" else _Sinusoids(step)


@weighing
def product_weights(step: Step) -> Compute:
    """The weights of `product`, [Q, K]."""
    opens_pairs(step, 3)
    rule, divisor = step.rule(), np.float32(step.number("divisor", 1.0))
    biases = step.weights.floats(step.tensor("distances")).reshape(-1) if step.has("distances") else None

    def weights(x: Floats, y: Floats, value: Floats, *opened: Floats) -> Floats:
        if x.shape != y.shape or len(x) != len(value):
            raise UsageError(f"product: {list(x.shape)}, {list(y.shape)} and {list(value.shape)} do not fit")
        score = x @ y.T / divisor
        if biases is not None:
            place = np.arange(len(x))
            score = score + biases[np.minimum(np.abs(place[:, None] - place), len(biases) - 1)]
        return softmax(score, kept(rule, len(x), opened))

    return weights


@operator
def product(step: Step) -> Compute:
    """Attention with one score a pair, ``x_i · y_j`` over a divisor, plus a bias of the distance; reads x, y, value."""
    weights = product_weights(step)
    return lambda x, y, value, *opened: weights(x, y, value, *opened) @ value


def softmax(score: Floats, keep: Keep) -> Floats:
    """Return the softmax over the last axis of what is kept; zero in a row without any."""
    score = np.where(keep, score, np.float32(-np.inf))
    top = score.max(axis=-1, keepdims=True, initial=-np.inf)
    seen = np.isfinite(top)
    weights: Floats = np.exp(score - np.where(seen, top, 0))
    weights /= np.where(seen, weights.sum(axis=-1, keepdims=True), 1)
    return weights


@weighing
def align_weights(step: Step) -> Compute:
    """The weights of `align`, [Q, K]."""
    step.takes(3)

    def weights(x: Floats, y: Floats, value: Floats) -> Floats:
        if len(y) != len(value):
            raise UsageError(f"align: {list(y.shape)} and {list(value.shape)} do not fit")
        return softmax(x @ y.T, np.ones((len(x), len(y)), bool))

    return weights


@operator
def align(step: Step) -> Compute:
    """What each row of one text is aligned with in another: ``softmax_j(x_i · y_j) value_j``; reads x, y and value."""
    weights = align_weights(step)
    return lambda x, y, value: weights(x, y, value) @ value
