"""What there is to reproduce: what it needs, what is made, how long the rest takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heedful.data import catalog
from heedful.errors import check_known
from heedful.storage.layout import MODEL, RUNS
from heedful_lab.reproduce.answering import trained
from heedful_lab.reproduce.cell_runs import gather
from heedful_lab.reproduce.picture import Trained
from heedful_lab.reproduce.plan import Experiment, Table, experiments, systems, tables
from heedful_lab.reproduce.runner import Budget, Cell


@dataclass(frozen=True)
class Listing:
    """One line of the list of tables.

    Attributes:
        table: the table.
        done: runs that are there, of one row, seed or fold and experiment each.
        runs: runs there are to make.
        minutes: on one core for all of them.
        left: minutes for those that are not there yet but whose data is.
        needs: data, as ``set:split``, to whether it is there.
    """

    table: Table
    done: int
    runs: int
    minutes: float
    left: float
    needs: Mapping[str, bool]

    def as_record(self) -> dict[str, object]:
        """Return it as plain values for JSON."""
        table = self.table
        return {
            "table": table.name,
            "title": table.title,
            "made_by": table.command,
            "missing": table.missing,
            **{name: value for name, value in vars(self).items() if name != "table"},
        }


def lacking(experiment: Experiment, data: Path | None) -> tuple[str, ...]:
    """Return the splits that an experiment needs and the folder does not hold.

    Args:
        experiment: the experiment.
        data: the folder of data sets; None if none is named.

    Returns:
        ``set:split`` of each.
    """
    if data is None:
        return experiment.needs
    here = {f"{found.name}:{found.split}" for found in catalog.available(data) if found.present}
    return tuple(need for need in experiment.needs if need not in here)


def list_tables(data: Path | None, out: Path, budget: Budget) -> list[Listing]:
    """Return of every table what it needs, what is done and how long the rest takes.

    Args:
        data: the folder of data sets; None if none is named.
        out: the folder of results.
        budget: how much would be run; the standard budget counts for tables that have none of its name.

    Returns:
        One line a table.

    Raises:
        UsageError: if no experiment has a budget of this name.
    """
    known = sorted({name for experiment in experiments().values() for name in experiment.budgets})
    check_known(budget.name, known, f"--budget: there is no {budget.name!r}")
    absent = {name: lacking(experiment, data) for name, experiment in experiments().items()}
    lines = []
    for table in tables().values():
        if own := table.examples or table.picture:
            lines.append(_list_trained(table, own, data, out, budget))
            continue
        plan = _budget_of(budget, table.experiments())
        found = gather(table, plan, out / RUNS).cells
        here = [one for one in found if not absent[one.cell.experiment.name]]
        lines.append(
            Listing(
                table,
                sum(len(one.found) for one in found),
                sum(len(one.cell.runs) for one in found),
                sum(len(one.cell.runs) * one.cell.minutes for one in found),
                sum(one.lacking * one.cell.minutes for one in here),
                _presence(table.experiments(), absent),
            )
        )
    return lines


def _presence(names: Iterable[str], absent: Mapping[str, Sequence[str]]) -> dict[str, bool]:
    """Return what some experiments need, each once, and whether it is there."""
    return {need: need not in absent[name] for name in names for need in experiments()[name].needs}


def _list_trained(table: Table, examples: Trained, data: Path | None, out: Path, budget: Budget) -> Listing:
    experiment = experiments()[examples.experiment]
    plan = _budget_of(replace(budget, seeds=(1,)), (experiment.name,))  # one model each
    absent = lacking(experiment, data)
    done, minutes, left = 0, 0.0, 0.0
    for name, folder in trained(examples, plan, out).items():
        cost = Cell(experiment, systems()[examples.models[name]], plan).minutes
        there = (folder / MODEL).exists()
        done += there
        minutes += cost
        left += 0.0 if there or absent else cost
    needs = _presence((experiment.name,), {experiment.name: absent})
    return Listing(table, done, len(examples.models), minutes, left, needs)


def _budget_of(budget: Budget, names: Sequence[str]) -> Budget:
    """Return the budget, or the standard one where none of some experiments knows it."""
    known = any(budget.name in experiments()[name].budgets for name in names)
    return budget if known else replace(budget, name="standard")
