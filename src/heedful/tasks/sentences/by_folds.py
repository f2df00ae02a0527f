"""Choosing by cross-validation: how each part is fitted, which parts join and with which weights, on every example."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heedful.tasks.schema import About
from heedful.tasks.sentences.fitting_wide import FitSetting, linear_candidates
from heedful.tasks.sentences.joining import FittedPart, Joined, Joining
from heedful.tasks.sentences.linear_fits import LinearFit, Rows, weigh
from heedful.tasks.sentences.linear_targets import Floats, LinearTargets

FOLDS = 5


@dataclass(frozen=True, eq=False)
class PartRows:
    """What a linear part may learn from.

    Attributes:
        name: what it reads, for people.
        rows: of the training examples, [N, n].
        settings: how it may be fitted.
        put: returns what a folder keeps with this part in it, fitted so and at a weight.
        held: rows of further examples that choose; None where there are none.
    """

    name: str
    rows: Rows
    settings: tuple[FitSetting, ...]
    put: Callable[[About, LinearFit, float], About]
    held: Rows | None = None

    def fitted(self, targets: LinearTargets, setting: FitSetting, logits: Floats) -> FittedPart:
        """Return the part fitted on all training examples, with its logits for the examples that choose."""
        return self.of_fit(next(iter(linear_candidates(self.rows, targets, (setting,)))), logits)

    def of_fit(self, fit: LinearFit, logits: Floats) -> FittedPart:
        """Return the part with a fit, and with its logits for the examples that choose."""
        return FittedPart(self.name, logits, lambda about, weight: self.put(about, fit, weight))


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """The logits of every part in every setting for examples that it was not fitted on.

    Attributes:
        parts: the parts.
        training: gold of the training examples.
        targets: gold of the examples that choose: the training examples, and further ones behind them.
        folds: the fold of each example that chooses; that of further examples is of its own.
        logits: for each part one array a setting, [N, Y] each.
    """

    parts: tuple[PartRows, ...]
    training: LinearTargets
    targets: LinearTargets
    folds: NDArray[np.int64]
    logits: tuple[tuple[Floats, ...], ...]

    @classmethod
    def of(
        cls,
        parts: Sequence[PartRows],
        training: LinearTargets,
        folds: NDArray[np.int64],
        held: LinearTargets | None = None,
    ) -> OutOfFold:
        """Fit every part in every setting, once for each fold without its examples.

        Args:
            parts: what may join.
            training: gold of the training examples.
            folds: the fold of each of them, [N].
            held: gold of further examples that choose; they are given logits by fits on all training examples.

        Returns:
            The logits.
        """
        found = tuple(_logits(part, training, folds, held) for part in parts)
        if held is None:
            return cls(tuple(parts), training, training, folds, found)
        behind = np.full(len(held), folds.max() + 1)
        return cls(tuple(parts), training, training.with_(held), np.concatenate([folds, behind]), found)

    def joining(self) -> Joining:
        """Return the parts in the settings that suit best, fitted on all training examples."""
        chosen = [
            part.fitted(self.training, part.settings[best], logits[best])
            for part, logits, best in zip(self.parts, self.logits, self.best(), strict=True)
        ]
        return Joining(self.targets, tuple(chosen))

    def best(self, places: NDArray[np.int64] | None = None) -> list[int]:
        """Return for each part which setting makes some of the examples likeliest; None for all examples."""
        targets = self.targets if places is None else self.targets.of(places)
        return [
            int(np.argmin([weigh([z if places is None else z[places]], targets)[1] for z in logits]))
            for logits in self.logits
        ]

    def nested(self) -> tuple[Floats, list[tuple[NDArray[np.int64], Joined]]]:
        """Compose a model for each fold by what is chosen on the other folds.

        Returns:
            Logits of every example by a model that was neither fitted nor chosen with it, [N, Y]; and for each fold its
            examples and the choice on all others.
        """
        rows = np.zeros((len(self.targets), self.targets.outputs))
        choices = []
        for fold in np.unique(self.folds):
            inside = np.flatnonzero(self.folds == fold)
            outside = np.flatnonzero(self.folds != fold)
            best = self.best(outside)
            chosen = [logits[number] for logits, number in zip(self.logits, best, strict=True)]
            parts = tuple(
                FittedPart(part.name, z[outside], _never) for part, z in zip(self.parts, chosen, strict=True)
            )
            joined = Joining(self.targets.of(outside), parts).join(None)
            for part, z in zip(self.parts, chosen, strict=True):
                rows[inside] += joined.weights.get(part.name, 0.0) * z[inside]
            choices.append((inside, joined))
        return rows, choices


def _never(about: About, weight: float) -> About:
    raise AssertionError("a part that only measures is not kept")


def _logits(
    part: PartRows, training: LinearTargets, folds: NDArray[np.int64], held: LinearTargets | None
) -> tuple[Floats, ...]:
    found = [np.zeros((len(training), training.outputs)) for _ in part.settings]
    for fold in np.unique(folds):
        inside, outside = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        fits = linear_candidates(part.rows[outside], training.of(outside), part.settings)
        for logits, fit in zip(found, fits, strict=True):
            logits[inside] = fit.logits(part.rows[inside])
    if held is None or part.held is None:
        return tuple(found)
    fits = linear_candidates(part.rows, training, part.settings)
    return tuple(
        np.concatenate([logits, fit.logits(part.held)]) for logits, fit in zip(found, fits, strict=True)
    )
