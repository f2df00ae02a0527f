"""Attention over scores that are already there, one number a pair of tokens."""

from __future__ import annotations

import torch
from torch import Tensor

from heedful.errors import UsageError


def scored_attention(score: Tensor, value: Tensor, keep: Tensor) -> tuple[Tensor, Tensor]:
    """Weigh values by the softmax of given scores.

    ``weight_ij = exp(score_ij) / sum_j exp(score_ij)``, ``output_i = sum_j weight_ij value_j``, over the keys j that
    query i may attend to.

    Args:
        score: [B, Q, K], floating point, finite where ``keep`` is True.
        value: [B, K, D]; a key that nobody attends to may hold anything.
        keep: True where a query may attend to a key, [B, Q, K] bool.

    Returns:
        The output [B, Q, D], exactly zero for a query with nothing to attend to, and the weights [B, Q, K], exactly
        zero where ``keep`` is False.

    Raises:
        UsageError: if shapes or dtypes disagree.
    """
    shapes_fit = score.dim() == value.dim() == 3 and score.shape == keep.shape
    if not shapes_fit or value.shape[:2] != (score.shape[0], score.shape[2]) or keep.dtype != torch.bool:
        raise UsageError(
            f"score and keep (bool) must be [B, Q, K] and value [B, K, D]; got {list(score.shape)}, {keep.dtype} "
            f"{list(keep.shape)} and {list(value.shape)}"
        )
    score = score.masked_fill(~keep, torch.finfo(score.dtype).min)
    # A row without a visible key is uniform until the mask makes it exact zeros.
    weights = torch.softmax(score, dim=-1).masked_fill(~keep, 0)
    seen = keep.any(dim=1)[..., None]
    return weights.to(value.dtype) @ value.masked_fill(~seen, 0), weights
