"""The position-wise network that follows attention."""

from __future__ import annotations

from torch import Tensor, nn

from heedful.modules.activation import Activation
from heedful.modules.dense import Dense


class FeedForward(nn.Module):
    """``LayerNorm(x + drop(act(drop(x) W_1 + b_1)) W_2 + b_2)`` (MS-SAN, Eq. 10; Vaswani et al., 2017).

    The normalisation follows the residual; 181,200 parameters at width and hidden 300.

    Args:
        width: features, in and out.
        hidden: features of the hidden layer.
        activation: of the hidden layer.
        dropout: on the input of both dense layers; the residual is not dropped.
    """

    def __init__(
        self, width: int, hidden: int, *, activation: Activation = "relu", dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.hidden = Dense(width, hidden, activation=activation, dropout=dropout)
        self.output = Dense(hidden, width, dropout=dropout)
        self.norm = nn.LayerNorm(width)

    def forward(self, x: Tensor) -> Tensor:
        """Map [..., width] to [..., width]."""
        normed: Tensor = self.norm(x + self.output(self.hidden(x)))
        return normed
