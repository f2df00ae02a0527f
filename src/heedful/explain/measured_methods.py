"""How faithful the explanations of one text and of many texts are: means, the order of the methods, a table.

An explanation of one text is measured by what its words do to the prediction when they are deleted or kept.
Comprehensiveness and sufficiency are those of DeYoung et al. (ACL 2020, ERASER), with words deleted from the list of
words. Imports no torch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError
from heedful.explain.method_ranking import Standing
from heedful.explain.methods.answer_function import Question

Values = NDArray[np.float64]
FRACTIONS = (0.05, 0.1, 0.2, 0.5)
"""Shares of the words that are deleted or kept; at least one word."""
_RISE = 0.001
"""A probability that rises by less when a word is deleted has not risen."""
_EDGE = 1e-6


@dataclass(frozen=True, eq=False)
class TextMeasures:
    """What one explanation of one text is worth.

    Attributes:
        comprehensiveness: how far the probability falls without the most important words, for each of `FRACTIONS`, [4].
        sufficiency: how far it falls with these words alone, [4].
        log_odds: how far its log-odds fall without the most important words, on average over `FRACTIONS`.
        sign_violations: of the words with a contribution above 0, the share whose deletion raises the probability by at
            least 0.001; NaN for weights without a sign.
        correlation: Spearman's correlation of the contributions with leave-one-out; NaN where one of both is constant.
    """

    comprehensiveness: Values
    sufficiency: Values
    log_odds: float
    sign_violations: float
    correlation: float


def measure_text(
    question: Question, orders: Mapping[str, Values], signed: frozenset[str]
) -> dict[str, TextMeasures]:
    """Measure explanations of one text; all choices of words that they need are computed at once.

    Args:
        question: what is asked: a probability.
        orders: by method what each word that may be deleted contributes, [P], P at least 1.
        signed: methods whose contributions have a sign.

    Returns:
        The measures by method.
    """
    count = len(question.places)
    sizes = [max(1, math.ceil(share * count - 1e-9)) for share in FRACTIONS]
    keep = [np.ones((1, count), bool), ~np.eye(count, dtype=bool)]
    for values in orders.values():
        first = np.argsort(
            np.argsort(-values, kind="stable"), kind="stable"
        )  # the rank of each word, 0 the largest
        without = np.array([first >= size for size in sizes])
        keep += [without, ~without]
    answers = question.evaluate(np.concatenate(keep))
    whole, falls = answers[0], answers[0] - answers[1 : count + 1]
    rest = answers[count + 1 :].reshape(len(orders), 2, len(sizes))
    found = {}
    for (method, values), (without_top, top_alone) in zip(orders.items(), rest, strict=True):
        supports = values > 0
        violations = math.nan
        if method in signed:
            violations = float((falls[supports] < -_RISE).mean()) if supports.any() else 0.0
        found[method] = TextMeasures(
            whole - without_top,
            whole - top_alone,
            float((_log_odds(whole) - _log_odds(without_top)).mean()),
            violations,
            rank_correlation(values, falls),
        )
    return found


def rank_correlation(first: Values, second: Values) -> float:
    """Return Spearman's correlation, ties by their mean rank; NaN for fewer than three numbers or constant ones."""
    if len(first) < 3:
        return math.nan
    x, y = (_ranks(values) - (len(values) - 1) / 2 for values in (first, second))
    size = math.sqrt(float((x * x).sum()) * float((y * y).sum()))
    return float((x * y).sum()) / size if size > 0 else math.nan


def _ranks(values: Values) -> Values:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks: Values = (ends - (counts + 1) / 2)[place.reshape(-1)]
    return ranks


def _log_odds(probability: Values | float) -> Values:
    p = np.clip(probability, _EDGE, 1 - _EDGE)
    odds: Values = np.log(p / (1 - p))
    return odds


CONTROLS = ("random order", "random weights")
"""What the methods are compared with: words in a random order, and leave-one-out of a network with random weights."""
MEASURES: dict[str, bool] = {
    "comprehensiveness": True,
    "sufficiency": False,
    "log_odds": True,
    "sign_violations": False,
    "correlation": True,
}
"""Name of a measure to whether more is better."""
_RESAMPLES = 1000
_WIDTH = 13


