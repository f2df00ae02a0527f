"""DiSAN's fusion gate."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from heedful.modules.dense import Dense


class FusionGate(nn.Module):
    """Mix a word with its context, feature by feature (DiSAN, Eq. 19 and 20).

    ``gate = sigmoid(drop(word) W_1 + b_1 + drop(context) W_2 + b_2 + b)``, output ``gate * word + (1 - gate) *
    context``: a gate near 1 keeps the word. The three biases act as one; the published code has all three, and the
    published parameter count includes them.

    Args:
        width: features D.
        dropout: on the input of both dense layers, separate masks.
    """

    def __init__(self, width: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.word = Dense(width, width, dropout=dropout)
        self.context = Dense(width, width, dropout=dropout)
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, word: Tensor, context: Tensor) -> tuple[Tensor, Tensor]:
        """Fuse.

        Args:
            word: [B, L, D].
            context: [B, L, D].

        Returns:
            The fused states [B, L, D] and the gate [B, L, D].
        """
        context = context.to(word.dtype)  # autocast may have lowered only one of the two
        score = self.word(word) + self.context(context)
        gate = torch.sigmoid(score + self.bias.to(score.dtype)).to(word.dtype)
        return torch.lerp(context, word, gate), gate
