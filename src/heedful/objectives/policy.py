"""REINFORCE: the loss of a policy beside that of the task."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from heedful.modules import mean_gradient
from heedful.structures import PolicyRecord


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
