"""Linear models of what the parts beside a network learn: regularized fits, naive Bayes, and how parts are weighed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heedful.tasks.sentences.linear_targets import (
    SMOOTHING,
    ClassTargets,
    Floats,
    LinearTargets,
    NumberTargets,
)
from heedful.tasks.sentences.principal_rows import Rows, TurnedRows, whole
from heedful.tasks.sentences.wide_rows import WideRows

STEPS = 100
"""Steps of L-BFGS at most: what is chosen by its loss on other examples needs no more digits."""
GAIN = 2.0
"""Log-likelihood of all examples that a part must add to be kept: one more number may add as much by chance."""
_LARGEST = 100.0
_ENOUGH = 5_000_000
"""Logits of a model that tell its weight: of more, which very many classes have, evenly spaced examples are read."""
_MANY = 1_000_000
_FLATTEST = 1e-3


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A linear model: logits are ``x weights + bias``.

    Attributes:
        weights: [n, Y].
        bias: [Y].
    """

    weights: Floats
    bias: Floats

    def logits(self, rows: Rows) -> Floats:
        """Return the logits of rows, [N, Y]."""
        found: Floats = np.asarray(rows @ self.weights) + self.bias
        return found


def fit_linear(
    turned: TurnedRows, targets: LinearTargets, strength: float, start: LinearFit | None = None
) -> LinearFit:
    """Fit a linear model with a squared penalty on its weights, not on its bias.

    It minimizes ``C sum_i w_i loss_i + |W|² / 2`` by L-BFGS (Liu and Nocedal, 1989), where the losses are those of the
    targets: logistic regression for classes and labels, ridge regression for numbers. Each weight is measured in the
    unit in which the curvature is about 1, so that the steps are few.

    Args:
        turned: rows, one an example.
        targets: of the same examples.
        strength: C, the inverse strength of the penalty.
        start: a fit of the same shape to begin with; None for zeros.

    Returns:
        The fit, of the turned rows. A class without an example is as likely as half an example makes it.
    """
    from scipy.optimize import minimize

    if isinstance(targets, ClassTargets) and not (present := targets.present()).all():
        fit = fit_linear(turned, targets.only(present), strength, start and _columns(start, present))
        return _with_absent(fit, turned.rows, present)
    rows, inputs, outputs = turned.rows, turned.rows.shape[1], targets.outputs
    if start is None:
        start = LinearFit(np.zeros((inputs, outputs)), prior(targets))
    if not targets.varies:
        return start
    share = targets.weights / targets.weights.sum()
    penalty = 1.0 / (strength * targets.weights.sum() * targets.terms)
    curved = share @ targets.curvatures(np.asarray(rows @ start.weights) + start.bias) + _FLATTEST
    # The weights of two classes are opposite: those of the second are sought, in units in which steps are as long.
    two = isinstance(targets, ClassTargets) and outputs == 2
    opened, closed, many = (_opened, _closed, 2) if two else (_same, _same, 1)
    free = outputs // many
    curved = curved[-free:]
    units = np.sqrt(many * (curved * (turned.sizes[:, None] / len(targets)) + penalty))
    unit = np.sqrt(many * curved)
    middle = start.bias.mean() if two else 0.0
    transposed = rows.T

    def objective(flat: Floats) -> tuple[float, Floats]:
        weights, bias = flat[:-free].reshape(inputs, free) / units, flat[-free:] / unit
        logits = opened(np.asarray(rows @ weights) + bias) + middle
        slopes = closed(targets.slopes(logits) * share[:, None])
        value = float(share @ targets.losses(logits)) + 0.5 * penalty * many * float((weights**2).sum())
        gradient = (np.asarray(transposed @ slopes) + penalty * many * weights) / units
        return value, np.concatenate([gradient.ravel(), slopes.sum(axis=0) / unit])

    first, bias = closed(start.weights) / many, closed(start.bias[None])[0] / many
    found = minimize(
        objective,
        np.concatenate([(first * units).ravel(), bias * unit]),
        jac=True,
        method="L-BFGS-B",
        # Of many weights fewer former steps are kept: each takes two vectors as long as all weights.
        options={
            "maxiter": STEPS,
            "gtol": 1e-4 * many**0.5,
            "ftol": 1e-6,
            "maxcor": 10 if units.size * many < _MANY else 4,
        },
    ).x
    weights, bias = found[:-free].reshape(inputs, free) / units, found[-free:] / unit
    return LinearFit(opened(weights), opened(bias[None])[0] + middle)


def _opened(columns: Floats) -> Floats:
    """Return the columns of both classes, which are opposite, of those of the second."""
    return np.concatenate([-columns, columns], axis=1)


def _closed(columns: Floats) -> Floats:
    """Return what the columns of both classes come to along `_opened`."""
    return columns[:, 1:] - columns[:, :1]


def _same(columns: Floats) -> Floats:
    return columns


def _columns(fit: LinearFit, present: NDArray[np.bool_]) -> LinearFit:
    return LinearFit(fit.weights[:, present], fit.bias[present])


