"""Dot-product heads written out: the specification of the fast form."""

from __future__ import annotations

import torch
from torch import Tensor

from heedful.ops.types import AttentionResult


def dot_product_reference(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor,
    seen: Tensor,
    *,
    scale: float,
    drop: Tensor | None = None,
) -> AttentionResult:
    """Compute `heedful.ops.masked_head_attention` by building every score.

    Args:
        query: q, [B, H, L, C], cleared at padding.
        key: k, [B, H, L, C], cleared at padding.
        value: v, [B, H, L, C], cleared at padding.
        bias: added to the scores, broadcasts to [B, H, L, L]; `hidden_score` where not visible.
        seen: whether a query sees any key, broadcasts to [B, H, L, 1].
        scale: what q·k is divided by.
        drop: multipliers of the weights, [B, H, Q, K], or None.

    Returns:
        output [B, H, L, C], and weights before dropout [B, H, Q, K].
    """
    scores = query @ key.transpose(-1, -2) / scale + bias
    weights = torch.softmax(scores, dim=-1) * seen
    return AttentionResult((weights if drop is None else weights * drop) @ value, weights)
