"""Compare two systems on the same examples: which is better, by how much, and whether it could be chance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError, check_known
from heedful.evaluation import Comparison, Report, mcnemar, paired_bootstrap, paired_seeds
from heedful.evaluation.significance import RESAMPLES, describe_p
from heedful.evaluation.statistics import COUNTS, STATISTICS
from heedful.run.record import RunRecord, read_record
from heedful.storage.layout import Varied, record_files

_SHARED = "folds share most of their training data, so that this p is too small"
_READING = """\
Over runs: would training again give the same order? Over examples: would other test examples give the same order?
A p-value answers one question that was chosen beforehand; among many p-values, some are small by chance."""


@dataclass(frozen=True)
class Run:
    """The predictions of one trained model on a test split.

    Attributes:
        varied: the setting that differs between the runs of a study; None for a model folder.
        metrics: metric name to value.
        gold: [N]; empty if the predictions were not saved.
        predicted: [N]; empty if the predictions were not saved.
        classes: class names in the order of their numbers; empty for scores.
    """

    varied: Varied | None
    metrics: dict[str, float]
    gold: NDArray[np.generic]
    predicted: NDArray[np.generic]
    classes: tuple[str, ...] = ()

    @classmethod
    def of_report(cls, report: Report) -> Run:
        """Take what a report holds."""
        return cls(None, report.metrics, report.gold, report.predicted, tuple(report.confusion))

    @classmethod
    def of_record(cls, record: RunRecord) -> Run:
        """Take what a study kept."""
        test, answers = record.figures.test, record.answers
        nothing = np.empty(0)
        gold, predicted = (nothing, nothing) if answers is None else (answers.gold, answers.predicted)
        return cls(record.varied, test.metrics, gold, predicted, tuple(test.confusion))


@dataclass(frozen=True)
class ComparisonOutcome:
    """The comparison of two systems.

    Attributes:
        names: the names of the two systems.
        runs: the runs of each that could be paired.
        left_out: runs of one system without a counterpart in the other.
        tests: metric name to the tests that apply.
    """

    names: tuple[str, str]
    runs: int
    left_out: tuple[str, ...]
    tests: dict[str, tuple[Comparison, ...]]

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return asdict(self)

    def render(self) -> str:
        """Return the figures as lines for a terminal."""
        lines = [f"A  {self.names[0]}", f"B  {self.names[1]}"]
        lines += [f"left out, the other has none: {', '.join(self.left_out)}"] if self.left_out else []
        for metric, tests in self.tests.items():
            lines += ["", metric, *(line for test in tests for line in _lines(test))]
        return "\n".join([*lines, "", _READING])


def is_study(folder: Path) -> bool:
    """Return whether a folder holds the runs of a study."""
    return bool(record_files(folder))


def read_study(folder: Path) -> list[Run]:
    """Read the runs that ``heedful study`` kept.

    Args:
        folder: its ``--out``.

    Returns:
        The runs, in the order of their seeds or folds.

    Raises:
        ArtifactError: naming the file, if one is not what a study writes.
    """
    return [Run.of_record(read_record(file)) for file in record_files(folder)]


def compare(
    names: tuple[str, str],
    first: Sequence[Run],
    second: Sequence[Run],
    metrics: Sequence[str] = (),
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> ComparisonOutcome:
    """Compare the runs of two systems, paired by seed or fold.

    Args:
        names: of the two systems, for the report.
        first: runs of the first.
        second: runs of the second.
        metrics: what to compare; by default the first metric, so that one question is asked.
        resamples: of the paired bootstrap.
        seed: of the resamples.

    Returns:
        For each metric the tests that apply: the paired t-test over runs where there are several, the paired bootstrap
        over examples where the answers were kept, and McNemar's test for the accuracy of two models; where none of
        them applies, the two figures without a test.

    Raises:
        UsageError: if the two did not answer the same examples, share no seed or fold, or lack a metric.
    """
    pairs, left_out = _paired(first, second)
    _check_same(names, pairs)
    known = [name for name in pairs[0][0].metrics if name in pairs[0][1].metrics]
    for name in metrics:
        check_known(name, known, f"--metric: both were not measured by {name!r}")
    chosen = metrics or known[:1]
    tests = {name: tuple(_tests(name, pairs, resamples, seed)) for name in chosen}
    return ComparisonOutcome(names, len(pairs), left_out, tests)


Pairs = list[tuple[Run, Run]]


def _paired(first: Sequence[Run], second: Sequence[Run]) -> tuple[Pairs, tuple[str, ...]]:
    by_name = {run.varied: run for run in second}
    pairs = [(run, by_name[run.varied]) for run in first if run.varied in by_name]
    if not pairs:
        raise UsageError("the two studies share no seed and no fold: run both over the same ones")
    shared = {run.varied for run, _ in pairs}
    alone = dict.fromkeys(run.varied for run in (*first, *second) if run.varied not in shared)
    return pairs, tuple(map(str, alone))


def _check_same(names: tuple[str, str], pairs: Pairs) -> None:
    for a, b in pairs:
        where = f"{names[0]} and {names[1]}{f', {a.varied}' if a.varied else ''}"
        if a.classes != b.classes:
            raise UsageError(f"{where}: other classes: {', '.join(a.classes)}; {', '.join(b.classes)}")
        if not (len(a.gold) and len(b.gold)):
            continue
        if len(a.gold) != len(b.gold):
            raise UsageError(
                f"{where}: answers to {len(a.gold):,} and {len(b.gold):,} examples, not the same ones"
            )
        other = np.flatnonzero(a.gold != b.gold)
        if len(other):
            raise UsageError(
                f"{where}: gold differs in {len(other):,} of {len(a.gold):,} examples, first in number "
                f"{other[0] + 1} ({a.gold[other[0]]} and {b.gold[other[0]]}): these are answers to other examples"
            )


def _tests(metric: str, pairs: Pairs, resamples: int, seed: int) -> Iterator[Comparison]:
    kept = all(len(a.gold) and len(b.gold) for a, b in pairs)
    over_examples = kept and all(_can_be_resampled(metric, run) for pair in pairs for run in pair)
    if len(pairs) > 1 or not over_examples:
        over_runs = paired_seeds([a.metrics[metric] for a, _ in pairs], [b.metrics[metric] for _, b in pairs])
        yield replace(over_runs, note=_SHARED) if _are_folds(pairs) and len(pairs) > 1 else over_runs
    if not over_examples:
        return
    gold, first, second = _answers(pairs)
    yield paired_bootstrap(metric, gold, first, second, resamples=resamples, seed=seed)
    if metric == "accuracy" and len(first) == 1:
        yield mcnemar(gold, first[0], second[0])


def _can_be_resampled(metric: str, run: Run) -> bool:
    """Return whether a metric is a function of the kept answers: classes, or the counts that F1 is made of."""
    counts = not run.classes and "f1" in run.metrics
    return metric in STATISTICS and (
        metric in COUNTS if counts else metric not in COUNTS or "f1" not in run.metrics
    )


def _are_folds(pairs: Pairs) -> bool:
    varied = pairs[0][0].varied
    return varied is not None and varied.is_fold


def _answers(pairs: Pairs) -> tuple[NDArray[np.generic], NDArray[np.generic], NDArray[np.generic]]:
    """Return gold [N] and answers [S, N]; of folds, whose examples differ, all one after the other, [1, N]."""
    golds = [a.gold for a, _ in pairs]
    if _are_folds(pairs):
        first, second = (np.concatenate([pair[side].predicted for pair in pairs])[None] for side in (0, 1))
        return np.concatenate(golds), first, second
    if not all(np.array_equal(golds[0], gold) for gold in golds):
        raise UsageError("the runs of a study were tested on other examples; compare them one by one")
    first, second = (np.stack([pair[side].predicted for pair in pairs]) for side in (0, 1))
    return golds[0], first, second


def _lines(test: Comparison) -> list[str]:
    interval = f"  95 % {test.interval}" if test.interval else ""
    counts = "".join(f", {count:,} {what}" for what, count in test.counts.items())
    line = f"  A {test.first:.4f}  B {test.second:.4f}  B - A {test.difference:+.4f}{interval}  {describe_p(test.p)}"
    lines = [line, f"    {test.test}, {test.n:,} {test.unit}{counts}"]
    return [*lines, f"    {test.note}"] if test.note else lines