def _with_absent(fit: LinearFit, rows: Rows, present: NDArray[np.bool_]) -> LinearFit:
    """Add the classes without an example, with the probability of half an example on average."""
    logits = fit.logits(rows)
    top = logits.max(axis=1)
    mean = float((np.log(np.exp(logits - top[:, None]).sum(axis=1)) + top).mean())
    weights, bias = np.zeros((len(fit.weights), len(present))), np.zeros(len(present))
    weights[:, present], bias[present] = fit.weights, fit.bias
    bias[~present] = mean + np.log(0.5 / len(logits))
    return LinearFit(weights, bias)


def prior(targets: LinearTargets) -> Floats:
    """Return logits, [Y], that say how often each output is right, with half an example added; the mean of numbers."""
    member = targets.membership()
    total = targets.weights.sum()
    if member is None:
        best = targets.slopes(np.zeros((len(targets), 1)))
        return -np.asarray(targets.weights @ best / total)
    share = (targets.weights @ member + 0.5) / (total + 1.0)
    exclusive = bool(np.allclose(member.sum(axis=1), 1))
    found: Floats = np.log(share) if exclusive else np.log(share / (1 - share))
    return found


def log_ratios(rows: Rows, targets: LinearTargets) -> Floats | None:
    """Return how strongly each feature speaks for each output.

    This is the naive Bayes log-count ratio ``r = log((p / sum(p)) / (q / sum(q)))``, where p and q count the examples
    inside and outside the class that have the feature, plus 0.25, each by its weight.

    Args:
        rows: values of the features of the training examples, sparse [N, n]; only where they are not 0 counts.
        targets: of the same examples.

    Returns:
        [n, Y]; 0 for a class without an example, or with all; None for numbers.
    """
    member = targets.membership()
    if member is None:
        return None
    if isinstance(rows, WideRows):
        present: Rows = rows.presence()
    else:
        present = whole(rows).astype(bool).astype(np.float64)
    weighted = member * targets.weights[:, None]
    inside = np.asarray(present.T @ weighted)
    total = np.asarray(present.T @ targets.weights)[:, None]
    p, q = inside + SMOOTHING, total - inside + SMOOTHING
    found: Floats = np.log(p / p.sum(axis=0)) - np.log(q / q.sum(axis=0))
    found[:, (weighted.sum(axis=0) == 0) | (inside == total).all(axis=0)] = 0
    return found


def interpolated(weights: Floats, ratios: Floats, share: float) -> Floats:
    """Return weights between fitted ones and those of naive Bayes.

    For a class with weights w and log ratios r this is ``b w + (1 - b) m r``, where b is the share and ``m = sum(|w|) /
    sum(|r|)`` gives both the same size (Wang and Manning, ACL 2012).

    Args:
        weights: the fitted ones, [n, Y].
        ratios: see `log_ratios`, [n, Y].
        share: how much the fitted weights count, 0 to 1.

    Returns:
        [n, Y].
    """
    sizes = np.abs(weights).sum(axis=0) / np.maximum(np.abs(ratios).sum(axis=0), 1e-12)
    mixed: Floats = share * weights + (1 - share) * sizes * ratios
    return mixed


def gained(targets: LinearTargets, without: float, loss: float) -> float:
    """Return by how much the log-likelihood of all examples rises from one mean loss to another."""
    total = float(targets.weights.sum())
    if isinstance(targets, NumberTargets) and not targets.huber:  # normal errors of unknown variance
        return total / 2 * float(np.log(max(without, 1e-12) / max(loss, 1e-12)))
    return total * (without - loss) * targets.terms


def weigh(
    logits: Sequence[NDArray[np.floating]],
    targets: LinearTargets,
    limits: Sequence[tuple[float, float]] = (),
) -> tuple[Floats, float]:
    """Find the weights of several models' logits that make the targets likeliest.

    It minimizes the weighted loss of ``sum_k a_k z_k`` over all a that are 0 or more, which has one minimum. The
    targets are `LinearTargets.smoothed`, so that a model that is always right on few examples is not believed too much.

    Args:
        logits: of each model, for examples that it was not trained on, [N, Y] each.
        targets: of these examples.
        limits: smallest and largest weight of the first models; the others are from 0 to 100.

    Returns:
        The weights, [K], and the mean loss at them.
    """
    from scipy.optimize import minimize

    if not logits:
        return np.zeros(0), targets.loss(np.zeros((len(targets), targets.outputs)))
    targets = targets.smoothed()
    if (step := -(-np.size(logits[0]) // _ENOUGH)) > 1:
        targets, logits = targets.of(np.arange(0, len(targets), step)), [each[::step] for each in logits]
    share = targets.weights / targets.weights.sum()
    bounds = [*limits, *[(0.0, _LARGEST)] * (len(logits) - len(limits))]
    stack = [np.asarray(each, np.float64) for each in logits]

    def objective(weights: Floats) -> tuple[float, Floats]:
        mixed = sum((w * z for w, z in zip(weights, stack, strict=True)), np.zeros_like(stack[0]))
        slopes = targets.slopes(mixed) * share[:, None]
        return float(share @ targets.losses(mixed)), np.array([float((slopes * z).sum()) for z in stack])

    found = minimize(
        objective,
        np.clip(np.full(len(stack), 1.0 / len(stack)), *np.array(bounds).T),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": 200, "gtol": 1e-7, "ftol": 1e-12},
    )
    return np.asarray(found.x, np.float64), float(found.fun)
