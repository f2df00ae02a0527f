"""A distribution over the grades 1 to K of relatedness from two sentence vectors (Tai et al., 2015)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from heedful.modules import Activation, Dense, activate


class RelatednessHead(nn.Module):
    """``logits = drop(act(drop(u * v) W_1 + drop(|u - v|) W_2 + b)) W + c``.

    Args:
        width_in: features D of each sentence vector.
        hidden: features of the hidden layer.
        grades: K; the distribution is over 1 to K.
        activation: of the hidden layer.
        dropout: on the input of the three dense layers.
    """

    def __init__(
        self,
        width_in: int,
        hidden: int,
        grades: int = 5,
        *,
        activation: Activation = "relu",
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.activation: Activation = activation
        self.product = Dense(width_in, hidden, bias=False, dropout=dropout)
        self.difference = Dense(width_in, hidden, dropout=dropout)
        self.output = Dense(hidden, grades, dropout=dropout)

    def forward(self, first: Tensor, second: Tensor) -> Tensor:
        """Score: two [B, D] to logits [B, K]."""
        hidden = self.product(first * second) + self.difference(torch.abs(first - second))
        return self.output(activate(hidden, self.activation))
