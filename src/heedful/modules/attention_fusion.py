"""One state from several, by attention over them."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from heedful.modules.dense import Dense


class AttentionFusion(nn.Module):
    """Weigh the results of several attentions, token by token, and add them up.

    ``r^k = v · tanh(W drop(u^k) + b)``, softmax over k, ``u = sum_k weight_k u^k``. The output is as wide as one input,
    however many there are; 90,600 parameters at width 300.

    Args:
        width: features D.
        dropout: on the input of both layers.
    """

    def __init__(self, width: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.hidden = Dense(width, width, dropout=dropout)
        self.score = Dense(width, 1, bias=False, dropout=dropout)

    def forward(self, states: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        """Fuse.

        Args:
            states: K tensors, each [B, L, D].

        Returns:
            The sum [B, L, D], and the weight of each input, [B, L, K].
        """
        stacked = torch.stack(tuple(states), dim=2)
        score = self.score(torch.tanh(self.hidden(stacked)))
        weights = torch.softmax(score, dim=2).to(stacked.dtype)
        return (weights * stacked).sum(dim=2), weights[..., 0]
