"""ReSAN: DiSAN on tokens that a policy selects (Shen et al., IJCAI 2018, "Reinforced Self-Attention Network")."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from heedful.encoders.base import ContextEncoder
from heedful.encoders.dynamic import MaskPolicy, SelfAttention
from heedful.masks import parse_mask
from heedful.masks.visibility import dense_keep
from heedful.modules import Activation, Decision, Dense, FusionGate, Selection
from heedful.ops import Impl
from heedful.structures import ContextStates, PolicyRecord, Sentences


@dataclass(frozen=True)
class ResanConfig:
    """Settings of `ResanEncoder`.

    Attributes:
        directions: one block a mask; blocks share nothing. Not "masks": a query that is not selected sees all words.
        decision: how the policy acts in evaluation: "threshold" or "sample". The published code samples there too.
        encoder_steps: steps in which the encoder learns alone, with every token selected.
        policy_steps: further steps in which the policy learns alone; after them both learn.
        penalty: of the share of selected tokens, in the reward: 0.02 to 0.04 on SNLI, 0.006 on SICK.
        baseline_decay: of a moving average that is subtracted from the reward; 0, as published, for none.
        activation: of the input layers and of the policies' hidden layers.
        dropout: on the input of every dense layer.
        scale: c, the bound of the attention scores.
        impl: implementation of the attention operation.
    """

    directions: tuple[str, ...] = ("forward", "backward")
    decision: Decision = "threshold"
    encoder_steps: int = 0
    policy_steps: int = 0
    penalty: float = 0.02
    baseline_decay: float = 0.0
    activation: Activation = "elu"
    dropout: float = 0.25
    scale: float = 5.0
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
        self.attention = SelfAttention(width, dropout=config.dropout, scale=config.scale, impl=config.impl)
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
        fused, gate = self.gate(h, context)
        return fused.masked_fill(~valid[..., None], 0), attended.weights, gate


class ResanEncoder(ContextEncoder):
    """Blocks side by side, one a mask, over one selection of tokens; their states concatenated.

    The reward's share is that of the selected queries times that of the selected keys. Differs from the published
    code in the evaluation, which is deterministic unless ``decision`` says otherwise.

    Args:
        width: features of the word vectors; the states have ``width * len(config.directions)``.
        config: the settings.

    Raises:
        UsageError: if a setting is unknown or out of range.
    """

    def __init__(self, width: int, config: ResanConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or ResanConfig()
        self.width_in, self.width_out = width, width * len(config.directions)
        self.policy = MaskPolicy(
            width,
            activation=config.activation,
            dropout=config.dropout,
            decision=config.decision,
            idle=True,
            encoder_steps=config.encoder_steps,
            policy_steps=config.policy_steps,
            penalty=config.penalty,
            baseline_decay=config.baseline_decay,
        )
        self.blocks = nn.ModuleList(SelectedBlock(width, mask, config) for mask in config.directions)

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`. Maps are feature-wise, [B, Q, K, D], one a mask."""
        valid = sentences.valid
        x = x.masked_fill(~valid[..., None], 0)
        selection = self.policy(x, valid)
        results = [block(x, sentences, selection, need_weights=need_weights) for block in self.blocks]
        states = torch.cat([states for states, _, _ in results], dim=-1)
        record = self._record(selection, valid)
        if not need_weights:
            return ContextStates(states, policy=record)
        masks = self.config.directions
        names = [m if masks.count(m) == 1 else f"{m} {i + 1}" for i, m in enumerate(masks)]
        maps = {name: weights for name, (_, weights, _) in zip(names, results, strict=True)}
        gates = {name: gate for name, (_, _, gate) in zip(names, results, strict=True)}
        return ContextStates(states, maps, gates, record)

    def _record(self, selection: Selection, valid: Tensor) -> PolicyRecord:
        count = valid.sum(dim=1).clamp(min=1)
        share = selection.query.sum(dim=1) / count * (selection.key.sum(dim=1) / count)
        chosen = selection.query[:, :, None] & selection.key[:, None, :]
        itself = torch.eye(valid.shape[1], dtype=torch.bool, device=valid.device)
        return self.policy.record(selection, chosen & ~itself, share)


def _mean_of_others(h: Tensor, valid: Tensor) -> Tensor:
    """Average every other real token, for every token: [B, L, D]; zero where there is no other."""
    h = h.masked_fill(~valid[..., None], 0)
    others = (valid.sum(dim=1) - 1).clamp(min=1)
    return (h.sum(dim=1, keepdim=True) - h) / others[:, None, None]
