"""REINFORCE: the loss of a policy beside that of the task."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from heedful.modules import mean_gradient
from heedful.structures import PolicyRecord

POLICY_FIGURES = ("reward", "share", "baseline")
"""What `policy_figures` returns, in its order."""


def policy_rewards(losses: Tensor, policies: Sequence[PolicyRecord]) -> list[Tensor]:
    """Return the reward of each side's choices, ``-loss - penalty * share``, each [B], as constants.

    Args:
        losses: of the task, one an example, [B]: minus the log-likelihood of the target.
        policies: one record a side.

    Returns:
        One tensor [B] a side.
    """
    return [-losses.detach() - record.penalty * record.share for record in policies]


def with_policy(losses: Tensor, policies: Sequence[PolicyRecord]) -> Tensor:
    """Join the gradient of a policy, ``-(reward - baseline) * log_prob``, to the loss of the task.

    The values stay those of the task, so that a log of losses can be read; only gradients are added, or, while the
    policy learns alone, replaced. The two sides of a pair are rewarded one by one, each with its own share (ReSAN).

    Args:
        losses: of the task, one an example, [B].
        policies: one record a side; empty leaves the losses as they are.

    Returns:
        Losses, [B].
    """
    if not policies:
        return losses
    total = losses if policies[0].encoder_learns else losses.detach()
    for record, reward in zip(policies, policy_rewards(losses, policies), strict=True):
        advantage = reward
        if record.baseline is not None:
            advantage = reward - record.baseline.detach()
            total = total + mean_gradient(record.baseline, reward) / len(policies)
        if record.policy_learns:
            surrogate = -advantage * record.log_prob
            total = total + (surrogate - surrogate.detach())
    return total


def policy_figures(losses: Tensor, policies: Sequence[PolicyRecord]) -> Tensor:
    """Return what shows whether a policy learns: reward, share of what it could select, and baseline.

    Args:
        losses: of the task, one an example, [B].
        policies: one record a side.

    Returns:
        One row an example, the mean over its sides, [B, 3] float32 in the order of `POLICY_FIGURES`; zeros without a
        policy, and for the baseline without one.
    """
    if not policies:
        return torch.zeros(len(losses), len(POLICY_FIGURES), device=losses.device)
    rewards = policy_rewards(losses, policies)
    sides = [
        torch.stack([reward, record.share, _baseline_like(reward, record)], dim=1).float()
        for record, reward in zip(policies, rewards, strict=True)
    ]
    return torch.stack(sides).mean(dim=0)


def _baseline_like(reward: Tensor, record: PolicyRecord) -> Tensor:
    if record.baseline is None:
        return torch.zeros_like(reward)
    return record.baseline.detach().to(reward.dtype).expand_as(reward)
