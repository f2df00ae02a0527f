"""Convolution over words as the published baselines start it."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from heedful.modules.dense import Regularised
from heedful.modules.initialise import glorot_uniform
from heedful.ops import dropout


class Convolution(Regularised):
    """A filter over windows of words; beyond a sentence there are zeros.

    The published variable is [size, width_in, 1, width_out], so the fans are (1, width_out) with a field of
    ``size * width_in``: filters start far smaller than usual. Biases start at random too, with fans (width_out,
    width_out).

    Args:
        width_in: features of a word.
        width_out: filters.
        size: words of a window.
        before: words of a window that stand before the word whose output it is.
        dropout: on the input.
    """

    def __init__(
        self, width_in: int, width_out: int, size: int, *, before: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.l2, self.dropout = 1.0, dropout
        self.before, self.after = before, size - 1 - before
        self.weight = nn.Parameter(torch.empty(width_out, width_in, size))
        self.bias = nn.Parameter(torch.empty(width_out))
        glorot_uniform(self.weight, 1, width_out, field=size * width_in)
        glorot_uniform(self.bias, width_out, width_out)

    def forward(self, x: Tensor) -> Tensor:
        """Map [B, L, width_in], zero at padding, to [B, L, width_out]."""
        x = dropout(x, self.dropout, self.training)
        x = functional.pad(x, (0, 0, self.before, self.after)).transpose(1, 2)
        return functional.conv1d(x, self.weight, self.bias).transpose(1, 2)
