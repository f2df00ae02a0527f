"""What MDMAN and ReSAN share: attentions whose mask is given with the call, and the schedule of their policy."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from heedful.errors import UsageError
from heedful.masks.visibility import Visible, dense_keep
from heedful.modules import (
    Activation,
    Decision,
    Dense,
    LearningPhase,
    MaskSelector,
    RunningMean,
    Selection,
)
from heedful.ops import AttentionResult, Impl, additive_attention, dropout, scored_attention
from heedful.structures import PolicyRecord


class SelfAttention(nn.Module):
    """DiSAN's feature-wise attention without its input layer and gate: 180,300 parameters at width 300.

    ``score_ij = c tanh((h_j W_1 + h_i W_2 + b) / c)``, softmax over j for every feature.

    Args:
        width: features D.
        dropout: on h, one mask for both projections; the values are not dropped.
        scale: c, the bound of the scores.
        impl: implementation of the attention operation.
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
        query = self.query(dropped)
        return additive_attention(
            query + self.bias.to(query.dtype),
            self.key(dropped),
            h.to(query.dtype),
            valid,
            visible,
            scale=self.scale,
            need_weights=need_weights,
            impl="reference" if need_weights else self.impl,  # the others never build the weights
        )


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
        """Attend; see `SelfAttention.forward`. Weights are [B, Q, K]."""
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
        """Attend; see `SelfAttention.forward`."""
        keep = dense_keep(visible, valid)[..., None]
        score = self.scale * torch.tanh(self.project(h[:, :, None] * h[:, None, :]) / self.scale)
        weights = torch.softmax(score.masked_fill(~keep, torch.finfo(score.dtype).min), dim=2)
        weights = weights.masked_fill(~keep, 0).to(h.dtype)
        output = torch.einsum("bqkd,bkd->bqd", weights, h)
        return AttentionResult(output, weights if need_weights else None)


class MaskPolicy(nn.Module):
    """A selector, the schedule it learns by, and what its reward is made of.

    Args:
        width: features D of a word vector.
        activation: of the selector's hidden layers.
        dropout: on the input of the selector's layers.
        shared: whether one action a token serves queries and keys.
        learns: whether it is ever trained; if not, the encoder learns in every phase.
        decision: how actions are taken in evaluation.
        idle: whether every token is selected, or none, while the encoder learns alone.
        encoder_steps: steps in which the encoder alone learns.
        policy_steps: further steps in which the policy alone learns.
        penalty: of the share that is selected, in the reward.
        baseline_decay: of the moving average of the reward; 0 for no baseline.

    Raises:
        UsageError: if a number is out of range.
    """

    def __init__(
        self,
        width: int,
        *,
        activation: Activation,
        dropout: float,
        shared: bool = False,
        learns: bool = True,
        decision: Decision,
        idle: bool,
        encoder_steps: int,
        policy_steps: int,
        penalty: float,
        baseline_decay: float,
    ) -> None:
        super().__init__()
        for name, value in (
            ("encoder_steps", encoder_steps),
            ("policy_steps", policy_steps),
            ("penalty", penalty),
        ):
            if value < 0:
                raise UsageError(f"{name} must be 0 or more; got {value}")
        if not 0 <= baseline_decay < 1:
            raise UsageError(f"baseline_decay must be at least 0 and below 1; got {baseline_decay}")
        self.idle, self.penalty, self.learns = idle, penalty, learns
        self.selector = MaskSelector(
            width, activation=activation, dropout=dropout, shared=shared, decision=decision
        )
        self.phase = LearningPhase(encoder_steps, policy_steps)
        self.baseline = RunningMean(baseline_decay) if baseline_decay else None

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
        )
