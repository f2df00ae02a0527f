"""The linear form's terms: measured once, in float64, for a scale and a tolerance."""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from heedful.ops.native import RANK_STEP, RANKS, NativeExpansion

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Expansion:
    """exp(score(x + y)) as a sum of ``rank ** 2`` products, for |x| and |y| up to a half width.

    With T the Chebyshev polynomials and c the scale::

        exp(c tanh((x + y) / c) - c) = e^(tilt (x + y)) sum_ml value_ml T_m(x / half) T_l(y / half)

    Attributes:
        rank: number of polynomials of x, and of y.
        half: half width.
        tilt: mean slope of the score over the range; leaves a function that is nearly flat.
        value: coefficients, [rank, rank].
        slope: the same for exp(score) times the slope of the score.
    """

    rank: int
    half: float
    tilt: float
    value: Array
    slope: Array


@cache
def expansions(scale: float, tolerance: float) -> tuple[Expansion, ...]:
    """Find, for ranks 4, 8, ... 32, the widest range that each serves and its coefficients.

    Args:
        scale: c, the bound of the scores.
        tolerance: largest error of a weight and of its slope, relative to the weight.

    Returns:
        One for each rank.
    """
    return tuple(
        _widest(scale, rank, tolerance) for rank in range(RANK_STEP, RANK_STEP * RANKS + 1, RANK_STEP)
    )


def expand(scale: float, rank: int, half: float) -> Expansion:
    """Interpolate at the Chebyshev nodes of both ranges.

    Args:
        scale: c.
        rank: number of nodes.
        half: half width of both ranges.

    Returns:
        The expansion.
    """
    tilt = _flattest(scale, 2 * half)
    angle = (2 * np.arange(rank) + 1) * np.pi / (2 * rank)
    to_coefficients = np.cos(np.arange(rank)[:, None] * angle) * (2 / rank)
    to_coefficients[0] /= 2
    weight, slope = _tilted(scale, half * np.cos(angle), tilt)
    value = to_coefficients @ weight @ to_coefficients.T
    return Expansion(rank, half, tilt, value, to_coefficients @ (weight * slope) @ to_coefficients.T)


def error(scale: float, expansion: Expansion) -> float:
    """Measure the largest error of a weight or its slope, relative to the weight, on a grid of the ranges.

    Args:
        scale: c.
        expansion: the expansion.

    Returns:
        The error.
    """
    angle = np.linspace(0, np.pi, 2 * expansion.rank + 3)  # ends, and both sides of every node
    basis = np.cos(angle[:, None] * np.arange(expansion.rank))
    weight, slope = _tilted(scale, expansion.half * np.cos(angle), expansion.tilt)
    of_value = basis @ expansion.value @ basis.T / weight - 1
    of_slope = basis @ expansion.slope @ basis.T / weight - slope
    return float(max(np.abs(of_value).max(), np.abs(of_slope).max()))


def _widest(scale: float, rank: int, tolerance: float) -> Expansion:
    low, high = 1e-3 * scale, 20 * scale
    for _ in range(14):
        middle = (low + high) / 2
        if error(scale, expand(scale, rank, middle)) <= tolerance:
            low = middle
        else:
            high = middle
    return expand(scale, rank, low)


def _flattest(scale: float, reach: float) -> float:
    """Slope of the straight line that stays nearest to the score; a multiple of 1/64 in base 2, which float32 holds."""
    z = np.linspace(0, reach, 65)
    tilts = np.arange(1, 93) / 64 / math.log2(math.e)
    distance = np.abs(scale * np.tanh(z / scale) - tilts[:, None] * z).max(axis=1)
    return float(tilts[distance.argmin()])


def _tilted(scale: float, points: Array, tilt: float) -> tuple[Array, Array]:
    """Weights over e^(tilt z), and slopes, of all pairs of points."""
    z = points[:, None] + points
    tanh = np.tanh(z / scale)
    return np.exp(scale * (tanh - 1) - tilt * z), 1 - tanh * tanh


@cache
def native_expansions(scale: float, tolerance: float) -> ctypes.Array[NativeExpansion]:
    """Give the expansions to the kernel, which wants the slope without the factor it applies itself.

    Args:
        scale: c.
        tolerance: see `expansions`.

    Returns:
        An array that keeps its tables alive.
    """
    unit = -scale * math.log2(math.e) / 2
    rows = (NativeExpansion * RANKS)()
    for row, found in zip(rows, expansions(scale, tolerance), strict=True):
        tables = [np.ascontiguousarray(t, dtype=np.float32) for t in (found.value, found.slope * unit)]
        row.value, row.slope = (table.ctypes.data for table in tables)
        row.half_width, row.rank = found.half, found.rank
        row.rate = found.tilt * math.log2(math.e)
        _ALIVE.extend(tables)
    return rows


_ALIVE: list[NDArray[np.float32]] = []
"""What the kernel has the addresses of."""
