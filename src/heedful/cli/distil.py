"""``heedful distil``."""

from __future__ import annotations

import json

import click

from heedful.cli.option_groups import Lessons, Printing, Recipe, RunPlace, grouped
from heedful.cli.options import (
    computing_options,
    first_use_reported,
    going_on_by,
    out_option,
    printing_options,
    teacher_options,
)
from heedful.cli.output import print_json
from heedful.cli.reading_options import training_options

RECORD = "distillation.json"
"""File in the run folder of the student with the figures of all systems."""


@click.command()
@click.argument("recipe", metavar="DATA_OR_RECIPE")
@click.argument("file", metavar="[DATA]", required=False)
@teacher_options
@out_option("Run folder of the student.")
@training_options
@click.option("--no-plain", is_flag=True, help="Do not also train the student without a teacher.")
@click.option("--resume", is_flag=True, help="Continue an interrupted distillation in --out.")
@click.option("--overwrite", is_flag=True, help="Replace an earlier distillation in --out.")
@computing_options
@printing_options
@grouped(recipe=Recipe, lessons=Lessons, place=RunPlace, printing=Printing)
def command(
    recipe: Recipe,
    lessons: Lessons,
    place: RunPlace,
    seed: int | None,
    no_plain: bool,
    printing: Printing,
) -> None:
    """Train a model on the probabilities of a teacher in addition to the gold labels of your data, or of a recipe.

    Data, such as reviews.csv, is recognized as by 'heedful train'; a recipe beside it says how the student learns.

    The command prints the accuracy of the teacher, of the student without it and of the student with it, a paired test
    of the two students, how much of the gap was closed, and the cost. All settings of the table [distil] can be changed
    with --set. The predictions of the teacher are kept in the cache, so a repeated command does not compute them again.

    Example: heedful distil reviews.csv --teacher runs/a --teacher runs/b --out runs/small
    """
    from heedful.errors import UsageError
    from heedful.run import check_run_folder
    from heedful.run.distilling.distillation import PLAIN, Places, distil
    from heedful.run.distilling.fine_tuning import fine_tuned
    from heedful.storage import write_text
    from heedful.storage.ownership import is_record, refuse_foreign_results
    from heedful.training.run_folder import RunFolder

    place.check("what is")
    out, resume, overwrite = place.folder(recipe.named), place.resume, place.overwrite
    config = recipe.config(*lessons.settings(), *([] if seed is None else [f"train.seed={seed}"]))
    if not config.distil.teacher:
        raise UsageError("name a teacher: --teacher FOLDER, or --teacher FILE.jsonl")
    own = is_record(out / RECORD, ("split", "systems"))
    refuse_foreign_results(out, (RECORD,), own=own)
    for folder in (out, out / PLAIN):
        RunFolder(folder).refuse_foreign(replaces=False)
        check_run_folder(folder, resume=resume or overwrite)
    with (
        RunFolder(out).alone("heedful distil"),
        first_use_reported(quiet=printing.quiet),
        printing.stages(),
    ):
        places = Places(out, recipe.data, resume=resume, overwrite=overwrite)
        with going_on_by("the same command with --resume"):
            config = fine_tuned(
                config, places, reporter=printing.reporter(), print_line=printing.print_line
            ).config
            found = distil(
                config,
                places,
                plain=not no_plain,
                reporter=printing.reporter(),
                print_line=printing.print_line,
            )
        write_text(out / RECORD, json.dumps(found.as_dict(), indent=1) + "\n")
    if printing.as_json:
        print_json({"model": str(RunFolder(out).model), **found.as_dict()})
    else:
        click.echo(f"{found.render()}\n\nmodel: {RunFolder(out).model}")
