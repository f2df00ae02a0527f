"""``heedful bench``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

import click

from heedful.cli.guards import WrittenPath
from heedful.cli.option_groups import Printing, grouped
from heedful.cli.options import PATH, figures_option, printing_options, threads_option
from heedful.errors import UsageError

if TYPE_CHECKING:
    from heedful_lab.bench.bench_run import BenchPlan
    from heedful_lab.bench.models import ModelPlan

Say = Callable[[str], None]
Files = Callable[[Path | None], list[Path]]
Plan = TypeVar("Plan", "BenchPlan", "ModelPlan")


class Report(Protocol):
    """What a benchmark found, as the command prints it."""

    def json(self) -> str:
        """Return the figures as JSON."""

    def markdown(self) -> str:
        """Return the figures as tables."""


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    full: bool
    lengths: tuple[int, ...]
    batch: int | None
    width: int | None
    repeats: int | None
    without: tuple[str, ...]

    def changes(self) -> dict[str, object]:
        """Return what is given of the values that every plan has."""
        return {"batch": self.batch, "width": self.width, "repeats": self.repeats}


@dataclass(frozen=True)
class What:
    """What is measured in place of operations and layers."""

    models: bool
    systems: tuple[str, ...]
    runtime: bool


@click.command()
@click.option(
    "--full/--quick",
    default=False,
    help="--full times lengths 16 to 2048 with 64 sentences in about half an hour; --quick times 16 to 256 with 16.",
    show_default=True,
)
@click.option(
    "--length", "lengths", type=click.IntRange(1), multiple=True, help="Length in tokens. May be repeated."
)
@click.option(
    "--batch", type=click.IntRange(1), help="Number of sentences up to 256 tokens; longer lengths use fewer."
)
@click.option("--width", type=click.IntRange(1), help="Number of features, a multiple of 4.")
@click.option("--repeats", type=click.IntRange(7), help="Number of measurements for each median.")
@click.option(
    "--models",
    is_flag=True,
    help="Time training and prediction of whole models instead of operations and layers.",
)
@click.option(
    "--model",
    "systems",
    multiple=True,
    help="With --models: time only this model and the peer. May be repeated.",
)
@click.option(
    "--runtime",
    is_flag=True,
    help="Time predictions with and without torch: one text, a pair, batches, cold start, memory.",
)
@click.option("--without", multiple=True, metavar="CASE", help="Skip this case. May be repeated.")
@threads_option
@click.option(
    "--out",
    type=WrittenPath("bench.md", "bench.json", "bench.csv"),
    help="Folder for the tables: bench.md, bench.json and bench.csv, or models.*.",
)
@figures_option("Draw time and memory over the length as .png, .svg or .pdf. May be repeated.")
@click.option(
    "--join",
    "earlier",
    type=PATH,
    multiple=True,
    help="Measure nothing, and join the bench.json files of runs at other lengths. May be repeated.",
)
@printing_options
@grouped(size=Size, what=What, printing=Printing)
def command(
    size: Size,
    what: What,
    out: Path | None,
    figures: tuple[Path, ...],
    earlier: tuple[Path, ...],
    printing: Printing,
) -> None:
    """Compare the speed and memory of heedful with its peers in one process, after a proof that fast forms are correct.

    --models compares the systems with multi-head attention, convolutions and a Bi-LSTM as networks for sentence pairs:
    the speed of training and inference at SNLI's lengths, memory, time for one pair, bfloat16 and int8.

    --runtime times a DiSAN of the default size with random weights, with torch and without, float32 and int8: one text,
    one pair, batches of 64, and the cold start and memory of heedful predict.

    If a fast form differs from the reference, the command times nothing and ends with exit code 1.

    Example: heedful bench --full --out bench --figure figure1.png
    """
    from heedful.machine import threads

    threads.settle()
    print_line, changes = printing.print_line, size.changes()
    elsewhere = size.lengths or figures or earlier
    if what.runtime:
        if what.models or what.systems or elsewhere or size.without or any(changes.values()):
            raise UsageError("--runtime goes with --full, --quick, --out and --json alone")
        report, files = _time_runtime(size.full, print_line)
    elif what.models or what.systems:
        if elsewhere:
            raise UsageError(
                "--length, --figure and --join are of operations and layers; leave them out with --models"
            )
        report, files = _time_models(size.full, {**changes, "systems": what.systems}, print_line)
    else:
        given = {**changes, "lengths": size.lengths, "without": size.without}
        report, files = _time_parts(size.full, given, figures, earlier, print_line)
    click.echo(report.json() if printing.as_json else report.markdown())
    for path in files(out):
        click.echo(f"wrote {path}", err=True)


def _time_parts(
    full: bool,
    changes: dict[str, object],
    figures: tuple[Path, ...],
    earlier: tuple[Path, ...],
    print_line: Say,
) -> tuple[Report, Files]:
    from heedful.figure_style import check_figure
    from heedful_lab.bench import draw, joined, read, run_bench, write
    from heedful_lab.bench.bench_run import FULL, QUICK
    from heedful_lab.bench.figure import WHAT

    for path in figures:
        check_figure(path, WHAT)
    plan = _changed(FULL if full else QUICK, changes)
    if figures and not earlier and len(set(plan.lengths)) < 2:
        raise UsageError("--figure: a line over the length needs two lengths or more; repeat --length")
    report = joined([read(path) for path in earlier]) if earlier else run_bench(plan, print_line)
    return report, lambda folder: [
        *([] if folder is None else write(report, folder)),
        *(draw(report, path) for path in figures),
    ]


def _time_models(full: bool, changes: dict[str, object], print_line: Say) -> tuple[Report, Files]:
    from heedful_lab.bench import run_models, write_models
    from heedful_lab.bench.models import FULL_MODELS, QUICK_MODELS

    report = run_models(_changed(FULL_MODELS if full else QUICK_MODELS, changes), print_line)
    return report, lambda folder: [] if folder is None else write_models(report, folder)


def _time_runtime(full: bool, print_line: Say) -> tuple[Report, Files]:
    from heedful_lab.bench import run_runtime

    report = run_runtime(full, print_line)
    return report, lambda folder: [] if folder is None else report.write(folder)


def _changed(plan: Plan, changes: Mapping[str, object]) -> Plan:
    return type(plan)(**vars(plan) | {name: value for name, value in changes.items() if value})
