"""The dense layer of all the systems: dropout on its input, Glorot-uniform weights, L2 by choice."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from heedful.modules.activation import Activation, activate


class Dense(nn.Module):
    """``activation(dropout(x) W + b)``.

    Dropout sits on the input of every dense layer, with its own mask for every call: the placement of the authors'
    code, which also makes a separate dropout on the embeddings superfluous. Weights start Glorot-uniform, biases at 0.

    Args:
        width_in: features of the input.
        width_out: features of the output.
        bias: whether b exists.
        activation: applied last.
        dropout: probability that a feature of the input is dropped in training (1 - keep of the papers).
        l2: whether the matrix belongs to the L2 penalty (see `regularised_parameters`).
    """

    def __init__(
        self,
        width_in: int,
        width_out: int,
        *,
        bias: bool = True,
        activation: Activation = "linear",
        dropout: float = 0.0,
        l2: bool = True,
    ) -> None:
        super().__init__()
        self.activation: Activation = activation
        self.dropout = dropout
        self.l2 = l2
        self.weight = nn.Parameter(torch.empty(width_out, width_in))
        self.bias = nn.Parameter(torch.zeros(width_out)) if bias else None
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        """Map [..., width_in] to [..., width_out]."""
        x = functional.dropout(x, self.dropout, self.training)
        return activate(functional.linear(x, self.weight, self.bias), self.activation)

    def extra_repr(self) -> str:
        """Show the settings when the module is printed."""
        width_out, width_in = self.weight.shape
        return f"{width_in}, {width_out}, activation={self.activation}, dropout={self.dropout}, l2={self.l2}"


def regularised_parameters(module: nn.Module) -> list[nn.Parameter]:
    """List the matrices that the L2 penalty covers: the weight of every `Dense` below ``module`` with ``l2=True``.

    Biases and word vectors are never covered, and DiSAN's two token2token matrices are not either.
    """
    return [part.weight for part in module.modules() if isinstance(part, Dense) and part.l2]
