"""MTSA's tensorized attention: one signature, its specification, and the choice of a faster form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import torch
from torch import Tensor

from heedful.attention import native
from heedful.attention.implementation import (
    AttentionResult,
    Impl,
    ImplementationChoice,
    check_dropout,
    check_inputs,
    check_scale,
    choose,
    lowered_by_autocast,
    record_choice,
)
from heedful.attention.tensorized_inputs import Scoring, TensorizedInputs, draw_dropout
from heedful.attention.tensorized_kernel import tensorized_fused
from heedful.attention.tensorized_matrix import tensorized_matrix
from heedful.attention.tensorized_reference import tensorized_reference
from heedful.attention.visibility import Visible, check_visible
from heedful.errors import UsageError, nearest

Token2Token = Literal["sigmoid", "exp"]


def tensorized_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    source: Tensor,
    valid: Tensor,
    visible: Sequence[Visible],
    *,
    token2token: Token2Token = "sigmoid",
    scale: float | None = None,
    dropout: float = 0.0,
    need_weights: bool = False,
    impl: Impl = "auto",
) -> AttentionResult:
    """Attend with weights that depend on the pair of tokens and on the feature of the key.

    For every head, query i and feature l, over the visible keys j (MTSA, Eq. 6-13)::

        weight_ijl = phi(q_i·k_j / scale) exp(z_jl) / sum_j phi(q_i·k_j / scale) exp(z_jl)
        output_il  = sum_j weight_ijl * v_jl

    Differs from the published code, which divides by a sum of exponentials without subtracting a maximum and returns 0
    or NaN when it under- or overflows: this is exact for scores of any size.

    Args:
        query: q, [B, H, L, C], floating point.
        key: k, [B, H, L, C], dtype of query.
        value: v, [B, H, L, C], dtype of query.
        source: z, the source2token score of every token and feature, [B, H, L, C], dtype of query.
        valid: True at a real token, [B, L] bool. Padding is neither attended to nor given an output.
        visible: which keys a query may see, one entry a head: a `Band`, or booleans [L, L] or [B, L, L].
        token2token: phi; "sigmoid" for a single layer, "exp" where layers are stacked.
        scale: what q·k is divided by; default sqrt(C).
        dropout: probability that a weight is dropped, in [0, 1). Each of the two factors is dropped with keep
            probability ``sqrt(1 - dropout)`` after the normalizer is computed, as published; pass 0 in evaluation.
        need_weights: also return the weights before dropout, [B, H, Q, K, C].
        impl: which implementation; every one has the same dropout under the same seed. See `heedful.attention.Impl`.

    Returns:
        The output, [B, H, L, C], exactly zero for a query that sees no key, and the weights if asked for.

    Raises:
        UsageError: if shapes, dtypes or numbers are wrong, or impl is unknown or cannot serve the request.
    """
    query, key, value, source = _under_autocast(query, key, value, source)
    check_inputs("[B, H, L, C]", valid, query, key=key, value=value, source=source)
    if len(visible) != query.shape[1]:
        raise UsageError(f"visible must hold one entry a head, {query.shape[1]}; got {len(visible)}")
    for head, item in enumerate(visible):
        check_visible(item, valid, f"visible[{head}]")
    if token2token not in get_args(Token2Token):
        raise UsageError(
            f"token2token={token2token!r} is unknown; {nearest(str(token2token), get_args(Token2Token))}"
        )
    scale = query.shape[-1] ** 0.5 if scale is None else scale
    check_scale(scale)
    check_dropout(dropout)
    choice = choose_tensorized(query, need_weights=need_weights, impl=impl)
    record_choice("tensorized attention", choice)
    drops = draw_dropout(source, dropout) if dropout else None
    scoring = Scoring(token2token == "sigmoid", scale, drops)
    if choice.impl == "reference":
        result = tensorized_reference(query, key, value, source, valid, visible, scoring)
        return result if need_weights else AttentionResult(result.output)
    fast = tensorized_fused if choice.impl == "kernel" else tensorized_matrix
    return AttentionResult(fast(TensorizedInputs.of((query, key, value, source), valid, visible, scoring)))


def choose_tensorized(
    query: Tensor, *, need_weights: bool = False, impl: Impl = "auto"
) -> ImplementationChoice:
    """Choose the implementation of `tensorized_attention`, whose arguments these are."""
    why = "one compiled kernel serves all heads"
    return choose(impl, obstacle=tensorized_obstacle(query), why=why, need_weights=need_weights)


def tensorized_obstacle(query: Tensor) -> str:
    """Return why the compiled kernel cannot serve, as a clause; empty where it can."""
    if query.device.type != "cpu":
        return f"there is no kernel for device {query.device.type!r}"
    if query.dtype not in (torch.float32, torch.bfloat16, torch.float16):
        return f"the kernel computes in float32, and the inputs are {query.dtype}"
    return native.MISSING


def _under_autocast(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Bring the inputs to autocast's dtype, which is what a matrix product would do."""
    device = tensors[0].device.type
    if not lowered_by_autocast(device):
        return tensors
    dtype = torch.get_autocast_dtype(device)
    return tuple(x if x.dtype == torch.float64 else x.to(dtype) for x in tensors)
