"""``heedful baselines``."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from heedful.cli.guards import WRITTEN
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
from heedful.cli.reading_options import own_file_options

if TYPE_CHECKING:
    from heedful.baselines.board_request import BoardRequest


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
    sizes: str | None
    transformers: tuple[Path, ...]
    times: Literal["with", "without", "only"]

    def scoreboard(self) -> dict[str, object]:
        """Return what the options ask for where numbers of labels are compared."""
        from heedful.cli.study import parse_seeds
        from heedful.errors import UsageError

        if self.encoders or self.studies or self.examples or self.frozen:
            raise UsageError(
                "--sizes compares whole systems: leave --with, --study, --examples and --frozen out; --transformer "
                "names a pretrained encoder"
            )
        return {
            "sizes": self.sizes,
            "runs": tuple(parse_seeds(self.runs) or (1,)),
            "transformers": self.transformers,
            "without": self.without,
            "folder": self.data,
            "overrides": self.overrides,
            "times": self.times,
        }

    def board_request(self) -> BoardRequest:
        """Return what the options ask for."""
        from heedful.baselines.board_request import BoardRequest
        from heedful.cli.study import parse_seeds

        return BoardRequest(
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
    "--sizes",
    metavar="N[,N]",
    help="Compare whole systems, Heedful's defaults among them, at these numbers of labels, such as 100,1000,all. "
    "Needs heedful-lab, and --out, which gets a line for each system once it is measured, a table and a picture.",
)
@click.option(
    "--transformer",
    "transformers",
    type=PATH,
    multiple=True,
    metavar="FOLDER",
    help="With --sizes: also this pretrained encoder, frozen, fine-tuned, in SetFit's way, and as the teacher of a "
    "small model. May be repeated; needs pip install 'heedful[transformers]'.",
)
@click.option(
    "--times",
    type=click.Choice(["with", "without", "only"]),
    default="with",
    show_default=True,
    help="With --sizes: whether times are taken. 'without' leaves them out, for a machine with other work; 'only' "
    "takes those of the systems in --out again and measures nothing else.",
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

    With --sizes whole systems are compared, by accuracy, calibration, time and size: heedful baselines trec cr --sizes
    100,1000 --transformer FOLDER --out board. An interrupted command goes on where it was.

    Example: heedful baselines trec --data DIR --runs 1,2,3 --study DiSAN=runs/trec-study
    """
    from heedful.baselines.board_request import board_of
    from heedful.baselines.board_text import as_dict, render
    from heedful.baselines.board_text import markdown as as_markdown
    from heedful.baselines.saved_boards import MADE_OF, kept_note, made_of
    from heedful.errors import UsageError
    from heedful.storage import alone, write_text

    if printing.as_json and markdown:
        raise UsageError("--json and --markdown are two forms of the same figures: give one of them")
    if wanted.sizes is not None:
        _scoreboard(names, wanted, out, printing)
        return
    if wanted.times != "with":
        raise UsageError("--times goes with --sizes, which compares times")
    if wanted.transformers:
        raise UsageError("--transformer goes with --sizes; --frozen FOLDER adds an encoder to a board")
    if len(names) > 1 and (out is None or wanted.studies):
        what = "--out DIR" if out is None else "--study for each DATA by itself"
        raise UsageError(f"DATA: several data sets are given; give {what}")
    asked = wanted.board_request()
    with contextlib.nullcontext() if out is None else alone(out, "heedful baselines"):
        for name in names:
            file = None if out is None else out / f"{Path(name).stem}.json"
            made = {} if file is None else made_of(name, asked)
            if file is not None and file.exists():
                click.echo(kept_note(file, made), err=True)
                continue
            with first_use_reported(quiet=printing.quiet):
                board = board_of(name, asked, print_line=printing.print_line)
            if file is not None:
                write_text(file, json.dumps({**as_dict(board), MADE_OF: made}) + "\n")
            if printing.as_json:
                print_json(as_dict(board))
            else:
                print_text(as_markdown(board) if markdown else render(board))


def _scoreboard(names: tuple[str, ...], wanted: BoardOptions, out: Path | None, printing: Printing) -> None:
    """Compare whole systems at several numbers of labels, which a tool of the laboratory does."""
    from heedful.cli.plugins import TOOLS, load_plugged
    from heedful.errors import UsageError
    from heedful.storage import alone

    options = wanted.scoreboard()
    if out is None:
        raise UsageError("--sizes keeps every system's figures as soon as they are measured: give --out DIR")
    compare = load_plugged("scoreboard", TOOLS, "heedful baselines --sizes")
    with alone(out, "heedful baselines"), first_use_reported(quiet=printing.quiet):
        figures, table = compare(names, out=out, print_line=printing.print_line, **options)
    if printing.as_json:
        print_json(figures)
    else:
        print_text(table)
