"""A highway layer."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from heedful.modules.activation import Activation
from heedful.modules.dense import Dense


class Highway(nn.Module):
    """``g * act(drop(x) W_T + b_T) + (1 - g) * x`` with ``g = sigmoid(drop(x) W_g + b_g)`` (Srivastava et al., 2015).

    MTSA's published SNLI classifier has one; its paper does not mention it. The gate's bias starts at 0.

    Args:
        width: features, in and out.
        activation: of the transform.
        dropout: on the input of both dense layers, separate masks.
    """

    def __init__(self, width: int, *, activation: Activation = "elu", dropout: float = 0.0) -> None:
        super().__init__()
        self.transform = Dense(width, width, activation=activation, dropout=dropout)
        self.gate = Dense(width, width, dropout=dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Map [..., width] to [..., width]."""
        return torch.lerp(x, self.transform(x), torch.sigmoid(self.gate(x)))
