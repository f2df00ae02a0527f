"""Additive attention over tokens: one weight a token (Bahdanau et al., 2015; Shang et al., 2015)."""

from __future__ import annotations

from torch import Tensor

from heedful.modules import Activation, Dense
from heedful.ops import clear_padding, source_to_token
from heedful.pooling.base import Pooling
from heedful.structures import Pooled


class AdditiveAttention(Pooling):
    """Weigh every token by a number of its own, and sum.

    ``score = drop(act(drop(u) W + b)) w``, softmax over tokens, sum of the undropped ``u``: 90,600 parameters at width
    300. The vector w has no bias and is not under L2, as published.

    Args:
        width: features D.
        activation: of the layer.
        dropout: on the input of layer and score.
    """

    def __init__(self, width: int, *, activation: Activation = "elu", dropout: float = 0.0) -> None:
        super().__init__()
        self.width_in = self.width_out = width
        self.hidden = Dense(width, width, activation=activation, dropout=dropout)
        self.score = Dense(width, 1, bias=False, dropout=dropout, l2=False)

    def forward(self, states: Tensor, valid: Tensor, *, need_weights: bool = False) -> Pooled:
        """Pool; see `Pooling.forward`. All features share a token's weight."""
        states = clear_padding(states, valid)
        score = self.score(self.hidden(states)).expand_as(states)
        vector, weights = source_to_token(states, score, valid)
        return Pooled(vector, weights if need_weights else None)
