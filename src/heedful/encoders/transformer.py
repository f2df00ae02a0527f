"""The encoder of the Transformer (Vaswani et al., 2017), and the stack that a variant of its attention fits into."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from torch import Tensor, nn
from torch.nn import init

from heedful.attention import Impl, TorchImpl, dropout
from heedful.attention.implementation import padding_of
from heedful.attention.masks import parse_mask
from heedful.attention_names import MapPlace
from heedful.encoders.context_encoder import EncoderOf, MultiHeadAttention, heads_apart, in_layers
from heedful.encoders.mtsa import Source2Token, TensorizedHeads, Token2Token, scaled_source
from heedful.errors import UsageError
from heedful.nn import (
    Dense,
    HeadDense,
    LayersConfig,
    Norm,
    StackConfig,
    build_residual,
    join_heads,
    last_norm,
    position_wise,
    positional_signal,
    split_heads,
)
from heedful.settings import finite, ranged, readable, share
from heedful.structures import ContextStates, Sentences


@dataclass(frozen=True)
class TransformerConfig(StackConfig):
    """Settings of `TransformerEncoder`.

    Attributes:
        impl: implementation of the attention operation; "auto" chooses the fastest one that supports the input.
    """

    impl: TorchImpl = "auto"


class LayerAttention(nn.Module, ABC):
    """Base of what a layer of the stack may have as its attention."""

    @abstractmethod
    def forward(
        self, x: Tensor, sentences: Sentences, *, need_weights: bool = False
    ) -> tuple[Tensor, dict[MapPlace, Tensor]]:
        """Attend.

        Args:
            x: [B, L, D]; padding may hold anything finite.
            sentences: which tokens are real.
            need_weights: also return the weights.

        Returns:
            [B, L, D], and the weights of each head, empty unless asked for.
        """


class DotProductHeads(LayerAttention):
    """Multi-head attention with an output projection and no biases.

    Args:
        width: features D.
        config: the settings.
    """

    def __init__(self, width: int, config: TransformerConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.query, self.key, self.value, self.output = (Dense(width, width, bias=False) for _ in range(4))
        self.attention = MultiHeadAttention(config.attention_dropout, config.impl)

    def forward(
        self, x: Tensor, sentences: Sentences, *, need_weights: bool = False
    ) -> tuple[Tensor, dict[MapPlace, Tensor]]:
        """See `LayerAttention.forward`; weights are [B, Q, K]."""
        query, key, value = (
            split_heads(dense(x), self.heads) for dense in (self.query, self.key, self.value)
        )
        attended = self.attention(query, key, value, sentences, need_weights=need_weights)
        return self.output(join_heads(attended.output)), heads_apart(attended.weights)


class _Layer(nn.Module):
    """Attention, then the position-wise network, each in a residual connection."""

    def __init__(self, width: int, config: TransformerConfig, attention: LayerAttention) -> None:
        super().__init__()
        self.attention = attention
        self.feed_forward = position_wise(width, config.hidden, config.dropout)
        self.around_attention = build_residual(config.norm, width, config.dropout)
        self.around_feed_forward = build_residual(config.norm, width, config.dropout)

    def forward(
        self, x: Tensor, sentences: Sentences, *, need_weights: bool
    ) -> tuple[Tensor, dict[MapPlace, Tensor]]:
        read = self.around_attention.before(x)
        attended, maps = self.attention(read, sentences, need_weights=need_weights)
        x = self.around_attention.after(x, attended)
        changed = self.feed_forward(self.around_feed_forward.before(x))
        return self.around_feed_forward.after(x, changed), maps


class TransformerStack(nn.Module):
    """Positions, then layers of attention and a position-wise network.

    Args:
        width: features D, in and out.
        config: the settings, those of the attention aside.
        attention: makes the attention of one layer.

    Raises:
        UsageError: if the heads do not divide the width.
    """

    def __init__(
        self, width: int, config: TransformerConfig, attention: Callable[[], LayerAttention]
    ) -> None:
        super().__init__()
        if config.heads < 1 or width % config.heads:
            raise UsageError(f"heads={config.heads} must divide the width of the word vectors, {width}")
        self.dropout = config.dropout
        self.layers = nn.ModuleList(_Layer(width, config, attention()) for _ in range(config.layers))
        self.norm = last_norm(config.norm, width)

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`."""
        padding = padding_of(x, sentences.valid)
        x = x + positional_signal(x.shape[1], x.shape[2], x, exponent=1.0)
        x = dropout(x.masked_fill(padding, 0), self.dropout, self.training)
        x, maps = in_layers(self.layers, x, sentences, need_weights=need_weights)
        return ContextStates(self.norm(x).masked_fill(padding, 0), maps)


