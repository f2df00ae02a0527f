"""Relatedness as a distribution over grades: target, loss and expectation (Tai et al., 2015)."""

from __future__ import annotations

import torch
from torch import Tensor

_SMALLEST = 1e-10


def grade_distribution(score: Tensor, grades: int = 5) -> Tensor:
    """Spread a score over the two grades next to it, so that the expectation gives it back.

    A score r with k = floor(r) puts ``k + 1 - r`` on grade k and ``r - k`` on grade k + 1: 3.7 gives (0, 0, .3, .7, 0).

    Args:
        score: [B], each within 1 to ``grades``.
        grades: K.

    Returns:
        [B, K]; rows sum to 1.
    """
    grade = torch.arange(1, grades + 1, device=score.device, dtype=score.dtype)
    return torch.clamp(1 - torch.abs(score[:, None] - grade), min=0)


def relatedness_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Return KL(target distribution || softmax(logits)) for each example, both clipped to [1e-10, 1].

    Args:
        logits: [B, K].
        targets: scores, [B].

    Returns:
        Loss of each example, [B].
    """
    target = grade_distribution(targets.to(logits.dtype), logits.shape[1]).clamp(_SMALLEST, 1)
    predicted = torch.softmax(logits, dim=-1).clamp(_SMALLEST, 1)
    return (target * (target.log() - predicted.log())).sum(dim=-1)


def expected_grade(logits: Tensor) -> Tensor:
    """Return the expectation ``sum_k k p_k``.

    Args:
        logits: [B, K].

    Returns:
        Scores, [B], within 1 to K.
    """
    grade = torch.arange(1, logits.shape[1] + 1, device=logits.device, dtype=logits.dtype)
    return torch.softmax(logits, dim=-1) @ grade
