"""Dot-product heads with masks: one signature, two implementations."""

from __future__ import annotations

from typing import Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor

from heedful.errors import UsageError, nearest
from heedful.ops.chosen import note
from heedful.ops.dot_product.bias import hidden_score
from heedful.ops.dot_product.reference import dot_product_reference
from heedful.ops.types import AttentionResult

DotProductImpl = Literal["auto", "reference", "sdpa"]
"""``reference`` is the specification; ``sdpa`` is torch's scaled_dot_product_attention; ``auto`` is ``sdpa``, except
that a request for the weights is served by ``reference``."""


def masked_head_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    valid: Tensor,
    bias: Tensor | None = None,
    *,
    scale: float | None = None,
    dropout: float = 0.0,
    need_weights: bool = False,
    impl: DotProductImpl = "auto",
) -> AttentionResult:
    """Attend in every head with its own additive bias.

    ``output_i = sum_j softmax_j(q_i·k_j / scale + bias_ij) v_j`` over the visible keys (MS-SAN, Eq. 2).

    Args:
        query: q, [B, H, L, C], floating point.
        key: k, [B, H, L, C], dtype of query.
        value: v, [B, H, L, C], dtype of query.
        valid: True at a real token, [B, L] bool. Padding is neither attended to nor given an output.
        bias: from `head_bias`, [B, H, L, L] or [1, H, L, L], dtype of query. None lets every real token see every
            real token, as in plain multi-head attention.
        scale: what q·k is divided by; default sqrt(C).
        dropout: probability that a weight is dropped, in [0, 1); pass 0 in evaluation. The random draws of the two
            implementations differ.
        need_weights: also return the weights before dropout, [B, H, Q, K].
        impl: which implementation; every one gives the same result.

    Returns:
        The output, [B, H, L, C], exactly zero for a query that sees no key, and the weights if asked for.

    Raises:
        UsageError: if shapes, dtypes or numbers are wrong, or impl is unknown or cannot serve the request.
    """
    _check(query, key, value, valid, bias)
    scale = query.shape[-1] ** 0.5 if scale is None else scale
    if not scale > 0:
        raise UsageError(f"scale must be positive; got {scale}")
    if not 0 <= dropout < 1:
        raise UsageError(f"dropout is the probability of dropping, in [0, 1); got {dropout}")
    chosen = choose_dot_product(need_weights=need_weights, impl=impl)
    note("dot-product heads", chosen)
    padding = ~valid[:, None, :, None]
    # A padded position may hold anything, even NaN, and NaN spreads through the products: clear it first.
    query, key, value = (x.masked_fill(padding, 0) for x in (query, key, value))
    hidden = hidden_score(query.dtype)
    everyone = valid[:, None, None, :]
    if bias is None:
        bias = torch.zeros(everyone.shape, dtype=query.dtype, device=query.device)
    # A bias of batch 1 knows nothing of padding; a bias of batch B does, and hiding again is harmless.
    bias = bias.masked_fill(~everyone, hidden)
    seen = (bias.amax(-1, keepdim=True) > hidden) & ~padding
    if chosen == "sdpa":
        output = F.scaled_dot_product_attention(query, key, value, bias, dropout, scale=1 / scale)
        return AttentionResult(output.masked_fill(~seen, 0))
    drop = _draw(query, dropout) if dropout else None
    result = dot_product_reference(query, key, value, bias, seen, scale=scale, drop=drop)
    return result if need_weights else AttentionResult(result.output)


def choose_dot_product(
    *, need_weights: bool = False, impl: DotProductImpl = "auto"
) -> Literal["reference", "sdpa"]:
    """Say which implementation a call uses.

    Args:
        need_weights: whether the weights are asked for.
        impl: what the caller asked for.

    Returns:
        "reference" or "sdpa".

    Raises:
        UsageError: if impl is unknown, or is "sdpa" while the weights are asked for.
    """
    if impl == "auto":
        return "reference" if need_weights else "sdpa"
    if impl not in get_args(DotProductImpl):
        raise UsageError(f"impl={impl!r} is unknown; {nearest(str(impl), get_args(DotProductImpl))}")
    if impl == "sdpa" and need_weights:
        raise UsageError(
            "impl='sdpa' never builds the weights; for need_weights=True use 'reference' or 'auto'"
        )
    return impl


def _draw(query: Tensor, dropout: float) -> Tensor:
    batch, heads, length, _ = query.shape
    drop = torch.empty(batch, heads, length, length, dtype=query.dtype, device=query.device)
    return drop.bernoulli_(1 - dropout).div_(1 - dropout)


def _check(query: Tensor, key: Tensor, value: Tensor, valid: Tensor, bias: Tensor | None) -> None:
    if query.dim() != 4:
        raise UsageError(f"query must be [B, H, L, C]; got {list(query.shape)}")
    if not query.is_floating_point():
        raise UsageError(f"query must be floating point; got {query.dtype}")
    for name, tensor in (("key", key), ("value", value)):
        if tensor.shape != query.shape or tensor.dtype != query.dtype:
            raise UsageError(
                f"{name} must match query, {query.dtype} {list(query.shape)}; got {tensor.dtype} {list(tensor.shape)}"
            )
    batch, heads, length, _ = query.shape
    if valid.shape != (batch, length) or valid.dtype != torch.bool:
        raise UsageError(
            f"valid must be booleans [B, L] = [{batch}, {length}], True at a real token; got {valid.dtype} "
            f"{list(valid.shape)}"
        )
    if bias is None:
        return
    shapes = ((batch, heads, length, length), (1, heads, length, length))
    if bias.shape not in shapes or bias.dtype != query.dtype:
        raise UsageError(
            f"bias must be {query.dtype} [B, H, L, L] = {list(shapes[0])}, or with B = 1; got {bias.dtype} "
            f"{list(bias.shape)}. Build it with head_bias."
        )
