"""``heedful suggest``."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from heedful.cli.guards import WRITTEN
from heedful.cli.option_groups import grouped
from heedful.cli.options import PATH, number_option, threads_option
from heedful.cli.reading_options import reading_options
from heedful.data.readers.reading import FileReading

if TYPE_CHECKING:
    from heedful.run.suggesting import By, Suggestion


@dataclass(frozen=True)
class Choosing:
    """How texts are chosen."""

    count: int
    by: By
    candidates: int
    seed: int


@click.command()
@click.argument("model", type=PATH)
@click.argument("pool", type=PATH)
@number_option("-n count", 50, "Number of texts to suggest.")
@click.option(
    "--by",
    type=click.Choice(["margin", "entropy", "random"]),
    default="margin",
    show_default=True,
    help="What makes a text uncertain: a small margin between its two most probable classes, or a high entropy.",
)
@number_option(
    "--candidates",
    5,
    "The texts are chosen among the N times -n most uncertain ones, so that they differ from each other. With 1 the "
    "most uncertain texts are taken.",
)
@number_option("--seed", 0, "Seed of --by random.", smallest=0)
@reading_options
@click.option(
    "--output",
    type=WRITTEN,
    help="File to write, .csv or .jsonl. By default JSON lines go to standard output.",
)
@threads_option
@grouped(how=Choosing)
def command(model: Path, pool: Path, how: Choosing, reading: FileReading, output: Path | None) -> None:
    """Suggest which texts of the file POOL to label next, to improve MODEL with few labels.

    POOL is a table or a file with one text in each line, as --input of 'heedful predict'. Each suggestion has its row
    in POOL, its texts, the prediction of the model, how uncertain it is, and the other columns of POOL.

    Example: heedful suggest runs/trec questions.txt -n 50 --output next.csv
    """
    from heedful.cli.output import print_json, print_note
    from heedful.cli.request_options import RequestOptions
    from heedful.cli.requests import gather
    from heedful.errors import UsageError
    from heedful.run.suggesting import suggest
    from heedful.storage import write_text
    from heedful.tasks import Predictor, load_model

    if output is not None and output.suffix not in (".csv", ".jsonl"):
        raise UsageError(f"--output {output}: expected a name that ends in .csv or .jsonl")
    predictor = load_model(model, truncate="head")
    if predictor.kind.outputs != "classes":
        raise UsageError(
            f"suggestions need the probabilities of classes; this is a model of {predictor.noun}"
        )
    trained = FileReading.of_run(predictor.run_settings)
    corpus = gather(
        RequestOptions((), (None, None), pool, reading, predictor.is_pair, trained, keep_fields=True)
    )
    found = suggest(
        cast(Predictor, predictor), corpus, how.count, by=how.by, candidates=how.candidates, seed=how.seed
    )
    if output is None:
        for one in found:
            print_json(one.as_dict())
        return
    write_text(output, _csv(found) if output.suffix == ".csv" else _json_lines(found))
    print_note(f"{output}: {len(found)} of {len(corpus.examples):,} texts")


def _csv(found: list[Suggestion]) -> str:
    stream = io.StringIO()
    rows = [one.as_dict() for one in found]
    writer = csv.DictWriter(stream, fieldnames=list(rows[0]) if rows else ["row"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def _json_lines(found: list[Suggestion]) -> str:
    return "".join(json.dumps(one.as_dict(), ensure_ascii=False, default=str) + "\n" for one in found)
