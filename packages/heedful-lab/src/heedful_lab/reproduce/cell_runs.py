"""The finished runs of one cell: read from its folder, and what they answered."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heedful.errors import ArtifactError
from heedful.evaluation.significance import Comparison
from heedful.run.kept_settings import plain_settings, same_run
from heedful.run.recipe_files import load_config
from heedful.run.record import RunRecord
from heedful.storage.fields import Fields
from heedful.storage.layout import Varied
from heedful.tasks import task_named
from heedful_lab.reproduce.kept_runs import runs_of_cell
from heedful_lab.reproduce.plan import SKIP, Column, Row, Table, experiments
from heedful_lab.reproduce.resampled import Resampled
from heedful_lab.reproduce.runner import Budget, Cell, chosen, plan_cells


@dataclass(frozen=True)
class Runs:
    """The finished runs of one cell.

    Attributes:
        cell: the system and the experiment.
        found: one record a run, in the order of seeds or folds.
        unlike: files that lie in the cell's place but were made with other settings; they are not among ``found``.
        untried: runs that are still to be made before the dev split can choose the cell's setting.
    """

    cell: Cell
    found: tuple[RunRecord, ...]
    unlike: tuple[Path, ...] = ()
    untried: int = 0

    @property
    def lacking(self) -> int:
        """Return how many runs of the cell are still to be made."""
        return len(self.cell.runs) - len(self.found) + self.untried

    def figures(self, path: str, *, partial: bool = False) -> list[float]:
        """Return one figure of each run.

        Args:
            path: dotted path into the summary, for example "test.metrics.accuracy"; or "peak_megabytes", of the run's
                process.
            partial: leave out runs without this figure.

        Returns:
            One number a run.

        Raises:
            ArtifactError: if a run has none and none may be left out.
        """
        found = [(record, record.figure(path)) for record in self.found]
        lacking = [str(record.varied) for record, value in found if value is None]
        if lacking and not partial:
            raise ArtifactError(
                f"{self.cell.name}: {', '.join(lacking)} has no figure {path!r}; delete it to run it again"
            )
        return [value for _, value in found if value is not None]

    @property
    def names(self) -> tuple[Varied, ...]:
        """Return what varied from run to run."""
        return tuple(record.varied for record in self.found)

    def only(self, names: Collection[Varied]) -> Runs:
        """Return the runs of these names alone."""
        return replace(self, found=tuple(record for record in self.found if record.varied in names))

    @property
    def sums(self) -> frozenset[str]:
        """Return the checksums of the data of its runs: one, unless some of them read other data."""
        return frozenset(_checksum(record.data) for record in self.found)

    @property
    def peak(self) -> int | None:
        """Return the highest peak of memory over the runs, in MB."""
        return max((run.peak_megabytes for run in self.found if run.peak_megabytes), default=None)

    @property
    def peak_on_gpu(self) -> int | None:
        """Return likewise that of the GPUs."""
        return max((run.peak_gpu_megabytes for run in self.found if run.peak_gpu_megabytes), default=None)

    @property
    def answered(self) -> bool:
        """Return whether the answers of all runs were kept; runs that are passed on may come without."""
        return all(record.answers is not None for record in self.found)

    @property
    def tested(self) -> str:
        """Return the name of the one metric that `compare` tests: the one that the answers add up to."""
        first = self.found[0]
        if first.answers is None or first.answers.kind in ("classes", "right"):
            return "accuracy"
        task = task_named(first.task)
        return task.metrics[0] if task.kept == "counts" else "pearson"

    def answers(self) -> tuple[NDArray[np.generic], NDArray[np.generic]]:
        """Return gold and answers for a test over examples.

        Seeds answer the same examples: for classes the share of runs that are right stands for each example, whose mean
        is the mean accuracy of the runs. Correlation, F1 and BLEU are no means over examples, so that scores, roles and
        translations keep the answers of every run, and a test averages the runs' figures. Folds answer different
        examples, which are put one after the other.

        Returns:
            Gold [N] and answers: of classes [N], gold 1 everywhere and an answer the share that is right; else
            [runs, N], of folds [1, N].
        """
        answers = [record.answers for record in self.found if record.answers is not None]
        gold, predicted = [one.gold for one in answers], [one.predicted for one in answers]
        if self.tested != "accuracy":
            if self.cell.experiment.folds:
                return np.concatenate(gold), np.concatenate(predicted, axis=-1)[None]
            return gold[0], np.stack(predicted)
        right = [(g == p).astype(float) for g, p in zip(gold, predicted, strict=True)]
        share = np.concatenate(right) if self.cell.experiment.folds else np.mean(right, axis=0)
        return np.ones_like(share), share


def _checksum(files: Mapping[str, str]) -> str:
    """Return the SHA-256 over the sums of files, one a line before the file's name, sorted by file."""
    text = "\n".join(f"{files[name]}  {name}" for name in sorted(files))
    return hashlib.sha256(text.encode()).hexdigest()


