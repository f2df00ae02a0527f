"""The dense layer of all the systems: dropout on its input, Glorot-uniform weights, L2 by choice."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from heedful.modules.activation import Activation, activate
from heedful.ops import dropout


class Regularised(nn.Module):
    """A layer whose matrices may be under the L2 penalty.

    Attributes:
        l2: how many times the penalty's coefficient covers them; 0 leaves them out, 1 is the rule.
    """

    l2: float

    def matrices(self) -> list[nn.Parameter]:
        """List the layer's own matrices; biases are never covered."""
        return [parameter for parameter in self.parameters(recurse=False) if parameter.dim() > 1]


class Dense(Regularised):
    """``activation(dropout(x) W + b)``.

    Dropout sits on the input of every dense layer, with its own mask for every call: the placement of the authors'
    code, which also makes a separate dropout on the embeddings superfluous. Weights start Glorot-uniform, biases at 0.

    Args:
        width_in: features of the input.
        width_out: features of the output.
        bias: whether b exists.
        activation: applied last.
        dropout: probability that a feature of the input is dropped in training (1 - keep of the papers).
        l2: how many times the L2 penalty covers the matrix (see `l2_factors`); False leaves it out.
    """

    def __init__(
        self,
        width_in: int,
        width_out: int,
        *,
        bias: bool = True,
        activation: Activation = "linear",
        dropout: float = 0.0,
        l2: float = 1.0,
    ) -> None:
        super().__init__()
        self.activation: Activation = activation
        self.dropout = dropout
        self.l2 = float(l2)
        self.weight = nn.Parameter(torch.empty(width_out, width_in))
        self.bias = nn.Parameter(torch.zeros(width_out)) if bias else None
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        """Map [..., width_in] to [..., width_out]."""
        # Of strided inputs and a weight without gradient torch makes one product for each sentence, and copies the
        # weight for each.
        x = dropout(x, self.dropout, self.training).contiguous()
        return activate(functional.linear(x, self.weight, self.bias), self.activation)

    def extra_repr(self) -> str:
        """Show the settings when the module is printed."""
        width_out, width_in = self.weight.shape
        return f"{width_in}, {width_out}, activation={self.activation}, dropout={self.dropout}, l2={self.l2}"


def l2_factors(module: nn.Module) -> list[tuple[nn.Parameter, float]]:
    """List the matrices that the L2 penalty covers, each with its multiple of the coefficient.

    Biases and word vectors are never covered, and DiSAN's two token2token matrices are not either. The multiple is 1
    but for MTSA on SNLI, where the published code registers the tied block once for each of the two sentences.

    Args:
        module: a network or a part of one.

    Returns:
        Every matrix of a `Regularised` layer with ``l2`` above 0, once.
    """
    layers = (part for part in module.modules() if isinstance(part, Regularised) and part.l2)
    return [(matrix, layer.l2) for layer in layers for matrix in layer.matrices()]


def regularised_parameters(module: nn.Module) -> list[nn.Parameter]:
    """List the matrices that the L2 penalty covers; see `l2_factors`."""
    return [matrix for matrix, _ in l2_factors(module)]
