"""Several heads: a dense layer for each, and the two ways between one vector and a vector a head."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from heedful.modules.activation import Activation
from heedful.modules.dense import Dense


class HeadDense(nn.Module):
    """One `Dense` a head: own weights, own Glorot fans and an own dropout mask, as the published code has them.

    Args:
        heads: H.
        width_in: features that every head reads.
        width_out: features C of one head.
        bias: whether there are biases.
        activation: applied last.
        dropout: on the input, a separate mask for every head.
        l2: how many times the L2 penalty covers the matrices.
    """

    def __init__(
        self,
        heads: int,
        width_in: int,
        width_out: int,
        *,
        bias: bool = True,
        activation: Activation = "linear",
        dropout: float = 0.0,
        l2: float = 1.0,
    ) -> None:
        super().__init__()
        self.parts = nn.ModuleList(
            Dense(width_in, width_out, bias=bias, activation=activation, dropout=dropout, l2=l2)
            for _ in range(heads)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Map [B, L, width_in], which all heads read, or [B, H, L, width_in] to [B, H, L, width_out]."""
        inputs = [x] * len(self.parts) if x.dim() == 3 else x.unbind(1)
        # Each head lies in one piece, so that the next product reads it without a copy.
        return torch.stack([dense(each) for dense, each in zip(self.parts, inputs, strict=True)]).transpose(
            0, 1
        )


def split_heads(x: Tensor, heads: int) -> Tensor:
    """Cut features into heads, head after head: [B, L, H C] to [B, H, L, C]."""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def join_heads(x: Tensor) -> Tensor:
    """Set heads side by side, head after head: [B, H, L, C] to [B, L, H C]."""
    return x.transpose(1, 2).flatten(2)
