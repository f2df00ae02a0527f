"""The encoders that the papers compare with: multi-head self-attention, Bi-LSTM, Bi-GRU and convolutions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from heedful.attention import TorchImpl, dropout
from heedful.attention.implementation import padding_of
from heedful.encoders.context_encoder import EncoderOf, MultiHeadAttention, heads_apart
from heedful.nn import (
    Activation,
    BothWays,
    Convolution,
    Gru,
    Lstm,
    Regularized,
    activate,
    glorot_uniform,
    join_heads,
    positional_signal,
)
from heedful.settings import COUNT, Settings, above, at_least, finite, ranged, share
from heedful.structures import ContextStates, Sentences


@dataclass(frozen=True)
class MultiHeadConfig(Settings):
    """Settings of `MultiHeadEncoder`.

    Attributes:
        heads: number H of heads.
        head_width: features C of one head.
        dropout: dropout rate on the input of every projection, and of the attention weights.
        signal: factor of the positional signal; 1 as published, 0 for no signal.
        gain: factor of the initial weights; 1 as published, 4.9 to give each head the initial weights of a matrix of
            its own.
        impl: implementation of the attention operation; "auto" chooses the fastest one that supports the input.
    """

    heads: int = ranged(8, COUNT)
    head_width: int = ranged(75, at_least(1))
    dropout: float = ranged(0.35, share)
    signal: float = ranged(1.0, finite)
    gain: float = ranged(1.0, above(0))
    impl: TorchImpl = "auto"


class _Projections(Regularized):
    """Query, key and value of every head from one tensor; in training each has its own dropout mask."""

    def __init__(self, width: int, config: MultiHeadConfig) -> None:
        super().__init__()
        self.l2, self.dropout = 1.0, config.dropout
        self.weight = nn.Parameter(torch.empty(3, config.heads, width, config.head_width))
        glorot_uniform(self.weight, width, config.head_width, field=3 * config.heads)
        with torch.no_grad():
            self.weight.mul_(config.gain)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        """Map [B, L, D] to three [B, H, L, C]."""
        if not (self.training and self.dropout):
            return torch.einsum("bld,phdc->pbhlc", x, self.weight).unbind(0)
        # Projections first, so that one batched product reads the dropped inputs where they lie.
        batch, length, width = x.shape
        count, heads, _, head_width = self.weight.shape
        dropped = dropout(x.expand(count * heads, *x.shape), self.dropout, self.training)
        projected = dropped.reshape(count * heads, batch * length, width) @ self.weight.flatten(0, 1)
        return projected.view(count, heads, batch, length, head_width).transpose(1, 2).unbind(0)


class MultiHeadEncoder(EncoderOf[MultiHeadConfig]):
    """Dot-product attention in heads over word vectors with a positional signal: 540,000 parameters at width 300.

    Weaker than a Transformer's block, as published: no output projection, no residual, no layer norm, no biases. All
    three projections of all heads are one variable, whose start is therefore five times smaller than that of a head's
    own matrix (`heedful.nn.glorot_uniform`).

    The states have ``heads * head_width`` features.
    """

    settings = MultiHeadConfig

    def build(self, width: int, config: MultiHeadConfig) -> None:
        """See `EncoderOf.build`."""
        self.width_out = config.heads * config.head_width
        self.projections = _Projections(width, config)
        self.attention = MultiHeadAttention(config.dropout, config.impl)

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`. Maps are [B, Q, K], one a head."""
        signal = self.config.signal * positional_signal(x.shape[1], self.width_in, x)
        x = (x + signal).masked_fill(padding_of(x, sentences.valid), 0)
        query, key, value = self.projections(x)
        attended = self.attention(query, key, value, sentences, need_weights=need_weights)
        states = join_heads(attended.output)
        return ContextStates(states, heads_apart(attended.weights))


@dataclass(frozen=True)
class RecurrentConfig(Settings):
    """Settings of `BiLstmEncoder` and `BiGruEncoder`.

    Attributes:
        hidden: features of each direction's state.
        layers: number of stacked layers; 1 as published. Each layer reads the states of both directions of the layer
            below and adds its own to them (Wu et al., 2016). Without this residual connection, three layers hardly
            learn.
        dropout: dropout rate on the input of the cells, with a separate mask for each layer, direction and step.
    """

    hidden: int = ranged(300, at_least(1))
    layers: int = ranged(1, COUNT)
    dropout: float = ranged(0.35, share)


