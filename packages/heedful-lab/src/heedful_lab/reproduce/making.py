"""From the name of a table to its files: run what is missing, gather, write."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heedful.errors import MOST_AT_ONCE, MissingExtraError, UsageError, check_known, checked_whole
from heedful.machine.executors import Executor
from heedful.run.recipe_files import load_config
from heedful.storage import write_text
from heedful.storage.layout import RUNS
from heedful_lab.reproduce.by_length import draw_by_length, length_columns
from heedful_lab.reproduce.cell_runs import Result, gather
from heedful_lab.reproduce.learning_curves import draw_learning_curves, learning_curves
from heedful_lab.reproduce.listing import lacking
from heedful_lab.reproduce.plan import Table, experiments
from heedful_lab.reproduce.runner import (
    Cell,
    Failure,
    Order,
    command_of,
    failed,
    plan_cells,
    run_cells,
    run_cells_by,
)
from heedful_lab.reproduce.scatter import draw_scatter
from heedful_lab.reproduce.table_records import refuse_foreign_table, to_csv, to_records
from heedful_lab.reproduce.table_text import to_markdown


@dataclass(frozen=True)
class Made:
    """What making a table gave.

    Attributes:
        result: its figures.
        failures: the cells that failed.
        markdown: the file for people.
    """

    result: Result
    failures: tuple[Failure, ...]
    markdown: Path


def make(table: Table, order: Order, *, jobs: int = 1, executor: Executor | None = None) -> Made:
    """Make a table: run the cells that the data allows, then write Markdown, CSV and JSON, of lengths a picture too.

    Args:
        table: the table, perhaps with fewer rows or columns (`narrow`).
        order: the folders, and how much is run; without any run the table holds the paper's figures alone.
        jobs: cells run side by side.
        executor: runs the cells on machines that share the folders; None runs them here, ``jobs`` at a time.

    Returns:
        The figures, and what failed.

    Raises:
        UsageError: if the table is made by another command, or not at all, or so many runs cannot go side by side.
        Interrupted: when asked to stop; the same call goes on.
    """
    checked_whole("jobs", jobs, 1, MOST_AT_ONCE)
    data, out, budget, run, print_line = order.data, order.out, order.budget, order.run, order.print_line
    _refuse_foreign(table, run=run)
    cells = plan_cells(table, budget)
    _check_settings(cells)
    stem = out / (f"{table.name}-part" if table.narrowed else table.name)
    refuse_foreign_table(stem)
    absent = {name: lacking(experiments()[name], data) for name in table.experiments()}
    for name, needs in absent.items():
        if needs and run:
            print_line(f"{name}: left out, {_lacks(needs, data)}")
    wanted = [cell for cell in cells if not absent[cell.experiment.name]]
    if executor is not None and run:
        failures = run_cells_by(executor, wanted, data, out / RUNS, print_line)
    else:
        failures = run_cells(wanted, data, out / RUNS, jobs=jobs, print_line=print_line) if run else []
    result = gather(table, budget, out / RUNS)
    if run and not result.runs:
        why = " (no data folder is named: --data DIR, or HEEDFUL_DATA)" if data is None and not wanted else ""
        raise failed(failures, f"{table.name}: nothing was run{why}")
    for file in (file for one in result.cells for file in one.unlike):
        print_line(f"{file}: left out, it was made with other settings; use another --out or delete it")
    if not run:
        _say_what_is_left(result, absent, data, out, print_line)
    write_text(stem.with_suffix(".md"), to_markdown(result, command_of(table, budget), absent))
    write_text(stem.with_suffix(".csv"), to_csv(result))
    write_text(stem.with_suffix(".json"), json.dumps(to_records(result), indent=1) + "\n")
    result.resampled.write(out / RUNS)
    if length_columns(table) and result.runs:
        _draw(draw_by_length, result, stem.with_suffix(".png"), print_line)
    if set(table.scatter) & {column.key for column in table.columns} == set(table.scatter) != set():
        _draw(draw_scatter, result, stem.with_suffix(".png"), print_line)
    if budget.name == "converged" and any(learning_curves(result, name) for name in table.experiments()):
        _draw(draw_learning_curves, result, stem.with_name(f"{stem.name}-curves.png"), print_line)
    return Made(result, tuple(failures), stem.with_suffix(".md"))


def _draw(
    draw: Callable[[Result, Path], Path], result: Result, path: Path, print_line: Callable[[str], None]
) -> None:
    """Draw a picture beside a table; without matplotlib there is none."""
    try:
        print_line(f"drawn in {draw(result, path)}")
    except MissingExtraError as error:
        print_line(f"not drawn: {error}")


def narrow(table: Table, rows: Sequence[str], columns: Sequence[str]) -> Table:
    """Keep some rows and columns of a table; the row of comparison stays. Its files are named TABLE-part.

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
    narrowed = [
        word
        for name, given in (("--rows", rows), ("--columns", columns))
        if given
        for word in (name, ",".join(given))
    ]
    return replace(
        table,
        rows=kept,
        columns=tuple(c for c in table.columns if not columns or c.key in columns),
        narrowed=(*table.narrowed, *narrowed),
    )


def _check(option: str, given: Iterable[str], known: Sequence[str]) -> None:
    for name in given:
        check_known(name, known, f"{option}: there is no {name!r}")


def _say_what_is_left(
    result: Result,
    absent: Mapping[str, Sequence[str]],
    data: Path | None,
    out: Path,
    print_line: Callable[[str], None],
) -> None:
    """Report what a table without some of its runs needs."""
    left = [one for one in result.cells if one.lacking and not absent[one.cell.experiment.name]]
    if left:
        count, minutes = sum(one.lacking for one in left), sum(one.lacking * one.cell.minutes for one in left)
        print_line(
            f"{count} of {sum(len(one.cell.runs) for one in result.cells)} runs are not in {out / RUNS} yet: about "
            f"{minutes:,.0f} minutes on one core; leave --no-run out to make them"
        )
    for name in dict.fromkeys(cell.experiment.name for cell in result.missing):
        if absent[name]:
            print_line(f"{name}: {_lacks(absent[name], data)}")


def _lacks(needs: Sequence[str], data: Path | None) -> str:
    if data is None:
        return f"no data folder is named (--data DIR, or HEEDFUL_DATA); it needs {', '.join(needs)}"
    return f"the data folder lacks {', '.join(needs)}"


def _check_settings(cells: Iterable[Cell]) -> None:
    """Refuse settings of the user's that no row takes, before they stand in the command of a table."""
    problem = None
    for cell in cells:
        if not cell.budget.overrides:
            return
        try:
            load_config(cell.recipe, cell.changes)
            return
        except UsageError as error:
            problem = error
    if problem is not None:
        raise problem


def _refuse_foreign(table: Table, *, run: bool) -> None:
    if table.examples is not None:
        raise UsageError(f"{table.name} holds example pairs: answer_examples makes it")
    if table.picture is not None:
        raise UsageError(f"{table.name} shows single sentences: draw_figure makes it")
    if table.command:
        raise UsageError(f"{table.name} is made by another command: {table.command}")
    if not run:
        return
    if table.missing:
        raise UsageError(f"{table.name} cannot be made: {table.missing}; --no-run prints the paper's figures")
    if not table.cells():
        raise UsageError(f"{table.name}: none of its rows can be run; --no-run prints the paper's figures")