@dataclass(frozen=True)
class Mean:
    """A mean over texts with its interval.

    Attributes:
        value: the mean; NaN where no text has the number.
        low: lower end of the 95 % bootstrap interval over texts.
        high: upper end.
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if math.isnan(self.value):
            return "-"
        return f"{self.value:.2f} ±{(self.high - self.low) / 2:.2f}"

    def as_list(self) -> list[float | None]:
        """Return the mean and both ends for JSON; null where there is none."""
        return [None if math.isnan(x) else round(x, 6) for x in (self.value, self.low, self.high)]


class MeasuredMethods:
    """The measures of every method and control over the texts of some data.

    Args:
        texts: for each text its measures by method.
        on: what the data is called.
        seed: of the texts, the random orders and the bootstrap.
        skipped: texts that were not measured because they have fewer than two words.

    Attributes:
        on: as given.
        seed: as given.
        skipped: as given.
        count: texts that were measured.
        names: methods and controls.

    Raises:
        UsageError: if there is no text to measure.
    """

    def __init__(
        self, texts: Sequence[Mapping[str, TextMeasures]], on: str, seed: int, skipped: int = 0
    ) -> None:
        if not texts:
            raise UsageError(f"{on} has no text of at least two words to measure explanations on")
        self.on, self.seed, self.skipped, self.count = on, seed, skipped, len(texts)
        self.names = tuple(texts[0])
        self._texts = texts
        generator = np.random.default_rng(seed)
        self._copies = generator.multinomial(self.count, np.full(self.count, 1 / self.count), _RESAMPLES)

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods without the controls, the best first: by comprehensiveness less sufficiency."""
        own = [name for name in self.names if name not in CONTROLS]
        return tuple(sorted(own, key=lambda name: -float(self._score(name).mean())))

    @property
    def standing(self) -> Standing:
        """The order of the methods, as a model folder keeps it."""
        best, *others = self.methods
        return Standing(self.methods, self.on, self.count, tuple(m for m in others if self._is_tied(best, m)))

    def mean(self, name: str, measure: str) -> Mean:
        """Return a measure of a method: of comprehensiveness and sufficiency the area over the deletion curve (AOPC).

        Args:
            name: a method or a control.
            measure: one of `MEASURES`.

        Returns:
            The mean over texts.
        """
        return self._mean(self._of_texts(name, measure))

    def curve(self, name: str, measure: str) -> list[Mean]:
        """Return comprehensiveness or sufficiency for each of `FRACTIONS`."""
        columns = np.array([getattr(text[name], measure) for text in self._texts])
        return [self._mean(column) for column in columns.T]

    def render(self) -> str:
        """Return the table for a terminal, the best method first, the controls last."""
        titles = ("comprehens.", "sufficiency", "log-odds", "violations", "correlation")
        lines = [
            f"{self.count:,} texts of {self.on}, seed {self.seed}; ± is half of the 95 % interval over texts",
            "",
        ]
        lines.append("".join([f"{'method':<15}", *(f"{title:>{_WIDTH}}" for title in titles)]))
        for name in (*self.methods, *(each for each in CONTROLS if each in self.names)):
            cells = [f"{self.mean(name, measure)!s:>{_WIDTH}}" for measure in MEASURES]
            lines.append("".join([f"{name:<15}", *cells]))
        best = self.methods[0]
        return "\n".join([*lines, "", *_LEGEND, "", self.standing.sentence(best)])

    def as_dict(self) -> dict[str, object]:
        """Return everything for JSON: means as [mean, lower end, upper end]."""
        rows = {
            name: {
                **{measure: self.mean(name, measure).as_list() for measure in MEASURES},
                **{
                    f"{measure}_at": {
                        f"{share:g}": mean.as_list()
                        for share, mean in zip(FRACTIONS, self.curve(name, measure), strict=True)
                    }
                    for measure in ("comprehensiveness", "sufficiency")
                },
            }
            for name in self.names
        }
        return {
            "on": self.on,
            "texts": self.count,
            "skipped": self.skipped,
            "seed": self.seed,
            "methods": rows,
            **{"order": list(self.methods), "tied": list(self.standing.tied)},
        }

    def _of_texts(self, name: str, measure: str) -> Values:
        return np.array([np.mean(getattr(text[name], measure)) for text in self._texts])

    def _score(self, name: str) -> Values:
        """Return comprehensiveness less sufficiency of each text, [N]: both deleting and keeping the words counts."""
        return self._of_texts(name, "comprehensiveness") - self._of_texts(name, "sufficiency")

    def _is_tied(self, best: str, other: str) -> bool:
        return self._mean(self._score(best) - self._score(other)).low <= 0

    def _mean(self, values: Values) -> Mean:
        there = ~np.isnan(values)
        if not there.any():
            return Mean(math.nan, math.nan, math.nan)
        sums, counts = self._copies @ np.where(there, values, 0.0), self._copies @ there
        low, high = np.quantile((sums / np.maximum(counts, 1))[counts > 0], (0.025, 0.975))
        return Mean(float(values[there].mean()), float(low), float(high))


_LEGEND = (
    "comprehens.  fall of the probability without the most important words; more is better",
    "sufficiency  fall of the probability with these words alone; less is better",
    "             (both are means over 5, 10, 20 and 50 % of the words)",
    "log-odds     fall of the log-odds without the most important words; more is better",
    "violations   of the words said to support the prediction, the share whose deletion raises it",
    "correlation  of the ranks of the words with those of leave-one-out, which has 1 with itself",
)
