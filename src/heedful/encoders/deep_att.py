"""The deep tagging stack of Tan et al. (2018), and MTSA in it as its authors label semantic roles.

Tan, Wang, Xie, Chen, Shi: *Deep Semantic Role Labeling with Self-Attention*, AAAI 2018 ("DeepAtt"); Shen et al., NAACL
2019, Table 4.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor, nn

from heedful.attention import Impl, TorchImpl
from heedful.attention.implementation import padding_of
from heedful.attention.masks import parse_mask
from heedful.attention_names import MapPlace
from heedful.encoders.context_encoder import EncoderOf, MultiHeadAttention, heads_apart, in_layers
from heedful.encoders.mtsa import TensorizedHeads, Token2Token
from heedful.encoders.transformer import LayerAttention
from heedful.errors import UsageError
from heedful.nn import (
    Dense,
    LayersConfig,
    build_residual,
    join_heads,
    position_wise,
    positional_signal,
    split_heads,
)
from heedful.settings import COUNT, finite, ranged, readable, share
from heedful.structures import ContextStates, Sentences


@dataclass(frozen=True)
class DeepAttConfig(LayersConfig):
    """Settings of `DeepAttEncoder`.

    Attributes:
        layers: number of layers.
        dropout: dropout rate of the position-wise network's hidden layer.
        attention_dropout: dropout rate of the attention weights.
        residual_dropout: dropout rate of the output of every sublayer, before it is added to its input.
        signal: factor of the sinusoids; 1 as published, 0 for no sinusoids.
        impl: implementation of the attention operation; "auto" chooses the fastest one that supports the input.
    """

    layers: int = ranged(10, COUNT)
    dropout: float = ranged(0.1, share)
    attention_dropout: float = ranged(0.1, share)
    residual_dropout: float = ranged(0.2, share)
    signal: float = ranged(1.0, finite)
    impl: TorchImpl = "auto"


@dataclass(frozen=True)
class MtsaDeepAttConfig(LayersConfig):
    """Settings of `MtsaDeepAttEncoder`.

    Attributes:
        layers: number of layers.
        masks: masks of the heads in every layer; each mask has an equal share of the heads.
        token2token: how q·k becomes a factor of the attention weight.
        self_visible: whether a token also sees itself.
        dropout: dropout rate of the position-wise network's hidden layer.
        attention_dropout: dropout rate of the attention weights; 0.19 keeps a share of 0.9 of each of the two factors,
            as published.
        residual_dropout: dropout rate of the output of every sublayer, before it is added to its input.
        impl: implementation of the attention operation; "auto" chooses the fastest one that supports the input.
    """

    layers: int = ranged(10, COUNT)
    masks: tuple[str, ...] = ranged(("forward", "backward"), readable(parse_mask))
    token2token: Token2Token = "exp"
    self_visible: bool = False
    dropout: float = ranged(0.1, share)
    attention_dropout: float = ranged(0.19, share)
    residual_dropout: float = ranged(0.2, share)
    impl: Impl = "auto"


class _Heads(LayerAttention):
    """Queries, keys and values from one dense layer, heads, an output projection; all with biases."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        if heads < 1 or width % heads:
            raise UsageError(
                f"heads={heads} must divide the width of what the encoder reads, {width} (word and flag vectors "
                "together, or model.tagger.projected)"
            )
        self.heads = heads
        self.projections = Dense(width, 3 * width)  # one matrix: its start counts the three as one layer
        self.output = Dense(width, width)

    def forward(
        self, x: Tensor, sentences: Sentences, *, need_weights: bool = False
    ) -> tuple[Tensor, dict[MapPlace, Tensor]]:
        """See `LayerAttention.forward`."""
        projected = tuple(split_heads(part, self.heads) for part in self.projections(x).chunk(3, dim=-1))
        output, maps = self.attend(x, projected, sentences, need_weights=need_weights)
        return self.output(join_heads(output)), maps

    @abstractmethod
    def attend(
        self, x: Tensor, projected: tuple[Tensor, ...], sentences: Sentences, *, need_weights: bool
    ) -> tuple[Tensor, dict[MapPlace, Tensor]]:
        """Attend in every head, from query, key and value: [B, H, L, C], and the weights of each head if asked for."""


class _DotProduct(_Heads):
    """Multi-head attention, every word visible."""

    def __init__(self, width: int, config: DeepAttConfig) -> None:
        super().__init__(width, config.heads)
        self.attention = MultiHeadAttention(config.attention_dropout, config.impl)

    def attend(
        self, x: Tensor, projected: tuple[Tensor, ...], sentences: Sentences, *, need_weights: bool
    ) -> tuple[Tensor, dict[MapPlace, Tensor]]:
        """See `_Heads.attend`; weights are [B, Q, K]."""
        attended = self.attention(*projected, sentences, need_weights=need_weights)
        return attended.output, heads_apart(attended.weights)


