"""``heedful baselines``."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from heedful.cli.option_groups import Printing, grouped
from heedful.cli.options import (
    PATH,
    computing_options,
    data_option,
    first_use_reported,
    printing_options,
    set_option,
)
from heedful.cli.output import print_json, print_text
from heedful.cli.overwriting import WRITTEN
from heedful.cli.reading_options import own_file_options

if TYPE_CHECKING:
    from heedful.baselines.asked import Asked


@dataclass(frozen=True)
class BoardOptions:
    """What a board is to hold."""

    data: Path | None
    encoders: str | None
    frozen: tuple[Path, ...]
    studies: tuple[str, ...]
    without: tuple[str, ...]
    examples: int | None
    runs: str
    overrides: tuple[str, ...]

    def asked(self) -> Asked:
        """Return what the options ask for."""
        from heedful.baselines.asked import Asked
        from heedful.cli.study import parse_seeds

        return Asked(
            self.data,
            parse_seeds(self.runs) or (1,),
            self.examples or 0,
            tuple(name.strip() for name in (self.encoders or "").split(",") if name.strip()),
            self.without,
            self.studies,
            self.overrides,
            self.frozen,
        )


@click.command()
@click.argument("names", metavar="DATA [DATA ...]", nargs=-1, required=True)
@data_option
@click.option(
    "--with",
    "encoders",
    metavar="NAME[,NAME]",
    help="Also train these networks of Heedful, named by their encoders: embedding,disan,mtsa,bi-lstm.",
)
@click.option(
    "--frozen",
    type=PATH,
    multiple=True,
    metavar="FOLDER",
    help="Also train a linear model over the vectors of the pretrained encoder in FOLDER, which is not trained itself. "
    "May be repeated; needs pip install 'heedful[transformers]'.",
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
@click.option(
    "--out",
    type=WRITTEN,
    help="Write each board as DATA.json into this folder. A board that is there already is not computed again.",
)
@set_option
@own_file_options
@computing_options
@click.option("--markdown", is_flag=True, help="Print a Markdown table.")
@printing_options
@grouped(wanted=BoardOptions, printing=Printing)
def command(
    names: tuple[str, ...], wanted: BoardOptions, out: Path | None, markdown: bool, printing: Printing
) -> None:
    """Train simple models on DATA, test them, and report which of them are better than Heedful's networks.

    DATA is a known data set ('heedful data list'), a recipe, or a table with columns text and label. Name other columns
    and a test file as for 'heedful train': --set data.text=review --set data.test=test.csv.

    The models are TF-IDF of words or characters with a linear model, NB-SVM, the mean of the recipe's word vectors, and
    fastText and spaCy if they are installed. The dev split selects the settings, and the test split is read once.

    Several data sets make one board each: heedful baselines trec cr --out boards

    Example: heedful baselines trec --data DIR --runs 1,2,3 --study DiSAN=runs/trec-study
    """
    from heedful.baselines.asked import board_of
    from heedful.baselines.show import as_dict, render
    from heedful.baselines.show import markdown as as_markdown
    from heedful.errors import UsageError
    from heedful.storage import alone, write_text

    if printing.as_json and markdown:
        raise UsageError("--json and --markdown are two forms of the same figures: give one of them")
    if len(names) > 1 and (out is None or wanted.studies):
        what = "--out DIR" if out is None else "--study for each DATA by itself"
        raise UsageError(f"DATA: several data sets are given; give {what}")
    asked = wanted.asked()
    with contextlib.nullcontext() if out is None else alone(out, "heedful baselines"):
        for name in names:
            file = None if out is None else out / f"{Path(name).stem}.json"
            if file is not None and file.exists():
                click.echo(f"{file}: exists and is kept", err=True)
                continue
            with first_use_reported(quiet=printing.quiet):
                board = board_of(name, asked, say=printing.say)
            if file is not None:
                write_text(file, json.dumps(as_dict(board)) + "\n")
            if printing.as_json:
                print_json(as_dict(board))
            else:
                print_text(as_markdown(board) if markdown else render(board))
