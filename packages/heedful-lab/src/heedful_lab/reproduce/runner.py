"""What making a table takes: its cells, each the command of a study, within a budget."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from heedful.errors import HeedfulError, UsageError, nearest, of_exit_code
from heedful.machine import threads
from heedful.machine.child import Failed
from heedful.machine.crew import Manner, each_ended
from heedful.machine.executors import Call, Executor, absolute, with_one_thread
from heedful.machine.signals import stop_raises
from heedful.run.recipe_files import load_config
from heedful.run.record import RunRecord
from heedful.run.studies import Study, run_study
from heedful.storage import plain_errors
from heedful.storage.layout import FOLD, SEED, Varied
from heedful.training.progress import Reporter, Silent
from heedful_lab.reproduce import command_process
from heedful_lab.reproduce.kept_runs import runs_of_cell
from heedful_lab.reproduce.plan import Effort, Experiment, OwnRecipe, System, Table, experiments, systems


@dataclass(frozen=True)
class Budget:
    """How much is run.

    Attributes:
        name: one of the budgets of the experiments.
        seeds: instead of the experiments' own; empty for those.
        folds: run only so many of the folds; 0 for all.
        overrides: ``key=value`` settings on top of everything, for example fewer epochs.
    """

    name: str = "standard"
    seeds: tuple[int, ...] = ()
    folds: int = 0
    overrides: tuple[str, ...] = ()


@dataclass(frozen=True)
class Order:
    """How a table is made.

    Attributes:
        data: the folder of data sets.
        out: the folder of results.
        budget: how much is run.
        models: trained models by name, for a table whose models are trained for it: they replace those of the table.
        run: False only gathers what is there.
        reporter: shows the progress of training where models are trained in this process.
        print_line: told what happens.
    """

    data: Path | None
    out: Path
    budget: Budget = field(default_factory=Budget)
    models: Mapping[str, Path] = field(default_factory=dict)
    run: bool = True
    reporter: Reporter | None = None
    print_line: Callable[[str], None] = lambda _: None


@dataclass(frozen=True)
class Cell:
    """One system in one experiment.

    Attributes:
        experiment: the experiment.
        system: the system.
        budget: how much is run.
        value: of the setting that the experiment lets the dev split choose; empty where it chooses none, and for the
            cell of all values, whose runs are those of the chosen one.
    """

    experiment: Experiment
    system: System
    budget: Budget
    value: str = ""

    @property
    def name(self) -> str:
        """Return what messages call it."""
        return f"{self.system.name} on {self.experiment.name}" + (f" with {self.value}" if self.value else "")

    @property
    def tries(self) -> tuple[Cell, ...]:
        """Return the cells among which the dev split chooses, each with the first seed alone; none for no choice."""
        choice = self.experiment.choice
        if choice is None or self.value:
            return ()
        first = replace(self.budget, seeds=tuple(varied.number for varied in self.runs[:1]))
        return tuple(replace(self, budget=first, value=value) for value in choice.values)

    @property
    def folder(self) -> Path:
        """Return where its runs are kept, below the folder of all runs."""
        name = f"{self.system.name}@{self.value}" if self.value else self.system.name
        return Path(self.budget.name) / self.experiment.name / name

    @property
    def changes(self) -> list[str]:
        """Return the ``key=value`` settings on top of the experiment's recipe; of two with one key the later counts."""
        return [
            *self.experiment.settings,
            *(self._own.settings if self._own else ()),
            *self.system.settings,
            *(self.system.per_task.get(_task(self.recipe), ()) if self.system.per_task else ()),
            *self._effort.settings,
            *self._chosen,
            *self.budget.overrides,
        ]

    @property
    def _chosen(self) -> list[str]:
        choice = self.experiment.choice
        return [f"{choice.setting}={self.value}"] if choice is not None and self.value else []

    @property
    def recipe(self) -> str:
        """Return the packaged recipe it starts from: the system's own where the experiment names one."""
        return (self._own.recipe if self._own else "") or self.experiment.recipe

    @property
    def _own(self) -> OwnRecipe | None:
        """What the system's own paper changes; None under a shared recipe."""
        return self.experiment.own.get(self.system.named_in(self.experiment.own))

    @property
    def _effort(self) -> Effort:
        """What the budget means for this system."""
        effort = self.experiment.budgets[self.budget.name]
        return effort.own.get(self.system.named_in(effort.own), effort)

    @property
    def runs(self) -> tuple[Varied, ...]:
        """Return what varies from run to run: the folds where folds are averaged, else the seeds."""
        folds = self.experiment.folds
        if folds:
            return tuple(Varied(FOLD, k) for k in range(1, min(self.budget.folds or folds, folds) + 1))
        return tuple(Varied(SEED, seed) for seed in self.budget.seeds or self.experiment.seeds)

    @property
    def minutes(self) -> float:
        """Return about how long one of its runs takes on one core."""
        of_all = self.experiment.budgets[self.budget.name]
        own = self._effort.minutes if self._effort is not of_all else 0.0
        return own or self.system.cost * of_all.minutes

    def arguments(self) -> list[str]:
        """Return the words of the command that runs it, without folders."""
        varied = ["--folds", str(self.experiment.folds)]
        if self.experiment.folds and self.budget.folds:
            varied += ["--only", str(len(self.runs))]
        if not self.experiment.folds:
            seeds = self.budget.seeds or self.experiment.seeds
            varied = ["--seeds", ",".join(map(str, seeds))]
        return ["study", self.recipe, *varied, *(w for c in self.changes for w in ("--set", c))]

    def command(self, data: str, out: str) -> str:
        """Return the command as a user would write it.

        Args:
            data: what stands for the folder of data sets.
            out: what stands for the folder of all runs.

        Returns:
            One line.
        """
        return "heedful " + shlex.join([*self.arguments(), "--data", data, "--out", f"{out}/{self.folder}"])


