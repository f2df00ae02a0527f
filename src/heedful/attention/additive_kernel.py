"""The compiled pairwise kernel as a torch operator: autograd, fake tensors (compile, export) and autocast.

Each visible pair is visited once and nothing of size L x L is stored: extra memory is one tensor like the output (the
denominators). The backward pass recomputes the weights. Derivation: docs/math/additive.md.
"""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.attention.additive_reference import additive_gradients
from heedful.attention.derivatives import Context, plain_is_wanted
from heedful.attention.implementation import AttentionResult
from heedful.attention.native import (
    OPERATORS,
    RANK_STEP,
    RANKS,
    NativeExpansion,
    Problem,
    call,
    define_operator,
)
from heedful.attention.visibility import Band, Visible

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

    Returns the expansion.
    """
    tilt = _flattest(scale, 2 * half)
    angle = (2 * np.arange(rank) + 1) * np.pi / (2 * rank)
    to_coefficients = np.cos(np.arange(rank)[:, None] * angle) * (2 / rank)
    to_coefficients[0] /= 2
    weight, slope = _tilted(scale, half * np.cos(angle), tilt)
    value = to_coefficients @ weight @ to_coefficients.T
    return Expansion(rank, half, tilt, value, to_coefficients @ (weight * slope) @ to_coefficients.T)


def error(scale: float, expansion: Expansion) -> float:
    """Measure the largest error of a weight or its slope, relative to the weight, on a grid of the ranges."""
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

    Returns an array that keeps its tables alive.
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


def additive_fused(
    query: Tensor, key: Tensor, value: Tensor, valid: Tensor, visible: Visible, scale: float
) -> AttentionResult:
    """Compute `heedful.attention.additive_attention`, whose arguments these are, pair by pair on the CPU.

    bfloat16 and float16 are computed in float32; the output has the dtype of query.
    """
    return additive_linear(query, key, value, valid, visible, scale, None)


TOLERANCE, KEYS_PER_RANK = 2.0**-23, 6.0


def additive_linear(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    valid: Tensor,
    visible: Visible,
    scale: float,
    keys_per_rank: float | None = KEYS_PER_RANK,
) -> AttentionResult:
    """Compute `heedful.attention.additive_attention`, whose arguments these are, in time linear in the sentence.

    Visibility is a band of whole directions: all earlier keys, all later keys, or both, and the token itself or not.
    ``keys_per_rank=None`` keeps to the pairwise form, which sees any keys.

    The number of terms follows from the range of the queries, for each sentence and group of features apart. Where
    the range is too wide or the sentence has fewer tokens than ``keys_per_rank`` for each term (measured), that part is
    computed pair by pair; both are exact to rounding.
    """
    band = visible if isinstance(visible, Band) else Band()
    keep = None if isinstance(visible, Band) else visible
    low, high, diagonal = band.bounds
    output, _ = torch.ops.heedful.additive(
        *(query.float(), key.float(), value.float(), valid, keep),
        *(low, high, diagonal, float(scale)),
        *((0.0, 0.0) if keys_per_rank is None else (TOLERANCE, keys_per_rank)),
    )
    return AttentionResult(output.to(query.dtype))


class _Inputs(NamedTuple):
    """The arguments of the torch operator, in order."""

    query: Tensor
    key: Tensor
    value: Tensor
    valid: Tensor
    keep: Tensor | None
    low: int
    high: int
    diagonal: bool
    scale: float
    tolerance: float
    keys_per_rank: float

    def whole(self) -> _Inputs:
        """Return the tensors without gaps; they must live until the kernel returns."""
        tensors = (x.contiguous() if isinstance(x, Tensor) else x for x in self)
        return _Inputs(*tensors)  # type: ignore[arg-type]

    def problem(self) -> Problem:
        """Return the record that the kernel reads, of tensors without gaps."""
        batch, length, width = self.query.shape
        dense = self.keep is not None and self.keep.dim() == 3
        problem = Problem(
            query=self.query.data_ptr(),
            key=self.key.data_ptr(),
            value=self.value.data_ptr(),
            valid=self.valid.data_ptr(),
            keep=None if self.keep is None else self.keep.data_ptr(),
            keep_stride=length * length if dense else 0,
            batch=batch,
            length=length,
            width=width,
            low=self.low,
            high=self.high,
            diagonal=self.diagonal,
            threads=torch.get_num_threads(),
            scale=self.scale,
        )
        if self.tolerance > 0:
            problem.keys_per_rank = self.keys_per_rank
            problem.expansions = native_expansions(self.scale, self.tolerance)
        return problem


_Settings: TypeAlias = tuple[int, int, bool, float, float, float]
"""The numbers of `_Inputs`, which follow its tensors."""


def _forward(
    *given: *tuple[Tensor, Tensor, Tensor, Tensor, Tensor | None, *_Settings],
) -> tuple[Tensor, Tensor]:
    inputs = _Inputs(*given).whole()
    output, denominator = torch.empty_like(inputs.query), torch.empty_like(inputs.query)
    call("heedful_additive_forward", inputs.problem(), output.data_ptr(), denominator.data_ptr())
    return output, denominator


_Tensors: TypeAlias = tuple[Tensor, Tensor, Tensor, Tensor, Tensor | None, Tensor, Tensor]
"""The tensors of `_Inputs`, the output and the denominator."""


def _backward(grad: Tensor, *given: *tuple[*_Tensors, *_Settings]) -> tuple[Tensor, Tensor, Tensor]:
    output, denominator = given[5:7]
    inputs, grad = _Inputs(*(*given[:5], *given[7:])).whole(), grad.contiguous()
    query = inputs.query
    gradients = torch.empty_like(query), torch.empty_like(query), torch.empty_like(query)
    arrays = (output, denominator, grad, *gradients)
    call("heedful_additive_backward", inputs.problem(), *(array.data_ptr() for array in arrays))
    return gradients


def _fake_forward(query: Tensor, *rest: object) -> tuple[Tensor, Tensor]:
    return query.new_empty(query.shape), query.new_empty(query.shape)


def _fake_backward(grad: Tensor, query: Tensor, *rest: object) -> tuple[Tensor, Tensor, Tensor]:
    return query.new_empty(query.shape), query.new_empty(query.shape), query.new_empty(query.shape)


def _setup_context(
    ctx: Context[_Tensors, _Settings],
    inputs: tuple[Tensor, Tensor, Tensor, Tensor, Tensor | None, *_Settings],
    output: tuple[Tensor, Tensor],
) -> None:
    ctx.save_for_backward(*inputs[:5], *output)
    ctx.kept = inputs[5:]
    ctx.set_materialize_grads(False)


def _differentiate(
    ctx: Context[_Tensors, _Settings], grad: Tensor | None, _: Tensor | None
) -> tuple[object, ...]:
    if grad is None:
        return (None,) * 11
    if plain_is_wanted(grad):
        query, key, value, valid, keep = ctx.saved_tensors[:5]
        low, high, diagonal, scale, *_rest = ctx.kept
        visible = Band(low, high, diagonal) if keep is None else keep
        return *additive_gradients(grad, query, key, value, valid, visible, scale), *(None,) * 8
    gradients = torch.ops.heedful.additive_backward(grad, *ctx.saved_tensors, *ctx.kept)
    return (*gradients, *(None,) * 8)


define_operator(
    "additive_backward(Tensor grad, Tensor query, Tensor key, Tensor value, Tensor valid, Tensor? keep, Tensor output, "
    "Tensor denominator, int low, int high, bool diagonal, float scale, float tolerance, "
    "float keys_per_rank) -> (Tensor, Tensor, Tensor)",
    _backward,
    _fake_backward,
)
define_operator(
    "additive(Tensor query, Tensor key, Tensor value, Tensor valid, Tensor? keep, int low, int high, bool diagonal, "
    "float scale, float tolerance, float keys_per_rank) -> (Tensor, Tensor)",
    _forward,
    _fake_forward,
    backward=_differentiate,
    setup_context=_setup_context,
)
# Under autocast the operator works and answers in float32, as torch's own softmax and exp do.
torch.library.register_autocast("heedful::additive", "cpu", torch.float32, lib=OPERATORS)
