"""Feature-wise additive attention written as in the paper: the specification of every faster form."""

from __future__ import annotations

import torch
from torch import Tensor

from heedful.masks.visibility import Visible, dense_keep
from heedful.ops.types import AttentionResult


def additive_reference(
    query: Tensor, key: Tensor, value: Tensor, valid: Tensor, visible: Visible, scale: float
) -> AttentionResult:
    """Compute `heedful.ops.additive_attention` by building every score.

    Args:
        query: b_i, [B, L, D].
        key: a_j, [B, L, D].
        value: h_j, [B, L, D].
        valid: True at a real token, [B, L].
        visible: which keys a query may see.
        scale: c; scores lie in (-c, c).

    Returns:
        output and weights.
    """
    keep_BQK1 = dense_keep(visible, valid)[..., None]
    score_BQKD = scale * torch.tanh((query[:, :, None, :] + key[:, None, :, :]) / scale)
    # Finite stand-in for -inf: a row without a visible key must not become NaN, here or in its gradient.
    score_BQKD = score_BQKD.masked_fill(~keep_BQK1, torch.finfo(score_BQKD.dtype).min / 2)
    # The second mask turns the uniform weights of such a row into exact zeros.
    weights_BQKD = torch.softmax(score_BQKD, dim=2) * keep_BQK1
    # A padded position may hold anything, even NaN, and 0 * NaN is NaN: clear it before the product.
    value = value.masked_fill(~valid[..., None], 0)
    output_BLD = (weights_BQKD * value[:, None, :, :]).sum(dim=2)
    return AttentionResult(output_BLD, weights_BQKD)
