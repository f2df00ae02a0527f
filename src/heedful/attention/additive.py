"""DiSAN's feature-wise token2token attention: one signature, its specification, and the choice of a faster form.

One form is plain torch in bounded memory, for any device and any floating dtype: a chunk of queries at a time meets the
keys its band can reach, and the backward pass recomputes. Memory beyond inputs and outputs is a few times
`CHUNK_ELEMENTS`, or one query's scores where those are more.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import TypeAlias

import torch
from torch import Tensor

from heedful.attention import native
from heedful.attention.additive_kernel import additive_fused, additive_linear
from heedful.attention.additive_reference import additive_gradients, additive_reference
from heedful.attention.derivatives import Context, plain_is_wanted
from heedful.attention.implementation import (
    AttentionResult,
    Impl,
    ImplementationChoice,
    check_inputs,
    check_scale,
    choose,
    record_choice,
)
from heedful.attention.native import define_operator
from heedful.attention.visibility import Band, Visible, check_visible

SCALES = (0.1, 10.0)
"""Scores bounded by less or more lose accuracy to the kernel's float32 exponentials (measured)."""


def additive_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    valid: Tensor,
    visible: Visible,
    *,
    scale: float = 5.0,
    need_weights: bool = False,
    impl: Impl = "auto",
) -> AttentionResult:
    """Attend to keys separately for every feature.

    For query i and feature k, over the visible keys j (DiSAN, Eq. 15)::

        score_ijk  = scale * tanh((key_jk + query_ik) / scale)
        weight_ijk = exp(score_ijk) / sum_j exp(score_ijk)
        output_ik  = sum_j weight_ijk * value_jk

    Args:
        query: b_i (with the score's bias already added), [B, L, D], floating point.
        key: a_j, [B, L, D], dtype of query.
        value: h_j, [B, L, D], dtype of query.
        valid: True at a real token, [B, L] bool. Padding is neither attended to nor given an output.
        visible: which keys a query may see: a `Band`, or booleans [L, L] or [B, L, L].
        scale: c, the bound of the scores.
        need_weights: also return the weights, [B, Q, K, D]; this needs the reference's memory.
        impl: which implementation; see `heedful.attention.Impl`.

    Returns:
        The output, exactly zero for a query that sees no key, and the weights if asked for.

    Raises:
        UsageError: if shapes or dtypes disagree, or impl is unknown or cannot serve the request.
    """
    check_inputs("[B, L, D]", valid, query, key=key, value=value)
    check_visible(visible, valid)
    check_scale(scale)
    choice = choose_additive(query, visible, scale=scale, need_weights=need_weights, impl=impl)
    record_choice("feature-wise attention", choice)
    if choice.impl == "reference":
        result = additive_reference(query, key, value, valid, visible, scale)
        return result if need_weights else AttentionResult(result.output)
    compute = additive_chunked
    if choice.impl == "kernel" and query.device.type == "cuda":
        # Triton exists only where there is a GPU to use it.
        from heedful.attention.additive_triton import additive_triton as compute
    elif choice.impl == "kernel":
        compute = additive_fused if _pairwise(query, visible) else additive_linear
    return compute(query, key, value, valid, visible, scale)


def choose_additive(
    query: Tensor,
    visible: Visible = Band(),  # noqa: B008
    *,
    scale: float = 5.0,
    need_weights: bool = False,
    impl: Impl = "auto",
) -> ImplementationChoice:
    """Choose the implementation of `additive_attention`, whose arguments these are.

    The query stands for all inputs. Its length plays no part, so that a sentence's result does not depend on its
    neighbors' lengths; the linear form of the kernel decides for each sentence itself.
    """
    pairwise = _pairwise(query, visible)
    whole = "whole directions: linear time in long sentences, pair by pair in short ones"
    return choose(
        impl,
        obstacle=_obstacle(query, scale),
        why=f"pair by pair: {pairwise}" if pairwise else whole,
        need_weights=need_weights,
    )


def _obstacle(query: Tensor, scale: float) -> str:
    """Why the kernel cannot serve; empty where it can."""
    if query.dtype not in (torch.float32, torch.bfloat16, torch.float16):
        return f"the kernel computes in float32, and the inputs are {query.dtype}"
    if not SCALES[0] <= scale <= SCALES[1]:
        return f"scale={scale} is outside {SCALES[0]} to {SCALES[1]}"
    if query.device.type == "cuda":
        return "" if find_spec("triton") else "triton is not installed"
    if query.device.type != "cpu":
        return f"there is no kernel for device {query.device.type!r}"
    return native.MISSING


def _pairwise(query: Tensor, visible: Visible) -> str:
    """Why the kernel visits every pair; empty where the linear form can serve."""
    if query.device.type != "cpu":
        return "the linear form is compiled for the CPU alone"
    if not isinstance(visible, Band):
        return "visibility is a dense tensor, not a band"
    if visible.low not in (None, 0, 1) or visible.high not in (None, -1, 0):
        return "the band is a window, which costs little pair by pair"
    return ""


CHUNK_ELEMENTS = 1 << 22
_Settings: TypeAlias = tuple[Tensor, Tensor, Tensor, Tensor, Tensor | None, int, int, bool, float]
"""Query, key, value, valid, the pairs that are seen or None for a band, its bounds, and the scale."""
_TENSORS = "Tensor query, Tensor key, Tensor value, Tensor valid, Tensor? keep"
_ARGUMENTS = f"{_TENSORS}, int low, int high, bool diagonal, float scale"


