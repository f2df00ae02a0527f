"""DiSAN: directional self-attention (Shen et al., AAAI 2018).

Equation to line: Eq. 14 `DisaBlock.hidden`; Eq. 15 `DisaBlock.key`, `.query`, `.bias` and `additive_attention`;
Eq. 10 `DisaBlock.pairs`; Eq. 11 the softmax of both; Eq. 16 to 18 the masks; Eq. 19 and 20 `FusionGate`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import torch
from torch import Tensor, nn

from heedful.attention import (
    AttentionResult,
    Impl,
    additive_attention,
    clear_padding,
    dropout,
    feature_scored_attention,
)
from heedful.attention.masks import Mask, parse_mask
from heedful.attention.visibility import Visible, dense_keep
from heedful.encoders.context_encoder import EncoderOf, side_by_side
from heedful.nn import Activation, Dense, FusionGate, MultiDimensionalScore
from heedful.settings import Settings, above, at_least, ranged, readable, share
from heedful.structures import ContextStates, Sentences

Score = Literal["bounded", "general"]


@dataclass(frozen=True)
class DisanConfig(Settings):
    """Settings of `DisanEncoder`.

    Attributes:
        masks: masks of the blocks. There is one block for each mask, and blocks share no weights.
        activation: "elu" for inference between sentences, "relu" for sentiment and classification.
        dropout: dropout rate on the input of every dense layer.
        scale: bound c of the attention scores; the general score has no bound.
        impl: implementation of the attention operation; the general score has only one.
        score: "bounded", the paper's reduced form (Eq. 15), or "general", with a matrix for every feature and without a
            bound (Eq. 10); the latter builds the scores of all pairs of words.
        inner: features of the blocks, to which a dense layer without activation maps wider word vectors; 0 for blocks
            that are as wide as the vectors, as the paper has them. The time of a step grows with its square.
    """

    masks: tuple[str, ...] = ranged(("forward", "backward"), readable(parse_mask))
    activation: Activation = "elu"
    dropout: float = ranged(0.25, share)
    scale: float = ranged(5.0, above(0))
    impl: Impl = "auto"
    score: Score = "bounded"
    inner: int = ranged(0, at_least(0))


class FeatureWise(Protocol):
    """What holds the parameters and settings of DiSAN's bounded score (Eq. 15)."""

    key: Dense
    query: Dense
    bias: nn.Parameter
    scale: float
    impl: Impl


def attend_by_feature(
    block: FeatureWise, h: Tensor, dropped: Tensor, valid: Tensor, visible: Visible, *, need_weights: bool
) -> AttentionResult:
    """Attend with ``score_ij = c tanh((W_1 h_j + W_2 h_i + b) / c)``, from dropped h; the values stay whole."""
    query = block.query(dropped)
    return additive_attention(
        query + block.bias.to(query.dtype),  # autocast lowers matrix products alone
        block.key(dropped),
        h.to(query.dtype),
        valid,
        visible,
        scale=block.scale,
        need_weights=need_weights,
        impl=block.impl,
    )


class DisaBlock(nn.Module):
    """One directional block: 451,500 parameters at width 300, 541,800 with the general score.

    Args:
        width: features D, in and out.
        mask: which keys a query may see.
        config: the settings; its masks are not read.
    """

    def __init__(self, width: int, mask: Mask, config: DisanConfig) -> None:
        super().__init__()
        activation, dropout, score = config.activation, config.dropout, config.score
        self.mask, self.dropout, self.scale, self.impl = mask, dropout, config.scale, config.impl
        self.hidden = Dense(width, width, activation=activation, dropout=dropout)
        # No dropout of their own: they share one dropped copy of h. Not under L2 in the published code either.
        if score == "general":
            self.pairs = MultiDimensionalScore(width, activation=activation, dropout=dropout, l2=False)
        else:
            self.key = Dense(width, width, bias=False, l2=False)
            self.query = Dense(width, width, bias=False, l2=False)
            self.bias = nn.Parameter(torch.zeros(width))
        self.score: Score = score
        self.gate = FusionGate(width, dropout=dropout)

    def forward(
        self, x: Tensor, sentences: Sentences, *, need_weights: bool = False
    ) -> tuple[Tensor, Tensor | None, Tensor]:
        """Run the block.

        Args:
            x: [B, L, D].
            sentences: validity and structure.
            need_weights: also return the attention weights.

        Returns:
            States [B, L, D], zero at padding; weights [B, Q, K, D] or None; gate [B, L, D].
        """
        h = self.hidden(x)
        attended = self._attend(h, sentences, need_weights=need_weights)
        fused, gate = self.gate(h, attended.output, sentences.valid)
        return fused, attended.weights, gate

    def _attend(self, h: Tensor, sentences: Sentences, *, need_weights: bool) -> AttentionResult:
        """Attend from every word to those its mask shows; the values, h, are not dropped."""
        h_dropped, visible = dropout(h, self.dropout, self.training), self.mask.visible(sentences)
        if self.score == "general":
            score = self.pairs(h_dropped, h_dropped)
            found = feature_scored_attention(score, h.to(score.dtype), dense_keep(visible, sentences.valid))
            return found if need_weights else AttentionResult(found.output)
        return attend_by_feature(self, h, h_dropped, sentences.valid, visible, need_weights=need_weights)


class DisanEncoder(EncoderOf[DisanConfig]):
    """Blocks side by side, one a mask, their states concatenated.

    Differs from the paper where the published code does: the hidden width always equals the input width, and the
    fusion gate has three bias vectors (needed for the published 2.35 million parameters).

    The states have ``width * len(config.masks)`` features, or ``config.inner * len(config.masks)``.
    """

    settings = DisanConfig

    def build(self, width: int, config: DisanConfig) -> None:
        """See `EncoderOf.build`."""
        inner = config.inner or width
        self.width_out = inner * len(config.masks)
        self.narrow = Dense(width, inner, dropout=config.dropout) if config.inner else nn.Identity()
        self.blocks = nn.ModuleList(DisaBlock(inner, parse_mask(mask), config) for mask in config.masks)

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`. Maps are feature-wise, [B, Q, K, D], one a mask."""
        x = self.narrow(clear_padding(x, sentences.valid))
        parts = [block(x, sentences, need_weights=need_weights) for block in self.blocks]
        return side_by_side(parts, self.config.masks)
