"""MS-SAN's pooling: feature-wise attention and the maximum, side by side."""

from __future__ import annotations

import torch
from torch import Tensor

from heedful.modules import Activation
from heedful.pooling.base import Pooling
from heedful.pooling.simple import MaxPooling
from heedful.pooling.source2token import SourceToToken
from heedful.structures import Pooled


class AttentiveMax(Pooling):
    """``[sum_i softmax_i(FFN(u_i)) * u_i ; max_i u_i]``, 2 D features (MS-SAN, Eq. 11).

    The sum over tokens is implied by the paper, which writes only the product. 180,600 parameters at width 300.

    Args:
        width: features D of the states.
        activation: of the hidden layer of the FFN.
        dropout: on the input of both its layers.
    """

    def __init__(self, width: int, *, activation: Activation = "relu", dropout: float = 0.0) -> None:
        super().__init__()
        self.width_in, self.width_out = width, 2 * width
        self.attentive = SourceToToken(width, activation=activation, dropout=dropout)
        self.maximum = MaxPooling(width)

    def forward(self, states: Tensor, valid: Tensor, *, need_weights: bool = False) -> Pooled:
        """Pool; see `Pooling.forward`. Weights are [B, L, 2 D], for the features of the vector."""
        parts = [pool(states, valid, need_weights=need_weights) for pool in (self.attentive, self.maximum)]
        vector = torch.cat([part.vector for part in parts], dim=-1)
        weights = [part.weights for part in parts if part.weights is not None]
        return Pooled(vector, torch.cat(weights, dim=-1) if weights else None)