class _RecurrentEncoder(EncoderOf[RecurrentConfig]):
    """Base of the two encoders: layers of cells that read both ways; the states have ``2 * hidden`` features."""

    settings = RecurrentConfig

    def build(self, width: int, config: RecurrentConfig) -> None:
        """See `EncoderOf.build`."""
        self.width_out = 2 * config.hidden

        def layer(width_in: int) -> BothWays:
            return BothWays(self.cell(width_in, config), self.cell(width_in, config))

        # the first one alone, under the name that it has in saved models of one layer
        self.layers = layer(width)
        self.deeper = nn.ModuleList(layer(self.width_out) for _ in range(config.layers - 1))

    @abstractmethod
    def cell(self, width_in: int, config: RecurrentConfig) -> Lstm | Gru:
        """Make what reads one way."""

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`. There are no maps and no gates."""
        states = self.layers(x, sentences.valid)
        for layer in self.deeper:
            states = states + layer(states, sentences.valid)
        return ContextStates(states)


class BiLstmEncoder(_RecurrentEncoder):
    """Bi-directional LSTM with one bias vector a direction: 1,442,400 parameters at width 300."""

    def cell(self, width_in: int, config: RecurrentConfig) -> Lstm:
        """See `_RecurrentEncoder.cell`."""
        return Lstm(width_in, config.hidden, dropout=config.dropout)


class BiGruEncoder(_RecurrentEncoder):
    """Bi-directional GRU whose reset comes before the candidate's product: 1,081,800 parameters at width 300."""

    def cell(self, width_in: int, config: RecurrentConfig) -> Gru:
        """See `_RecurrentEncoder.cell`."""
        return Gru(width_in, config.hidden, dropout=config.dropout)


def _sizes(values: Sequence[int]) -> str:
    return "" if values and min(values) >= 1 else "must name at least one size, each 1 or more"


def _odd(value: int) -> str:
    return "" if value > 0 and value % 2 else "must be odd, 1 or more, so that a window has a middle"


@dataclass(frozen=True)
class CnnConfig(Settings):
    """Settings of `CnnEncoder`.

    Attributes:
        sizes: numbers of words in a window, one for each kind of window.
        filters: number of features of each kind of window.
        activation: activation of the windows.
        dropout: dropout rate on the words, with a separate mask for each kind of window.
    """

    sizes: tuple[int, ...] = ranged((3, 4, 5), _sizes)
    filters: int = ranged(200, at_least(1))
    activation: Activation = "relu"
    dropout: float = ranged(0.35, share)


class CnnEncoder(EncoderOf[CnnConfig]):
    """A state a word: the windows of 3, 4 and 5 words that begin with it; made for ``pooling = "max"``.

    720,600 parameters at width 300. Differs from the published code in which windows the maximum runs over: there those
    that lie in the longest sentence of the batch, so that a result depends on its neighbors. Here they are the windows
    that begin with a real word, running into zeros at the end of the sentence: what the published code does beside a
    neighbor at least four words longer, but for windows of padding alone.

    The states have ``filters * len(sizes)`` features.
    """

    settings = CnnConfig

    def build(self, width: int, config: CnnConfig) -> None:
        """See `EncoderOf.build`."""
        self.width_out = config.filters * len(config.sizes)
        self.windows = nn.ModuleList(
            Convolution(width, config.filters, size, before=0, dropout=config.dropout)
            for size in config.sizes
        )

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`. There are no maps and no gates."""
        padding = padding_of(x, sentences.valid)
        x = x.masked_fill(padding, 0)
        states = torch.cat([window(x) for window in self.windows], dim=-1)
        return ContextStates(activate(states, self.config.activation).masked_fill(padding, 0))


@dataclass(frozen=True)
class HierarchicalCnnConfig(Settings):
    """Settings of `HierarchicalCnnEncoder`.

    Attributes:
        layers: number of stacked convolutions.
        size: number of words in a window, an odd number.
        activation: activation of each convolution, before its gate.
        dropout: dropout rate on the input of each convolution.
    """

    layers: int = ranged(3, COUNT)
    size: int = ranged(5, _odd)
    activation: Activation = "relu"
    dropout: float = ranged(0.35, share)


class HierarchicalCnnEncoder(EncoderOf[HierarchicalCnnConfig]):
    """Convolutions with gated linear units: 2,701,800 parameters at width 300.

    ``[a ; b] = act(conv(drop(x)))``, output ``a * sigmoid(b)``, plus the layer's input from the second layer on. As
    published, the activation comes before the split, so a gate with ReLU is never below one half. Padding is zero again
    after every layer.
    """

    settings = HierarchicalCnnConfig

    def build(self, width: int, config: HierarchicalCnnConfig) -> None:
        """See `EncoderOf.build`."""
        self.layers = nn.ModuleList(
            Convolution(width, 2 * width, config.size, before=config.size // 2, dropout=config.dropout)
            for _ in range(config.layers)
        )

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`. There are no maps and no gates."""
        padding = padding_of(x, sentences.valid)
        x = x.masked_fill(padding, 0)
        for number, layer in enumerate(self.layers):
            value, gate = activate(layer(x), self.config.activation).chunk(2, dim=-1)
            gated = value * torch.sigmoid(gate)
            x = (gated if number == 0 else gated + x).masked_fill(padding, 0)
        return ContextStates(x)
