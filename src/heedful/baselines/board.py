"""The scoreboard: every system on the same splits, all pairs tested, and what a person reads of it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from heedful.baselines.library_systems import FastTextBaseline, SpacyBaseline
from heedful.baselines.measure import Measured, measure
from heedful.baselines.splits import Numbers, Splits
from heedful.baselines.systems import System
from heedful.errors import UsageError
from heedful.evaluation import Comparison, Interval, accuracy_interval, bootstrap_interval, holm
from heedful.run.comparison import Run, compare
from heedful.storage.layout import Varied


@dataclass(frozen=True)
class Row:
    """One system over all runs of a board.

    Attributes:
        system: its name.
        own: whether it is one of Heedful's networks.
        runs: setting that was varied ("train.seed=1", "data.fold=1") to what was measured.
        kept: whether the runs were kept by ``heedful study`` rather than trained for the board.
    """

    system: str
    own: bool
    runs: dict[str, Measured]
    kept: bool = False

    def mean(self, name: str) -> float | None:
        """Return the mean of a figure of `Measured` over the runs; None where it was not measured."""
        values = [getattr(run, name) for run in self.runs.values()]
        return None if None in values else float(np.mean(values))


@dataclass(frozen=True)
class Board:
    """All systems on one data set.

    Attributes:
        data: the data set or recipe.
        metric: "accuracy", "pearson" for scores, or "f1" for tags that mark spans.
        protocol: one sentence that says how the splits came about.
        examples: training examples of a run.
        tested: test examples of a run.
        gold: of the test split of each run: ones for classes and plain tags, the scores for scores, the number of each
            sentence's spans.
        rows: the systems, the best first.
        skipped: name of a system to why it has no row.
        unweighted: systems that count each training and dev row once, though the rows have weights.
        tests: all pairs of rows with the better one first, and the p-value after Holm's adjustment for all of them.
    """

    data: str
    metric: str
    protocol: str
    examples: int
    tested: int
    gold: dict[str, Numbers]
    rows: tuple[Row, ...]
    skipped: dict[str, str] = field(default_factory=dict)
    tests: dict[tuple[str, str], tuple[Comparison, float]] = field(default_factory=dict)
    unweighted: tuple[str, ...] = ()

    def interval(self, row: Row) -> Interval | None:
        """Return the 95 % interval of a row's metric over the test examples; None where answers were not kept.

        Of scores over several seeds, the ends are the means of each run's.
        """
        predicted = [run.predicted for run in row.runs.values()]
        if not all(len(each) for each in predicted):
            return None
        if self.metric == "accuracy":
            folds = next(iter(row.runs)).startswith("data.fold=")
            joined = np.concatenate(predicted) if folds else np.mean(predicted, axis=0)
            return accuracy_interval(round(float(joined.sum())), len(joined))
        found = [
            bootstrap_interval(self.metric, self.gold[varied], run.predicted, resamples=1_000)
            for varied, run in row.runs.items()
        ]
        low, high = (float(np.mean([getattr(each, end) for each in found])) for end in ("low", "high"))
        return replace(found[0], low=low, high=high)


def make_board(
    data: str,
    runs: Mapping[str, Splits],
    systems: Iterable[System],
    *,
    own: Callable[[System], bool],
    kept: Sequence[Row] = (),
    skipped: Mapping[str, str] | None = None,
    print_line: Callable[[str], None] = lambda _: None,
) -> Board:
    """Train and measure every system on every run, and test all pairs.

    Args:
        data: name of the data.
        runs: the setting that is varied to the splits of that run.
        systems: what is trained.
        own: says whether a system is one of Heedful's networks.
        kept: rows that were measured before, on the same test splits.
        skipped: systems that cannot be trained, and why.
        print_line: told what happens next.

    Returns:
        The board.

    Raises:
        UsageError: if the data has no test split.
    """
    first = next(iter(runs.values()))
    if first.test is None:
        raise UsageError(f"{data}: has no test split; name a file: --set data.test=FILE")
    rows, unweighted = list(kept), list[str]()
    for system in systems:
        if first.is_weighted and isinstance(system, FastTextBaseline | SpacyBaseline):
            unweighted.append(system.name)
        print_line(f"{system.name} ...")
        rows.append(Row(system.name, own(system), _over_runs(system, runs, reuse=not own(system))))
    metric = "accuracy" if first.labels else "pearson"
    gold = {varied: _gold(splits) for varied, splits in runs.items()}
    rows.sort(key=lambda row: -_mean_metric(row))
    return Board(
        data,
        metric,
        first.protocol.of_all_runs().sentence() if len(runs) > 1 else first.protocol.sentence(),
        len(first.train),
        len(first.test),
        gold,
        tuple(rows),
        dict(skipped or {}),
        tested_pairs(rows, metric, gold),
        tuple(unweighted),
    )


def _over_runs(system: System, runs: Mapping[str, Splits], *, reuse: bool) -> dict[str, Measured]:
    """Measure a system on every run; one that draws nothing would be the same again on the same examples."""
    measured: dict[str, Measured] = {}
    for varied, splits in runs.items():
        same = (found for other, found in measured.items() if reuse and runs[other].trains_like(splits))
        measured[varied] = next(same, None) or measure(system, splits)
    return measured


def _gold(splits: Splits) -> Numbers:
    assert splits.test is not None
    return np.ones(len(splits.test), np.int64) if splits.labels else splits.test.gold


def _mean_metric(row: Row) -> float:
    found = row.mean("metric")
    assert found is not None  # every run has its metric
    return found


def tested_pairs(
    rows: Sequence[Row], metric: str, gold: Mapping[str, Numbers]
) -> dict[tuple[str, str], tuple[Comparison, float]]:
    """Compare all pairs of rows.

    Args:
        rows: the systems, the best first.
        metric: what is compared.
        gold: of the test split of each run.

    Returns:
        The better one and the worse one to the comparison, and the p-value after Holm's adjustment for all of them.
    """
    found: dict[tuple[str, str], Comparison] = {}
    for better, worse in itertools.combinations(rows, 2):
        runs = [
            [
                Run(Varied.parse(v), {metric: m.metric}, _same(gold[v], m.predicted), m.predicted)
                for v, m in row.runs.items()
            ]
            for row in (worse, better)
        ]
        found[better.system, worse.system] = compare(
            (worse.system, better.system), runs[0], runs[1], [metric]
        ).tests[metric][-1]
    adjusted = holm([1.0 if test.p is None else test.p for test in found.values()])
    return {pair: (test, p) for (pair, test), p in zip(found.items(), adjusted, strict=True)}


def _same(gold: Numbers, predicted: Numbers) -> Numbers:
    """Return the gold, or nothing where the answers were not kept."""
    return gold if len(predicted) else np.empty(0)
