"""Dot-product heads with masks: their specification, and torch's own fast form."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from heedful.attention.derivatives import differentiable_twice
from heedful.attention.dropouts import dropout as dropout_of
from heedful.attention.implementation import (
    AttentionResult,
    ImplementationChoice,
    TorchImpl,
    check_dropout,
    check_inputs,
    check_scale,
    choose,
    record_choice,
)
from heedful.attention.visibility import Visible, dense_keep
from heedful.errors import UsageError


def hidden_score(dtype: torch.dtype) -> float:
    """Return what stands for minus infinity, half the smallest number: a row with nothing visible is then not NaN."""
    return torch.finfo(dtype).min / 2


def head_bias(
    visible: Sequence[Visible],
    distances: Sequence[Tensor | None],
    alpha: float,
    valid: Tensor,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """Write masks and distances as one additive term a head.

    ``M_hij = -alpha * distance_hij`` where head h lets query i see key j, minus infinity elsewhere (MS-SAN, Eq. 5);
    minus infinity is `hidden_score`.

    Args:
        visible: which keys a query may see, one entry a head: a `Band`, or booleans [L, L] or [B, L, L].
        distances: steps between two tokens, one entry a head, at least 0: [L, L] or [B, L, L], any number type; None
            for a head without distance.
        alpha: weight of the distances.
        valid: True at a real token, [B, L] bool.
        dtype: of the result; take that of the queries.

    Returns:
        The bias, [B, H, L, L]; give it to every layer's `masked_head_attention`.

    Raises:
        UsageError: if the lists differ in length or are empty, or a shape is wrong.
    """
    if not visible or len(visible) != len(distances):
        raise UsageError(
            f"visible and distances must have one entry a head; got {len(visible)} and {len(distances)}"
        )
    batch, length = valid.shape
    terms = []
    for head, (rule, distance) in enumerate(zip(visible, distances, strict=True)):
        term = torch.zeros(batch, length, length, dtype=dtype, device=valid.device)
        if distance is not None:
            if distance.shape not in ((length, length), (batch, length, length)):
                raise UsageError(
                    f"distances[{head}] must be [L, L] or [B, L, L] = [{batch}, {length}, {length}]; got "
                    f"{list(distance.shape)}"
                )
            term = distance.to(dtype) * -alpha
        terms.append(torch.where(dense_keep(rule, valid), term, hidden_score(dtype)))
    return torch.stack(terms, dim=1)


def dot_product_reference(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    keep: Tensor,
    bias: Tensor | None = None,
    *,
    scale: float,
    drop: Tensor | None = None,
) -> AttentionResult:
    """Compute `masked_head_attention` and `head_attention` by building every score: the specification of both.

    ``keep`` says which keys a query sees, and ``bias`` is added to the scores; both broadcast to [B, H, Q, K]. ``drop``
    holds multipliers of the weights, [B, H, Q, K]; those that are returned are not dropped.
    """
    # What nobody sees, and what sees nothing, may hold anything, even NaN, and 0 * NaN is NaN: clear it first.
    sees, seen = keep.any(dim=-1, keepdim=True), keep.any(dim=-2)[..., None]
    query, key, value = query.masked_fill(~sees, 0), key.masked_fill(~seen, 0), value.masked_fill(~seen, 0)
    scores = query @ key.transpose(-1, -2) / scale
    scores = scores if bias is None else scores + bias
    weights = torch.softmax(scores.masked_fill(~keep, hidden_score(scores.dtype)), dim=-1) * keep
    return AttentionResult((weights if drop is None else weights * drop) @ value, weights)


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
    impl: TorchImpl = "auto",
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
        dropout: probability that a weight is dropped, in [0, 1); pass 0 in evaluation. Every implementation drops the
            same weights under the same seed.
        need_weights: also return the weights before dropout, [B, H, Q, K].
        impl: which implementation; "torch" is its scaled_dot_product_attention. See `heedful.attention.Impl`.

    Returns:
        The output, [B, H, L, C], exactly zero for a query that sees no key, and the weights if asked for.

    Raises:
        UsageError: if shapes, dtypes or numbers are wrong, or impl is unknown or cannot serve the request.
    """
    check_inputs("[B, H, L, C]", valid, query, key=key, value=value)
    _check_bias(query, bias)
    scale = query.shape[-1] ** 0.5 if scale is None else scale
    check_scale(scale)
    check_dropout(dropout)
    choice = choose_dot_product(need_weights=need_weights, impl=impl)
    record_choice("dot-product heads", choice)
    hidden, everyone = hidden_score(query.dtype), valid[:, None, None, :]
    if choice.impl == "reference":
        keep = everyone & valid[:, None, :, None]
        keep = keep if bias is None else keep & (bias > hidden)
        drop = _draw(query, dropout, key.shape[2]) if dropout else None
        result = dot_product_reference(query, key, value, keep, bias, scale=scale, drop=drop)
        return result if need_weights else AttentionResult(result.output)
    padding = ~valid[:, None, :, None]
    # A padded position may hold anything, even NaN, and NaN spreads through the products: clear it first.
    query, key, value = (x.masked_fill(padding, 0) for x in (query, key, value))
    if bias is None:
        bias = torch.zeros(everyone.shape, dtype=query.dtype, device=query.device)
    # A bias of batch 1 knows nothing of padding; a bias of batch B does, and hiding again is harmless.
    bias = bias.masked_fill(~everyone, hidden)
    seen = (bias > hidden).any(-1, keepdim=True) & ~padding
    output = _attend(query, key, value, bias, dropout, 1 / scale)
    return AttentionResult(output.masked_fill(~seen, 0))


