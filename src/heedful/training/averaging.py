"""A moving average of the weights, which is what is evaluated, selected and kept in place of the last weights."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from heedful.training.state import trainable_weights


class WeightAverage:
    """Averages the trainable weights exponentially over the steps (Polyak and Juditsky, 1992).

    After step t (from 1) the average is ``d * average + (1 - d) * weights`` with
    ``d = min(decay, (1 + t) / (10 + t))``, so that the initial weights are soon forgotten.

    Args:
        network: whose weights are averaged; the averages begin as copies of them.
        decay: share of the average that a step leaves, above 0 and below 1. About ``1 / (1 - decay)`` steps count.

    Attributes:
        tensors: the averages, by the names of the parameters.
    """

    def __init__(self, network: nn.Module, decay: float) -> None:
        self.network, self.decay = network, decay
        self.tensors: dict[str, Tensor] = {
            name: weight.detach().clone() for name, weight in trainable_weights(network).items()
        }

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Take in the weights after a step.

        Args:
            step: how many steps have been taken, from 1.
        """
        share = 1 - min(self.decay, (1 + step) / (10 + step))
        for name, weight in trainable_weights(self.network).items():
            self.tensors[name].lerp_(weight, share)

    @torch.no_grad()
    def put(self) -> None:
        """Overwrite the weights of the network with the averages."""
        for name, weight in trainable_weights(self.network).items():
            weight.copy_(self.tensors[name])

    @contextlib.contextmanager
    def in_place(self) -> Iterator[None]:
        """Let the network have the averages for a while; afterwards it has its own weights again, to the bit."""
        weights = trainable_weights(self.network)
        own = {name: weight.detach().clone() for name, weight in weights.items()}
        self.put()
        try:
            yield
        finally:
            with torch.no_grad():
                for name, weight in weights.items():
                    weight.copy_(own[name])
