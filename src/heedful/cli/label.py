"""``heedful label``."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from heedful.cli.option_groups import grouped
from heedful.cli.options import PATH, WRITTEN, threads_option
from heedful.cli.output import shown
from heedful.cli.reading_options import reading_options
from heedful.data.readers.reading import FileReading
from heedful.errors import MissingExtraError, UsageError
from heedful.machine.serving_key import KEY, SHORTEST_KEY, is_local, read_key

if TYPE_CHECKING:
    from heedful.data.examples import Corpus
    from heedful.labeling.forms import LabelForm


@dataclass(frozen=True)
class _FormOptions:
    """What is asked of each text."""

    names: tuple[str, ...]
    several: bool
    number: str | None
    spans: bool
    pair: bool


@dataclass(frozen=True)
class _Place:
    """Where the page is, and who may open it."""

    host: str
    port: int
    key_file: Path | None
    hosts: tuple[str, ...]


@click.command()
@click.argument("pool", type=PATH)
@click.option(
    "--label",
    "names",
    multiple=True,
    metavar="NAME",
    help="A label to choose from. May be repeated; the number keys choose in this order.",
)
@click.option("--several", is_flag=True, help="A text may have several labels, or none.")
@click.option(
    "--number", metavar="LOW:HIGH", help="Ask for a number from LOW to HIGH, as 1:5; 'any' for any number."
)
@click.option("--spans", is_flag=True, help="Mark parts of the text, each with a label.")
@click.option("--pair", is_flag=True, help="Show two texts, of the columns premise and hypothesis.")
@click.option(
    "--output",
    type=WRITTEN,
    help="File of the labels, .csv or .jsonl; an existing one is continued. The default is labels.csv, and "
    "labels.jsonl with --spans.",
)
@click.option(
    "--order",
    type=click.Choice(["mixed", "random"]),
    default="mixed",
    show_default=True,
    help="Which text comes next: random ones, ones that stand for many others, and ones that the model is uncertain "
    "of; or random ones alone.",
)
@click.option(
    "--take-labels",
    is_flag=True,
    help="First take over the labels that POOL has, as files of Label Studio and doccano do.",
)
@click.option(
    "--export",
    type=WRITTEN,
    help="Write the labels of --output for another tool, and end: .json for Label Studio, .jsonl for doccano.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8080,
    show_default=True,
    help="Port to listen on; 0 takes a free one and prints it.",
)
@click.option(
    "--key-file",
    type=PATH,
    help=f"File that holds a key of at least {SHORTEST_KEY} characters, which the page asks for. The variable {KEY} "
    "can hold the key instead. Where other machines reach --host, a key is made if none is given.",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="Another name by which browsers may call this server. May be repeated.",
)
@reading_options
@threads_option
@grouped(wanted=_FormOptions, place=_Place)
def command(
    pool: Path,
    wanted: _FormOptions,
    output: Path | None,
    order: Literal["mixed", "random"],
    take_labels: bool,
    export: Path | None,
    place: _Place,
    reading: FileReading,
) -> None:
    """Label the texts of the file POOL in the browser, one at a time.

    POOL is a table or a file with one text in each line, as --input of 'heedful predict'. Every label is on the disk
    before the next text appears, in a file that 'heedful train' takes. From 20 labels on a model learns in the
    background and shows its guess with the words that count. docs/label.md describes the page.

    Example: heedful label pool.csv --label refund --label delivery --label praise --output labels.csv
    """
    try:
        from heedful.labeling.exchange import export_labels, taken_labels
        from heedful.labeling.serve_page import Labeling, label_in_browser
    except ImportError as error:
        package = str(error.name).partition(".")[0]
        if package not in ("starlette", "uvicorn", "httptools"):
            raise
        raise MissingExtraError(package, "serve", "the labeling page") from error
    from heedful.serving.guarded_app import Access

    target = output or Path("labels.jsonl" if wanted.spans else "labels.csv")
    form = _form(wanted, target, exports=export is not None)
    if export is not None:
        count = export_labels(target, form, export)
        click.echo(f"{export}: {count:,} texts", err=True)
        return
    key, local = read_key(place.key_file), is_local(place.host)
    key = key if key or local else secrets.token_urlsafe().encode()
    names = frozenset({*place.hosts, *(("localhost", "127.0.0.1", "::1", place.host) if local else ())})
    taken = (lambda: taken_labels(pool, form, reading)) if take_labels else None
    labeling = Labeling(pool, _reader(pool, wanted.pair, reading), form, target, order == "mixed", taken)
    code = label_in_browser(
        labeling, (place.host, place.port), Access(key, names, own_pages=True), _print_line
    )
    if code:
        raise click.exceptions.Exit(int(code))


def _print_line(line: str) -> None:
    with contextlib.suppress(OSError, ValueError):  # a log that nobody reads, or a full disk, ends nothing
        click.echo(shown(f"heedful label: {line}"), err=True)


def _form(wanted: _FormOptions, target: Path, *, exports: bool) -> LabelForm:
    """Return what is asked of each text, with the labels that an existing file has."""
    from heedful.labeling.forms import Kind, alike_but_for_case, form_of
    from heedful.labeling.label_file import names_in

    if target.suffix not in (".csv", ".jsonl"):
        raise UsageError(f"--output {target}: expected a name that ends in .csv or .jsonl")
    chosen = [
        ("--several", wanted.several),
        ("--number", wanted.number is not None),
        ("--spans", wanted.spans),
    ]
    if len(given := [name for name, is_given in chosen if is_given]) > 1:
        raise UsageError(f"{' and '.join(given)}: choose one of them")
    if wanted.spans and target.suffix == ".csv":
        raise UsageError(f"--output {target}: spans go to a file that ends in .jsonl")
    kinds: dict[str, Kind] = {"--several": "several", "--number": "number", "--spans": "spans"}
    kind: Kind = kinds[given[0]] if given else "classes"
    form = form_of(kind, wanted.names, pair=wanted.pair, bounds=_bounds(wanted.number))
    if kind == "number":
        return form
    names = [*form.labels, *(name for name in names_in(target, form) if name not in form.labels)]
    if len(names) < (1 if kind in ("spans", "several") else 2) and not exports:
        raise UsageError(
            f"--label: got {len(names)}; name the labels to choose from, as --label refund --label praise"
        )
    form = form_of(kind, names, pair=wanted.pair)
    if (two := alike_but_for_case(names)) and not exports:
        _print_line(
            f"the labels {two[0]!r:.60} and {two[1]!r:.60} differ in capital letters alone; both can be chosen"
        )
    return form


def _bounds(number: str | None) -> tuple[float, float] | None:
    if number is None or number == "any":
        return None
    low, _, high = number.partition(":")
    try:
        return float(low), float(high)
    except ValueError as error:
        raise UsageError(f"--number {number!r:.40}: expected LOW:HIGH, such as 1:5, or any") from error


def _reader(pool: Path, pair: bool, reading: FileReading) -> Callable[[], Corpus]:
    from heedful.cli.request_options import RequestOptions
    from heedful.cli.requests import gather

    return lambda: gather(RequestOptions((), (None, None), pool, reading, pair))
