"""What every pooling is: a module from one state a token to one vector a sentence."""

from __future__ import annotations

from abc import ABC, abstractmethod

from torch import Tensor, nn

from heedful.structures import Pooled


class Pooling(nn.Module, ABC):
    """Turn the states of a sentence into one vector.

    Attributes:
        width_in: features of the states.
        width_out: features of the vector.
    """

    width_in: int
    width_out: int

    @abstractmethod
    def forward(self, states: Tensor, valid: Tensor, *, need_weights: bool = False) -> Pooled:
        """Pool.

        Args:
            states: [B, L, width_in]; padding may hold anything.
            valid: True at a real token, [B, L] bool.
            need_weights: also return the weight of each token.

        Returns:
            The vector [B, width_out], exactly zero for a sentence without words; weights if asked for.
        """