class TransformerEncoder(EncoderOf[TransformerConfig]):
    """The Transformer's encoder: sinusoidal positions, layers of multi-head attention and a position-wise network.

    Unlike the baseline "multi-head" it has output projections, residuals and layer norms.
    """

    settings = TransformerConfig

    def build(self, width: int, config: TransformerConfig) -> None:
        """See `EncoderOf.build`."""
        self.stack = TransformerStack(width, config, lambda: DotProductHeads(width, config))

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`. Maps are [B, Q, K], one a layer and head."""
        return self.stack(x, sentences, need_weights=need_weights)


@dataclass(frozen=True)
class MtsaTransformerConfig(LayersConfig):
    """Settings of `MtsaTransformerEncoder`.

    Attributes:
        norm: position of the layer norms: "pre" (Tensor2Tensor 1.9, as published) or "post".
        masks: masks of the heads; each mask has an equal share of the heads. The published translation runs use no
            direction.
        self_visible: whether a token also sees itself under a mask that hides it.
        token2token: how q·k becomes a factor of the attention weight; "exp" as published for this encoder.
        score_start: initial bias of the source2token score: 5 in the first published setup, 0 in the second.
        dropout: dropout rate of the input, of the output of every sublayer, and of the position-wise network's hidden
            layer.
        attention_dropout: dropout rate of the attention weights; each of the two factors keeps a share of ``sqrt(1 -
            attention_dropout)``.
        impl: implementation of the attention operation; "auto" chooses the fastest one that supports the input.
        source2token: how the score z becomes a factor of the weight: "sigmoid" of z / sqrt(C), as in the published
            translation runs, or "exp" of z, as in the published causal layer for MultiNLI.
        score_from: what the score is computed from: "value" is the head's own value, as in translation; "input" is the
            layer's input, with one matrix for all heads, as in the causal layer.
    """

    norm: Norm = "pre"
    masks: tuple[str, ...] = ranged(("everything",), readable(parse_mask))
    self_visible: bool = False
    token2token: Token2Token = "exp"
    score_start: float = ranged(0.0, finite)
    dropout: float = ranged(0.1, share)
    attention_dropout: float = ranged(0.1, share)
    impl: Impl = "auto"
    source2token: Source2Token = "sigmoid"
    score_from: Literal["value", "input"] = "value"


class TensorizedSelfAttention(LayerAttention):
    """``weight_ijl ∝ exp(q_i·k_j / sqrt(C)) sigmoid(z_jl / sqrt(C))``, ``z_j = v_j W_z + b_z`` for each head.

    The two scale functions are the other way round than in MTSA's sentence encoders, as in the published code. Beside
    the projections of multi-head attention there are ``H C (C + 1)`` parameters a layer: 199,680 in the base model.

    With ``source2token="exp"``, ``score_from="input"`` and the mask ``causal`` it is the attention of the layer that
    the published code puts on a language model for MultiNLI: ``weight_ijl ∝ exp(q_i·k_j / sqrt(C)) exp(z_jl)``,
    ``z_j = x_j W_z + b_z``.

    Args:
        width: features D.
        config: the settings.
    """

    def __init__(self, width: int, config: MtsaTransformerConfig) -> None:
        super().__init__()
        self.heads, head = config.heads, width // config.heads
        self.query, self.key, self.value, self.output = (Dense(width, width, bias=False) for _ in range(4))
        self.source2token: Source2Token = config.source2token
        if config.score_from == "value":
            self.score: HeadDense | Dense = HeadDense(config.heads, lambda: Dense(head, head))
        else:
            self.score = Dense(width, width)
        for name, parameter in self.score.named_parameters():
            if name.endswith("bias"):
                init.constant_(parameter, config.score_start)
        self.attention = TensorizedHeads(config)

    def forward(
        self, x: Tensor, sentences: Sentences, *, need_weights: bool = False
    ) -> tuple[Tensor, dict[MapPlace, Tensor]]:
        """See `LayerAttention.forward`; weights are feature-wise, [B, Q, K, C]."""
        query, key, value = (
            split_heads(dense(x), self.heads) for dense in (self.query, self.key, self.value)
        )
        from_heads = isinstance(self.score, HeadDense)
        score = self.score(value) if from_heads else split_heads(self.score(x), self.heads)
        if self.source2token == "sigmoid":
            score = score / value.shape[-1] ** 0.5
        source = scaled_source(score, self.source2token)
        attended = self.attention(query, key, value, source, sentences, need_weights=need_weights)
        return self.output(join_heads(attended.output)), self.attention.apart(attended.weights)


class MtsaTransformerEncoder(EncoderOf[MtsaTransformerConfig]):
    """The Transformer's encoder with tensorized attention in place of multi-head attention.

    Sinusoidal positions stay, and nothing else differs from `TransformerEncoder`: with the same settings the two can be
    compared layer for layer.
    """

    settings = MtsaTransformerConfig

    def build(self, width: int, config: MtsaTransformerConfig) -> None:
        """See `EncoderOf.build`."""
        stack = TransformerConfig(config.layers, config.heads, config.hidden, config.norm, config.dropout)
        self.stack = TransformerStack(width, stack, lambda: TensorizedSelfAttention(width, config))

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`. Maps are feature-wise, [B, Q, K, C], one a layer and head."""
        return self.stack(x, sentences, need_weights=need_weights)
