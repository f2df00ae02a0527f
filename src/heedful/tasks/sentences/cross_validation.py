"""Choosing by cross-validation: how each part is fitted, which parts join and with which weights, on every example."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from heedful.tasks.schema import About
from heedful.tasks.sentences.fitting_wide import FitSetting, Fitter, rising
from heedful.tasks.sentences.linear_fits import GAIN, LinearFit, gained, prior, weigh
from heedful.tasks.sentences.linear_targets import Floats, LinearTargets
from heedful.tasks.sentences.part_weights import FittedPart, Joining, PartWeights
from heedful.tasks.sentences.principal_rows import Rows, TurnedRows
from heedful.training.stages import Stage, stage

FOLDS = 5
_MUCH = 50_000
"""Examples times outputs from which not every form of a part is tried in every setting."""


@dataclass(frozen=True, eq=False)
class PartRows:
    """What a linear part may learn from.

    Attributes:
        name: what it reads, for people.
        rows: of the training examples, [N, n], and behind them those of what is taught.
        settings: how it may be fitted.
        put: returns what a folder keeps with this part in it, fitted so and at a weight.
        held: rows of further examples that choose; None where there are none.
        taught: gold of examples that every fit reads and none is judged by, M; None for none.
        named: rows of the names of the classes, [Y, n], where each says something; None otherwise.
        vector: how many of the last features are the vector of a sentence encoder.
        drawn: which training examples the rows are of, where these are too many for all to be read; None for all.
        principal: whether the rows are in their principal directions already.
        blocks: how many features are of one kind each, in order; none where that says nothing.
        lacks: log-likelihood by which the examples must be likelier than in other forms for this one to be taken.
        usual: inverse strength of regularization below which a setting must itself be the likeliest.
        stronger: further ones, falling, that are tried where the first of the settings is the likeliest, as long as
            each is likelier than the one before; those that are so by `GAIN` may be taken.
    """

    name: str
    rows: Rows
    settings: tuple[FitSetting, ...]
    put: Callable[[About, LinearFit, float], About]
    held: Rows | None = None
    taught: LinearTargets | None = None
    named: NDArray[np.float32] | None = None
    vector: int = 0
    drawn: NDArray[np.int64] | None = None
    principal: bool = False
    blocks: tuple[int, ...] = ()
    lacks: float = 0.0
    usual: float = 0.0
    stronger: tuple[float, ...] = ()

    @cached_property
    def turned(self) -> TurnedRows:
        """The rows, turned once for all folds."""
        return TurnedRows.as_is(self.rows) if self.principal else TurnedRows.turning(self.rows)

    def learned(self, training: LinearTargets) -> LinearTargets:
        """Return gold of training examples, and behind it what is taught."""
        return training if self.taught is None else training.with_(self.taught)

    def fitter(self, training: LinearTargets, places: NDArray[np.int64] | None = None) -> Fitter:
        """Return what fits the part to some of the training examples, and to what is taught; None for all."""
        if places is not None:
            further = np.arange(len(training), self.rows.shape[0])
            training, every = training.of(places), np.concatenate([places, further])
        targets = self.learned(training)
        if places is None:
            return Fitter(self.rows, targets, self.turned)
        return Fitter(self.rows[every], targets, self.turned.of_some(every))

    def of_fit(self, fit: LinearFit, logits: Floats) -> FittedPart:
        """Return the part with a fit, and with its logits for the examples that choose."""
        return FittedPart(self.name, logits, lambda about, weight: self.put(about, fit, weight))


@dataclass(frozen=True, eq=False)
class Tried:
    """A part in one setting.

    Attributes:
        part: the part.
        setting: how it was fitted.
        logits: what it gives for examples that it was not fitted on, [N, Y].
    """

    part: PartRows
    setting: FitSetting
    logits: Floats

    @property
    def kind(self) -> tuple[str, FitSetting]:
        """What it has in common with those that differ in the strength of regularization alone."""
        return self.part.name, replace(self.setting, strength=0.0)

    def fitted(self, targets: LinearTargets) -> FittedPart:
        """Return the part fitted on all training examples, with its logits for the examples that choose."""
        return self.part.of_fit(self.part.fitter(targets).fit(self.setting), self.logits)


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """The logits of every part in every setting for examples that it was not fitted on.

    Attributes:
        parts: for each part what was tried: itself, and what may stand in its place, in every setting.
        training: gold of the training examples.
        targets: gold of the examples that choose: the training examples, and further ones behind them.
        folds: the fold of each example that chooses; that of further examples is of its own.
    """

    parts: tuple[tuple[Tried, ...], ...]
    training: LinearTargets
    targets: LinearTargets
    folds: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        parts: Sequence[Sequence[PartRows]],
        training: LinearTargets,
        folds: NDArray[np.int64],
        held: LinearTargets | None = None,
    ) -> OutOfFold:
        """Fit every part in every setting, once for each fold without its examples.

        Args:
            parts: what may join; of each the forms that it may have, of which one is taken.
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
        work = [number * sum(len(form.settings) for form in forms) for forms in parts]
        found: list[tuple[Tried, ...]] = []
        with stage("fitting linear parts", sum(work)) as fits:
            for forms, fitted in zip(parts, work, strict=True):
                end = fits.count + fitted
                found.append(tuple(_forms_tried(forms, training, folds, targets, fits)))
                fits.reach(end)  # stronger regularization was better, so that not all were tried
        return cls(tuple(found), training, targets, every)

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

        Where cross-validation cannot choose, the first form and the middle setting are taken, and the examples
        themselves weigh the parts.
        """
        if not self.judges:
            own = []
            for tried in self.parts:
                part = tried[0].part
                fit = part.fitter(self.training).fit(_middle(part))
                own.append(part.of_fit(fit, fit.logits(part.rows[np.arange(len(self.training))])))
            return Joining(self.training, tuple(own))
        return Joining(self.targets, tuple(each.fitted(self.training) for each in self.best()))

    def best(self, places: NDArray[np.int64] | None = None) -> list[Tried]:
        """Return for each part the form and the setting that make some of the examples likeliest; None for all.

        Settings in which classes are not even must be likelier by `GAIN`, if the part has others, and so must weaker
        regularization of the same kind: as likely, the stronger one is right more often. One stronger than `usual` must
        itself be the likeliest.
        """
        targets = self.targets if places is None else self.targets.of(places)

        def chosen(tried: Sequence[Tried]) -> Tried:
            losses = [
                weigh([each.logits if places is None else each.logits[places]], targets)[1] for each in tried
            ]
            even = any(each.setting.even for each in tried)
            short = [
                gained(targets, loss, min(losses))
                + GAIN * (even and not each.setting.even)
                + GAIN * (each.setting.strength < each.part.usual)
                + each.part.lacks
                for loss, each in zip(losses, tried, strict=True)
            ]
            likeliest = tried[int(np.argmin(short))]
            enough = [
                each
                for each, lacking in zip(tried, short, strict=True)
                if each.kind == likeliest.kind and lacking <= min(short) + GAIN
            ]
            return min(enough, key=lambda each: each.setting.strength)

        return [chosen(tried) for tried in self.parts]

    def nested(self) -> tuple[Floats, list[tuple[NDArray[np.int64], PartWeights]]]:
        """Compose a model for each fold by what is chosen on the other folds.

        Returns:
            Logits of every example by a model that was neither fitted nor chosen with it, [N, Y]; and for each fold its
            examples and the choice on all others.
        """
        rows = np.zeros((len(self.targets), self.targets.outputs))
        choices: list[tuple[NDArray[np.int64], PartWeights]] = []
        if not self.judges:
            return rows + prior(self.targets), choices
        for fold in np.unique(self.folds):
            inside = np.flatnonzero(self.folds == fold)
            outside = np.flatnonzero(self.folds != fold)
            best = self.best(outside)
            parts = tuple(FittedPart(each.part.name, each.logits[outside], _never) for each in best)
            joined = Joining(self.targets.of(outside), parts).join(None)
            for each in best:
                rows[inside] += joined.weights.get(each.part.name, 0.0) * each.logits[inside]
            choices.append((inside, joined))
        return rows, choices


def _never(about: About, weight: float) -> About:
    raise AssertionError("a part that only measures is not kept")


def _middle(part: PartRows) -> FitSetting:
    even = [setting for setting in part.settings if setting.even] or part.settings
    return even[len(even) // 2]


def _forms_tried(
    forms: Sequence[PartRows],
    training: LinearTargets,
    folds: NDArray[np.int64],
    targets: LinearTargets,
    fits: Stage,
) -> list[Tried]:
    """Try every form in all settings; where that takes long, in one setting, and the likeliest in all."""
    if len(forms) == 1 or len(training) * training.outputs <= _MUCH:
        return [each for form in forms for each in _tried(form, training, folds, targets, fits)]
    one = [replace(form, settings=form.settings[1:2]) for form in forms]
    first = [each for form in one for each in _tried(form, training, folds, targets, fits)]
    losses = [weigh([each.logits], targets)[1] for each in first]
    best = int(np.argmin(losses))
    rest = [each for place, each in enumerate(first) if place != best]
    return [*rest, *_tried(forms[best], training, folds, targets, fits)]


def _tried(
    part: PartRows, training: LinearTargets, folds: NDArray[np.int64], targets: LinearTargets, fits: Stage
) -> list[Tried]:
    """Return a part in the settings that were tried, with the logits in each for all examples that choose."""
    places = [(np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)) for fold in np.unique(folds)]
    if len(places) == 1:  # copies of one text: there is nothing to compare
        return [Tried(part, each, np.zeros((len(targets), training.outputs))) for each in part.settings]
    fitters = [part.fitter(training, outside) for _, outside in places]
    whole = None if part.held is None else part.fitter(training)
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

    tried = [*rising(part.settings, loss)]
    losses = (
        {setting: weigh([logits], targets)[1] for setting, logits in found.items()} if part.stronger else {}
    )
    for even in sorted({setting.even for setting in losses}):
        best = min((each for each in tried if each.even == even), key=losses.__getitem__)
        first = min(each.strength for each in tried if each.even == even)
        last = losses[best]
        for strength in part.stronger if best.strength == first else ():
            further = replace(best, strength=strength)
            losses[further] = loss(further)
            if losses[further] >= last:
                break
            last = losses[further]
            tried += [further] if gained(targets, losses[best], last) >= GAIN else []
    return [Tried(part, setting, found[setting]) for setting in tried]
