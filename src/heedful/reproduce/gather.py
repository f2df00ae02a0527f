"""Reads what runs left behind and turns it into the figures of a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from heedful.errors import ArtefactError
from heedful.evaluation.bleu import bleu_of_copies
from heedful.evaluation.significance import Comparison, paired_bootstrap
from heedful.evaluation.statistics import STATISTICS, Statistic, Values, Weights
from heedful.reproduce.plan import SKIP, Column, Row, Table, experiments
from heedful.reproduce.runner import Budget, Cell, plan_cells
from heedful.reproduce.runs import COUNTED, Runs, read_runs

_PARTS = ("by_group", "by_length")
"""Figures of a part of the examples: a run whose examples have no such part has no such figure."""
_NUMBER = re.compile(r"-?\d*\.?\d+")


@dataclass(frozen=True)
class Figure:
    """One measured figure and what the paper printed.

    Attributes:
        values: one a run, scaled as the column says; empty where nothing was run.
        paper: as the paper printed it; may be empty.
        against: the paper's figure that the gap is taken to, where that stands in another column.
    """

    values: tuple[float, ...]
    paper: str
    against: str = ""

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
        match = _NUMBER.search(self.paper or self.against)
        return None if match is None or self.mean is None else self.mean - float(match[0])


@dataclass(frozen=True)
class Result:
    """A table with its figures.

    Attributes:
        table: what was asked for.
        budget: how much was run.
        cells: what the command runs, as far as is known of it.
    """

    table: Table
    budget: Budget
    cells: tuple[Runs, ...]

    @cached_property
    def runs(self) -> Mapping[tuple[str, str], Runs]:
        """Return (experiment, system) to its finished runs, for the cells that have any."""
        return {(one.cell.experiment.name, one.cell.system.name): one for one in self.cells if one.found}

    @property
    def missing(self) -> tuple[Cell, ...]:
        """Return the cells without a run."""
        return tuple(one.cell for one in self.cells if not one.found)

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
        partial = any(f".{part}." in column.figure for part in _PARTS)
        values = tuple(value * column.scale for value in runs.figures(column.figure, partial=partial))
        return Figure(values, paper, row.paper.get(column.against, ""))

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
                if first and second and first is not second and comparable(first, second):
                    yield row, experiment, compare(first, second)


def comparable(first: Runs, second: Runs) -> bool:
    """Say whether both kept their answers, read the same data, and of folds have one in common."""
    shared = not first.cell.experiment.folds or bool(set(first.names) & set(second.names))
    same = len(first.sums | second.sums) == 1
    return same and shared and first.answered and second.answered


def compare(first: Runs, second: Runs) -> Comparison:
    """Test two systems on the examples that both answered, by the paired bootstrap.

    Args:
        first: runs of one system.
        second: of the other.

    Returns:
        First minus second: accuracy for classes, Pearson's correlation for scores, F1 for roles, BLEU as a share of 1
        for translations; of folds those that both have run.

    Raises:
        ArtefactError: if they answered other examples.
    """
    if first.cell.experiment.folds:
        shared = set(first.names) & set(second.names)
        first, second = first.only(shared), second.only(shared)
    for one, other in zip(first.found, second.found, strict=False):
        if one["answers"]["gold"] != other["answers"]["gold"]:
            raise ArtefactError(
                f"{first.cell.name} and {second.cell.name} answered other examples; run one of them again"
            )
    gold, ours = first.answers()
    _, theirs = second.answers()
    if first.task in COUNTED:
        return paired_bootstrap(_STATISTICS[COUNTED[first.task]], gold, theirs, ours)
    metric: str | Statistic = "pearson" if first.tested.endswith("pearson") else _mean_share
    return paired_bootstrap(metric, gold, theirs, ours)


def _mean_share(_: Values, shares: Values, counts: Weights) -> Weights:
    """Return the mean of shares that were drawn so many times."""
    return np.asarray((shares * counts).sum(axis=-1) / counts.sum(axis=-1))


def _bleu_share(gold: Values, predicted: Values, counts: Weights) -> Weights:
    return bleu_of_copies(gold, predicted, counts) / 100


_STATISTICS: Mapping[str, Statistic] = {"f1": STATISTICS["f1"], "bleu": _bleu_share}


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
    return Result(table, budget, tuple(read_runs(cell, folder) for cell in plan_cells(table, budget)))


def titles(result: Result) -> dict[str, str]:
    """Return the titles of the experiments of a table."""
    return {name: experiments()[name].title for name in result.table.experiments()}
