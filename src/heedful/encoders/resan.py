"""ReSAN: DiSAN on tokens that a policy selects (Shen et al., IJCAI 2018, "Reinforced Self-Attention Network")."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from heedful.attention import AttentionResult, Impl, dropout, scored_attention
from heedful.attention.implementation import padding_of
from heedful.attention.masks import parse_mask
from heedful.attention.visibility import Visible, dense_keep
from heedful.encoders.context_encoder import EncoderOf, side_by_side
from heedful.encoders.disan import attend_by_feature
from heedful.nn import (
    Activation,
    Decision,
    Dense,
    FusionGate,
    LearningPhase,
    MaskSelector,
    RunningMean,
    Selection,
)
from heedful.settings import Settings, above, at_least, ranged, readable, share
from heedful.structures import ContextStates, PolicyRecord, Sentences


class FeatureWiseAttention(nn.Module):
    """DiSAN's feature-wise attention without its input layer and gate: 180,300 parameters at width 300.

    Args:
        width: features D.
        dropout: on h, one mask for both projections; the values are not dropped.
        scale: c, the bound of the scores.
        impl: implementation of the attention operation; "auto" chooses the fastest one that supports the input.
    """

    def __init__(self, width: int, *, dropout: float, scale: float, impl: Impl) -> None:
        super().__init__()
        self.dropout, self.scale, self.impl = dropout, scale, impl
        # No dropout of their own and, as in DiSAN's published code, not under L2.
        self.key = Dense(width, width, bias=False, l2=False)
        self.query = Dense(width, width, bias=False, l2=False)
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(
        self, h: Tensor, valid: Tensor, visible: Visible, *, need_weights: bool = False
    ) -> AttentionResult:
        """Attend.

        Args:
            h: [B, L, D].
            valid: True at a real token, [B, L] bool.
            visible: which keys a query may see.
            need_weights: also return the weights, [B, Q, K, D].

        Returns:
            The output [B, L, D], and the weights if asked for.
        """
        dropped = dropout(h, self.dropout, self.training)
        return attend_by_feature(self, h, dropped, valid, visible, need_weights=need_weights)


class DotAttention(nn.Module):
    """Dot attention with one weight a pair: ``(h_i W_Q) · (h_j W_K) / sqrt(D)``; 180,000 parameters at width 300.

    Args:
        width: features D.
        dropout: on the input of both projections.
    """

    def __init__(self, width: int, *, dropout: float) -> None:
        super().__init__()
        self.query = Dense(width, width, bias=False, dropout=dropout)
        self.key = Dense(width, width, bias=False, dropout=dropout)

    def forward(
        self, h: Tensor, valid: Tensor, visible: Visible, *, need_weights: bool = False
    ) -> AttentionResult:
        """Attend; see `FeatureWiseAttention.forward`. Weights are [B, Q, K]."""
        score = self.query(h) @ self.key(h).transpose(1, 2) / h.shape[-1] ** 0.5
        output, weights = scored_attention(score, h, dense_keep(visible, valid))
        return AttentionResult(output, weights if need_weights else None)


class ProductAttention(nn.Module):
    """Dot attention with one weight a feature: ``c tanh((drop(h_i * h_j) W + b) / c)``, after MwAN's "dot".

    It builds every score, [B, L, L, D]: in time and memory the dearest of the three. 90,300 parameters at width 300.

    Args:
        width: features D.
        dropout: on the products.
        scale: c, the bound of the scores.
    """

    def __init__(self, width: int, *, dropout: float, scale: float) -> None:
        super().__init__()
        self.scale = scale
        self.project = Dense(width, width, dropout=dropout)

    def forward(
        self, h: Tensor, valid: Tensor, visible: Visible, *, need_weights: bool = False
    ) -> AttentionResult:
        """Attend; see `FeatureWiseAttention.forward`."""
        keep = dense_keep(visible, valid)[..., None]
        score = self.scale * torch.tanh(self.project(h[:, :, None] * h[:, None, :]) / self.scale)
        weights = torch.softmax(score.masked_fill(~keep, torch.finfo(score.dtype).min), dim=2)
        weights = weights.masked_fill(~keep, 0).to(h.dtype)
        output = torch.einsum("bqkd,bkd->bqd", weights, h)
        return AttentionResult(output, weights if need_weights else None)


@dataclass(frozen=True)
class PolicySettings(Settings):
    """Base of the settings of an encoder with a policy; `ResanConfig` says what they are."""

    decision: Decision = "threshold"
    encoder_steps: int = ranged(0, at_least(0))
    policy_steps: int = ranged(0, at_least(0))
    penalty: float = ranged(0.02, at_least(0))
    baseline_decay: float = ranged(0.0, share)
    activation: Activation = "elu"
    dropout: float = ranged(0.25, share)


class MaskPolicy(nn.Module):
    """A selector, the schedule it learns by, and what its reward is made of.

    Args:
        width: features D of a word vector.
        config: the settings of the encoder that it belongs to.
        idle: whether every token is selected, or none, while the encoder learns alone.
        shared: whether one action a token serves queries and keys.
        learns: whether it is ever trained; if not, the encoder learns in every phase.
    """

    def __init__(
        self, width: int, config: PolicySettings, *, idle: bool, shared: bool = False, learns: bool = True
    ) -> None:
        super().__init__()
        self.idle, self.penalty, self.learns = idle, config.penalty, learns
        self.selector = MaskSelector(
            width,
            activation=config.activation,
            dropout=config.dropout,
            shared=shared,
            decision=config.decision,
        )
        self.phase = LearningPhase(config.encoder_steps, config.policy_steps)
        self.baseline = RunningMean(config.baseline_decay) if config.baseline_decay else None

    def forward(self, x: Tensor, valid: Tensor) -> Selection:
        """Select, or in the first phase take all or none; see `MaskSelector.forward`."""
        if self.phase.policy_acts:
            return self.selector(x, valid)
        chosen = valid if self.idle else torch.zeros_like(valid)
        return Selection(chosen, chosen, x.new_zeros(len(x)))

    def record(self, selection: Selection, chosen: Tensor, share: Tensor) -> PolicyRecord:
        """Collect what the loss needs.

        Args:
            selection: what was selected.
            chosen: the pairs of tokens that this opened, [B, L, L] bool.
            share: the share that the reward is reduced by, [B].

        Returns:
            The record that goes with the states.
        """
        return PolicyRecord(
            log_prob=selection.log_prob,
            share=share,
            chosen=chosen,
            penalty=self.penalty,
            baseline=None if self.baseline is None else self.baseline.value,
            encoder_learns=self.phase.encoder_learns or not self.learns,
            policy_learns=self.phase.policy_acts and self.learns,
            chances=selection.chances,
        )


@dataclass(frozen=True)
class ResanConfig(PolicySettings):
    """Settings of `ResanEncoder`.

    Attributes:
        directions: masks of the blocks. There is one block for each mask, and blocks share no weights. They are not
            called masks, because a query that is not selected sees all words.
        decision: how the policy acts in evaluation: "threshold" or "sample". The published code samples there too.
        encoder_steps: number of first steps in which only the encoder learns, with every token selected.
        policy_steps: number of further steps in which only the policy learns; after them both learn.
        penalty: factor in the reward by which the share of selected tokens is penalized: 0.02 to 0.04 on SNLI, 0.006 on
            SICK.
        baseline_decay: decay of a moving average that is subtracted from the reward; 0, as published, for no such
            baseline.
        activation: activation of the input layers and of the policies' hidden layers.
        dropout: dropout rate on the input of every dense layer.
        scale: bound c of the attention scores.
        impl: implementation of the attention operation; "auto" chooses the fastest one that supports the input.
    """

    directions: tuple[str, ...] = ranged(("forward", "backward"), readable(parse_mask))
    scale: float = ranged(5.0, above(0))
    impl: Impl = "auto"


class SelectedBlock(nn.Module):
    """DiSAN's block in which only selected queries attend, and only to selected keys: 451,500 parameters at width 300.

    A query that is not selected takes the mean of all other tokens in place of attention.

    Args:
        width: features D.
        mask: which keys a query may see at most.
        config: the settings.
    """

    def __init__(self, width: int, mask: str, config: ResanConfig) -> None:
        super().__init__()
        self.mask = parse_mask(mask)
        self.hidden = Dense(width, width, activation=config.activation, dropout=config.dropout)
        self.attention = FeatureWiseAttention(
            width, dropout=config.dropout, scale=config.scale, impl=config.impl
        )
        self.gate = FusionGate(width, dropout=config.dropout)

    def forward(
        self, x: Tensor, sentences: Sentences, selection: Selection, *, need_weights: bool = False
    ) -> tuple[Tensor, Tensor | None, Tensor]:
        """Run the block.

        Args:
            x: [B, L, D].
            sentences: validity and structure.
            selection: which tokens were selected.
            need_weights: also return the attention weights.

        Returns:
            States [B, L, D], zero at padding; weights [B, Q, K, D] or None; gate [B, L, D].
        """
        valid = sentences.valid
        h = self.hidden(x)
        keep = dense_keep(self.mask.visible(sentences), valid)
        keep = keep & selection.query[:, :, None] & selection.key[:, None, :]
        attended = self.attention(h, valid, keep, need_weights=need_weights)
        others = _mean_of_others(h, valid).to(attended.output.dtype)
        context = torch.where(selection.query[..., None], attended.output, others)
        fused, gate = self.gate(h, context, valid)
        return fused, attended.weights, gate


class ResanEncoder(EncoderOf[ResanConfig]):
    """Blocks side by side, one a mask, over one selection of tokens; their states concatenated.

    The reward's share is that of the selected queries times that of the selected keys. Differs from the published
    code in the evaluation, which is deterministic unless ``decision`` says otherwise.

    The states have ``width * len(config.directions)`` features.
    """

    settings = ResanConfig

    def build(self, width: int, config: ResanConfig) -> None:
        """See `EncoderOf.build`."""
        self.width_out = width * len(config.directions)
        self.policy = MaskPolicy(width, config, idle=True)
        self.blocks = nn.ModuleList(SelectedBlock(width, mask, config) for mask in config.directions)

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`. Maps are feature-wise, [B, Q, K, D], one a mask."""
        valid = sentences.valid
        x = x.masked_fill(padding_of(x, valid), 0)
        selection = self.policy(x, valid)
        parts = [block(x, sentences, selection, need_weights=need_weights) for block in self.blocks]
        return side_by_side(parts, self.config.directions, policy=self._record(selection, valid))

    def _record(self, selection: Selection, valid: Tensor) -> PolicyRecord:
        count = valid.sum(dim=1).clamp(min=1).to(selection.log_prob.dtype)
        share = selection.query.sum(dim=1) / count * (selection.key.sum(dim=1) / count)
        chosen = selection.query[:, :, None] & selection.key[:, None, :]
        itself = torch.eye(valid.shape[1], dtype=torch.bool, device=valid.device)
        return self.policy.record(selection, chosen & ~itself, share)


def _mean_of_others(h: Tensor, valid: Tensor) -> Tensor:
    """Average every other real token, for every token: [B, L, D]; zero where there is no other."""
    h = h.masked_fill(padding_of(h, valid), 0)
    others = (valid.sum(dim=1) - 1).clamp(min=1)
    return (h.sum(dim=1, keepdim=True) - h) / others[:, None, None]
