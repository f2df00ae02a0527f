"""The dense layer of all the systems: dropout on its input, Glorot-uniform weights, L2 by choice."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from heedful.attention import dropout
from heedful.attention.randomness import own_generator
from heedful.nn.fused_dense import Activation, activate
from heedful.nn.linear import linear


class Regularized(nn.Module):
    """A layer whose matrices may be under the L2 penalty.

    Attributes:
        l2: how many times the penalty's coefficient covers them; 0 leaves them out, 1 is the rule.
    """

    l2: float

    def matrices(self) -> list[nn.Parameter]:
        """List the layer's own matrices; biases are never covered."""
        return [parameter for parameter in self.parameters(recurse=False) if parameter.dim() > 1]


class Dense(Regularized):
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
        nn.init.xavier_uniform_(self.weight, generator=own_generator())

    def forward(self, x: Tensor) -> Tensor:
        """Map [..., width_in] to [..., width_out]."""
        # Of strided inputs and a weight without gradient torch makes one product for each sentence, and copies the
        # weight for each.
        x = dropout(x, self.dropout, self.training).contiguous()
        return activate(linear(x, self.weight, self.bias), self.activation)

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
        Every matrix of a `Regularized` layer with ``l2`` above 0, once.
    """
    layers = (part for part in module.modules() if isinstance(part, Regularized) and part.l2)
    return [(matrix, layer.l2) for layer in layers for matrix in layer.matrices()]


def glorot_uniform(weight: Tensor, fan_in: int, fan_out: int, field: int = 1) -> None:
    """Fill in place, uniform within ``sqrt(6 / (field * (fan_in + fan_out)))``.

    For a tensor of more than two axes TensorFlow multiplies both fans by the product of all leading axes; a vector of n
    numbers has fans (n, n). The published baselines inherit both, which makes some layers start far smaller, and some
    biases away from zero.

    Args:
        weight: what is filled, any shape.
        fan_in: second to last axis of TensorFlow's variable.
        fan_out: its last axis.
        field: product of the axes before them.
    """
    limit = (6 / (field * (fan_in + fan_out))) ** 0.5
    nn.init.uniform_(weight, -limit, limit, generator=own_generator())


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


class FeedForward(nn.Module):
    """``LayerNorm(x + drop(act(drop(x) W_1 + b_1)) W_2 + b_2)`` (MS-SAN, Eq. 10; Vaswani et al., 2017).

    The normalization follows the residual; 181,200 parameters at width and hidden 300.

    Args:
        width: features, in and out.
        hidden: features of the hidden layer.
        activation: of the hidden layer.
        dropout: on the input of both dense layers; the residual is not dropped.
    """

    def __init__(
        self, width: int, hidden: int, *, activation: Activation = "relu", dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.hidden = Dense(width, hidden, activation=activation, dropout=dropout)
        self.output = Dense(hidden, width, dropout=dropout)
        self.norm = nn.LayerNorm(width)

    def forward(self, x: Tensor) -> Tensor:
        """Map [..., width] to [..., width]."""
        normed: Tensor = self.norm(x + self.output(self.hidden(x)))
        return normed


class Convolution(Regularized):
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
        if not x.shape[1]:  # torch's convolution refuses what is shorter than a window
            return functional.linear(x, self.weight[:, :, 0], self.bias)
        x = dropout(x, self.dropout, self.training)
        x = functional.pad(x, (0, 0, self.before, self.after)).transpose(1, 2)
        return functional.conv1d(x, self.weight, self.bias).transpose(1, 2)