@cache
def _task(recipe: str) -> str:
    """What a recipe's network answers: the settings of a system may differ from task to task."""
    return load_config(recipe).model.task


def command_of(table: Table, budget: Budget) -> str:
    """Return the command that makes a table with a budget, as a user would write it."""
    words = ["heedful", "reproduce", table.name, "--data", "DIR"]
    words += ["--budget", budget.name] if budget.name != "standard" else []
    words += ["--seeds", ",".join(map(str, budget.seeds))] if budget.seeds else []
    words += ["--folds", str(budget.folds)] if budget.folds else []
    return shlex.join(
        [*words, *table.narrowed, *(word for one in budget.overrides for word in ("--set", one))]
    )


def plan_cells(table: Table, budget: Budget) -> list[Cell]:
    """Return what a table needs to be run.

    Args:
        table: the table.
        budget: how much is run.

    Returns:
        Its cells, each once; those of experiments without a budget of this name are left out.

    Raises:
        UsageError: if no experiment has a budget of this name.
    """
    has = [name for name in table.experiments() if budget.name in experiments()[name].budgets]
    if table.experiments() and not has:
        known = dict.fromkeys(word for name in table.experiments() for word in experiments()[name].budgets)
        raise UsageError(
            f"--budget {budget.name!r}: {table.name} has none of that name: {nearest(budget.name, list(known))}"
        )
    return [
        Cell(experiments()[first], systems()[second], budget)
        for first, second in table.cells()
        if first in has
    ]


@dataclass(frozen=True)
class Failure:
    """A cell whose process failed.

    Attributes:
        cell: what it is called.
        why: what its process said; may have several lines.
        kind: the class of its error.
    """

    cell: str
    why: str
    kind: type[HeedfulError]

    def __str__(self) -> str:
        return f"{self.cell}: {self.why}"


def failed(failures: Sequence[Failure], heading: str) -> HeedfulError:
    """Return the error that tells of failures: of their own kind where all are of one kind, else of wrong usage."""
    kinds = {failure.kind for failure in failures}
    kind = kinds.pop() if len(kinds) == 1 else UsageError
    return kind("".join([heading, *(f"\n  {failure}" for failure in failures)]))


