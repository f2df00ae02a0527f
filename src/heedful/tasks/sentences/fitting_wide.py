"""Fitting the linear parts of a model: which settings are tried, and the one that suits other examples best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from heedful.data.examples import Ragged
from heedful.storage.growing_arrays import released
from heedful.tasks.sentences.linear_fits import LinearFit, fit_linear, interpolated, log_ratios
from heedful.tasks.sentences.linear_targets import Floats, LinearTargets
from heedful.tasks.sentences.principal_rows import MOST_DIRECTIONS, Rows, TurnedRows
from heedful.tasks.sentences.wide_rows import WideRows
from heedful.text.wide_part import CHARACTERS, PhraseRule, WidePart

if TYPE_CHECKING:
    from scipy import sparse

STRENGTHS = (1.0, 3.0, 10.0, 30.0)
"""Inverse strengths of regularization that are tried, the most regularized first."""
RATIO_STRENGTHS = (0.3, 1.0, 3.0, 10.0)
"""Likewise where the values are scaled by `log_ratios`."""
SHARES = (0.5, 0.25)
"""Shares of the fitted weights beside those of naive Bayes that are tried too."""
RIDGE_STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0)
"""Inverse strengths for numbers."""
DENSE_STRENGTHS = (1.0, 3.0, 10.0, 30.0, 100.0)
"""Inverse strengths for features of whole texts, whose vectors have length 1."""
PAIR_STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""Likewise for features of pairs."""
MOST_FEATURES = 500_000
"""Features that are kept at most, the most frequent ones."""
MOST_WEIGHTS = 4_000_000
"""Weights of all outputs together at most, so that memory does not grow with the square of the number of classes."""
MOST_CLASSES = 1_000
"""Outputs up to which linear parts are fitted: a step takes examples times features times outputs."""
MOST_VALUES = 4_000_000
"""Values that a sparse matrix of features has at most; more are made when they are needed."""
_COUNTED = 1 << 23
_MUCH = 4e7
_OF_FEW = 4
"""How many times as much is no more than that where there are so few rows that a fit reads their directions alone."""
_SCALES = np.geomspace(0.1, 5.0, 41)
_FEW_LOGITS = 4096


@dataclass(frozen=True)
class FitSetting:
    """How a linear part is fitted.

    Attributes:
        strength: inverse strength of regularization.
        scaled: whether features are scaled by how strongly they tell the outputs apart; see `Fitter`.
        share: of the fitted weights beside those of naive Bayes; 1 for the fitted ones alone.
        even: whether every class counts as much as any other; with few examples and regularization that learns large
            ones alone, classes of few examples are missed otherwise.
    """

    strength: float
    scaled: bool = False
    share: float = 1.0
    even: bool = False


def wide_settings(targets: LinearTargets, values: int = 0, *, few: bool = False) -> tuple[FitSetting, ...]:
    """Return the settings that are tried for words and characters: fewer where one fit takes long.

    Args:
        targets: what is learned.
        values: what a step of all fits takes for each output: the numbers in the rows that are not 0, and some for each
            weight, times the folds.
        few: whether there are at most `MOST_DIRECTIONS` rows.

    Returns:
        The settings.
    """
    if targets.membership() is None:
        return tuple(map(FitSetting, RIDGE_STRENGTHS))
    work = values * targets.outputs
    if work > _MUCH * (_OF_FEW if few else 1):
        return (FitSetting(10.0),)
    if work > _MUCH / 10:
        return (FitSetting(10.0), FitSetting(3.0, True), FitSetting(3.0, True, SHARES[-1]))
    plain = tuple(map(FitSetting, STRENGTHS))
    scaled = tuple(FitSetting(c, True, share) for c in RATIO_STRENGTHS for share in (1.0, *SHARES))
    return plain + scaled


