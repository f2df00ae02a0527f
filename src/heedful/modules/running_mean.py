"""A moving average that lives among the parameters."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class RunningMean(nn.Module):
    """The exponential moving average of a number that every training step measures anew.

    ``value <- decay * value + (1 - decay) * mean`` is one step of gradient descent at rate ``1 - decay`` on half the
    squared distance. Written so, the average is summed over shards and processes and kept in checkpoints as every
    other parameter; `heedful.training.optim` gives it that rate, whatever the optimiser of the rest.

    Args:
        decay: how much of the old value stays, from 0 (the last mean alone) to below 1.

    Attributes:
        value: the average, [1]; starts at 0.
    """

    def __init__(self, decay: float) -> None:
        super().__init__()
        self.decay = decay
        self.value = nn.Parameter(torch.zeros(1))


def mean_gradient(value: Tensor, measured: Tensor) -> Tensor:
    """Return terms that are 0 and whose gradient moves a `RunningMean` towards what was measured.

    Args:
        value: the average, [1].
        measured: what this step measured, [B].

    Returns:
        Zeros [B], to be added to the losses of the examples.
    """
    distance = 0.5 * (value - measured.detach()).square()
    return distance - distance.detach()
