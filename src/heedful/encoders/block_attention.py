"""Bi-BloSA: self-attention within blocks of words, then between them (Shen et al., ICLR 2018)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from heedful.attention import Impl, additive_attention, source_to_token
from heedful.attention.implementation import padding_of
from heedful.attention.masks import parse_mask
from heedful.encoders.context_encoder import EncoderOf, side_by_side
from heedful.encoders.disan import DisaBlock, DisanConfig
from heedful.errors import UsageError
from heedful.nn import Activation, Dense, activate
from heedful.settings import Settings, above, at_least, ranged, readable, share
from heedful.structures import ContextStates, Sentences


def published_block_length(mean: float, deviation: float, batch: int) -> int:
    """Return the block length that the published code derives from its training data.

    ``ceil((2 (mean + deviation sqrt(2 ln batch))) ^ (1/3)) + 1``: the cube root of twice the length that the longest
    sentence of a batch is expected to have.

    Args:
        mean: mean length of a training sentence, in words.
        deviation: its standard deviation, in words.
        batch: sentences of a batch.

    Returns:
        Words of a block.
    """
    longest = mean + deviation * math.sqrt(2 * math.log(batch))
    return math.ceil((2 * longest) ** (1 / 3)) + 1


def _parse_positional(text: str) -> None:
    """Read a mask of blocks, which have positions and no places in a tree."""
    if parse_mask(text).reads_trees:
        raise UsageError(f"mask {text!r}: blocks have no dependency tree; use masks of positions alone")


@dataclass(frozen=True)
class BiBlosanConfig(Settings):
    """Settings of `BiBlosanEncoder`.

    Attributes:
        directions: masks, one for each part of the encoder: which words a word sees within its block, and which blocks
            a block sees. A word still gets information from all words of its own block, through the block's vector.
        block_length: number of words in a block; see `published_block_length`.
        activation: "elu" for inference between sentences, "relu" for sentiment and classification.
        dropout: dropout rate on the input of every dense layer.
        scale: bound c of the attention scores.
        impl: implementation of the attention operation; "auto" chooses the fastest one that supports the input.
    """

    directions: tuple[str, ...] = ranged(("forward", "backward"), readable(_parse_positional))
    block_length: int = ranged(5, at_least(1))
    activation: Activation = "elu"
    dropout: float = ranged(0.25, share)
    scale: float = ranged(5.0, above(0))
    impl: Impl = "auto"


class _Direction(nn.Module):
    """One mask's part: 1,353,000 parameters at width 300."""

    def __init__(self, width: int, mask: str, config: BiBlosanConfig) -> None:
        super().__init__()
        self.config, self.mask = config, parse_mask(mask)
        self.hidden = Dense(width, width, activation=config.activation, dropout=config.dropout)
        self.pairs = Dense(width, 2 * width, bias=False, dropout=config.dropout)  # keys and queries
        self.bias = nn.Parameter(torch.zeros(width))
        self.block_score = Dense(width, width, dropout=config.dropout)
        between = DisanConfig(
            activation=config.activation, dropout=config.dropout, scale=config.scale, impl=config.impl
        )
        self.between = DisaBlock(width, self.mask, between)
        self.fusion = Dense(3 * width, 2 * width, dropout=config.dropout)

    def forward(
        self, x: Tensor, valid: Tensor, size: int, *, need_weights: bool
    ) -> tuple[Tensor, Tensor | None, Tensor]:
        """Map [B, L, D], L a multiple of the block's size r, to states, weights [B N, r, r, D] and gate."""
        hidden = self.hidden(x).masked_fill(padding_of(x, valid), 0)
        batch, length, width = shape = hidden.shape
        count = length // size
        blocks, real = hidden.view(batch * count, size, width), valid.view(batch * count, size)
        key, query = self.pairs(blocks).chunk(2, dim=-1)
        within = additive_attention(
            query + self.bias.to(query.dtype),
            key,
            blocks,
            real,
            self.mask.visible(Sentences(real.long(), real)),
            scale=self.config.scale,
            need_weights=need_weights,
            impl=self.config.impl,
        )
        block, _ = source_to_token(within.output, self.block_score(within.output), real)
        filled = real.any(dim=1).view(batch, count)
        around, _, _ = self.between(block.view(batch, count, width), Sentences(filled.long(), filled))
        parts = [hidden, within.output.reshape(shape), around.repeat_interleave(size, dim=1)]
        new, gate = self.fusion(torch.cat(parts, dim=-1)).chunk(2, dim=-1)
        gate = torch.sigmoid(gate)
        states = gate * activate(new, self.config.activation) + (1 - gate) * hidden
        return states, within.weights, 1 - gate


class BiBlosanEncoder(EncoderOf[BiBlosanConfig]):
    """Within a block DiSA's attention without a gate; between block vectors a whole DiSA block; then a fusion.

    For every word: ``[f ; g] = [h ; s ; e] W + b`` with h the word, s its context within the block and e that of its
    block; state ``sigmoid(g) * act(f) + (1 - sigmoid(g)) * h``. The length of a block is a setting, since it comes from
    the training data. Differs from the published code where a result would depend on the batch: a block of padding
    alone is no block here, and there it is attended to like any other.

    The states have ``width * len(config.directions)`` features.
    """

    settings = BiBlosanConfig

    def build(self, width: int, config: BiBlosanConfig) -> None:
        """See `EncoderOf.build`."""
        self.width_out = width * len(config.directions)
        self.directions = nn.ModuleList(_Direction(width, mask, config) for mask in config.directions)

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`.

        Maps are feature-wise, [B, Q, K, D], one a mask, and tell what a word sees within its block.
        """
        valid, length = sentences.valid, x.shape[1]
        x = x.masked_fill(padding_of(x, valid), 0)
        size = self.config.block_length
        if not torch.compiler.is_compiling():  # what is traced serves every length
            size = max(1, min(size, length))  # a block longer than every text is not filled up
        missing = -length % size
        if (
            torch.compiler.is_exporting()
        ):  # a block for each word: their number must be a name, and no quotient
            missing = length * (size - 1)
        x, whole = functional.pad(x, (0, 0, 0, missing)), functional.pad(valid, (0, missing))
        parts = [part(x, whole, size, need_weights=need_weights) for part in self.directions]
        found = side_by_side(parts, self.config.directions)
        states = found.states[:, :length]
        maps = {
            replace(place, kind="in blocks"): _on_diagonal(weights, len(x))[:, :length, :length]
            for place, weights in found.maps.items()
        }
        return ContextStates(
            states.masked_fill(padding_of(states, valid), 0),
            maps,
            {place: gate[:, :length] for place, gate in found.gates.items()},
        )


def _on_diagonal(weights: Tensor, batch: int) -> Tensor:
    """Put weights within blocks, [B N, r, r, D], on the diagonal of [B, N r, N r, D]."""
    size, width = weights.shape[1], weights.shape[3]
    weights = weights.view(batch, -1, size, size, width)
    count = weights.shape[1]
    whole = weights.new_zeros(batch, count, size, count, size, width)
    for block in range(count):
        whole[:, block, :, block] = weights[:, block]
    return whole.view(batch, count * size, count * size, width)
