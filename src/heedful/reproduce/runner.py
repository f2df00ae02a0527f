"""What making a table takes: its cells, each the command of a study, within a budget."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from heedful.errors import UsageError, nearest
from heedful.reproduce.plan import Experiment, System, Table, experiments, systems

RUNS = "runs"
"""Folder of all runs, below the folder of results; tables share it, so that no run is repeated."""


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
class Cell:
    """One system in one experiment.

    Attributes:
        experiment: the experiment.
        system: the system.
        budget: how much is run.
    """

    experiment: Experiment
    system: System
    budget: Budget

    @property
    def name(self) -> str:
        """Return what messages call it."""
        return f"{self.system.name} on {self.experiment.name}"

    @property
    def folder(self) -> Path:
        """Return where its runs are kept, below the folder of all runs."""
        return Path(self.budget.name) / self.experiment.name / self.system.name

    @property
    def changes(self) -> list[str]:
        """Return the ``key=value`` settings on top of the experiment's recipe; of two with one key the later counts."""
        return [
            *self.experiment.settings,
            *self.system.settings,
            *self.system.per_experiment.get(self.experiment.name, ()),
            *self.experiment.budgets[self.budget.name].settings,
            *self.budget.overrides,
        ]

    @property
    def runs(self) -> tuple[str, ...]:
        """Return what varies from run to run: ``data.fold=1`` and so on where folds are averaged, else the seeds."""
        folds = self.experiment.folds
        if folds:
            return tuple(f"data.fold={k}" for k in range(1, min(self.budget.folds or folds, folds) + 1))
        return tuple(f"train.seed={seed}" for seed in self.budget.seeds or self.experiment.seeds)

    @property
    def minutes(self) -> float:
        """Return about how long one of its runs takes on one core."""
        return self.system.cost * self.experiment.budgets[self.budget.name].minutes

    def arguments(self) -> list[str]:
        """Return the words of the command that runs it, without folders."""
        varied = ["--folds", str(self.experiment.folds)]
        if self.experiment.folds and self.budget.folds:
            varied += ["--only", str(len(self.runs))]
        if not self.experiment.folds:
            seeds = self.budget.seeds or self.experiment.seeds
            varied = ["--seeds", ",".join(map(str, seeds))]
        return ["study", self.experiment.recipe, *varied, *(w for c in self.changes for w in ("--set", c))]

    def command(self, data: str, out: str) -> str:
        """Return the command as a user would write it.

        Args:
            data: what stands for the folder of data sets.
            out: what stands for the folder of all runs.

        Returns:
            One line.
        """
        return "heedful " + shlex.join([*self.arguments(), "--data", data, "--out", f"{out}/{self.folder}"])


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
