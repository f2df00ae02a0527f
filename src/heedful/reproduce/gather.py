"""Reads what runs left behind and turns it into the figures of a table."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.errors import ArtefactError
from heedful.evaluation.bleu import bleu_of_copies
from heedful.evaluation.significance import Comparison, paired_bootstrap
from heedful.evaluation.statistics import STATISTICS, Statistic, Values, Weights
from heedful.reproduce.plan import SKIP, Column, Row, Table, experiments
from heedful.reproduce.runner import Budget, Cell, plan_cells

_NUMBER = re.compile(r"-?\d*\.?\d+")


@dataclass(frozen=True)
class Runs:
    """The finished runs of one cell.

    Attributes:
        cell: the system and the experiment.
        found: one record a run, as `heedful study` keeps it; in the order of seeds or folds.
    """

    cell: Cell
    found: tuple[Mapping[str, Any], ...]

    def figures(self, path: str) -> list[float]:
        """Return one figure of each run.

        Args:
            path: dotted path into the summary, for example "test.metrics.accuracy".

        Returns:
            One number a run.
        """
        return [_follow(record["summary"], path) for record in self.found]

    @property
    def answered(self) -> bool:
        """Say whether the answers of all runs were kept; runs that are passed on may come without."""
        return all(record["answers"].get("gold") for record in self.found)

    @property
    def task(self) -> str:
        """Say what the models answer, ``model.task``."""
        return str(self.found[0]["settings"].get("model", {}).get("task", ""))

    def answers(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return gold and answers for a test over examples.

        Seeds answer the same examples: the share of runs that are right stands for each example (classes), the mean
        answer (scores), or the answers of every run (roles and translations, which are kept as counts). Folds answer
        different examples, which are put one after the other.

        Returns:
            Gold [N] and answers [N], of roles and translations [runs, N]; for classes gold is 1 everywhere and an
            answer the share that is right.
        """
        gold = [np.asarray(record["answers"]["gold"]) for record in self.found]
        predicted = [np.asarray(record["answers"]["predicted"]) for record in self.found]
        if self.task in _COUNTED:
            return gold[0], np.stack(predicted)
        if gold[0].dtype.kind == "f":
            return gold[0], np.mean(predicted, axis=0)
        right = [(g == p).astype(float) for g, p in zip(gold, predicted, strict=True)]
        share = np.concatenate(right) if self.cell.experiment.folds else np.mean(right, axis=0)
        return np.ones_like(share), share


@dataclass(frozen=True)
class Figure:
    """One measured figure and what the paper printed.

    Attributes:
        values: one a run, scaled as the column says; empty where nothing was run.
        paper: as the paper printed it; may be empty.
    """

    values: tuple[float, ...]
    paper: str

    @property
    def mean(self) -> float | None:
        """Return the mean over the runs."""
        return float(np.mean(self.values)) if self.values else None

    @property
    def deviation(self) -> float | None:
        """Return the standard deviation over the runs, with n - 1; None for fewer than two."""
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else None

    @property
    def gap(self) -> float | None:
        """Return ours minus the paper's."""
        match = _NUMBER.search(self.paper)
        return None if match is None or self.mean is None else self.mean - float(match[0])


@dataclass(frozen=True)
class Result:
    """A table with its figures.

    Attributes:
        table: what was asked for.
        budget: how much was run.
        runs: (experiment, system) to its finished runs, for the cells that have any.
        missing: cells without a run.
    """

    table: Table
    budget: Budget
    runs: Mapping[tuple[str, str], Runs]
    missing: tuple[Cell, ...]

    def figure(self, row: Row, column: Column) -> Figure:
        """Return one figure.

        Args:
            row: of the table.
            column: of the table.

        Returns:
            The figure.
        """
        paper = row.paper.get(column.key, "")
        runs = self.runs.get((column.experiment, row.system))
        if runs is None or paper == SKIP:
            return Figure((), "" if paper == SKIP else paper)
        return Figure(tuple(value * column.scale for value in runs.figures(column.figure)), paper)

    def tested(self) -> Iterator[tuple[Row, str, Comparison]]:
        """Compare every row with the one that the table names, in every experiment that both ran and kept answers of.

        Yields:
            Row, key of the experiment, and the comparison: row minus reference, over the test examples.
        """
        named = [row for row in self.table.rows if row.name == self.table.compare]
        for row in self.table.rows:
            for experiment in self.table.experiments():
                first = self.runs.get((experiment, row.system))
                second = self.runs.get((experiment, named[0].system)) if named else None
                if first and second and first is not second and first.answered and second.answered:
                    yield row, experiment, compare(first, second)


def compare(first: Runs, second: Runs) -> Comparison:
    """Test two systems on the examples that both answered, by the paired bootstrap.

    Args:
        first: runs of one system.
        second: of the other.

    Returns:
        First minus second: accuracy for classes, Pearson's correlation for scores, F1 for roles, BLEU as a share of 1
        for translations.
    """
    gold, ours = first.answers()
    _, theirs = second.answers()
    if first.task in _COUNTED:
        return paired_bootstrap(_COUNTED[first.task], gold, theirs, ours)
    n = min(len(ours), len(theirs))  # folds that only one of them has run are left out
    metric: str | Statistic = "pearson" if len(np.unique(gold)) > 1 else _mean_share
    return paired_bootstrap(metric, gold[:n], theirs[:n], ours[:n])


def _mean_share(_: Values, shares: Values, counts: Weights) -> Weights:
    """Return the mean of shares that were drawn so many times."""
    return np.asarray((shares * counts).sum(axis=-1) / counts.sum(axis=-1))


def _bleu_share(gold: Values, predicted: Values, counts: Weights) -> Weights:
    return bleu_of_copies(gold, predicted, counts) / 100


_COUNTED: Mapping[str, Statistic] = {"roles": STATISTICS["f1"], "translation": _bleu_share}
"""Tasks whose answers are kept as counts, and the metric that is a function of their sums."""


def gather(table: Table, budget: Budget, folder: Path) -> Result:
    """Read the runs of a table.

    Args:
        table: the table.
        budget: how much was run.
        folder: the folder of all runs.

    Returns:
        The table with its figures.

    Raises:
        ArtefactError: if a file is not what a study writes.
    """
    found, missing = {}, []
    for cell in plan_cells(table, budget):
        records = [_read(file) for file in _files(folder / cell.folder, budget.seeds)]
        if records:
            found[cell.experiment.name, cell.system.name] = Runs(cell, tuple(records))
        else:
            missing.append(cell)
    return Result(table, budget, found, tuple(missing))


def _files(folder: Path, seeds: Sequence[int]) -> list[Path]:
    wanted = {f"train.seed={seed}" for seed in seeds}
    files = [file for file in folder.glob("*=*.json") if not wanted or file.stem in wanted]
    return sorted(files, key=lambda file: int(file.stem.rpartition("=")[2]))


def _read(file: Path) -> Mapping[str, Any]:
    try:
        record: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        record["summary"]["test"], record["answers"], record["settings"]
    except (ValueError, KeyError, TypeError) as error:
        raise ArtefactError(
            f"{file}: not a run of 'heedful study' ({error}); delete it to run it again"
        ) from None
    return record


def _follow(value: Any, path: str) -> float:
    for part in path.split("."):
        if not isinstance(value, Mapping) or part not in value:
            raise ArtefactError(f"a run has no figure {path!r} (no {part!r}); delete it to run it again")
        value = value[part]
    return float(value)


def titles(result: Result) -> dict[str, str]:
    """Return the titles of the experiments of a table."""
    return {name: experiments()[name].title for name in result.table.experiments()}
