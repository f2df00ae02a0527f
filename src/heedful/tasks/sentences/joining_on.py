"""How parts join a network that goes on, where few new rows choose: none is left out, and none outweighs the others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from heedful.tasks.sentences.joining import NETWORK, Joined, Joining
from heedful.tasks.sentences.linear_fits import weigh
from heedful.tasks.sentences.linear_targets import Floats

LIMITS = (0.2, 2.0)
"""Smallest and largest weight of a network and of the parts beside it."""


@dataclass(frozen=True)
class Steady(Joining):
    """Weights within `LIMITS`, under which the gold is likeliest."""

    def join(self, network: NDArray[np.floating] | None, least: float = 0.0, most: float = np.inf) -> Joined:
        """See `Joining.join`."""
        assert network is not None  # parts alone go on otherwise
        stack = [np.asarray(network, np.float64), *(part.logits for part in self.parts)]
        weights = self._weights(stack)
        logits = reduce(np.add, [weight * each for weight, each in zip(weights, stack, strict=True)])
        named = {part.name: weight for part, weight in zip(self.parts, weights[1:], strict=True)}
        alone = {NETWORK: stack[0], **{part.name: part.logits for part in self.parts}}
        return Joined(weights[0], named, logits, self.targets.loss(logits), alone)

    def _weights(self, stack: list[Floats]) -> list[float]:
        found: list[float] = weigh(stack, self.targets, [LIMITS] * len(stack))[0].tolist()
        return found


@dataclass(frozen=True)
class Halved(Steady):
    """A part and a network that count alike, where no rows can say how much each should."""

    def _weights(self, stack: list[Floats]) -> list[float]:
        return [1 / len(stack)] * len(stack)
