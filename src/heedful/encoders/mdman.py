"""MDMAN: multiway attention with masks that a policy opens (doi 10.3233/JCM-204451).

The text at hand lacks the paper's formulas; docs/math/mdman.md says which parts are stated, which are reconstructed,
and by which setting they change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from heedful.attention import AttentionResult, Impl
from heedful.attention.implementation import padding_of
from heedful.attention.visibility import Band, Visible
from heedful.attention_names import MapPlace
from heedful.encoders.context_encoder import EncoderOf
from heedful.encoders.resan import (
    DotAttention,
    FeatureWiseAttention,
    MaskPolicy,
    PolicySettings,
    ProductAttention,
)
from heedful.nn import AttentionFusion, Dense, FusionGate
from heedful.settings import above, each_once, ranged, share
from heedful.structures import ContextStates, PolicyRecord, Sentences

AttentionName = Literal["self", "dot"]
DotScore = Literal["pair", "feature"]
_DIRECTIONS = {"forward": Band(None, -1), "backward": Band(1, None)}


@dataclass(frozen=True)
class MdmanConfig(PolicySettings):
    """Settings of `MdmanEncoder`.

    Attributes:
        attentions: kinds of attention, each of which is used in both directions. ("self",) is the paper's ablation
            "Dynamic Mask self-attention Network".
        dynamic: whether a policy opens pairs against the direction. False is the paper's ablation "Directional
            Multiway attention Network".
        shared_hidden: whether all attentions share one input layer; otherwise each has its own.
        one_action: whether the policy chooses once for each token, as query and as key; otherwise there are two
            policies.
        dot_score: "pair" for one scaled product for each pair of tokens, or "feature" for one score for each feature,
            like MwAN's "dot".
        policy_learns: whether the policy is trained. With False it acts with its initial weights, which shows by
            comparison what it learns.
        decision: how the policy acts in evaluation: "threshold" or "sample".
        encoder_steps: number of first steps in which only the encoder learns, with the plain directional masks.
        policy_steps: number of further steps in which only the policy learns; after them both learn.
        penalty: factor in the reward by which the share of opened reverse positions is penalized.
        baseline_decay: decay of the moving average that is subtracted from the reward; 0 for no baseline.
        activation: activation of the input layers and of the policies' hidden layers.
        dropout: dropout rate on the input of every dense layer.
        scale: bound c of the feature-wise scores.
        impl: implementation of the feature-wise self-attention.
    """

    attentions: tuple[AttentionName, ...] = ranged(("self", "dot"), each_once)
    dynamic: bool = True
    shared_hidden: bool = False
    one_action: bool = False
    dot_score: DotScore = "pair"
    policy_learns: bool = True
    baseline_decay: float = ranged(0.99, share)
    scale: float = ranged(5.0, above(0))
    impl: Impl = "auto"


class Way(nn.Module):
    """One attention in one direction: input layer, attention, gate.

    Args:
        width: features D.
        kind: of attention.
        config: the settings.
    """

    def __init__(self, width: int, kind: AttentionName, config: MdmanConfig) -> None:
        super().__init__()
        dropout = config.dropout
        self.hidden = None
        if not config.shared_hidden:
            self.hidden = Dense(width, width, activation=config.activation, dropout=dropout)
        self.attention: nn.Module
        if kind == "self":
            self.attention = FeatureWiseAttention(
                width, dropout=dropout, scale=config.scale, impl=config.impl
            )
        elif config.dot_score == "pair":
            self.attention = DotAttention(width, dropout=dropout)
        else:
            self.attention = ProductAttention(width, dropout=dropout, scale=config.scale)
        self.gate = FusionGate(width, dropout=dropout)

    def forward(
        self, x: Tensor, valid: Tensor, visible: Visible, *, need_weights: bool
    ) -> tuple[Tensor, AttentionResult, Tensor]:
        """Attend and fuse.

        Args:
            x: word vectors, or the shared hidden states, [B, L, D].
            valid: True at a real token, [B, L] bool.
            visible: which keys a query may see.
            need_weights: also return the attention weights.

        Returns:
            The fused states [B, L, D], zero at padding, the attention's result, and the gate [B, L, D].
        """
        h = x if self.hidden is None else self.hidden(x)
        attended = self.attention(h, valid, visible, need_weights=need_weights)
        fused, gate = self.gate(h, attended.output, valid)
        return fused, attended, gate


class MdmanEncoder(EncoderOf[MdmanConfig]):
    """Four gated attentions under masks that a policy opens, fused to states as wide as the word vectors.

    A query sees the keys of its direction, and against it the keys j with ``a^q_i and a^k_j``, where the policy's two
    actions a token are a^q and a^k. No token sees itself. One choice serves both directions and all attentions.
    """

    settings = MdmanConfig

    def build(self, width: int, config: MdmanConfig) -> None:
        """See `EncoderOf.build`."""
        self.places = tuple(
            MapPlace(direction, kind=kind, axis="features" if kind == "self" else "")
            for kind in config.attentions
            for direction in _DIRECTIONS
        )
        self.policy: MaskPolicy | None = None
        if config.dynamic:
            self.policy = MaskPolicy(
                width, config, idle=False, shared=config.one_action, learns=config.policy_learns
            )
        self.hidden = None
        if config.shared_hidden:
            self.hidden = Dense(width, width, activation=config.activation, dropout=config.dropout)
        self.ways = nn.ModuleList(Way(width, kind, config) for kind in config.attentions for _ in _DIRECTIONS)
        self.fusion = AttentionFusion(width, dropout=config.dropout)

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`. Maps of "self" are feature-wise, those of "dot" one number a pair."""
        valid = sentences.valid
        x = x.masked_fill(padding_of(x, valid), 0)
        policy = None if self.policy is None else self._choose(self.policy, x, valid)
        h = x if self.hidden is None else self.hidden(x)
        directions = list(_DIRECTIONS.values()) * len(self.config.attentions)
        results = [
            way(h, valid, _opened(band, policy, valid), need_weights=need_weights)
            for way, band in zip(self.ways, directions, strict=True)
        ]
        states, shares = self.fusion([fused for fused, _, _ in results])
        states = states.masked_fill(padding_of(x, valid), 0)
        if not need_weights:
            return ContextStates(states, policy=policy)
        maps = {place: found.weights for place, (_, found, _) in zip(self.places, results, strict=True)}
        gates = {place: gate for place, (_, _, gate) in zip(self.places, results, strict=True)}
        fusion = dict(zip(self.places, shares.unbind(-1), strict=True))
        return ContextStates(states, maps, gates, policy, fusion)

    def _choose(self, policy: MaskPolicy, x: Tensor, valid: Tensor) -> PolicyRecord:
        """Open pairs of tokens; the share is that of the possible reverse positions, n (n - 1) over both directions."""
        selection = policy(x, valid)
        itself = torch.eye(valid.shape[1], dtype=torch.bool, device=valid.device)
        chosen = selection.query[:, :, None] & selection.key[:, None, :] & ~itself
        count = valid.sum(dim=1)
        possible = (count * (count - 1)).clamp(min=1).to(selection.log_prob.dtype)
        share = chosen.sum(dim=(1, 2)) / possible
        return policy.record(selection, chosen, share)


def _opened(band: Band, policy: PolicyRecord | None, valid: Tensor) -> Visible:
    """Unite a direction with what the policy opened; without a policy the rule stays a rule, which is faster."""
    if policy is None:
        return band
    return band.keep(valid.shape[1], valid.device) | policy.chosen
