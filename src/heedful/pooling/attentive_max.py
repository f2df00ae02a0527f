"""Feature-wise attention and the maximum, side by side: the poolings of MS-SAN and of its parent."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from heedful.modules import Activation, Dense, activate
from heedful.ops import clear_padding, source_to_token
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


class NormalisedAttentiveMax(Pooling):
    """Feature-wise attention with a layer normalisation after both score layers, beside the maximum (Im and Cho, 2017).

    One normalisation serves both layers, as in the public port: 722,400 parameters at width 600. Differs from the port
    in that padding cannot win the maximum.

    Args:
        width: features D of the states.
        activation: between the two layers; ELU in the port.
        dropout: on the input of both.
    """

    def __init__(self, width: int, *, activation: Activation = "elu", dropout: float = 0.0) -> None:
        super().__init__()
        self.width_in, self.width_out = width, 2 * width
        self.activation: Activation = activation
        self.hidden = Dense(width, width, dropout=dropout)
        self.score = Dense(width, width, dropout=dropout)
        self.norm = nn.LayerNorm(width)
        self.maximum = MaxPooling(width)

    def forward(self, states: Tensor, valid: Tensor, *, need_weights: bool = False) -> Pooled:
        """Pool; see `Pooling.forward`. Weights are [B, L, 2 D], for the features of the vector."""
        states = clear_padding(states, valid)
        scores = self.norm(self.score(activate(self.norm(self.hidden(states)), self.activation)))
        vector, weights = source_to_token(states, scores, valid)
        largest = self.maximum(states, valid, need_weights=need_weights)
        vector = torch.cat([vector, largest.vector], dim=-1)
        return Pooled(
            vector, None if largest.weights is None else torch.cat([weights, largest.weights], dim=-1)
        )
