"""``heedful data list | check | labels | get``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from heedful.cli.option_groups import Recipe, grouped
from heedful.cli.options import PATH, data_option, json_option, number_option, set_option
from heedful.cli.output import print_json, print_rows
from heedful.cli.reading_options import own_file_options
from heedful.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from heedful.baselines.label_errors import LabelSuspect


@click.group()
def command() -> None:
    """List, check and download data sets, find wrong labels, and manage the cache of encoded data."""


@command.command("list")
@data_option
@json_option
def list_(data: Path | None, as_json: bool) -> None:
    """List the known data sets, and say which of them are in the folder."""
    from dataclasses import asdict

    from heedful.data import catalog
    from heedful.tables import aligned_table

    named = data is not None or bool(os.environ.get(catalog.FOLDER_VARIABLE))
    rows = catalog.available(catalog.data_folder(data)) if named else catalog.available(Path(os.devnull))
    if as_json:
        print_json([asdict(row) for row in rows])
        return
    states = ["available" if row.present else "missing" if named else "" for row in rows]
    cells = (
        (row.name, row.split, row.task, f"{row.rows:,} examples", state, row.file)
        for row, state in zip(rows, states, strict=True)
    )
    for line in aligned_table(cells, right=(3,)):
        click.echo(line)
    if not named:
        click.echo(
            f"no folder named: --data DIR or {catalog.FOLDER_VARIABLE} shows which are there", err=True
        )


@command.command("check")
@click.argument("recipe", metavar="DATA_OR_RECIPE")
@click.argument("file", metavar="[DATA]", required=False)
@data_option
@set_option
@own_file_options
@json_option
@grouped(recipe=Recipe)
def check(recipe: Recipe, as_json: bool) -> int:
    """Check your data, or that of a recipe, before training: counts, lengths, duplicates, and overlap of the splits.

    It also looks for words that reveal the label. The command ends with exit code 1 if it finds an error.

    Example: heedful data check reviews.csv
    """
    from heedful.run.preparation import check_parts

    report = check_parts(recipe.config(), recipe.data)
    if as_json:
        print_json(report.as_dict())
    else:
        click.echo(report.render())
    return ExitCode.OK if report.ok else ExitCode.GATE_FAILED


@command.command("cache")
@click.option("--clear", is_flag=True, help="Delete all of it. Later runs compute what they need again.")
@json_option
def cache(clear: bool, as_json: bool) -> None:
    """List the encoded texts, word vectors and parses that earlier runs keep on disk, with their sizes.

    The folder is HEEDFUL_CACHE, or heedful in XDG_CACHE_HOME, which is ~/.cache if nothing else is set. With
    HEEDFUL_CACHE=none, or --no-cache of a command, nothing is kept.
    """
    from heedful.data import cache_contents
    from heedful.data.cache import cache_folder

    place, kept = cache_folder(), cache_contents.entries()
    deleted = cache_contents.clear() if clear else 0
    if as_json:
        shown = [{**vars(entry), "path": str(entry.path)} for entry in kept]
        print_json({"folder": str(place) if place else None, "entries": shown, "deleted": deleted})
        return
    if place is None:
        click.echo("HEEDFUL_CACHE is 'none': nothing is kept")
        return
    for entry in [] if clear else kept:
        click.echo(f"{entry.kind:<10} {entry.size / 1e6:>9,.1f} MB  {entry.changed}  {entry.path.name[:12]}")
    total = sum(entry.size for entry in kept) / 1e6
    click.echo(
        f"{place}: {f'{deleted} entries deleted' if clear else f'{len(kept)} entries'}, {total:,.1f} MB"
    )


@dataclass(frozen=True)
class FoldOptions:
    """How the examples are cut into parts, each of which is predicted by the others."""

    folds: int
    seed: int


@command.command("labels")
@click.argument("what", metavar="DATA_OR_MODEL")
@click.argument("file", metavar="[DATA]", required=False)
@data_option
@click.option("--recipe", help="Train the network of this recipe instead of the linear model.")
@number_option("--folds", 5, "Number of parts, each of which is held out in turn.", smallest=2)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Random seed of the division into parts."
)
@number_option("--most", 20, "How many to show; 0 for all.", smallest=0)
@set_option
@own_file_options
@json_option
@grouped(parts=FoldOptions)
def labels(
    what: str,
    file: str | None,
    data: Path | None,
    recipe: str | None,
    parts: FoldOptions,
    most: int,
    overrides: tuple[str, ...],
    as_json: bool,
) -> None:
    """Find suspect labels of your data: a table, a known data set, or a recipe, also with a table of its kind.

    The training examples are divided into parts, and each part is predicted by a model that was trained on the others:
    TF-IDF with logistic regression, in seconds, or the network of --recipe. A label is suspect if another class is more
    probable than the label and as probable as it usually is for its own examples (confident learning). The least
    probable labels come first, each with the words that speak most against it. Suspects are no corrections: at the end
    it is said how many of the labels that were changed on purpose the linear model suspects, and how many suspects
    were changed ones.

    With a trained model in front of DATA, that model is the judge; DATA is then what it was not trained on.

    Example: heedful data labels train.csv --column label=topic

    Example: heedful data labels runs/reviews new.csv
    """
    from heedful.baselines.board_request import settings_of
    from heedful.baselines.label_errors import find_suspects, judged, suspects_by_model
    from heedful.cli.label_judging import judging_model, read_judged
    from heedful.run.sources import data_root, find_source

    if (judge := judging_model(what, file, data)) is not None:
        if recipe is not None:
            raise UsageError(f"--recipe trains a judge, and {what} is one: give one of them")
        found, count, looked, accuracy = suspects_by_model(
            judge, read_judged(judge, str(file), overrides), parts.seed, most=most
        )
        _show(found, count, looked, as_json=as_json)
        if not as_json:
            click.echo(accuracy.sentence(), err=True)
        return
    if file is not None:
        asked = Recipe(what, data, overrides, file)  # which says what it recognized
        config = replace(asked.config(), data=replace(asked.config().data, few_rows=0))
    else:
        config = settings_of(what, overrides, data)
    network = None
    if recipe is not None:
        network = settings_of(recipe, [f"model.task={config.model.task}", *overrides], data)
    root = data_root(config, data)
    source = find_source(config, root)
    found, count, looked = find_suspects(source, parts.folds, parts.seed, network, most=most, root=root)
    _show(found, count, looked, as_json=as_json)
    if network is None and not as_json:
        click.echo(judged(source, parts.folds, parts.seed).sentence(), err=True)


def _show(found: Sequence[LabelSuspect], count: int, looked: int, *, as_json: bool) -> None:
    from heedful.model.answers import decimals

    if as_json:
        print_json([each.as_dict() for each in found])
    else:
        header = ("row", "label", "prob.", "suggestion", "prob.", "against the label", "text")
        rows = [
            (
                str(each.row),
                each.label,
                decimals(each.probability),
                each.suggestion,
                decimals(each.suggested),
                ", ".join(word for word, _ in each.against),
                " => ".join(each.texts),
            )
            for each in found
        ]
        print_rows(header, rows)
    click.echo(f"{count:,} of {looked:,} labels are suspect; {len(found):,} are shown", err=True)


@command.command("get")
@click.argument("name")
@data_option
@click.option("--from", "from_file", type=PATH, help="Use this local copy instead of downloading.")
@click.option("--accept-checksum", "accept", multiple=True, help="SHA-256 to accept if none is published.")
def get(name: str, data: Path | None, from_file: Path | None, accept: tuple[str, ...]) -> None:
    """Download the data set NAME into the folder and check its SHA-256."""
    from heedful.data import catalog, fetch

    for path in fetch.get(name, catalog.data_folder(data), from_file=from_file, accept=accept):
        click.echo(str(path))
