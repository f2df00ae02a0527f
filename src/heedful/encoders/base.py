"""What every encoder is: a module from word vectors to one state a token."""

from __future__ import annotations

from abc import ABC, abstractmethod

from torch import Tensor, nn

from heedful.structures import ContextStates, Sentences


class ContextEncoder(nn.Module, ABC):
    """Turn word vectors into states that know their context.

    Attributes:
        width_in: features of the word vectors.
        width_out: features of the states.
    """

    width_in: int
    width_out: int

    @abstractmethod
    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode.

        Args:
            x: word vectors, [B, L, width_in]; padding may hold anything.
            sentences: which tokens are real, and the structure that masks are made from.
            need_weights: also return attention maps and gates; the states are the same.

        Returns:
            States [B, L, width_out], exactly zero at padding, and maps and gates if asked for.
        """
