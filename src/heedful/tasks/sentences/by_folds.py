"""Choosing by cross-validation: how each part is fitted, which parts join and with which weights, on every example."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from heedful.tasks.schema import About
from heedful.tasks.sentences.fitting_wide import FitSetting, Fitter, rising
from heedful.tasks.sentences.joining import FittedPart, Joined, Joining
from heedful.tasks.sentences.linear_fits import GAIN, LinearFit, prior, weigh
from heedful.tasks.sentences.linear_targets import Floats, LinearTargets
from heedful.tasks.sentences.turned_rows import Rows, TurnedRows
from heedful.training.stages import Stage, stage

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
        return self.of_fit(Fitter(self.rows, targets, self.turned).fit(setting), logits)

    @cached_property
    def turned(self) -> TurnedRows:
        """The rows of all training examples, turned once for all folds."""
        return TurnedRows.turning(self.rows)

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
        targets, every = training, folds
        if held is not None:
            targets, every = (
                training.with_(held),
                np.concatenate([folds, np.full(len(held), folds.max() + 1)]),
            )
        number = len(np.unique(folds)) + (held is not None)
        with stage("fitting linear parts", number * sum(len(part.settings) for part in parts)) as fits:
            found = []
            for part in parts:
                end = fits.count + number * len(part.settings)
                found.append(_tried(part, training, folds, targets, fits))
                fits.reach(end)  # weaker settings were better, so that not all were tried
        return cls(
            tuple(part for part, _ in found), training, targets, every, tuple(logits for _, logits in found)
        )

    @property
    def judges(self) -> bool:
        """Whether any example has a kind that other folds know; else cross-validation can choose nothing.

        That fails where the rows are copies of one text, or where each class is one text and its copies.
        """
        strata = self.targets.strata()
        return any(
            np.isin(strata[self.folds == k], strata[self.folds != k]).any() for k in np.unique(self.folds)
        )

    def joining(self) -> Joining:
        """Return the parts in the settings that suit best, fitted on all training examples.

        Where cross-validation cannot choose, the middle setting is taken, and the examples themselves weigh the parts.
        """
        if not self.judges:
            fits = [Fitter(part.rows, self.training, part.turned).fit(_middle(part)) for part in self.parts]
            own = [
                part.of_fit(fit, fit.logits(part.rows)) for part, fit in zip(self.parts, fits, strict=True)
            ]
            return Joining(self.training, tuple(own))
        chosen = [
            part.fitted(self.training, part.settings[best], logits[best])
            for part, logits, best in zip(self.parts, self.logits, self.best(), strict=True)
        ]
        return Joining(self.targets, tuple(chosen))

    def best(self, places: NDArray[np.int64] | None = None) -> list[int]:
        """Return for each part which setting makes some of the examples likeliest; None for all examples.

        A setting in which classes are not even must be likelier by `GAIN`, if the part has others.
        """
        targets = self.targets if places is None else self.targets.of(places)
        uneven = GAIN / float(targets.weights.sum())

        def loss(setting: FitSetting, logits: Floats) -> float:
            mean = weigh([logits if places is None else logits[places]], targets)[1]
            return mean if setting.even else mean + uneven

        return [
            int(np.argmin([loss(*each) for each in zip(part.settings, logits, strict=True)]))
            for part, logits in zip(self.parts, self.logits, strict=True)
        ]

    def nested(self) -> tuple[Floats, list[tuple[NDArray[np.int64], Joined]]]:
        """Compose a model for each fold by what is chosen on the other folds.

        Returns:
            Logits of every example by a model that was neither fitted nor chosen with it, [N, Y]; and for each fold its
            examples and the choice on all others.
        """
        rows = np.zeros((len(self.targets), self.targets.outputs))
        choices: list[tuple[NDArray[np.int64], Joined]] = []
        if not self.judges:
            return rows + prior(self.targets), choices
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


def _middle(part: PartRows) -> FitSetting:
    even = [setting for setting in part.settings if setting.even] or part.settings
    return even[len(even) // 2]


def _tried(
    part: PartRows, training: LinearTargets, folds: NDArray[np.int64], targets: LinearTargets, fits: Stage
) -> tuple[PartRows, tuple[Floats, ...]]:
    """Return a part with the settings that were tried, and the logits in each for all examples that choose."""
    places = [(np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)) for fold in np.unique(folds)]
    if len(places) == 1:  # copies of one text: there is nothing to compare
        return part, tuple(np.zeros((len(targets), training.outputs)) for _ in part.settings)
    fitters = [
        Fitter(part.rows[outside], training.of(outside), part.turned.of_some(outside))
        for _, outside in places
    ]
    whole = None if part.held is None else Fitter(part.rows, training, part.turned)
    found: dict[FitSetting, Floats] = {}

    def loss(setting: FitSetting) -> float:
        logits = np.zeros((len(targets), training.outputs))
        for fitter, (inside, _) in zip(fitters, places, strict=True):
            logits[inside] = fitter.fit(setting).logits(part.rows[inside])
            fits.step()
        if whole is not None and part.held is not None:
            logits[len(training) :] = whole.fit(setting).logits(part.held)
            fits.step()
        found[setting] = logits
        return weigh([logits], targets)[1]

    settings = rising(part.settings, loss)
    return replace(part, settings=settings), tuple(found[setting] for setting in settings)
