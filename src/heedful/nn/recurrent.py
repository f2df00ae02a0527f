"""Recurrent layers as TensorFlow 1 defines them, for sentences padded on the right."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from heedful.attention import dropout
from heedful.attention.implementation import padding_of
from heedful.nn.dense import Regularized, glorot_uniform
from heedful.nn.recurrent_steps import run_gru, run_lstm


def reverse_words(x: Tensor, valid: Tensor) -> Tensor:
    """Turn the order of every sentence's words round and leave its padding in place.

    Args:
        x: [B, L, D].
        valid: True at a real token, [B, L] bool; the real tokens come first.

    Returns:
        [B, L, D].
    """
    position = torch.arange(x.shape[1], device=x.device)
    turned = valid.sum(dim=1, keepdim=True) - 1 - position
    source = torch.where(valid, turned, position)
    return x.gather(1, source[..., None].expand_as(x))


class Cell(Regularized, ABC):
    """Base of the one-way layers.

    Args:
        width_in: features of the input.
        width: features of the state.
        dropout: on the input, a new draw for every step.
    """

    def __init__(self, width_in: int, width: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.l2, self.dropout = 1.0, dropout
        self.build(width_in, width)

    @abstractmethod
    def build(self, width_in: int, width: int) -> None:
        """Make the weights."""

    @abstractmethod
    def forward(self, x: Tensor) -> Tensor:
        """Map [B, L, width_in] to the states after each step, [B, L, width]."""


class Lstm(Cell):
    """A one-way LSTM with one bias vector and a constant 1 added to the forget gate.

    ``i, f, g, o = drop(x) W + h U + b``; ``c = sigmoid(f + 1) c + sigmoid(i) tanh(g)``; ``h = sigmoid(o) tanh(c)``.
    Computed by `torch.lstm`, whose second bias holds the constant. Kernel and recurrent kernel start as one
    Glorot-uniform matrix.
    """

    def build(self, width_in: int, width: int) -> None:
        """See `Cell.build`."""
        self.cell = LstmWeights(width_in, width)

    def matrices(self) -> list[nn.Parameter]:
        """See `Regularized.matrices`."""
        return [parameter for parameter in self.cell.parameters() if parameter.dim() > 1]

    def forward(self, x: Tensor) -> Tensor:
        """See `Cell.forward`."""
        return run_lstm(dropout(x, self.dropout, self.training), self.cell.of_torch(), training=self.training)


class LstmWeights(nn.Module):
    """The weights of `torch.lstm` under the names that `torch.nn.LSTM` gives them.

    Args:
        width_in: features of the input.
        width: features of the state.

    Attributes:
        hidden_size: features of the state.
    """

    bias_hh_l0: Tensor

    def __init__(self, width_in: int, width: int) -> None:
        super().__init__()
        self.hidden_size = width
        self.weight_ih_l0 = nn.Parameter(torch.empty(4 * width, width_in))
        self.weight_hh_l0 = nn.Parameter(torch.empty(4 * width, width))
        self.bias_ih_l0 = nn.Parameter(torch.zeros(4 * width))
        for weight in (self.weight_ih_l0, self.weight_hh_l0):
            glorot_uniform(weight, width_in + width, 4 * width)
        constant = torch.zeros(4 * width)
        constant[width : 2 * width] = 1  # torch's order of gates: input, forget, candidate, output
        self.register_buffer("bias_hh_l0", constant, persistent=False)

    def of_torch(self) -> list[Tensor]:
        """List the weights in the order of `torch.lstm`."""
        return [self.weight_ih_l0, self.weight_hh_l0, self.bias_ih_l0, self.bias_hh_l0]


class Gru(Cell):
    """A one-way GRU that resets the state before the candidate's matrix product (Cho et al., 2014).

    ``r, u = sigmoid(drop(x) W + h U + b)``; ``c = tanh(drop(x) W_c + (r * h) U_c + b_c)``; ``h = u * h + (1 - u) * c``.
    `torch.nn.GRU` resets after that product, another function, so this is a loop over the words, and slower. b starts
    at 1, b_c at 0.
    """

    def build(self, width_in: int, width: int) -> None:
        """See `Cell.build`."""
        self.gates_input = nn.Parameter(torch.empty(2 * width, width_in))
        self.gates_state = nn.Parameter(torch.empty(2 * width, width))
        self.gates_bias = nn.Parameter(torch.ones(2 * width))
        self.candidate_input = nn.Parameter(torch.empty(width, width_in))
        self.candidate_state = nn.Parameter(torch.empty(width, width))
        self.candidate_bias = nn.Parameter(torch.zeros(width))
        for weight in (self.gates_input, self.gates_state):
            glorot_uniform(weight, width_in + width, 2 * width)
        for weight in (self.candidate_input, self.candidate_state):
            glorot_uniform(weight, width_in + width, width)

    def forward(self, x: Tensor) -> Tensor:
        """See `Cell.forward`."""
        weights = [
            *(self.gates_input, self.gates_state, self.gates_bias),
            *(self.candidate_input, self.candidate_state, self.candidate_bias),
        ]
        return run_gru(dropout(x, self.dropout, self.training), weights)


class BothWays(nn.Module):
    """One layer that reads from the left and one that reads from the right, their states side by side.

    The second reads every sentence from its own last word, so that padding never comes before a word.

    Args:
        from_left: the first layer.
        from_right: the second layer.
    """

    def __init__(self, from_left: Lstm | Gru, from_right: Lstm | Gru) -> None:
        super().__init__()
        self.from_left, self.from_right = from_left, from_right

    def forward(self, x: Tensor, valid: Tensor) -> Tensor:
        """Read.

        Args:
            x: [B, L, D]; padding may hold anything.
            valid: True at a real token, [B, L] bool; the real tokens come first.

        Returns:
            [B, L, 2 C], exactly zero at padding.
        """
        padding = padding_of(x, valid)
        x = x.masked_fill(padding, 0)
        turned = reverse_words(self.from_right(reverse_words(x, valid)), valid)
        return torch.cat([self.from_left(x), turned], dim=-1).masked_fill(padding, 0)
