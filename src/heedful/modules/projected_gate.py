"""MS-SAN's fusion gate."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from heedful.modules.dense import Dense


class ProjectedGate(nn.Module):
    """Mix projections of a word and of its context (MS-SAN, Eq. 7 to 9).

    ``w = W_I drop(word)``, ``c = W_O drop(context)``, ``gate = sigmoid(W_1 drop(w) + W_2 drop(c) + b)``, output
    ``gate * w + (1 - gate) * c``: a gate near 1 keeps the word. Unlike DiSAN's gate, what is mixed is the projections,
    and there is one bias: 360,300 parameters at width 300.

    Args:
        width: features D.
        dropout: on the input of the four dense layers, separate masks; the paper names none.
    """

    def __init__(self, width: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.word = Dense(width, width, bias=False, dropout=dropout)
        self.context = Dense(width, width, bias=False, dropout=dropout)
        self.word_score = Dense(width, width, dropout=dropout)  # holds the one bias
        self.context_score = Dense(width, width, bias=False, dropout=dropout)

    def forward(self, word: Tensor, context: Tensor) -> tuple[Tensor, Tensor]:
        """Fuse.

        Args:
            word: [B, L, D].
            context: [B, L, D].

        Returns:
            The fused states [B, L, D] and the gate [B, L, D].
        """
        word, context = self.word(word), self.context(context)
        gate = torch.sigmoid(self.word_score(word) + self.context_score(context))
        return torch.lerp(context, word, gate), gate
