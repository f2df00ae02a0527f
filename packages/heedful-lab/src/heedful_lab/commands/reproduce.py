"""``heedful reproduce``."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from heedful.cli.option_groups import Printing, grouped
from heedful.cli.options import (
    computing_options,
    data_option,
    executor_of,
    first_use_reported,
    number_option,
    out_option,
    printing_options,
    ray_option,
    set_option,
)
from heedful.cli.output import print_json
from heedful.errors import MOST_AT_ONCE

if TYPE_CHECKING:
    from heedful_lab.reproduce import Budget, Order
    from heedful_lab.reproduce.listing import Listing
    from heedful_lab.reproduce.plan import Table


@dataclass(frozen=True)
class BudgetOptions:
    """How much is trained."""

    budget: str
    seeds: str | None
    folds: int | None
    overrides: tuple[str, ...]

    def plan(self) -> Budget:
        """Return the budget."""
        from heedful.cli.study import parse_seeds
        from heedful_lab.reproduce import Budget

        return Budget(self.budget, parse_seeds(self.seeds), self.folds or 0, self.overrides)


@dataclass(frozen=True)
class Part:
    """Which table is made, and which part of it."""

    table: str | None
    listing: bool
    rows: str | None
    columns: str | None

    def chosen(self, name: str) -> Table:
        """Return the part of a table that is made.

        Args:
            name: of the table.

        Returns:
            The table with the rows and columns that were asked for.
        """
        from heedful_lab.reproduce import find_table, narrow

        table = find_table(name)
        return narrow(table, _words(self.rows, [row.name for row in table.rows]), _words(self.columns))


@dataclass(frozen=True)
class Making:
    """How a table is made."""

    jobs: int
    no_run: bool
    models: tuple[str, ...]
    ray: str | None


@click.command()
@click.argument("table", required=False)
@click.option(
    "--list",
    "listing",
    is_flag=True,
    help="List every table with its data, the finished runs and the minutes left.",
)
@data_option
@out_option("Folder of the results. Runs in it are not repeated.", default="reproduced")
@click.option(
    "--budget",
    default="standard",
    show_default=True,
    help="How long the rows are trained: standard, small, published or converged. A table may lack some of them.",
)
@click.option("--seeds", help="Seeds to use instead of the table's own, for example 1,2,3.")
@click.option("--folds", type=click.IntRange(min=1), help="Run only the first N folds.")
@click.option("--rows", help="Make only these rows, separated by commas.")
@click.option("--columns", help="Make only these columns, by their keys, separated by commas.")
@number_option("--jobs", 1, "Number of runs at the same time.", largest=MOST_AT_ONCE)
@click.option("--no-run", is_flag=True, help="Write the tables from the existing runs, and run nothing.")
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="NAME=FOLDER",
    help="A trained model for a table of example pairs or a figure of sentences. May be repeated.",
)
@ray_option
@set_option
@computing_options
@printing_options
@grouped(part=Part, wanted=BudgetOptions, how=Making, printing=Printing)
def command(
    part: Part,
    data: Path | None,
    out: Path,
    wanted: BudgetOptions,
    how: Making,
    printing: Printing,
) -> None:
    """Rebuild a TABLE of the papers: train its rows, and write the table as Markdown, CSV and JSON.

    Each row trains in a process of its own. Run an interrupted command again to continue the interrupted run and to
    start the missing ones. Settings given with --set apply to every row; use a separate folder for them.

    Example: heedful reproduce mtsa-table5 --data DIR --columns trec,trec-honest --jobs 2
    """
    from heedful.data.catalog import data_folder
    from heedful.errors import UsageError
    from heedful.storage import alone
    from heedful_lab.reproduce import Order, make
    from heedful_lab.reproduce.runner import failed, run_command
    from heedful_lab.reproduce.table_records import to_records

    plan = wanted.plan()
    data = None if data is None else data_folder(data)
    if part.listing or part.table is None:
        _refuse("rows", "columns", "jobs", "ray", "no_run", "models", why="name the TABLE it is for")
        _list(data, out, plan, as_json=printing.as_json)
        return
    chosen = part.chosen(part.table)
    working = contextlib.nullcontext() if how.no_run else alone(out, "heedful reproduce")
    with working, first_use_reported(quiet=printing.quiet):
        if chosen.examples is not None or chosen.picture is not None:
            reporter = printing.reporter()
            order = Order(
                data, out, plan, _folders(how.models), not how.no_run, reporter, printing.print_line
            )
            _answer_or_draw(chosen, order, as_json=printing.as_json)
            return
        if how.models:
            raise UsageError(
                f"--model: {chosen.name} is neither a table of example pairs nor a figure of sentences"
            )
        if chosen.command and not how.no_run:
            ignored = (
                *(() if chosen.reads_data else ("data",)),
                "budget",
                "seeds",
                "folds",
                "rows",
                "columns",
                "jobs",
                "ray",
                "overrides",
                "as_json",
            )
            _refuse(
                *ignored,
                why=f"{chosen.name} is made by another command, which takes none of it: {chosen.command}",
            )
            run_command(chosen.command, out, data if chosen.reads_data else None)
            return
        if how.ray is not None:
            _refuse(
                "jobs", why="Ray runs as many cells at the same time as its cluster has cores; leave it out"
            )
        order = Order(data, out, plan, run=not how.no_run, print_line=printing.print_line)
        with executor_of(how.ray) as executor:
            made = make(chosen, order, jobs=how.jobs, executor=executor)
        if printing.as_json:
            print_json(to_records(made.result))
        else:
            click.echo(made.markdown.read_text(encoding="utf-8"), nl=False)
        if made.failures:
            raise failed(made.failures, "some cells failed:")


def _answer_or_draw(table: Table, order: Order, *, as_json: bool) -> None:
    """Make a table whose models are trained for it: example pairs, or a figure of sentences."""
    from heedful_lab.reproduce import answer_examples, draw_figure

    if table.examples is not None:
        answered = answer_examples(table, order)
        if as_json:
            print_json(answered.as_records())
        else:
            click.echo(answered.render())
        return
    _refuse("jobs", "ray", "folds", why=f"{table.name} is drawn from one run of each model")
    files = draw_figure(table, order)
    if as_json:
        print_json(json.loads(files[2].read_text(encoding="utf-8")))
    else:
        click.echo("\n".join(f"wrote {file}" for file in files))


def _refuse(*names: str, why: str) -> None:
    """Refuse options that would be ignored, where they were typed rather than taken from a default or a variable."""
    from click.core import ParameterSource

    from heedful.errors import UsageError

    context = click.get_current_context()
    for option in context.command.params:
        if option.name in names and context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE:
            raise UsageError(f"{option.opts[-1]}: {why}")


def _words(text: str | None, names: Collection[str] = ()) -> list[str]:
    """Cut at commas; a single name may hold commas itself."""
    if text and text in names:
        return [text]
    return [word.strip() for word in text.split(",")] if text else []


def _folders(models: tuple[str, ...]) -> dict[str, Path]:
    from heedful.errors import UsageError

    named = {name: Path(folder) for name, sign, folder in (text.partition("=") for text in models) if sign}
    if len(named) < len(models):
        raise UsageError(f"--model: write NAME=FOLDER, each name once; got {', '.join(map(repr, models))}")
    return named


def _list(data: Path | None, out: Path, budget: Budget, *, as_json: bool) -> None:
    from heedful_lab.reproduce import list_tables

    lines = list_tables(data, out, budget)
    if as_json:
        print_json([line.as_record() for line in lines])
        return
    width = max(len(line.table.name) for line in lines)
    for line in lines:
        click.echo(f"{line.table.name:<{width}}  {line.table.title}")
        for said in _said(line, named=data is not None):
            click.echo(f"{'':<{width}}    {said}")
    if data is None:
        click.echo("No data folder is named (--data DIR, or HEEDFUL_DATA): most tables need one.", err=True)


def _said(line: Listing, *, named: bool) -> list[str]:
    """Return of one table what it needs, what is made and what is left."""
    table = line.table
    if table.missing:
        return [f"not here: {table.missing}; --no-run prints the paper's figures"]
    if table.command:
        return [f"runs: {table.command}"]
    if not line.runs:
        return ["the paper's figures alone"]
    absent = [need for need, here in line.needs.items() if not here]
    needs = f"needs {', '.join(line.needs) or 'no data'}"
    needs += f"; not here: {', '.join(absent)}" if named and absent else ""
    made = f"{line.done} of {line.runs} runs made; on one core about {line.minutes:,.0f} minutes for all"
    return [needs, made + (f", {line.left:,.0f} for what is left and can be run" if named else "")]
