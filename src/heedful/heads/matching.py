"""Features that compare the vectors of two sentences."""

from __future__ import annotations

import torch
from torch import Tensor


def match_features(first: Tensor, second: Tensor) -> Tensor:
    """Concatenate ``[u ; v ; u - v ; u * v]``, DiSAN's and MTSA's order, with the signed difference.

    Args:
        first: u, the premise, [B, D].
        second: v, the hypothesis, [B, D].

    Returns:
        [B, 4 D].
    """
    return torch.cat([first, second, first - second, first * second], dim=-1)
