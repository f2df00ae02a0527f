"""How the parts of a model join: each is fitted by itself; examples that trained none decide on their weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from heedful.tasks.schema import About
from heedful.tasks.sentences.linear_fits import GAIN, gained, weigh
from heedful.tasks.sentences.linear_targets import Floats, LinearTargets
from heedful.training.run_state import JOINED_LOSS

NETWORK = "network"
Rows = NDArray[np.float32]
_LEAST = 0.1
"""Smallest weight of a part that answers alone: at 0 its answer would always be the same."""


@dataclass(frozen=True, eq=False)
class FittedPart:
    """A linear part, fitted and without a weight.

    Attributes:
        name: what it reads, for people.
        logits: what it gives for the examples that choose, [N, Y].
        put: returns what a folder keeps with this part in it, at a weight.
    """

    name: str
    logits: Floats
    put: Callable[[About, float], About]


@dataclass(frozen=True)
class PartWeights:
    """The weights of the parts, and what they come to on the examples that chose them.

    Attributes:
        network: weight of the network's logits; 1 where there is nothing to weigh.
        weights: of each part that joins, by name.
        logits: of the composed model, [N, Y].
        loss: mean loss of these logits.
        alone: logits of each part by itself, also of those that do not join.
    """

    network: float
    weights: dict[str, float]
    logits: Floats = field(repr=False)
    loss: float
    alone: dict[str, Floats] = field(repr=False)

    def weight(self, name: str) -> float:
        """Return the weight of a part; 0 for one that does not join."""
        return self.network if name == NETWORK else self.weights.get(name, 0.0)

    def figures(self) -> dict[str, float]:
        """Return the loss, and the weight of each part relative to the network's, by names for logs."""
        weights = {
            f"{name.replace(' ', '_')}_weight": weight / self.network for name, weight in self.weights.items()
        }
        return {JOINED_LOSS: self.loss, **weights}

    def note(
        self, metric: str, alone: Mapping[str, Mapping[str, float]], together: Mapping[str, float]
    ) -> str:
        """Return what each part reaches alone, and with which weight it joins.

        Args:
            metric: the name of the figure to tell.
            alone: the figures of each part on the examples that chose.
            together: those of all parts.

        Returns:
            A sentence.
        """
        own = ", ".join(
            f"{name} {metric} {figures[metric]:.3f} (weight {self.weight(name):.3g})"
            for name, figures in alone.items()
        )
        return (
            f"Parts, each alone on the examples that chose: {own}; together {metric} {together[metric]:.3f}."
        )


@dataclass(frozen=True, eq=False)
class Joining:
    """Parts that wait for a network, or do without one.

    Attributes:
        targets: gold of the examples that choose.
        parts: those that may join.
        drawn: training examples that features of whole texts were fitted on, drawn from more; 0 for all.
    """

    targets: LinearTargets
    parts: tuple[FittedPart, ...]
    drawn: int = 0

    def join(
        self, network: NDArray[np.floating] | None, least: float = 0.0, most: float = np.inf
    ) -> PartWeights:
        """Find the weights under which the gold is likeliest, and leave out parts that add next to nothing.

        A part whose absence costs less than `GAIN` in log-likelihood is left out, the least useful one first. The
        network always stays, and so does the last part where there is no network, at `_LEAST` or more.

        Args:
            network: logits of the network for the examples that choose, [N, Y]; None without a network.
            least: smallest weight of the network.
            most: largest.

        Returns:
            The weights. The same input gives the same weights.
        """
        own = [] if network is None else [np.asarray(network, np.float64)]
        kept = list(self.parts)
        limits = [(least, most)] * len(own)

        def weighed(parts: Sequence[FittedPart]) -> tuple[Floats, float]:
            limited = limits if own or len(parts) > 1 else [(_LEAST, np.inf)]
            return weigh([*own, *(part.logits for part in parts)], self.targets, limited)

        weights, loss = weighed(kept)
        while len(kept) > (not own):
            without = [weighed([other for other in kept if other is not part]) for part in kept]
            costs = [gained(self.targets, lower, loss) for _, lower in without]
            place = int(np.argmin(costs))
            if costs[place] >= GAIN:
                break
            kept.pop(place)
            weights, loss = without[place]
        stack = [*own, *(part.logits for part in kept)]
        logits = sum((w * z for w, z in zip(weights, stack, strict=True)), np.zeros_like(stack[0]))
        names = {part.name: float(w) for part, w in zip(kept, weights[len(own) :], strict=True)}
        return PartWeights(float(weights[0]) if own else 1.0, names, logits, loss, self._alone(network))

    def _alone(self, network: NDArray[np.floating] | None) -> dict[str, Floats]:
        named = {} if network is None else {NETWORK: np.asarray(network, np.float64)}
        return named | {part.name: part.logits for part in self.parts}

    def added(self, joined: PartWeights, about: About, scale: float = 1.0) -> About:
        """Put the parts that join into what a folder keeps.

        Args:
            joined: their weights.
            about: what it keeps so far.
            scale: what the weights are multiplied by.

        Returns:
            The same with the parts.
        """
        about = replace(about, wide=None, sentence=None, columns=None)
        for part in self.parts:
            if weight := joined.weights.get(part.name, 0.0):
                about = part.put(about, weight * scale)
        return about


LIMITS = (0.2, 2.0)
"""Smallest and largest weight of a network and of the parts beside it."""


@dataclass(frozen=True)
class Steady(Joining):
    """Weights within `LIMITS`, under which the gold is likeliest."""

    def join(
        self, network: NDArray[np.floating] | None, least: float = 0.0, most: float = np.inf
    ) -> PartWeights:
        """See `Joining.join`."""
        assert network is not None  # parts alone go on otherwise
        stack = [np.asarray(network, np.float64), *(part.logits for part in self.parts)]
        weights = self._weights(stack)
        logits = reduce(np.add, [weight * each for weight, each in zip(weights, stack, strict=True)])
        named = {part.name: weight for part, weight in zip(self.parts, weights[1:], strict=True)}
        alone = {NETWORK: stack[0], **{part.name: part.logits for part in self.parts}}
        return PartWeights(weights[0], named, logits, self.targets.loss(logits), alone)

    def _weights(self, stack: list[Floats]) -> list[float]:
        found: list[float] = weigh(stack, self.targets, [LIMITS] * len(stack))[0].tolist()
        return found


@dataclass(frozen=True)
class Halved(Steady):
    """A part and a network that count alike, where no rows can say how much each should."""

    def _weights(self, stack: list[Floats]) -> list[float]:
        return [1 / len(stack)] * len(stack)
