"""The decoder of the Transformer (Vaswani et al., 2017), whose keys and values can be kept from step to step."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import torch
from torch import Tensor, nn

from heedful.attention import AttentionResult, dropout
from heedful.attention.dot_product import head_attention
from heedful.attention_names import MapPlace
from heedful.errors import UsageError
from heedful.nn.blocks import StackConfig, build_residual, join_heads, last_norm, position_wise, split_heads
from heedful.nn.dense import Dense
from heedful.nn.embedding import positional_signal
from heedful.structures import Maps


@dataclass(frozen=True)
class DecoderConfig(StackConfig):
    """Settings of `TransformerDecoder`; the defaults are those of the published base model, except its width of 512."""


@dataclass(frozen=True)
class LayerCache:
    """Keys and values of one layer, so that a step computes those of its own tokens alone.

    Attributes:
        key: of the tokens decoded so far, [B, H, T, C].
        value: of the tokens decoded so far, [B, H, T, C].
        source_key: of the source, [B, H, L, C].
        source_value: of the source, [B, H, L, C].
    """

    key: Tensor
    value: Tensor
    source_key: Tensor
    source_value: Tensor

    def select(self, rows: Tensor) -> LayerCache:
        """Return chosen rows, in the order asked for."""
        return LayerCache(self.key[rows], self.value[rows], self.source_key[rows], self.source_value[rows])


@dataclass(frozen=True)
class DecoderCache:
    """Where decoding stands.

    Attributes:
        layers: one record a layer.
        source_valid: True at a real token of the source, [B, L] bool.
        length: tokens decoded so far.
    """

    layers: tuple[LayerCache, ...]
    source_valid: Tensor
    length: int = 0

    def select(self, rows: Tensor) -> DecoderCache:
        """Return chosen rows, in the order asked for, [N] int64; a row may be asked for more than once."""
        layers = tuple(layer.select(rows) for layer in self.layers)
        return replace(self, layers=layers, source_valid=self.source_valid[rows])


@dataclass(frozen=True)
class DecoderOutput:
    """What the decoder returns.

    Attributes:
        states: one vector a token, [B, T, D].
        cache: where decoding stands after these tokens.
        maps: attention of these tokens on the source, one a layer and head, [B, T, L]; empty unless asked for.
    """

    states: Tensor
    cache: DecoderCache
    maps: Maps = field(default_factory=dict)


class _Attention(nn.Module):
    """Projections of multi-head attention without biases; who attends to what is the caller's."""

    def __init__(self, width: int, width_source: int, config: DecoderConfig) -> None:
        super().__init__()
        self.heads, self.dropout = config.heads, config.attention_dropout
        self.query, self.output = Dense(width, width, bias=False), Dense(width, width, bias=False)
        self.key, self.value = (Dense(width_source, width, bias=False) for _ in range(2))

    def keys(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Project [B, L, D] to keys and values, [B, H, L, C] each."""
        return split_heads(self.key(x), self.heads), split_heads(self.value(x), self.heads)

    def attend(
        self, x: Tensor, key: Tensor, value: Tensor, keep: Tensor | None, *, need_weights: bool = False
    ) -> AttentionResult:
        """Attend from [B, T, D]; the output is projected, [B, T, D]."""
        found = head_attention(
            split_heads(self.query(x), self.heads),
            key,
            value,
            keep,
            dropout=self.dropout if self.training else 0.0,
            need_weights=need_weights,
        )
        return AttentionResult(self.output(join_heads(found.output)), found.weights)


class _Layer(nn.Module):
    """Attention to the tokens before, attention to the source, the position-wise network."""

    def __init__(self, width: int, width_source: int, config: DecoderConfig) -> None:
        super().__init__()
        self.own = _Attention(width, width, config)
        self.cross = _Attention(width, width_source, config)
        self.feed_forward = position_wise(width, config.hidden, config.dropout)
        self.around_own = build_residual(config.norm, width, config.dropout)
        self.around_cross = build_residual(config.norm, width, config.dropout)
        self.around_feed_forward = build_residual(config.norm, width, config.dropout)

    def begin(self, source: Tensor) -> LayerCache:
        """Project the source, [B, L, D]; nothing is decoded yet."""
        source_key, source_value = self.cross.keys(source)
        nothing = source_key[:, :, :0]
        return LayerCache(nothing, nothing, source_key, source_value)

    def forward(
        self, x: Tensor, cache: LayerCache, earlier: Tensor | None, valid: Tensor, *, need_weights: bool
    ) -> tuple[Tensor, LayerCache, Tensor | None]:
        read = self.around_own.before(x)
        key, value = self.own.keys(read)
        key, value = torch.cat([cache.key, key], dim=2), torch.cat([cache.value, value], dim=2)
        x = self.around_own.after(x, self.own.attend(read, key, value, earlier).output)
        read = self.around_cross.before(x)
        seen = self.cross.attend(
            read, cache.source_key, cache.source_value, valid[:, None, None, :], need_weights=need_weights
        )
        x = self.around_cross.after(x, seen.output)
        x = self.around_feed_forward.after(x, self.feed_forward(self.around_feed_forward.before(x)))
        return x, replace(cache, key=key, value=value), seen.weights


class TransformerDecoder(nn.Module):
    """Sinusoidal positions, then layers of masked self-attention, attention to the source and a position-wise network.

    Any number of tokens can be decoded at a time: all of a translation in training, one in the search. Both are one
    computation, so that what is kept cannot go another way than what is computed again.

    Args:
        width: features D of its input and its states.
        width_source: features of the encoder's states.
        config: the settings.

    Raises:
        UsageError: if the heads do not divide the width.
    """

    def __init__(self, width: int, width_source: int, config: DecoderConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or DecoderConfig()
        if config.heads < 1 or width % config.heads:
            raise UsageError(f"decoder.heads={config.heads} must divide model.width, {width}")
        self.layers = nn.ModuleList(_Layer(width, width_source, config) for _ in range(config.layers))
        self.norm = last_norm(config.norm, width)

    def begin(self, source: Tensor, valid: Tensor) -> DecoderCache:
        """Take in the source.

        Args:
            source: states of the encoder, [B, L, width_source].
            valid: True at a real token, [B, L] bool.

        Returns:
            What `forward` needs; nothing is decoded yet.
        """
        return DecoderCache(tuple(layer.begin(source) for layer in self.layers), valid)  # type: ignore[operator]

    def forward(self, x: Tensor, cache: DecoderCache, *, need_weights: bool = False) -> DecoderOutput:
        """Decode the tokens that follow.

        Args:
            x: their vectors without positions, [B, T, D].
            cache: where decoding stands.
            need_weights: also return the attention on the source.

        Returns:
            One state a token; it depends on the tokens up to it and on no later one.
        """
        done, new = cache.length, x.shape[1]
        x = x + positional_signal(new, x.shape[2], x, start=done, exponent=1.0)
        x = dropout(x, self.config.dropout, self.training)
        # A single token sees all that came before it and itself: nothing is to be hidden.
        everything = torch.ones(new, done + new, dtype=torch.bool, device=x.device)
        earlier = None if new == 1 else everything.tril(done)[None, None]
        layers: list[LayerCache] = []
        maps: dict[MapPlace, Tensor] = {}
        for number, (layer, kept) in enumerate(zip(self.layers, cache.layers, strict=True), start=1):
            x, kept, weights = layer(x, kept, earlier, cache.source_valid, need_weights=need_weights)
            layers.append(kept)
            if weights is not None:
                heads = enumerate(weights.unbind(1), start=1)
                maps |= {MapPlace(layer=number, head=head): each for head, each in heads}
        return DecoderOutput(self.norm(x), replace(cache, layers=tuple(layers), length=done + new), maps)
