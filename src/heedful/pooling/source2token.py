"""Multi-dimensional source2token pooling (DiSAN)."""

from __future__ import annotations

from torch import Tensor

from heedful.modules import Activation, Dense
from heedful.ops import clear_padding, source_to_token
from heedful.pooling.base import Pooling
from heedful.structures import Pooled


class SourceToToken(Pooling):
    """Weigh every token for every feature, and sum.

    ``score = drop(act(drop(u) W_1 + b_1)) W_2 + b_2``, softmax over tokens, sum of the undropped ``u``. Both layers are
    D to D with a bias: 721,200 parameters at width 600.

    Args:
        width: features D.
        activation: of the first layer.
        dropout: on the input of both layers.
    """

    def __init__(self, width: int, *, activation: Activation = "elu", dropout: float = 0.0) -> None:
        super().__init__()
        self.width_in = self.width_out = width
        self.hidden = Dense(width, width, activation=activation, dropout=dropout)
        self.score = Dense(width, width, dropout=dropout)

    def forward(self, states: Tensor, valid: Tensor, *, need_weights: bool = False) -> Pooled:
        """Pool; see `Pooling.forward`."""
        states = clear_padding(states, valid)
        vector, weights = source_to_token(states, self.score(self.hidden(states)), valid)
        return Pooled(vector, weights if need_weights else None)
