"""Feature-wise softmax over the tokens of a sentence, and the weighted sum it gives (source2token attention)."""

from __future__ import annotations

import torch
from torch import Tensor

from heedful.errors import UsageError


def source_to_token(value: Tensor, score: Tensor, valid: Tensor) -> tuple[Tensor, Tensor]:
    """Sum tokens with weights normalised over the tokens separately for every feature (DiSAN, section 2.3).

    ``weight_ik = exp(score_ik) / sum_i exp(score_ik)``, ``output_k = sum_i weight_ik value_ik``, over real tokens i.

    Args:
        value: [B, L, D].
        score: [B, L, D].
        valid: True at a real token, [B, L] bool.

    Returns:
        The sum [B, D], exactly zero for a sentence without words, and the weights [B, L, D], exactly zero at padding.

    Raises:
        UsageError: if shapes disagree.
    """
    if value.shape != score.shape or valid.shape != value.shape[:2]:
        raise UsageError(
            f"value and score must be [B, L, D] and valid [B, L]; got {list(value.shape)}, {list(score.shape)}, "
            f"{list(valid.shape)}"
        )
    valid = valid[..., None]
    score = score.masked_fill(~valid, torch.finfo(score.dtype).min)
    # A sentence without words has uniform weights until the mask makes them exact zeros.
    weights = torch.softmax(score, dim=1) * valid
    return (weights * value.masked_fill(~valid, 0)).sum(dim=1), weights