class Fitter:
    """Fits linear models in several settings to the same examples; each begins with the one before.

    1. The values of the features are seen as they are.
    2. They are scaled by how strongly each feature tells the classes apart, the root of the mean of its squared
       `log_ratios` over the classes. Features that say little are then drawn to 0 more strongly, as in NB-SVM (Wang and
       Manning, ACL 2012). The scale is multiplied into the weights afterwards, so that the form and size stay.
    3. The weights of 2 are `interpolated` with those of naive Bayes, as in NB-SVM too.

    Args:
        rows: one an example, [N, n].
        targets: of the same examples.
        turned: the same rows, if they have been turned before.
    """

    def __init__(self, rows: Rows, targets: LinearTargets, turned: TurnedRows | None = None) -> None:
        self.rows, self.targets = rows, targets
        self._turned = {} if turned is None else {False: turned}
        self._last: dict[tuple[bool, bool], tuple[float, LinearFit]] = {}

    @cached_property
    def _ratios(self) -> Floats:
        found = log_ratios(self.rows, self.targets)
        assert found is not None  # numbers have no such settings
        return found

    @cached_property
    def _scales(self) -> Floats:
        ratios = self._ratios
        there = max(int(np.count_nonzero(np.any(ratios != 0, axis=0))), 1)
        found: Floats = np.sqrt((ratios**2).sum(axis=1) / there)
        return found

    def _seen(self, *, scaled: bool) -> TurnedRows:
        if scaled not in self._turned:
            self._turned[scaled] = TurnedRows.turning(self._scaled_rows() if scaled else self.rows)
        return self._turned[scaled]

    def _scaled_rows(self) -> Rows:
        if isinstance(self.rows, WideRows):
            return self.rows.scaled(self._scales)
        from scipy import sparse

        return sparse.csr_matrix(self.rows).multiply(self._scales[None]).tocsr()

    def fit(self, setting: FitSetting) -> LinearFit:
        """Return the fit in a setting."""
        scaled, kind = setting.scaled, (setting.scaled, setting.even)
        turned, found = self._seen(scaled=scaled), self._last.get(kind)
        if found is None or found[0] != setting.strength:
            start = None if found is None else found[1]
            targets = self.targets.evened() if setting.even else self.targets
            found = setting.strength, fit_linear(turned, targets, setting.strength, start)
            self._last[kind] = found
        weights = turned.back(found[1].weights)
        if scaled:
            weights = weights * self._scales[:, None]
            if setting.share < 1:
                weights = interpolated(weights, self._ratios, setting.share)
        return LinearFit(weights, found[1].bias)


def rising(settings: Sequence[FitSetting], loss: Callable[[FitSetting], float]) -> tuple[FitSetting, ...]:
    """Try settings of rising strength until other examples become less likely, which they then stay.

    Args:
        settings: what may be tried, those of one kind by their strength.
        loss: tries one, and returns the loss of examples that it was not fitted on.

    Returns:
        The settings that were tried; of each kind the first that was worse than a weaker one is the last.
    """
    tried: list[FitSetting] = []
    for kind in sorted({(setting.scaled, setting.even) for setting in settings}):
        own = [setting for setting in settings if (setting.scaled, setting.even) == kind]
        best = np.inf
        for _, group in groupby(own, lambda setting: setting.strength):
            alike = list(group)
            found = min(map(loss, alike))
            tried += alike
            if found > best:
                break
            best = found
    return tuple(tried)


def scaled_loss(logits: NDArray[np.floating], targets: LinearTargets) -> float:
    """Return the loss of logits at the scale that suits them best: their weight beside others is found later."""
    exact = np.asarray(logits, np.float64)
    if exact.size > _FEW_LOGITS:
        return min(targets.loss(scale * exact) for scale in _SCALES)
    # Of few examples the scales are tried at once: calling NumPy takes longer than its work.
    scaled = (_SCALES[:, None, None] * exact).reshape(-1, exact.shape[1])
    losses = targets.of(np.tile(np.arange(len(exact)), len(_SCALES))).losses(scaled)
    return float(
        min(targets.weights @ row for row in losses.reshape(len(_SCALES), -1)) / targets.weights.sum()
    )


