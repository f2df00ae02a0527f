"""Learning rates as a pure function of the step."""

from __future__ import annotations

from heedful.training.settings import Schedule


def learning_rate_factor(step: int, *, schedule: Schedule, warmup_steps: int, total_steps: int) -> float:
    """Return what the learning rate is multiplied by.

    Args:
        step: steps already taken, from 0.
        schedule: constant; linear: falling to 0 at ``total_steps``; or noam: ``sqrt(warmup / step)`` after the
            warm-up, so that the learning rate is its peak (Vaswani et al. write it as a function of the width).
        warmup_steps: steps over which the factor rises linearly to 1; 0 starts at 1.
        total_steps: length of the run; only the linear schedule reads it.

    Returns:
        A factor in (0, 1] for every step below ``total_steps``.
    """
    if step < warmup_steps:
        return (step + 1) / warmup_steps
    if schedule == "constant":
        return 1.0
    if schedule == "noam":
        return float((max(1, warmup_steps) / (step + 1)) ** 0.5)
    return max(0.0, (total_steps - step) / max(1, total_steps - warmup_steps))