def additive_chunked(
    query: Tensor, key: Tensor, value: Tensor, valid: Tensor, visible: Visible, scale: float
) -> AttentionResult:
    """Compute `heedful.attention.additive_attention`, whose arguments these are, a chunk of queries at a time."""
    # Padding may hold anything, and 0 * NaN is NaN.
    padding_BL1 = ~valid[..., None]
    query, key, value = (x.masked_fill(padding_BL1, 0) for x in (query, key, value))
    band, keep = (visible, None) if isinstance(visible, Band) else (Band(), visible)
    return AttentionResult(_chunked(query, key, value, valid, keep, *band.bounds, float(scale)))


def _forward(*given: *_Settings) -> Tensor:
    query, key, value, valid, *_ = given
    scale, visible = given[-1], _visible(*given[4:8])
    output = query.new_zeros(query.shape)
    for queries, keys in _chunks(query, visible):
        keep = _keep(valid, visible, queries, keys)
        weights, _ = _weights(query[:, queries], key[:, keys], keep, scale)
        output[:, queries] = (weights * value[:, None, keys]).sum(dim=2)
    return output


def _backward(grad: Tensor, output: Tensor, *given: *_Settings) -> tuple[Tensor, Tensor, Tensor]:
    query, key, value, valid, *_ = given
    scale, visible = given[-1], _visible(*given[4:8])
    grad_query, grad_key, grad_value = (query.new_zeros(query.shape) for _ in range(3))
    grad = grad.masked_fill(~valid[..., None], 0)
    for queries, keys in _chunks(query, visible):
        keep = _keep(valid, visible, queries, keys)
        weights, tanh = _weights(query[:, queries], key[:, keys], keep, scale)
        grad_BQ1D = grad[:, queries, None]
        grad_value[:, keys] += (weights * grad_BQ1D).sum(dim=1)
        # Softmax, then c tanh(z / c): d score = P (dP - sum P dP), d z = d score (1 - tanh^2).
        pull = grad_BQ1D * (value[:, None, keys] - output[:, queries, None])
        grad_BQKD = weights * pull * (1 - tanh * tanh)
        grad_query[:, queries] = grad_BQKD.sum(dim=2)
        grad_key[:, keys] += grad_BQKD.sum(dim=1)
    return grad_query, grad_key, grad_value


def _visible(keep: Tensor | None, low: int, high: int, diagonal: bool) -> Visible:
    return Band(low, high, diagonal) if keep is None else keep


_Context = Context[tuple[Tensor, Tensor, Tensor, Tensor, Tensor | None, Tensor], tuple[int, int, bool, float]]
"""It keeps the tensors, the output behind them, and the numbers of `_Settings`."""


def _setup_context(ctx: _Context, inputs: _Settings, output: Tensor) -> None:
    ctx.save_for_backward(*inputs[:5], output)
    ctx.kept = inputs[5:]


def _differentiate(ctx: _Context, grad: Tensor) -> tuple[Tensor | None, ...]:
    query, key, value, valid, keep, output = ctx.saved_tensors
    low, high, diagonal, scale = ctx.kept
    if plain_is_wanted(grad):
        visible = _visible(keep, low, high, diagonal)
        return *additive_gradients(grad, query, key, value, valid, visible, scale), *(None,) * 6
    given = (query, key, value, valid, keep, low, high, diagonal, scale)
    return *_chunked_backward(grad, output, *given), *(None,) * 6


_chunked_backward = define_operator(
    f"additive_chunked_backward(Tensor grad, Tensor output, {_ARGUMENTS}) -> (Tensor, Tensor, Tensor)",
    _backward,
    lambda grad, output, query, *_: tuple(query.new_empty(query.shape) for _ in range(3)),
    anywhere=True,
)
_chunked = define_operator(
    f"additive_chunked({_ARGUMENTS}) -> Tensor",
    _forward,
    lambda query, *_: query.new_empty(query.shape),
    anywhere=True,
    backward=_differentiate,
    setup_context=_setup_context,
)


def _weights(query: Tensor, key: Tensor, keep: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """The weights [B, Q, K, D] and the tanh inside the scores."""
    keep_BQK1 = keep[..., None]
    tanh = torch.tanh((query[:, :, None] + key[:, None]) / scale)
    # Finite stand-in for -inf: a row without a visible key must not become NaN.
    score = (scale * tanh).masked_fill(~keep_BQK1, torch.finfo(query.dtype).min / 2)
    return torch.softmax(score, dim=2) * keep_BQK1, tanh


def _chunks(query: Tensor, visible: Visible) -> Iterator[tuple[slice, slice]]:
    """Slices of queries, each with the keys that any of them may see."""
    batch, length, width = query.shape
    step = max(1, CHUNK_ELEMENTS // max(1, batch * length * width))
    for start in range(0, length, step):
        stop = min(start + step, length)
        first, last = 0, length
        if isinstance(visible, Band):
            first = 0 if visible.low is None else max(0, start + visible.low)
            last = length if visible.high is None else min(length, stop + visible.high)
        if first < last:
            yield slice(start, stop), slice(first, last)


def _keep(valid: Tensor, visible: Visible, queries: slice, keys: slice) -> Tensor:
    """Visibility of one chunk, [B, Q, K]."""
    if isinstance(visible, Band):
        i = torch.arange(queries.start, queries.stop, device=valid.device)
        j = torch.arange(keys.start, keys.stop, device=valid.device)
        keep = visible.sees(j[None, :] - i[:, None])
    else:
        keep = visible[..., queries, keys]
    return keep & valid[:, queries, None] & valid[:, None, keys]