def run_cells(
    cells: Sequence[Cell], data: Path | None, runs: Path, *, jobs: int, print_line: Callable[[str], None]
) -> list[Failure]:
    """Run cells side by side, each in a process of its own; one that fails does not stop the others.

    Args:
        cells: what to run.
        data: the folder of data sets; None for ``HEEDFUL_DATA``.
        runs: the folder of all runs.
        jobs: how many at a time; the cores are shared out among them.
        print_line: told what happens.

    Returns:
        The cells that failed, and why.

    Raises:
        Interrupted: when asked to stop; the processes are asked too, and each saves where it stands. They are also
            asked when this process is killed.
    """
    manner = Manner(threads.share(jobs), tries=1, watched=False, fresh=True, patience=None)
    ended = each_ended(
        *(_runs_cells, (data, runs), cells),
        jobs=jobs,
        name=lambda cell: cell.name,
        manner=manner,
        begun=lambda cell: print_line(f"{cell.name} ..."),
    )
    failures = []
    with stop_raises("the same command goes on"), contextlib.closing(ended):
        for cell, outcome in ended:
            if isinstance(outcome, Failed):
                print_line(f"{cell.name}: failed: {outcome.message}")
                failures.append(Failure(cell.name, outcome.message, outcome.kind))
            else:
                print_line(f"{cell.name}: {outcome}")
    return failures


def _runs_cells(data: Path | None, runs: Path) -> Callable[[Cell], str]:
    return lambda cell: run_cell(cell, data, runs)


def run_cells_by(
    executor: Executor,
    cells: Sequence[Cell],
    data: Path | None,
    runs: Path,
    print_line: Callable[[str], None],
) -> list[Failure]:
    """Run cells by an executor, whose machines share the folders under the same paths; see `run_cells`.

    Args:
        executor: runs each cell as one call.
        cells: what to run.
        data: the folder of data sets.
        runs: the folder of all runs.
        print_line: told what happens.

    Returns:
        The cells that failed, and why.
    """
    places = (absolute(data), absolute(runs))
    failures = []
    for place, outcome in executor.each([Call(cell.name, _cell_task, (cell, *places)) for cell in cells]):
        name = cells[place].name
        if isinstance(outcome, Failed):
            print_line(f"{name}: failed: {outcome.message}")
            failures.append(Failure(name, outcome.message, outcome.kind))
        else:
            print_line(f"{name}: {outcome}")
    return failures


def _cell_task(cell: Cell, data: Path | None, runs: Path) -> str:
    with_one_thread()
    return run_cell(cell, data, runs)


def run_cell(cell: Cell, data: Path | None, runs: Path) -> str:
    """Run what a cell lacks, in this process.

    Args:
        cell: what to run.
        data: the folder of data sets; None for ``HEEDFUL_DATA``.
        runs: the folder of all runs.

    Returns:
        One line with the means over its runs.
    """
    if cell.tries:
        return run_cell(chosen(cell, [_study(one, data, runs).runs[0] for one in cell.tries]), data, runs)
    return _study(cell, data, runs).mean_line()


def chosen(cell: Cell, records: Sequence[RunRecord]) -> Cell:
    """Return the cell of the value that the dev split prefers, of equal ones the first.

    Args:
        cell: of all values.
        records: one of each of its `Cell.tries`.

    Returns:
        The cell, whose runs count for the system.
    """
    train = load_config(cell.tries[0].recipe, cell.tries[0].changes).train
    sign = 1.0 if train.direction == "max" else -1.0
    figures = [sign * record.figures.dev.metrics[train.metric] for record in records]
    return replace(cell, value=cell.tries[figures.index(max(figures))].value)


def _study(cell: Cell, data: Path | None, runs: Path) -> Study:
    folds = cell.experiment.folds
    return run_study(
        cell.recipe,
        runs / cell.folder,
        data,
        seeds=() if folds else [varied.number for varied in cell.runs],
        folds=folds,
        only=len(cell.runs) if folds else 0,
        overrides=cell.changes,
        elsewhere={varied: run for varied, (_, run) in runs_of_cell(runs, cell.folder).items()},
        reporter=Silent(),
    )


def run_command(command: str, out: Path, data: Path | None = None) -> None:
    """Run the command that makes a table which has no runs of its own; it prints what it prints.

    Args:
        command: as the table names it; OUT stands for the folder of results.
        out: the folder of results.
        data: the folder of data sets, for a command that takes one; None for ``HEEDFUL_DATA``.

    Raises:
        HeedfulError: of the kind of its exit status, if it fails.
        OutputError: if the folder cannot be made.
        Interrupted: when asked to stop.
    """
    with plain_errors(out):
        out.mkdir(parents=True, exist_ok=True)
    words = [word.replace("OUT", str(out)) for word in shlex.split(command)[1:]]
    words += [] if data is None else ["--data", str(data)]
    with stop_raises("the same command begins again"):
        code = command_process.run_words(words)
    if code:
        raise of_exit_code(code)(f"{command!r} failed; see above")
