"""The two-layer network that decomposable attention is made of."""

from __future__ import annotations

from torch import nn

from heedful.modules.activation import Activation
from heedful.modules.dense import Dense


def two_layers(
    width_in: int, hidden: int, *, activation: Activation = "relu", dropout: float = 0.0
) -> nn.Sequential:
    """Build two activated dense layers of the same size, dropout on the input of both (F, G and H of Parikh et al.).

    Args:
        width_in: features of the input.
        hidden: features of both layers.
        activation: of both layers.
        dropout: probability that a feature of an input is dropped in training.

    Returns:
        A module from [..., width_in] to [..., hidden].
    """
    return nn.Sequential(
        Dense(width_in, hidden, activation=activation, dropout=dropout),
        Dense(hidden, hidden, activation=activation, dropout=dropout),
    )