class _Tensorized(_Heads):
    """Tensorized attention; the source2token score is one dense layer on the input, ``exp`` of both parts."""

    def __init__(self, width: int, config: MtsaDeepAttConfig) -> None:
        super().__init__(width, config.heads)
        self.score = Dense(width, width)
        self.attention = TensorizedHeads(config)

    def attend(
        self, x: Tensor, projected: tuple[Tensor, ...], sentences: Sentences, *, need_weights: bool
    ) -> tuple[Tensor, dict[MapPlace, Tensor]]:
        """See `_Heads.attend`; weights are feature-wise, [B, Q, K, C]."""
        source = split_heads(self.score(x), self.heads)
        attended = self.attention(*projected, source, sentences, need_weights=need_weights)
        return attended.output, self.attention.apart(attended.weights)


class _NormalizedLayer(nn.Module):
    """The position-wise network, then attention; each is added to its input and normalized after that."""

    def __init__(
        self, width: int, config: DeepAttConfig | MtsaDeepAttConfig, attention: LayerAttention
    ) -> None:
        super().__init__()
        self.feed_forward = position_wise(width, config.hidden, config.dropout)
        self.attention = attention
        self.around_feed_forward = build_residual("post", width, config.residual_dropout)
        self.around_attention = build_residual("post", width, config.residual_dropout)

    def forward(
        self, x: Tensor, sentences: Sentences, *, need_weights: bool
    ) -> tuple[Tensor, dict[MapPlace, Tensor]]:
        x = self.around_feed_forward.after(x, self.feed_forward(x))
        attended, maps = self.attention(x, sentences, need_weights=need_weights)
        return self.around_attention.after(x, attended), maps


AnyConfig = TypeVar("AnyConfig", DeepAttConfig, MtsaDeepAttConfig)


class _Stack(EncoderOf[AnyConfig]):
    """Base of the two encoders: the scaled input, and layers.

    The input is ``sqrt(D) x + b`` with a learned vector b, as in the published code.
    """

    def build(self, width: int, config: AnyConfig) -> None:
        """See `EncoderOf.build`."""
        self.bias = nn.Parameter(torch.zeros(width))
        self.layers = nn.ModuleList(
            _NormalizedLayer(width, config, self.attention(width, config)) for _ in range(config.layers)
        )

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`. Maps are named by layer and head."""
        padding = padding_of(x, sentences.valid)
        scaled = x.masked_fill(padding, 0) * self.width_in**0.5
        x = self.place(scaled + self.bias.to(x.dtype)).masked_fill(padding, 0)
        x, maps = in_layers(self.layers, x, sentences, need_weights=need_weights)
        return ContextStates(x.masked_fill(padding, 0), maps)

    @abstractmethod
    def attention(self, width: int, config: AnyConfig) -> LayerAttention:
        """Make the attention of one layer."""

    @abstractmethod
    def place(self, x: Tensor) -> Tensor:
        """Add their places to the words of [B, L, D], where the attention does not."""


class DeepAttEncoder(_Stack[DeepAttConfig]):
    """Layers of a position-wise network and multi-head attention over words with sinusoids of their places.

    Differs from `TransformerEncoder` in the order of the sublayers, in biases everywhere, and in the input. Matrices
    start Glorot-uniform; the paper starts them orthogonal, MTSA's authors Glorot-normal.
    """

    settings = DeepAttConfig

    def attention(self, width: int, config: DeepAttConfig) -> LayerAttention:
        """See `_Stack.attention`."""
        return _DotProduct(width, config)

    def place(self, x: Tensor) -> Tensor:
        """Add the sinusoids of Vaswani et al. (2017), ``signal`` times."""
        return x + self.config.signal * positional_signal(x.shape[1], x.shape[2], x, exponent=1.0)


class MtsaDeepAttEncoder(_Stack[MtsaDeepAttConfig]):
    """The same layers with tensorized attention; directions replace the sinusoids, and nothing else differs.

    Beside the parameters of `DeepAttEncoder` there are ``D (D + 1)`` a layer for the source2token score.
    """

    settings = MtsaDeepAttConfig

    def attention(self, width: int, config: MtsaDeepAttConfig) -> LayerAttention:
        """See `_Stack.attention`."""
        return _Tensorized(width, config)

    def place(self, x: Tensor) -> Tensor:
        """Add nothing: a head that looks one way knows the order."""
        return x
