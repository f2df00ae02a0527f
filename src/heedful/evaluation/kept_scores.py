"""Reports on streams of scores, of which two numbers, the group and the length of each example are kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from heedful.evaluation.metrics import NAMES, length_bin_numbers
from heedful.evaluation.report import Groups, Report
from heedful.evaluation.significance import little_bootstraps
from heedful.evaluation.statistics import STATISTICS

Scores = NDArray[np.floating]
Figures = Callable[[Scores, Scores], dict[str, float]]


class KeptScores:
    """Collects the scores of a stream: 17 bytes for each example, since ranks need all of them.

    Attributes:
        names: the groups, in the order in which they came.
    """

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self._blocks: list[tuple[NDArray[np.generic], ...]] = []

    def add(
        self,
        gold: NDArray[np.float32],
        predicted: NDArray[np.float64],
        groups: NDArray[np.int32],
        group_names: Sequence[str],
        lengths: NDArray[np.int64],
    ) -> None:
        """Add a block of examples.

        Args:
            gold: scores, [N].
            predicted: scores, [N].
            groups: place of each example's group in the names, [N].
            group_names: the names.
            lengths: tokens of each text, [N, sides].
        """
        numbers = np.array([self.names.setdefault(name, len(self.names)) for name in group_names], np.int32)
        bins = length_bin_numbers(lengths).astype(np.uint8)
        self._blocks.append((gold.astype(np.float32), predicted, numbers[groups], bins))

    def report(
        self, figures: Figures, *, seconds: float = 0.0, notes: dict[str, int] | None = None
    ) -> Report:
        """Report on all scores.

        Args:
            figures: computes the metrics; each must be one of `heedful.evaluation.statistics.STATISTICS`.
            seconds: time the predictions took.
            notes: counts to print below the figures.

        Returns:
            The figures of `heedful.evaluation.evaluate_scores`, which are the same numbers. Its intervals are those of
            `heedful.evaluation.significance.little_bootstraps`.
        """
        columns = list(zip(*self._blocks, strict=True))
        self._blocks.clear()
        gold, predicted, groups, bins = (np.concatenate(columns.pop(0)) for _ in range(4))
        gold = gold.astype(np.float64)

        def by(codes: NDArray[np.generic], names: Sequence[str]) -> Groups:
            found = Groups()
            for number in np.unique(codes):
                here = codes == number
                own = figures(gold[here], predicted[here])
                found[names[number] or "(none)"] = {**own, "count": int(here.sum())}
            return found

        by_group = by(groups, list(self.names)) if len(self.names) > 1 else {}
        metrics = figures(gold, predicted)
        return Report(
            len(gold),
            metrics,
            {name or "(none)": by_group[name or "(none)"] for name in sorted(self.names) if by_group},
            seconds=seconds,
            notes=notes or {},
            gold=gold,
            predicted=predicted,
            by_length=by(bins, NAMES),
            statistics={name: STATISTICS[name] for name in metrics},
            resampling=little_bootstraps,
        )
