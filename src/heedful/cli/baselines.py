"""``heedful baselines``."""

from __future__ import annotations

from pathlib import Path

import click

from heedful.cli.file_options import own_file_options
from heedful.cli.options import (
    cache_option,
    data_option,
    json_option,
    quiet_option,
    set_option,
    threads_option,
)
from heedful.cli.output import print_json, print_text


@click.command()
@click.argument("what", metavar="DATA")
@data_option
@click.option(
    "--with",
    "encoders",
    metavar="NAME[,NAME]",
    help="Also train these networks of Heedful, named by their encoders: embedding,disan,mtsa,bi-lstm.",
)
@click.option(
    "--study",
    "studies",
    multiple=True,
    metavar="NAME=FOLDER",
    help="A network that 'heedful study' trained on the same splits. May be repeated.",
)
@click.option(
    "--without",
    multiple=True,
    metavar="NAME",
    help="Skip systems with this text in their name. May be repeated.",
)
@click.option(
    "--examples",
    type=click.IntRange(min=1),
    help="Train on N examples, drawn by the seed or fold. The default is all.",
)
@click.option(
    "--runs",
    default="1",
    show_default=True,
    help="Seeds to run, separated by commas. For data without splits, these are the numbers of the folds.",
)
@set_option
@own_file_options
@cache_option
@threads_option
@click.option("--markdown", is_flag=True, help="Print a Markdown table.")
@json_option
@quiet_option
def command(
    what: str,
    data: Path | None,
    encoders: str | None,
    studies: tuple[str, ...],
    without: tuple[str, ...],
    examples: int | None,
    runs: str,
    overrides: tuple[str, ...],
    markdown: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Train simple models on DATA, test them, and report which of them are better than Heedful's networks.

    DATA is a known data set ('heedful data list'), a recipe, or a table with columns text and label. Name other columns
    and a test file as for 'heedful train': --set data.text=review --set data.test=test.csv.

    The models are TF-IDF of words or characters with a linear model, NB-SVM, the mean of the recipe's word vectors, and
    fastText and spaCy if they are installed. The dev split selects the settings, and the test split is read once.

    Example: heedful baselines trec --data DIR --runs 1,2,3 --study DiSAN=runs/trec-study
    """
    from heedful.baselines.asked import kept_row, settings_of, splits_of_runs
    from heedful.baselines.board import make_board
    from heedful.baselines.roster import roster
    from heedful.baselines.show import as_dict, render
    from heedful.baselines.show import markdown as as_markdown
    from heedful.baselines.systems import HeedfulSystem
    from heedful.cli.study import parse_seeds
    from heedful.errors import UsageError
    from heedful.run.sources import data_root

    if as_json and markdown:
        raise UsageError("--json and --markdown are two forms of the same figures: give one of them")
    config = settings_of(what, overrides)
    splits = splits_of_runs(config, data, parse_seeds(runs) or (1,), examples or 0)
    task = next(iter(splits.values())).task
    names = [name.strip() for name in encoders.split(",") if name.strip()] if encoders else []
    systems, skipped = roster(config, task, data_root(config, data), names, without)
    kept = []
    for study in studies:
        name, sign, folder = study.partition("=")
        if not sign:
            raise UsageError(f"--study {study!r}: write NAME=FOLDER")
        kept.append(kept_row(name, Path(folder), list(splits)))
    board = make_board(
        what,
        splits,
        systems,
        own=lambda system: isinstance(system, HeedfulSystem),
        kept=kept,
        skipped=skipped,
        say=lambda line: None if quiet else click.echo(line, err=True),
    )
    if as_json:
        print_json(as_dict(board))
    else:
        print_text(as_markdown(board) if markdown else render(board))
