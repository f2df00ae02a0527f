"""What every encoder is: a module from word vectors to one state a token."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import torch
from torch import Tensor, nn

from heedful.attention import AttentionResult, TorchImpl
from heedful.attention.dot_product import masked_head_attention
from heedful.attention.implementation import padding_of
from heedful.attention_names import MapPlace
from heedful.nn import Activation, Dense
from heedful.settings import Settings, at_least, ranged, share
from heedful.structures import ContextStates, PolicyRecord, Sentences


class ContextEncoder(nn.Module, ABC):
    """Turn word vectors into states that know their context.

    Attributes:
        width_in: features of the word vectors.
        width_out: features of the states.
    """

    width_in: int
    width_out: int

    @abstractmethod
    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode.

        Args:
            x: word vectors, [B, L, width_in]; padding may hold anything.
            sentences: which tokens are real, and the structure that masks are made from.
            need_weights: also return attention maps and gates; the states are the same.

        Returns:
            States [B, L, width_out], exactly zero at padding, and maps and gates if asked for.
        """


C = TypeVar("C", bound=Settings)


class EncoderOf(ContextEncoder, Generic[C]):
    """An encoder that is made from a width and its settings.

    Args:
        width: features of the word vectors.
        config: the settings; None for the defaults.

    Attributes:
        settings: the class of the settings.
        config: the settings.

    Raises:
        UsageError: if a setting is out of range.
    """

    settings: type[C]

    def __init__(self, width: int, config: C | None = None) -> None:
        super().__init__()
        self.config = config or self.settings()
        self.width_in = self.width_out = width
        self.build(width, self.config)

    @abstractmethod
    def build(self, width: int, config: C) -> None:
        """Make the parts, and set `width_out` where the states are not as wide as the word vectors.

        Args:
            width: features of the word vectors.
            config: the settings.
        """


class MultiHeadAttention(nn.Module):
    """Dot-product attention in heads that see every word; it has no parameters.

    Args:
        dropout: of the attention weights.
        impl: implementation of the attention operation; "auto" chooses the fastest one that supports the input.
    """

    def __init__(self, dropout: float, impl: TorchImpl) -> None:
        super().__init__()
        self.dropout = dropout
        self.impl: TorchImpl = impl

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, sentences: Sentences, *, need_weights: bool = False
    ) -> AttentionResult:
        """Attend.

        Args:
            query: [B, H, L, C].
            key: [B, H, L, C].
            value: [B, H, L, C].
            sentences: which tokens are real.
            need_weights: also return the weights.

        Returns:
            Output [B, H, L, C], and weights [B, H, Q, K] or None.
        """
        return masked_head_attention(
            query,
            key,
            value,
            sentences.valid,
            dropout=self.dropout if self.training else 0.0,
            need_weights=need_weights,
            impl=self.impl,
        )


Part = tuple[Tensor, Tensor | None, Tensor]
"""What a block gives: states [B, L, D], weights with a row a query or None, and gate [B, L, D]."""


def side_by_side(
    parts: Sequence[Part],
    masks: Sequence[str],
    *,
    axis: str = "features",
    policy: PolicyRecord | None = None,
) -> ContextStates:
    """Concatenate the states of blocks that read the same words, one block a mask, which is the rule of its map.

    Args:
        parts: what each block gave, all with weights or all without; without, there are no gates either.
        masks: the mask of each block; two blocks may have the same one, and then carry a number.
        axis: what the last axis of the maps holds.
        policy: what a mask selector chose.

    Returns:
        States [B, L, the sum of the widths], and maps and gates if there are weights.
    """
    states = torch.cat([states for states, _, _ in parts], dim=-1)
    placed = list(zip(places_of(masks, axis=axis), parts, strict=True))
    maps = {place: weights for place, (_, weights, _) in placed if weights is not None}
    return ContextStates(
        states, maps, {place: gate for place, (_, _, gate) in placed if place in maps}, policy
    )


def in_layers(
    layers: Iterable[nn.Module], x: Tensor, sentences: Sentences, *, need_weights: bool
) -> tuple[Tensor, dict[MapPlace, Tensor]]:
    """Run layers one on the other, each from (x, sentences) to the next x and maps, which get the layer's number."""
    maps: dict[MapPlace, Tensor] = {}
    for number, layer in enumerate(layers, start=1):
        x, found = layer(x, sentences, need_weights=need_weights)
        maps |= in_layer(number, found)
    return x, maps


def places_of(rules: Sequence[str], *, axis: str = "") -> list[MapPlace]:
    """Return one place a head or block; where several have one rule, each gets its place in the list, from 1.

    Args:
        rules: what each of them may look at.
        axis: see `MapPlace`.

    Returns:
        The places.
    """
    return [
        MapPlace(rule, number=None if rules.count(rule) == 1 else place, axis=axis)
        for place, rule in enumerate(rules, start=1)
    ]


def heads_apart(weights: Tensor | None) -> dict[MapPlace, Tensor]:
    """Take the maps of heads without rules apart.

    Args:
        weights: [B, H, Q, K]; None where they were not asked for.

    Returns:
        One map a head, [B, Q, K]; none for None.
    """
    if weights is None:
        return {}
    return {MapPlace(head=number): each for number, each in enumerate(weights.unbind(1), start=1)}


Value = TypeVar("Value")


def in_layer(number: int, maps: Mapping[MapPlace, Value]) -> dict[MapPlace, Value]:
    """Return of which layer maps are; the features of a map are those of its head then.

    Args:
        number: of the layer, from 1.
        maps: of one layer.

    Returns:
        The same maps at their places in the stack.
    """
    return {
        replace(
            place, layer=number, axis="features of the head" if place.axis == "features" else place.axis
        ): weights
        for place, weights in maps.items()
    }


@dataclass(frozen=True)
class EmbeddingConfig(Settings):
    """Settings of `EmbeddingEncoder`.

    Attributes:
        hidden: features of a dense layer with activation on each word; 0 for no such layer. 600 gives MTSA "w/o
            proposed modules".
        activation: activation of that layer.
        dropout: dropout rate on its input.
    """

    hidden: int = ranged(0, at_least(0))
    activation: Activation = "elu"
    dropout: float = ranged(0.25, share)


class EmbeddingEncoder(EncoderOf[EmbeddingConfig]):
    """Hand word vectors to the pooling, through one dense layer if ``hidden`` is set.

    The states have ``hidden`` features, or those of the word vectors where it is 0.
    """

    settings = EmbeddingConfig

    def build(self, width: int, config: EmbeddingConfig) -> None:
        """See `EncoderOf.build`."""
        self.width_out = config.hidden or width
        self.layer = (
            Dense(width, config.hidden, activation=config.activation, dropout=config.dropout)
            if config.hidden
            else None
        )

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`. There are no maps and no gates."""
        padding = padding_of(x, sentences.valid)
        x = x.masked_fill(padding, 0)
        return ContextStates(x if self.layer is None else self.layer(x).masked_fill(padding, 0))
