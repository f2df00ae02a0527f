"""Source2token attention in plain torch: the specification."""

from __future__ import annotations

import torch
from torch import Tensor


def source_to_token_reference(value: Tensor, score: Tensor, valid: Tensor) -> tuple[Tensor, Tensor]:
    """Compute `heedful.ops.source_to_token` in any precision on any device.

    Args:
        value: [B, L, D].
        score: [B, L, D].
        valid: True at a real token, [B, L] bool.

    Returns:
        The sum [B, D] and the weights [B, L, D].
    """
    valid = valid[..., None]
    score = score.masked_fill(~valid, torch.finfo(score.dtype).min)
    # A sentence without words has uniform weights until the mask makes them exact zeros.
    weights = torch.softmax(score, dim=1) * valid
    return (weights * value.masked_fill(~valid, 0)).sum(dim=1), weights