def read_runs(cell: Cell, folder: Path) -> Runs:
    """Read what is there of a cell's runs.

    Args:
        cell: system, experiment and budget, which name the runs and their settings.
        folder: the folder of all runs.

    Returns:
        The runs that the cell's command would make and need not make any more; none of other seeds or settings.

    Raises:
        ArtifactError: if a file is not what a study writes.
    """
    if cell.tries:
        return _chosen_runs(cell, folder)
    found, unlike = [], []
    kept = runs_of_cell(folder, cell.folder)
    for varied in cell.runs:
        if varied not in kept:
            continue
        file, record = kept[varied]
        if same_run(record.settings, _expected(cell, varied)):
            found.append(record)
        else:
            unlike.append(file)
    return Runs(cell, tuple(found), tuple(unlike))


def _chosen_runs(cell: Cell, folder: Path) -> Runs:
    """Read the runs of the value that the dev split prefers; none as long as a value was not tried."""
    tried = [read_runs(one, folder) for one in cell.tries]
    missing = sum(one.lacking for one in tried)
    if missing:
        unlike = tuple(file for one in tried for file in one.unlike)
        return Runs(cell, (), unlike, untried=max(0, missing - 1))
    return read_runs(chosen(cell, [one.found[0] for one in tried]), folder)


def _expected(cell: Cell, varied: Varied) -> Mapping[str, object]:
    folds = cell.experiment.folds
    changes = (*cell.changes, f"data.folds={folds}") if folds else tuple(cell.changes)
    settings = {**_settings(cell.recipe, changes)}
    table, _, key = varied.setting.partition(".")
    return {**settings, table: {**Fields(settings, "").table(table), key: varied.number}}


@cache
def _settings(recipe: str, changes: tuple[str, ...]) -> Mapping[str, object]:
    return plain_settings(load_config(recipe, changes))


_PARTS = (".by_group.", ".by_length.", "train.metrics.", "peak_megabytes")
"""Figures that a run may lack: of a part of the examples that it has none of, of the training split, and the peak of
memory where the run went on in another process."""
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
        resampled: the comparisons that are kept, and those that are made of its runs.
    """

    table: Table
    budget: Budget
    cells: tuple[Runs, ...]
    resampled: Resampled = field(default_factory=Resampled, compare=False)

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
        partial = any(part in column.figure for part in _PARTS)
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
                    yield row, experiment, compare(first, second, self.resampled)


def comparable(first: Runs, second: Runs) -> bool:
    """Return whether both kept their answers, read the same data, and of folds have one in common."""
    shared = not first.cell.experiment.folds or bool(set(first.names) & set(second.names))
    same = len(first.sums | second.sums) == 1
    return same and shared and first.answered and second.answered


def compare(first: Runs, second: Runs, resampled: Resampled | None = None) -> Comparison:
    """Test two systems on the examples that both answered, by the paired bootstrap.

    Args:
        first: runs of one system.
        second: of the other.
        resampled: knows comparisons that were made before, and keeps this one; None keeps nothing.

    Returns:
        First minus second: accuracy for classes, Pearson's correlation for scores, F1 for roles, BLEU as a share of 1
        for translations; of folds those that both have run.

    Raises:
        ArtifactError: if they answered other examples.
    """
    if first.cell.experiment.folds:
        shared = set(first.names) & set(second.names)
        first, second = first.only(shared), second.only(shared)
    for one, other in zip(first.found, second.found, strict=False):
        if not _same_examples(one, other):
            raise ArtifactError(
                f"{first.cell.name} and {second.cell.name} answered other examples; run one of them again"
            )
    gold, ours = first.answers()
    _, theirs = second.answers()
    known = Resampled() if resampled is None else resampled
    return known.compare(first.tested, gold, theirs, ours)


def _same_examples(one: RunRecord, other: RunRecord) -> bool:
    if one.answers is None or other.answers is None:
        return False
    if "right" in (one.answers.kind, other.answers.kind):  # one was passed on without its gold labels
        return len(one.answers.gold) == len(other.answers.gold)
    return np.array_equal(one.answers.gold, other.answers.gold)


def gather(table: Table, budget: Budget, folder: Path, resampled: Resampled | None = None) -> Result:
    """Read the runs of a table.

    Args:
        table: the table.
        budget: how much was run.
        folder: the folder of all runs.
        resampled: kept comparisons; None reads those of the folder.

    Returns:
        The table with its figures.

    Raises:
        ArtifactError: if a file is not what a study writes.
    """
    cells = tuple(read_runs(cell, folder) for cell in plan_cells(table, budget))
    return Result(table, budget, cells, Resampled.read(folder) if resampled is None else resampled)


def titles(result: Result) -> dict[str, str]:
    """Return the titles of the experiments of a table."""
    return {name: experiments()[name].title for name in result.table.experiments()}