def best_fit(
    fitter: Fitter,
    settings: Sequence[FitSetting],
    others: Rows,
    held: LinearTargets,
    fitted: Callable[[], None] = lambda: None,
) -> LinearFit:
    """Fit in several settings, and return the fit under which other examples are likeliest.

    Args:
        fitter: fits the training examples.
        settings: what may be tried.
        others: rows of other examples.
        held: gold of these.
        fitted: called after each fit.

    Returns:
        The fit.
    """
    found = list[tuple[float, LinearFit]]()

    def loss(setting: FitSetting) -> float:
        fit = fitter.fit(setting)
        found.append((scaled_loss(fit.logits(others), held), fit))
        fitted()
        return found[-1][0]

    rising(settings, loss)
    return min(found, key=lambda pair: pair[0])[1]


def with_fit(part: WidePart, fit: LinearFit, weight: float = 1.0) -> WidePart:
    """Return a part with the weights of a fit."""
    weights, bias = fit.weights.astype(np.float32), fit.bias.astype(np.float32)
    return WidePart(part.rule, part.numbers, part.rarity, weights, bias, weight)


def empty_part(rule: PhraseRule, training: Ragged, outputs: int) -> WidePart:
    """Return a part that knows the features of training texts and has no weights yet.

    The most frequent features are kept; a run of characters must be in two texts.

    Args:
        rule: which features a text has.
        training: features of each training example.
        outputs: columns of the logits.

    Returns:
        The part, with weights of 0.
    """
    numbers, counts = counted(training)
    kept = counts >= 1 + (numbers & 1 == CHARACTERS)
    most = max(min(MOST_FEATURES, MOST_WEIGHTS // outputs), 1)
    if kept.sum() > most:
        least = np.partition(counts[kept], -most)[-most]
        kept &= counts > least
    rarity = 1 + np.log((1 + len(training)) / (1 + counts[kept]))
    found = numbers[kept].astype(np.int32)
    weights = np.zeros((len(found), outputs), np.float32)
    return WidePart(rule, found, rarity.astype(np.float32), weights, np.zeros(outputs, np.float32))


def of_new_texts(part: WidePart, training: Ragged) -> Floats:
    """Return the share of their values that features have in a text that was held out, beside those in a new one, [n].

    The values of a text are divided by the norm of all of its features that are known. If a held-out text is a training
    text, its own are known too, in a new text only those that other texts have; so there the values are larger.

    Args:
        part: says which features are known.
        training: features of each training example.

    Returns:
        For each kind of features the mean share over the examples.
    """
    rows = WideRows.of(part, training)
    found, kinds = rows.columns.values, rows.kinds
    others = np.bincount(found, minlength=len(kinds)) > 1 + (kinds == CHARACTERS)
    example = np.repeat(np.arange(len(training)), rows.columns.lengths())
    shares = np.ones(len(kinds))
    for kind in np.unique(kinds):
        own = kinds[found] == kind
        places, squares = example[own], rows.rarity[found[own]] ** 2
        whole, known = (
            np.bincount(places, each, len(training)) for each in (squares, squares * others[found[own]])
        )
        if (known > 0).any():
            shares[kinds == kind] = np.sqrt(known[known > 0] / whole[known > 0]).mean()
    return shares


def counted(features: Ragged) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the distinct features of texts, ascending, and how many texts have each."""
    numbers, counts = np.zeros(0, np.int32), np.zeros(0, np.int64)
    for start in range(0, len(features.values), _COUNTED):
        found, times = np.unique(features.values[start : start + _COUNTED], return_counts=True)
        every = np.union1d(numbers, found)
        total = np.zeros(len(every), np.int64)
        total[np.searchsorted(every, numbers)] = counts
        total[np.searchsorted(every, found)] += times
        numbers, counts = every, total
        released(features.values)
    return numbers, counts


def feature_rows(part: WidePart, features: Ragged) -> sparse.csr_matrix | WideRows:
    """Return the values of the features that a part knows, one row an example, [N, n].

    They are a sparse matrix where that is small, or has few enough directions to be turned.
    """
    rows = WideRows.of(part, features)
    return rows.whole() if rows.nnz <= MOST_VALUES or min(rows.shape) <= MOST_DIRECTIONS else rows
