"""Dot-product heads whose queries and keys are two different sequences, as in a decoder."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from heedful.errors import UsageError
from heedful.ops.dot_product.bias import hidden_score
from heedful.ops.dot_product.reference import dot_product_reference
from heedful.ops.types import AttentionResult


def head_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    keep: Tensor | None = None,
    *,
    dropout: float = 0.0,
    need_weights: bool = False,
) -> AttentionResult:
    """Attend in every head: ``output_i = sum_j softmax_j(q_i·k_j / sqrt(C)) v_j`` over the keys that are kept.

    The number of queries and of keys may differ, which `masked_head_attention` does not allow. The output is torch's
    scaled_dot_product_attention, except that a request for the weights is served by the written-out form.

    Args:
        query: q, [B, H, Q, C], floating point.
        key: k, [B, H, K, C], dtype of query.
        value: v, [B, H, K, C], dtype of query.
        keep: True where a query may look at a key, broadcasts to [B, H, Q, K]; None keeps all. What no query may look
            at must be finite.
        dropout: probability that a weight is dropped, in [0, 1); pass 0 in evaluation, and where weights are asked for.
        need_weights: also return the weights, [B, H, Q, K].

    Returns:
        The output, [B, H, Q, C], exactly zero for a query that may look at nothing, and the weights if asked for.

    Raises:
        UsageError: if shapes do not fit, or keep is not boolean.
    """
    _check(query, key, value, keep)
    if keep is None:
        bias, seen = (
            query.new_zeros(1, 1, 1, 1),
            torch.ones(1, 1, 1, 1, dtype=torch.bool, device=query.device),
        )
    else:
        # A finite number hides: a row with nothing to look at is then not NaN.
        bias = torch.zeros(keep.shape, dtype=query.dtype, device=query.device)
        bias = bias.masked_fill(~keep, hidden_score(query.dtype))
        seen = keep.any(dim=-1, keepdim=True)
    if need_weights:
        scale = query.shape[-1] ** 0.5
        return dot_product_reference(query, key, value, bias, seen, scale=scale)
    output = F.scaled_dot_product_attention(query, key, value, None if keep is None else bias, dropout)
    return AttentionResult(output if keep is None else output.masked_fill(~seen, 0))


def _check(query: Tensor, key: Tensor, value: Tensor, keep: Tensor | None) -> None:
    if query.dim() != 4 or key.dim() != 4:
        raise UsageError(f"query and key must be [B, H, L, C]; got {list(query.shape)} and {list(key.shape)}")
    if key.shape != value.shape or (*query.shape[:2], query.shape[3]) != (*key.shape[:2], key.shape[3]):
        raise UsageError(
            f"query, key and value must agree in all but the number of queries; got {list(query.shape)}, "
            f"{list(key.shape)} and {list(value.shape)}"
        )
    if keep is not None and keep.dtype != torch.bool:
        raise UsageError(f"keep must be boolean, True where a query may look; got {keep.dtype}")
