"""Reports on streams of examples, of which only counts, or two numbers of each example, are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from heedful.evaluation.calibration import Calibration
from heedful.evaluation.metrics import EDGES, NAMES, length_bin_numbers
from heedful.evaluation.report import evaluate_classes, undefined
from heedful.evaluation.report_text import Groups, Report
from heedful.evaluation.significance import little_bootstraps
from heedful.evaluation.statistics import STATISTICS


class ExampleKind(NamedTuple):
    """One kind of example; all figures of classes but the calibration are functions of how often each kind occurs.

    Attributes:
        gold: class number.
        predicted: class number.
        group: its group.
        length: number of its bin of lengths, see `heedful.evaluation.metrics.NAMES`.
    """

    gold: int
    predicted: int
    group: str
    length: int


def count_cells(
    gold: NDArray[np.int64],
    predicted: NDArray[np.int64],
    groups: NDArray[np.int32],
    group_names: Sequence[str],
    lengths: NDArray[np.int64],
) -> Counter[ExampleKind]:
    """Count the kinds of some examples; the counts of two parts of a file are added.

    Args:
        gold: class numbers, [N].
        predicted: class numbers, [N].
        groups: place of each example's group in the names, [N].
        group_names: the names.
        lengths: tokens of each text, [N, sides].

    Returns:
        How often each kind occurs.
    """
    columns = np.stack([gold, predicted, groups, length_bin_numbers(lengths)])
    kinds, times = np.unique(columns, axis=1, return_counts=True)
    return Counter(
        {
            ExampleKind(own, other, group_names[group], length): count
            for (own, other, group, length), count in zip(kinds.T.tolist(), times.tolist(), strict=True)
        }
    )


def evaluate_cells(
    cells: Mapping[ExampleKind, int],
    labels: Sequence[str],
    *,
    calibration: Calibration | None = None,
    seconds: float = 0.0,
    notes: dict[str, int] | None = None,
) -> Report:
    """Report on predicted classes that were counted.

    Args:
        cells: how often each kind of example occurs, at least one; see `count_cells`.
        labels: class names in the order of their numbers.
        calibration: of the probabilities; None where there are none.
        seconds: time the predictions took.
        notes: counts to print below the figures.

    Returns:
        The figures of `heedful.evaluation.evaluate_classes`, which are the same numbers. Its intervals resample the
        counts, so that they differ by the random numbers alone.
    """
    gold, predicted, groups, bins = zip(*sorted(cells), strict=True)
    longest = np.array([*EDGES, EDGES[-1] + 1])
    return evaluate_classes(
        np.array(gold),
        np.array(predicted),
        labels,
        groups=groups if len(set(groups)) > 1 else (),
        lengths=longest[list(bins)][:, None],
        calibration=calibration,
        seconds=seconds,
        notes=notes,
        times=np.array([cells[cell] for cell in sorted(cells)]),
    )


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
            notes={**(notes or {}), **undefined(gold)},
            gold=gold,
            predicted=predicted,
            by_length=by(bins, NAMES),
            statistics={name: STATISTICS[name] for name in metrics},
            resampling=little_bootstraps,
        )
