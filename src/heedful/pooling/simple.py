"""Poolings without parameters."""

from __future__ import annotations

import torch
from torch import Tensor

from heedful.pooling.base import Pooling
from heedful.structures import Pooled


class MeanPooling(Pooling):
    """Average the real tokens.

    Args:
        width: features D.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width_in = self.width_out = width

    def forward(self, states: Tensor, valid: Tensor, *, need_weights: bool = False) -> Pooled:
        """Pool; see `Pooling.forward`."""
        count = valid.sum(dim=1, keepdim=True).clamp(min=1)
        weights = (valid.to(states.dtype) / count)[..., None]
        vector = (weights * states.masked_fill(~valid[..., None], 0)).sum(dim=1)
        return Pooled(vector, weights.expand_as(states) if need_weights else None)


class MaxPooling(Pooling):
    """Take the largest value of every feature over the real tokens.

    Args:
        width: features D.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width_in = self.width_out = width

    def forward(self, states: Tensor, valid: Tensor, *, need_weights: bool = False) -> Pooled:
        """Pool; see `Pooling.forward`. The weight of a token is 1 for the features it wins."""
        masked = states.masked_fill(~valid[..., None], torch.finfo(states.dtype).min)
        value, winner = masked.max(dim=1)
        has_words = valid.any(dim=1, keepdim=True)
        vector = value.masked_fill(~has_words, 0)
        if not need_weights:
            return Pooled(vector)
        weights = torch.zeros_like(states).scatter_(1, winner[:, None, :], 1.0)
        return Pooled(vector, weights * valid[..., None])
