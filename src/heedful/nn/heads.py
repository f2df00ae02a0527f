"""Class scores from a vector."""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor, nn

from heedful.errors import UsageError, nearest
from heedful.nn import Activation, Dense, Highway, activate


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


Matching = Literal["signed", "absolute", "symmetric"]


def match_features(first: Tensor, second: Tensor, *, matching: Matching = "signed") -> Tensor:
    """Concatenate two vectors and what sets them apart.

    Args:
        first: u, the premise, [B, D].
        second: v, the hypothesis, [B, D].
        matching: "signed" gives ``[u ; v ; u - v ; u * v]``, the features of DiSAN and MTSA; "absolute" gives
            ``[u ; v ; u * v ; |u - v|]``, those of MS-SAN, in their order; "symmetric" gives
            ``[u + v ; |u - v| ; u * v]``, which is the same in both orders of the texts.

    Returns:
        [B, 4 D], or [B, 3 D] for "symmetric"; see `matched`.

    Raises:
        UsageError: if matching is unknown.
    """
    if matching == "signed":
        return torch.cat([first, second, first - second, first * second], dim=-1)
    if matching == "absolute":
        return torch.cat([first, second, first * second, torch.abs(first - second)], dim=-1)
    if matching == "symmetric":
        return torch.cat([first + second, torch.abs(first - second), first * second], dim=-1)
    raise UsageError(f"matching={matching!r} is unknown: {nearest(str(matching), get_args(Matching))}")


def matched(matching: Matching, width: int) -> int:
    """Return how many features `match_features` makes of two vectors of a width."""
    return (3 if matching == "symmetric" else 4) * width


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
