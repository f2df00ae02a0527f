"""DiSAN's feature-wise token2token attention as the paper writes it: the specification of every faster form."""

from __future__ import annotations

import torch
from torch import Tensor

from heedful.attention.derivatives import differentiable_gradients
from heedful.attention.implementation import AttentionResult
from heedful.attention.precomputed_scores import feature_scored_attention
from heedful.attention.visibility import Visible, dense_keep


def additive_reference(
    query: Tensor, key: Tensor, value: Tensor, valid: Tensor, visible: Visible, scale: float
) -> AttentionResult:
    """Compute `heedful.attention.additive_attention` as the paper writes it, building every score."""
    score_BQKD = scale * torch.tanh((query[:, :, None, :] + key[:, None, :, :]) / scale)
    return feature_scored_attention(score_BQKD, value, dense_keep(visible, valid))


def additive_gradients(
    grad: Tensor, query: Tensor, key: Tensor, value: Tensor, valid: Tensor, visible: Visible, scale: float
) -> tuple[Tensor, ...]:
    """Return the gradients of query, key and value, which can be differentiated again, from that of the output."""

    def compute(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return additive_reference(query, key, value, valid, visible, scale).output

    return differentiable_gradients(compute, (query, key, value), (grad,))
