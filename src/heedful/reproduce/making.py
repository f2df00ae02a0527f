"""From the name of a table to its files: run what is missing, gather, write."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heedful.data import catalogue
from heedful.errors import UsageError, nearest
from heedful.files import write_text
from heedful.reproduce.answering import trained
from heedful.reproduce.gather import Result, gather
from heedful.reproduce.pairs import Examples
from heedful.reproduce.plan import Experiment, Table, experiments, systems, tables
from heedful.reproduce.render import to_csv, to_markdown, to_records
from heedful.reproduce.runner import Budget, Cell, plan_cells, run_cells

RUNS = "runs"
"""Folder of all runs, below the folder of results; tables share it, so that no run is repeated."""


@dataclass(frozen=True)
class Made:
    """What making a table gave.

    Attributes:
        result: its figures.
        failures: one line a cell that failed.
        markdown: the file for people.
    """

    result: Result
    failures: tuple[str, ...]
    markdown: Path


@dataclass(frozen=True)
class Listing:
    """One line of the list of tables.

    Attributes:
        table: the table.
        done: cells that have runs.
        cells: cells there are.
        minutes: on one core for the cells without a run whose data is there.
        lacking: data that is not there.
    """

    table: Table
    done: int
    cells: int
    minutes: float
    lacking: tuple[str, ...]


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
    here = {f"{found.name}:{found.split}" for found in catalogue.available(data) if found.present}
    return tuple(need for need in experiment.needs if need not in here)


def list_tables(data: Path | None, out: Path, budget: Budget) -> list[Listing]:
    """Say of every table what it needs, what is done and how long the rest takes.

    Args:
        data: the folder of data sets; None if none is named.
        out: the folder of results.
        budget: how much would be run; the standard budget counts for tables that have none of its name.

    Returns:
        One line a table.

    Raises:
        UsageError: if no experiment has a budget of this name.
    """
    _check(
        "--budget", [budget.name], sorted({name for each in experiments().values() for name in each.budgets})
    )
    absent = {name: lacking(experiment, data) for name, experiment in experiments().items()}
    lines = []
    for table in tables().values():
        if table.examples is not None:
            lines.append(_list_examples(table, table.examples, data, out, budget))
            continue
        plan = _budget_of(budget, table.experiments())
        cells = plan_cells(table, plan)
        found = gather(table, plan, out / RUNS)
        minutes = sum(cell.minutes for cell in found.missing if not absent[cell.experiment.name])
        names = dict.fromkeys(need for name in table.experiments() for need in absent[name])
        lines.append(Listing(table, len(cells) - len(found.missing), len(cells), minutes, tuple(names)))
    return lines


def _list_examples(table: Table, examples: Examples, data: Path | None, out: Path, budget: Budget) -> Listing:
    experiment = experiments()[examples.experiment]
    plan = _budget_of(replace(budget, seeds=(1,)), (experiment.name,))  # one model each
    absent, left = lacking(experiment, data), []
    for name, folder in trained(examples, plan, out).items():
        if not (folder / "model").exists():
            left.append(Cell(experiment, systems()[examples.models[name]], plan))
    minutes = 0.0 if absent else sum(cell.minutes for cell in left)
    return Listing(table, len(examples.models) - len(left), len(examples.models), minutes, absent)


def _budget_of(budget: Budget, names: Sequence[str]) -> Budget:
    """Return the budget, or the standard one where none of some experiments knows it."""
    known = any(budget.name in experiments()[name].budgets for name in names)
    return budget if known else replace(budget, name="standard")


def make(
    table: Table,
    data: Path | None,
    out: Path,
    budget: Budget,
    *,
    jobs: int = 1,
    run: bool = True,
    say: Callable[[str], None] = lambda _: None,
) -> Made:
    """Make a table: run the cells that the data allows, then write Markdown, CSV and JSON.

    Args:
        table: the table, perhaps with fewer rows or columns (`narrow`).
        data: the folder of data sets.
        out: the folder of results.
        budget: how much is run.
        jobs: cells run side by side.
        run: False only gathers what is there; without any run the table holds the paper's figures alone.
        say: told what happens.

    Returns:
        The figures, and what failed.

    Raises:
        UsageError: if the table is made by another command, or not at all.
    """
    _refuse_foreign(table, run=run)
    cells = plan_cells(table, budget)
    absent = {name: lacking(experiments()[name], data) for name in table.experiments()}
    for name, needs in absent.items():
        if needs and run:
            say(f"{name}: left out, the data folder lacks {', '.join(needs)}")
    wanted = [cell for cell in cells if not absent[cell.experiment.name]]
    failures = run_cells(wanted, data, out / RUNS, jobs=jobs, say=say) if run else []
    result = gather(table, budget, out / RUNS)
    if run and not result.runs:
        raise UsageError(f"{table.name}: nothing was run" + "".join(f"\n  {line}" for line in failures))
    if not run:
        _say_what_is_left(result, absent, out, say)
    stem = out / table.name
    write_text(stem.with_suffix(".md"), to_markdown(result, command_of(table, budget)))
    write_text(stem.with_suffix(".csv"), to_csv(result))
    write_text(stem.with_suffix(".json"), json.dumps(to_records(result), indent=1) + "\n")
    return Made(result, tuple(failures), stem.with_suffix(".md"))


def command_of(table: Table, budget: Budget) -> str:
    """Return the command that makes a table with a budget."""
    words = [f"heedful reproduce {table.name} --data DIR"]
    words += [f"--budget {budget.name}"] if budget.name != "standard" else []
    words += [f"--seeds {','.join(map(str, budget.seeds))}"] if budget.seeds else []
    words += [f"--folds {budget.folds}"] if budget.folds else []
    return " ".join([*words, *(f"--set {change}" for change in budget.overrides)])


def narrow(table: Table, rows: Sequence[str], columns: Sequence[str]) -> Table:
    """Keep some rows and columns of a table; the row of comparison stays.

    Args:
        table: the table.
        rows: names or systems of the rows to keep; empty for all.
        columns: keys of the columns to keep; empty for all.

    Returns:
        The smaller table.

    Raises:
        UsageError: for a row or column that there is not.
    """
    _check("--rows", rows, [word for row in table.rows for word in (row.name, row.system) if word])
    _check("--columns", columns, [column.key for column in table.columns])
    kept = tuple(
        row
        for row in table.rows
        if not rows or {row.name, row.system} & set(rows) or row.name == table.compare
    )
    return replace(
        table, rows=kept, columns=tuple(c for c in table.columns if not columns or c.key in columns)
    )


def _check(option: str, given: Iterable[str], known: Sequence[str]) -> None:
    for name in given:
        if name not in known:
            raise UsageError(f"{option}: there is no {name!r}: {nearest(name, list(known))}")


def _say_what_is_left(
    result: Result, absent: Mapping[str, Sequence[str]], out: Path, say: Callable[[str], None]
) -> None:
    """Say what a table without some of its runs needs."""
    left = [cell for cell in result.missing if not absent[cell.experiment.name]]
    if left:
        minutes = sum(cell.minutes for cell in left)
        say(
            f"{len(left)} of {len(result.table.cells())} models are not in {out / RUNS} yet: about {minutes:,.0f} "
            "minutes on one core; leave --no-run out to run them"
        )
    for name in dict.fromkeys(cell.experiment.name for cell in result.missing):
        if absent[name]:
            say(f"{name}: the data folder lacks {', '.join(absent[name])}")


def _refuse_foreign(table: Table, *, run: bool) -> None:
    if table.examples is not None:
        raise UsageError(f"{table.name} holds example pairs: answer_examples makes it")
    if table.command:
        raise UsageError(f"{table.name} is made by another command: {table.command}")
    if not run:
        return
    if table.missing:
        raise UsageError(f"{table.name} cannot be made: {table.missing}; --no-run prints the paper's figures")
    if not table.cells():
        raise UsageError(f"{table.name}: none of its rows can be run; --no-run prints the paper's figures")
