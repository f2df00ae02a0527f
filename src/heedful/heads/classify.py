"""Class scores from a vector."""

from __future__ import annotations

from torch import Tensor, nn

from heedful.modules import Activation, Dense, Highway


class ClassifierHead(nn.Module):
    """One hidden layer and a linear layer, dropout on the input of both.

    Args:
        width_in: features of the vector: 600 for a text, 2,400 for a pair.
        hidden: features of the hidden layer.
        classes: number of classes Y.
        activation: of the hidden layer.
        dropout: on the input of both layers.
        final_bias: whether the last layer has a bias: yes on SNLI, no on the one-sentence tasks of the papers.
        highway: whether a highway layer stands between the two (MTSA's SNLI classifier; 180,600 parameters at 300).
    """

    def __init__(
        self,
        width_in: int,
        hidden: int,
        classes: int,
        *,
        activation: Activation = "elu",
        dropout: float = 0.0,
        final_bias: bool = True,
        highway: bool = False,
    ) -> None:
        super().__init__()
        self.hidden = Dense(width_in, hidden, activation=activation, dropout=dropout)
        self.highway = Highway(hidden, activation=activation, dropout=dropout) if highway else nn.Identity()
        self.output = Dense(hidden, classes, bias=final_bias, dropout=dropout)

    def forward(self, vector: Tensor) -> Tensor:
        """Score: [B, width_in] to logits [B, Y]."""
        return self.output(self.highway(self.hidden(vector)))
