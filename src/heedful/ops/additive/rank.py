"""How many terms the linear form needs: measured once, in float64, for a scale and a tolerance."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from heedful.ops.native import RANK_STEP, RANKS

TILTS = (0.25, 0.5, 0.75)
"""csrc/linear.inc divides exp(score) by e^(tilt x) first, with a tilt between these."""

Array = NDArray[np.float64]


@cache
def half_widths(scale: float, tolerance: float) -> tuple[float, ...]:
    """Find the widest range of queries that each rank serves, whatever the keys.

    Args:
        scale: c, the bound of the scores.
        tolerance: largest relative error of exp(score).

    Returns:
        For ranks 4, 8, ... 32: queries may lie so far from their middle.
    """
    widths = []
    for rank in range(RANK_STEP, RANK_STEP * RANKS + 1, RANK_STEP):
        low, high = 0.0, 20 * scale
        for _ in range(16):
            middle = (low + high) / 2
            if interpolation_error(scale, rank, middle) <= tolerance:
                low = middle
            else:
                high = middle
        widths.append(low)
    return tuple(widths)


def interpolation_error(scale: float, rank: int, half: float) -> float:
    """Measure the largest relative error of the interpolated exp(c tanh((x + y) / c)).

    Args:
        scale: c.
        rank: number of Chebyshev nodes.
        half: half width of the range of x.

    Returns:
        The largest error on a fine grid of |x| <= half, all y and every tilt.
    """
    angle = (2 * np.arange(rank) + 1) * np.pi / (2 * rank)
    nodes, weights = np.cos(angle), (-1.0) ** np.arange(rank) * np.sin(angle)
    points = np.cos(np.linspace(0.01, np.pi - 0.01, 61) + 1e-5)  # off the nodes
    basis = weights / (points[:, None] - nodes)
    basis /= basis.sum(axis=1, keepdims=True)
    keys = np.linspace(-half - 4 * scale, half + 4 * scale, 121)
    errors = []
    for tilt in TILTS:
        exact = _tilted(scale, half * points, keys, tilt)
        errors.append(np.abs(basis @ _tilted(scale, half * nodes, keys, tilt) / exact - 1).max())
    return float(max(errors))


def _tilted(scale: float, query: Array, key: Array, tilt: float) -> Array:
    score: Array = scale * np.tanh((query[:, None] + key) / scale) - tilt * query[:, None]
    return np.exp(score)