def _attend(
    query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, dropout: float, scale: float
) -> Tensor:
    """Call torch's fast form, whose derivative torch cannot differentiate again, and which draws from torch alone."""

    def fast(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(query, key, value, bias, scale=scale)

    def plain(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        scores = query @ key.transpose(-1, -2) * scale
        weights = torch.softmax(scores if bias is None else scores + bias, dim=-1)
        return dropout_of(weights, dropout, True) @ value

    if dropout:
        return plain(query, key, value)
    if bias is not None and bias.requires_grad:  # torch then takes a form that has all derivatives
        return fast(query, key, value)
    return differentiable_twice(fast, plain, query, key, value)


def head_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    keep: Tensor | None = None,
    *,
    dropout: float = 0.0,
    need_weights: bool = False,
    impl: TorchImpl = "auto",
) -> AttentionResult:
    """Attend in every head: ``output_i = sum_j softmax_j(q_i·k_j / sqrt(C)) v_j`` over the keys that are kept.

    The number of queries and of keys may differ, which `masked_head_attention` does not allow.

    Args:
        query: q, [B, H, Q, C], floating point.
        key: k, [B, H, K, C], dtype of query.
        value: v, [B, H, K, C], dtype of query.
        keep: True where a query may look at a key, broadcasts to [B, H, Q, K]; None keeps all. What no query may look
            at must be finite.
        dropout: probability that a weight is dropped, in [0, 1); pass 0 in evaluation.
        need_weights: also return the weights before dropout, [B, H, Q, K].
        impl: which implementation; see `masked_head_attention`.

    Returns:
        The output, [B, H, Q, C], exactly zero for a query that may look at nothing, and the weights if asked for.

    Raises:
        UsageError: if shapes do not fit, keep is not boolean, or impl is unknown.
    """
    _check_between(query, key, value, keep)
    if choose_dot_product(need_weights=need_weights, impl=impl).impl == "reference":
        kept = torch.ones(1, 1, 1, 1, dtype=torch.bool, device=query.device) if keep is None else keep
        drop = _draw(query, dropout, key.shape[2]) if dropout else None
        result = dot_product_reference(query, key, value, kept, scale=query.shape[-1] ** 0.5, drop=drop)
        return result if need_weights else AttentionResult(result.output)
    scale = query.shape[-1] ** -0.5
    if keep is None:
        return AttentionResult(_attend(query, key, value, None, dropout, scale))
    # A finite number hides: a row with nothing to look at is then not NaN.
    bias = torch.zeros(keep.shape, dtype=query.dtype, device=query.device)
    bias = bias.masked_fill(~keep, hidden_score(query.dtype))
    output = _attend(query, key, value, bias, dropout, scale)
    return AttentionResult(output.masked_fill(~keep.any(dim=-1, keepdim=True), 0))


def choose_dot_product(*, need_weights: bool = False, impl: TorchImpl = "auto") -> ImplementationChoice:
    """Choose the implementation of `masked_head_attention` and `head_attention`, whose arguments these are."""
    missing = "torch's scaled_dot_product_attention is the fast form of dot-product heads"
    return choose(impl, obstacle=missing, need_weights=need_weights)


def _draw(query: Tensor, share: float, keys: int) -> Tensor:
    """Draw multipliers of the weights, [B, H, Q, K]."""
    return dropout_of(query.new_ones(*query.shape[:3], keys), share, True)


def _check_bias(query: Tensor, bias: Tensor | None) -> None:
    if bias is None:
        return
    batch, heads, length, _ = query.shape
    shapes = ((batch, heads, length, length), (1, heads, length, length))
    if bias.shape not in shapes or bias.dtype != query.dtype:
        raise UsageError(
            f"bias must be {query.dtype} [B, H, L, L] = {list(shapes[0])}, or with B = 1; got {bias.dtype} "
            f"{list(bias.shape)}. Build it with head_bias."
        )


def _check_between(query: Tensor, key: Tensor, value: Tensor, keep: Tensor | None) -> None:
    if query.dim() != 4 or key.dim() != 4:
        raise UsageError(f"query and key must be [B, H, L, C]; got {list(query.shape)} and {list(key.shape)}")
    if key.shape != value.shape or (*query.shape[:2], query.shape[3]) != (*key.shape[:2], key.shape[3]):
        raise UsageError(
            f"query, key and value must agree in all but the number of queries; got {list(query.shape)}, "
            f"{list(key.shape)} and {list(value.shape)}"
        )
    if keep is not None and keep.dtype != torch.bool:
        raise UsageError(f"keep must be boolean, True where a query may look; got {keep.dtype}")
