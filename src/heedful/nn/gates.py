"""DiSAN's fusion gate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from heedful.attention import dropout
from heedful.nn.dense import Activation, Dense
from heedful.nn.fused_dense import dense
from heedful.nn.mixture import mix


class Gate(nn.Module, ABC):
    """Base of what mixes a word with its context."""

    @abstractmethod
    def forward(self, word: Tensor, context: Tensor, valid: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Fuse.

        Args:
            word: [B, L, D].
            context: [B, L, D].
            valid: True at a real token, [B, L] bool; None for no padding.

        Returns:
            The fused states [B, L, D], zero at padding, and the gate [B, L, D].
        """


class FusionGate(Gate):
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

    def forward(self, word: Tensor, context: Tensor, valid: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """See `Gate.forward`."""
        context = context.to(word.dtype)  # autocast may have lowered only one of the two
        layers = self.word, self.context
        dropped = [
            dropout(x, layer.dropout, self.training).flatten(0, -2)[None]
            for x, layer in zip((word, context), layers, strict=True)
        ]
        bias: Tensor = self.bias
        for layer in layers:
            bias = bias if layer.bias is None else bias + layer.bias
        score = dense(dropped, [[layer.weight] for layer in layers], [bias], "linear")
        return _mixed(word, context, score, valid)


class ProjectedGate(Gate):
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

    def forward(self, word: Tensor, context: Tensor, valid: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """See `Gate.forward`."""
        word, context = self.word(word), self.context(context)
        score = self.word_score(word) + self.context_score(context)
        return _mixed(word, context, score.flatten(0, -2)[None], valid)


def _mixed(word: Tensor, context: Tensor, score: Tensor, valid: Tensor | None) -> tuple[Tensor, Tensor]:
    """Mix [B, L, D] by scores [1, B L, D]."""
    real = None if valid is None else valid.flatten()
    mixed, gate = mix(word.flatten(0, -2)[None], context.flatten(0, -2)[None], score, real)
    return mixed.reshape(word.shape), gate.reshape(word.shape)


class AttentionFusion(nn.Module):
    """Weigh the results of several attentions, token by token, and add them up.

    ``r^k = v · tanh(W drop(u^k) + b)``, softmax over k, ``u = sum_k weight_k u^k``. The output is as wide as one input,
    however many there are; 90,600 parameters at width 300.

    Args:
        width: features D.
        dropout: on the input of both layers.
    """

    def __init__(self, width: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.hidden = Dense(width, width, dropout=dropout)
        self.score = Dense(width, 1, bias=False, dropout=dropout)

    def forward(self, states: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        """Fuse.

        Args:
            states: K tensors, each [B, L, D].

        Returns:
            The sum [B, L, D], and the weight of each input, [B, L, K].
        """
        stacked = torch.stack(tuple(states), dim=2)
        score = self.score(torch.tanh(self.hidden(stacked)))
        weights = torch.softmax(score, dim=2).to(stacked.dtype)
        return (weights * stacked).sum(dim=2), weights[..., 0]


class Highway(nn.Module):
    """``g * act(drop(x) W_T + b_T) + (1 - g) * x`` with ``g = sigmoid(drop(x) W_g + b_g)`` (Srivastava et al., 2015).

    MTSA's published SNLI classifier has one; its paper does not mention it. The gate's bias starts at 0.

    Args:
        width: features, in and out.
        activation: of the transform.
        dropout: on the input of both dense layers, separate masks.
    """

    def __init__(self, width: int, *, activation: Activation = "elu", dropout: float = 0.0) -> None:
        super().__init__()
        self.transform = Dense(width, width, activation=activation, dropout=dropout)
        self.gate = Dense(width, width, dropout=dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Map [..., width] to [..., width]."""
        flat = [each.flatten(0, -2)[None] for each in (self.transform(x), x, self.gate(x))]
        return mix(*flat)[0].reshape(x.shape)
