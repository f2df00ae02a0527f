"""Feature-wise additive attention on a GPU: a Triton kernel forward and two backward, nothing of size L x L stored.

Without Triton the module can be imported but not used; `heedful.attention.additive` never sends work here then.

Scores are bounded, so no running maximum is needed; with ``p = 1 / (1 + exp(2 (a + b) / c))`` a score is ``c - 2 c p``,
its weight is proportional to ``exp(-2 c p)``, and its derivative is ``4 p (1 - p)``. The backward kernels compute the
weights again. Query and key are added before anything is multiplied, so that large ones of opposite sign lose nothing
and each kernel has the same weight to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import torch
from torch import Tensor

from heedful.attention.additive_reference import additive_gradients
from heedful.attention.derivatives import Context, plain_is_wanted
from heedful.attention.implementation import AttentionResult
from heedful.attention.visibility import Band, Visible
from heedful.errors import MissingExtraError, UsageError

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = tl = None

Shared = TypeVar("Shared")


class _Kernel:
    """What Triton launches; where Triton is missing, an object of this class stands for it and cannot be launched."""

    def __getitem__(self, grid: tuple[int, int, int]) -> Callable[..., object]:
        raise MissingExtraError("triton", "", "the Triton kernel", install="triton")


def _kernel(function: Callable[..., object], any_number: tuple[str, ...] = ()) -> _Kernel:
    """Compile a kernel; numbers that are named are never compiled for by themselves, whatever they are divisible by."""
    return _Kernel() if triton is None else triton.jit(function, do_not_specialize=any_number)


def _shared(function: Shared) -> Shared:
    """Compile what the kernels call."""
    return function if triton is None else triton.jit(function)


_ROWS, _FEATURES = 16, 64
"""Queries (or keys) and features of one program."""


@_shared
def _visible(keep, keep_step, b, i, j, length, low, high, DIAGONAL: tl.constexpr, LISTED: tl.constexpr):
    """Whether query i may see key j, for a column of either."""
    offset = j - i
    seen = (offset >= low) & (offset <= high)
    if not DIAGONAL:
        seen = seen & (offset != 0)
    if LISTED:
        at = keep + b * keep_step + i * length + j
        seen = seen & (tl.load(at, mask=tl.maximum(i, j) < length, other=0) != 0)
    return seen


@_kernel
def _forward_kernel(
    query, key, value, valid, keep, output, denominator,
    keep_step, length, width, low, high, slope, bound,
    DIAGONAL: tl.constexpr, LISTED: tl.constexpr, ROWS: tl.constexpr, FEATURES: tl.constexpr,
):  # fmt: skip
    b, first = tl.program_id(0).to(tl.int64), tl.program_id(1) * ROWS  # elements may outnumber int32
    i = first + tl.arange(0, ROWS)
    f = tl.program_id(2) * FEATURES + tl.arange(0, FEATURES)
    real = tl.load(valid + b * length + i, mask=i < length, other=0) != 0
    here = real[:, None] & (f < width)[None, :]
    at = (b * length + i)[:, None] * width + f[None, :]
    x = tl.load(query + at, mask=here, other=0.0).to(tl.float32)
    numerator = tl.full([ROWS, FEATURES], 0.0, tl.float32)
    total = tl.full([ROWS, FEATURES], 0.0, tl.float32)
    for j in range(tl.maximum(0, first + low), tl.minimum(length, first + ROWS + high)):
        row = (b * length + j) * width + f
        there = f < tl.where(tl.load(valid + b * length + j) != 0, width, 0)  # nothing of padding
        y = tl.load(key + row, mask=there, other=0.0).to(tl.float32)
        v = tl.load(value + row, mask=there, other=0.0).to(tl.float32)
        p = 1.0 / (1.0 + tl.exp2((x + y[None, :]) * slope))
        seen = _visible(keep, keep_step, b, i, j, length, low, high, DIAGONAL, LISTED)
        weight = tl.where(seen[:, None] & there[None, :], tl.exp2(-bound * p), 0.0)
        total += weight
        numerator += weight * v[None, :]
    result = tl.where(total > 0, numerator / tl.where(total > 0, total, 1.0), 0.0)
    inside = (i < length)[:, None] & (f < width)[None, :]
    tl.store(output + at, tl.where(here, result, 0.0).to(output.dtype.element_ty), mask=inside)
    tl.store(denominator + at, tl.where(here, total, 0.0), mask=inside)


@_kernel
def _query_kernel(
    query, key, value, valid, keep, output, denominator, grad, grad_query,
    keep_step, length, width, low, high, slope, bound,
    DIAGONAL: tl.constexpr, LISTED: tl.constexpr, ROWS: tl.constexpr, FEATURES: tl.constexpr,
):  # fmt: skip
    b, first = tl.program_id(0).to(tl.int64), tl.program_id(1) * ROWS  # elements may outnumber int32
    i = first + tl.arange(0, ROWS)
    f = tl.program_id(2) * FEATURES + tl.arange(0, FEATURES)
    real = tl.load(valid + b * length + i, mask=i < length, other=0) != 0
    here = real[:, None] & (f < width)[None, :]
    at = (b * length + i)[:, None] * width + f[None, :]
    x = tl.load(query + at, mask=here, other=0.0).to(tl.float32)
    out = tl.load(output + at, mask=here, other=0.0).to(tl.float32)
    total = tl.load(denominator + at, mask=here, other=0.0)
    g = tl.load(grad + at, mask=here, other=0.0).to(tl.float32) / tl.where(total > 0, total, 1.0)
    sum_query = tl.full([ROWS, FEATURES], 0.0, tl.float32)
    for j in range(tl.maximum(0, first + low), tl.minimum(length, first + ROWS + high)):
        row = (b * length + j) * width + f
        there = f < tl.where(tl.load(valid + b * length + j) != 0, width, 0)  # nothing of padding
        y = tl.load(key + row, mask=there, other=0.0).to(tl.float32)
        v = tl.load(value + row, mask=there, other=0.0).to(tl.float32)
        p = 1.0 / (1.0 + tl.exp2((x + y[None, :]) * slope))
        seen = _visible(keep, keep_step, b, i, j, length, low, high, DIAGONAL, LISTED)
        weight = tl.where(seen[:, None] & there[None, :], tl.exp2(-bound * p), 0.0)
        sum_query += weight * g * (v[None, :] - out) * 4.0 * p * (1.0 - p)
    inside = (i < length)[:, None] & (f < width)[None, :]
    tl.store(grad_query + at, tl.where(here, sum_query, 0.0).to(grad_query.dtype.element_ty), mask=inside)


@_kernel
def _key_kernel(
    query, key, value, valid, keep, output, denominator, grad, grad_key, grad_value,
    keep_step, length, width, low, high, slope, bound,
    DIAGONAL: tl.constexpr, LISTED: tl.constexpr, ROWS: tl.constexpr, FEATURES: tl.constexpr,
):  # fmt: skip
    b, first = tl.program_id(0).to(tl.int64), tl.program_id(1) * ROWS  # elements may outnumber int32
    j = first + tl.arange(0, ROWS)
    f = tl.program_id(2) * FEATURES + tl.arange(0, FEATURES)
    real = tl.load(valid + b * length + j, mask=j < length, other=0) != 0
    here = real[:, None] & (f < width)[None, :]
    at = (b * length + j)[:, None] * width + f[None, :]
    y = tl.load(key + at, mask=here, other=0.0).to(tl.float32)
    v = tl.load(value + at, mask=here, other=0.0).to(tl.float32)
    sum_key = tl.full([ROWS, FEATURES], 0.0, tl.float32)
    sum_value = tl.full([ROWS, FEATURES], 0.0, tl.float32)
    for i in range(tl.maximum(0, first - high), tl.minimum(length, first + ROWS - low)):
        row = (b * length + i) * width + f
        there = f < tl.where(tl.load(valid + b * length + i) != 0, width, 0)  # nothing of padding
        x = tl.load(query + row, mask=there, other=0.0).to(tl.float32)
        out = tl.load(output + row, mask=there, other=0.0).to(tl.float32)
        total = tl.load(denominator + row, mask=there, other=0.0)
        g = tl.load(grad + row, mask=there, other=0.0).to(tl.float32) / tl.where(total > 0, total, 1.0)
        p = 1.0 / (1.0 + tl.exp2((x[None, :] + y) * slope))
        seen = _visible(keep, keep_step, b, i, j, length, low, high, DIAGONAL, LISTED)
        weighted = tl.where(seen[:, None] & there[None, :], tl.exp2(-bound * p), 0.0) * g[None, :]
        sum_value += weighted
        sum_key += weighted * (v - out[None, :]) * 4.0 * p * (1.0 - p)
    inside = (j < length)[:, None] & (f < width)[None, :]
    tl.store(grad_key + at, tl.where(here, sum_key, 0.0).to(grad_key.dtype.element_ty), mask=inside)
    tl.store(grad_value + at, tl.where(here, sum_value, 0.0).to(grad_value.dtype.element_ty), mask=inside)


def additive_triton(
    query: Tensor, key: Tensor, value: Tensor, valid: Tensor, visible: Visible, scale: float
) -> AttentionResult:
    """Compute `heedful.attention.additive_attention`, whose arguments these are, with Triton.

    Everything is accumulated in float32, so that float64 is refused; the output has the dtype of query.
    """
    if query.dtype == torch.float64:
        raise UsageError("the Triton kernel computes in float32; for float64 use impl='torch' or 'reference'")
    band = visible if isinstance(visible, Band) else Band()
    keep = None if isinstance(visible, Band) else visible.to(torch.uint8).contiguous()
    length = query.shape[1]
    low = -length if band.low is None else max(band.low, -length)
    high = length if band.high is None else min(band.high, length)
    return AttentionResult(
        _Additive.apply(query, key, value, valid, keep, (low, high, band.diagonal), float(scale))
    )


_Context = Context[tuple[Tensor, ...], tuple[bool, tuple[int, int, bool], float]]
"""It keeps whether visibility is a tensor, the band and the scale."""


class _Additive(torch.autograd.Function):
    """The three kernels as one differentiable function."""

    @staticmethod
    def forward(
        ctx: _Context,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        valid: Tensor,
        keep: Tensor | None,
        band: tuple[int, int, bool],
        scale: float,
    ) -> Tensor:
        query, key, value = query.contiguous(), key.contiguous(), value.contiguous()
        valid = valid.to(torch.uint8).contiguous()
        output = torch.empty_like(query)
        denominator = torch.empty(query.shape, dtype=torch.float32, device=query.device)
        tensors = (query, key, value, valid, valid if keep is None else keep, output, denominator)
        _launch(_forward_kernel, tensors, keep, band, scale)
        ctx.save_for_backward(*tensors)
        ctx.kept = keep is not None, band, scale
        return output

    @staticmethod
    def backward(ctx: _Context, *grads: Tensor) -> tuple[Tensor | None, ...]:
        tensors = ctx.saved_tensors
        listed, band, scale = ctx.kept
        keep = tensors[4] if listed else None
        if plain_is_wanted(*grads):
            visible = Band(*band) if keep is None else keep.bool()
            query, key, value, valid = tensors[:4]
            found = additive_gradients(grads[0], query, key, value, valid.bool(), visible, scale)
            return *found, None, None, None, None
        grad = grads[0].contiguous()
        grad_query, grad_key, grad_value = (torch.empty_like(x) for x in tensors[:3])
        _launch(_query_kernel, (*tensors, grad, grad_query), keep, band, scale)
        _launch(_key_kernel, (*tensors, grad, grad_key, grad_value), keep, band, scale)
        return grad_query, grad_key, grad_value, None, None, None, None


def _launch(
    kernel: _Kernel,
    tensors: tuple[Tensor, ...],
    keep: Tensor | None,
    band: tuple[int, int, bool],
    scale: float,
) -> None:
    batch, length, width = tensors[0].shape
    low, high, diagonal = band
    grid = (batch, triton.cdiv(length, _ROWS), triton.cdiv(width, _FEATURES))
    if 0 in grid:
        return
    kernel[grid](
        *tensors,
        length * length if keep is not None and keep.dim() == 3 else 0,
        length,
        width,
        low,
        high,
        2 * math.log2(math.e) / scale,
        2 * scale * math.log2(math.e),
        DIAGONAL=diagonal,
        LISTED=keep is not None,
        ROWS=_ROWS,
        FEATURES=_FEATURES,
    )
