"""MS-SAN: multi-head attention in which every head has a structural prior of its own (Qi et al.).

Equation to line: Eq. 1 and 2 `PriorAttention`; Eq. 3 to 6 `prior_bias`; Eq. 7 to 9 `ProjectedGate`; Eq. 10
`FeedForward`; Eq. 11 the pooling "attentive-max".
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from heedful.attention import TorchImpl
from heedful.attention.dot_product import hidden_score, masked_head_attention
from heedful.attention.implementation import lowered_by_autocast, padding_of
from heedful.attention_names import MapPlace
from heedful.encoders.context_encoder import EncoderOf
from heedful.encoders.priors import (
    PositionName,
    Positions,
    RelativePositions,
    SinusoidPositions,
    WithoutParse,
    parse_prior,
    prior_bias,
)
from heedful.errors import UsageError
from heedful.nn import Activation, Dense, FeedForward, ProjectedGate
from heedful.settings import COUNT, Settings, at_least, ranged, readable, share
from heedful.structures import ContextStates, Sentences

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class MssanConfig(Settings):
    """Settings of `MssanEncoder`.

    Attributes:
        heads: the prior of each head: a direction ("forward", "backward"), a distance ("word", "dependency"), both
            joined by "&", or "none". A name of any other mask, or a mask itself, shows a word what that mask shows, and
            itself: "clause & word".
        alpha: weight of the distances. The paper does not give its value; 1.5 is that of Im and Cho (2017).
        encoders: number of parallel encoders, whose states are concatenated. The heads are distributed over them in
            equal parts, in order. 2 gives MS-SAN_sep.
        layers: number of layers of each encoder.
        hidden: features of the feed-forward network's hidden layer; 0 takes the width, the only choice that gives the
            paper's 1.8 million parameters.
        positions: learned positions in addition to the priors: "relative" (Shaw et al., 2018) or "transformer-xl".
        reach: largest offset with a vector of its own, for "relative".
        without_parse: what a dependency head uses for a text without a parse: the distance in words ("word"), or no
            distance ("none").
        projection_bias: whether the projections of queries, keys, values and heads have biases.
        activation: activation of the feed-forward network.
        dropout: dropout rate on the input of every dense layer; the attention weights have no dropout.
        impl: implementation of the attention operation; "auto" chooses the fastest one that supports the input.
    """

    heads: tuple[str, ...] = ranged(
        (
            "forward & word",
            "forward & dependency",
            "forward",
            "backward & word",
            "backward & dependency",
            "backward",
        ),
        readable(parse_prior),
    )
    alpha: float = ranged(1.5, at_least(0))
    encoders: int = ranged(1, COUNT)
    layers: int = ranged(1, COUNT)
    hidden: int = ranged(0, at_least(0))
    positions: PositionName = "none"
    reach: int = ranged(16, at_least(1))
    without_parse: WithoutParse = "word"
    projection_bias: bool = False
    activation: Activation = "relu"
    dropout: float = ranged(0.1, share)
    impl: TorchImpl = "auto"


class PriorAttention(nn.Module):
    """Multi-head attention with one additive term a head: 360,000 parameters at width 300 without biases.

    Args:
        width: features D, in and out.
        heads: number H of heads, which divides D.
        bias: whether the four projections have biases.
        dropout: on the input of the four projections.
        positions: learned positions, or None.
        impl: implementation of the attention operation; "auto" chooses the fastest one that supports the input.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        bias: bool,
        dropout: float,
        positions: Positions | None,
        impl: TorchImpl,
    ) -> None:
        super().__init__()
        self.heads, self.impl = heads, impl
        self.query = Dense(width, width, bias=bias, dropout=dropout)
        self.key = Dense(width, width, bias=bias, dropout=dropout)
        self.value = Dense(width, width, bias=bias, dropout=dropout)
        self.output = Dense(width, width, bias=bias, dropout=dropout)
        self.positions = positions

    def forward(
        self, x: Tensor, valid: Tensor, prior: Tensor, *, need_weights: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """Attend.

        Args:
            x: [B, L, D].
            valid: True at a real token, [B, L] bool.
            prior: from `prior_bias`, [B, H, L, L].
            need_weights: also return the weights.

        Returns:
            [B, L, D], and weights [B, H, Q, K] or None.
        """
        query, key, value = (
            projection(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for projection in (self.query, self.key, self.value)
        )
        positions = self.positions
        if positions is not None:
            extra = positions.scores(query, key) / query.shape[-1] ** 0.5
            hidden = prior <= hidden_score(prior.dtype)  # what is hidden must stay exactly so
            prior = torch.where(hidden, prior, prior + extra)
        reads_weights = need_weights or (positions is not None and positions.changes_values)
        attended = masked_head_attention(
            query,
            key,
            value,
            valid,
            prior,
            need_weights=reads_weights,
            impl=self.impl,
        )
        context = attended.output
        if positions is not None and positions.changes_values and attended.weights is not None:
            context = context + positions.values(attended.weights)
        output = self.output(context.transpose(1, 2).flatten(-2))
        return output, attended.weights if need_weights else None


class MssanBlock(nn.Module):
    """Attention, fusion gate instead of a residual, feed-forward network: 901,500 parameters at width 300.

    Args:
        width: features D, in and out.
        heads: H.
        config: the settings.
    """

    def __init__(self, width: int, heads: int, config: MssanConfig) -> None:
        super().__init__()
        self.attention = PriorAttention(
            width,
            heads,
            bias=config.projection_bias,
            dropout=config.dropout,
            positions=_positions(width, heads, config),
            impl=config.impl,
        )
        self.gate = ProjectedGate(width, dropout=config.dropout)
        self.feed_forward = FeedForward(
            width, config.hidden or width, activation=config.activation, dropout=config.dropout
        )

    def forward(
        self, x: Tensor, valid: Tensor, prior: Tensor, *, need_weights: bool = False
    ) -> tuple[Tensor, Tensor | None, Tensor]:
        """Run the block.

        Args:
            x: [B, L, D], zero at padding.
            valid: True at a real token, [B, L] bool.
            prior: from `prior_bias`, [B, H, L, L].
            need_weights: also return the attention weights.

        Returns:
            States [B, L, D], zero at padding; weights [B, H, Q, K] or None; gate [B, L, D].
        """
        context, weights = self.attention(x, valid, prior, need_weights=need_weights)
        fused, gate = self.gate(x, context, valid)
        return self.feed_forward(fused).masked_fill(padding_of(x, valid), 0), weights, gate


class MssanEncoder(EncoderOf[MssanConfig]):
    """A stack of blocks whose heads see the sentence through different structural priors.

    "forward" shows what stands before, as the paper's text says; its Eq. 3 reads the other way round. The two only
    exchange heads.

    The states have ``width * config.encoders`` features.

    Raises:
        UsageError: if the heads do not divide the width, or are not dealt evenly to the encoders.
    """

    settings = MssanConfig

    def build(self, width: int, config: MssanConfig) -> None:
        """See `EncoderOf.build`."""
        _check(width, config)
        self.width_out = width * config.encoders
        self.priors = tuple(parse_prior(text) for text in config.heads)
        self._heads = len(config.heads) // config.encoders
        self.blocks = nn.ModuleList(
            MssanBlock(width, self._heads, config) for _ in range(config.encoders * config.layers)
        )
        self._fallback_told = False

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`. Maps are [B, Q, K], one a head; gates one a block."""
        self._report_fallback(sentences)
        valid = sentences.valid
        x = x.masked_fill(padding_of(x, valid), 0)
        priors = prior_bias(
            self.priors,
            self.config.alpha,
            sentences,
            without_parse=self.config.without_parse,
            dtype=_score_dtype(x),
        )
        results = []
        maps: dict[MapPlace, Tensor] = {}
        gates: dict[MapPlace, Tensor] = {}
        for number in range(self.config.encoders):
            states, prior = x, priors[:, number * self._heads : (number + 1) * self._heads]
            for layer in range(self.config.layers):
                block = self.blocks[number * self.config.layers + layer]
                states, weights, gate = block(states, valid, prior, need_weights=need_weights)
                if weights is not None:
                    maps |= zip(self.places(number, layer), weights.unbind(1), strict=True)
                    gates[self.gate_place(number, layer)] = gate
            results.append(states)
        return ContextStates(torch.cat(results, dim=-1), maps, gates)

    def places(self, encoder: int, layer: int) -> list[MapPlace]:
        """Return the places of the heads of one block; heads are counted through all encoders.

        Args:
            encoder: number of the encoder, from 0.
            layer: number of its layer, from 0.

        Returns:
            The places.
        """
        number = layer + 1 if self.config.layers > 1 else None
        first = encoder * self._heads
        own = self.priors[first : first + self._heads]
        return [
            MapPlace(str(prior), number, place, distance=prior.distance or "")
            for place, prior in enumerate(own, start=first + 1)
        ]

    def gate_place(self, encoder: int, layer: int) -> MapPlace:
        """Return the place of the gate of one block; see `places`."""
        return MapPlace(
            layer=layer + 1 if self.config.layers > 1 else None,
            encoder=encoder + 1 if self.config.encoders > 1 else None,
        )

    def _report_fallback(self, sentences: Sentences) -> None:
        if torch.compiler.is_compiling() or self._fallback_told or sentences.tree_distance is not None:
            return
        if any(prior.distance == "dependency" for prior in self.priors):
            self._fallback_told = True
            stand_in = "the word distance" if self.config.without_parse == "word" else "no distance"
            _LOG.warning("sentences come without a parse: dependency heads use %s instead", stand_in)


def _score_dtype(x: Tensor) -> torch.dtype:
    """Return the type that a dense layer's result has, which autocast lowers."""
    kind = x.device.type
    if x.dtype == torch.float32 and lowered_by_autocast(kind):
        return torch.get_autocast_dtype(kind)
    return x.dtype


def _positions(width: int, heads: int, config: MssanConfig) -> Positions | None:
    if config.positions == "relative":
        return RelativePositions(width // heads, config.reach)
    return SinusoidPositions(width, heads) if config.positions == "transformer-xl" else None


def _check(width: int, config: MssanConfig) -> None:
    heads, rest = divmod(len(config.heads), config.encoders)
    if not heads or rest:
        raise UsageError(f"heads must deal evenly to encoders={config.encoders}; got {len(config.heads)}")
    if width % heads:
        raise UsageError(f"{heads} heads do not divide the width {width} of the word vectors")
