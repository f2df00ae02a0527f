"""``heedful train``."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from heedful.cli.next_commands import ending
from heedful.cli.option_groups import Lessons, Printing, Recipe, RunPlace, grouped
from heedful.cli.options import (
    PATH,
    computing_options,
    going_on_by,
    keep_examples_option,
    no_baseline_option,
    out_option,
    printing_options,
    teacher_options,
    track_option,
)
from heedful.cli.output import print_json, print_note
from heedful.cli.reading_options import training_options
from heedful.errors import UsageError

if TYPE_CHECKING:
    from heedful.baselines.run_baselines import Beside
    from heedful.run import Prepared, RunResult

F = TypeVar("F", bound=Callable[..., Any])


def from_option(function: F) -> F:
    """Add ``--from`` to a command that has a recipe; its value becomes a recipe and settings."""

    @click.option(
        "--from",
        "source",
        type=PATH,
        metavar="RUN",
        help="Go on from the model of this run, which stays as it is: the settings are its own, and DATA, or --set "
        "data.train=FILE, has the new rows. Training examples that the model keeps are learned again.",
    )
    @functools.wraps(function)
    def with_source(
        *arguments: object,
        recipe: str | None,
        source: Path | None,
        overrides: tuple[str, ...],
        **others: object,
    ) -> object:
        if source is None:
            if recipe is None:
                raise UsageError("name your data or a recipe, such as reviews.csv; see heedful train --help")
            return function(*arguments, recipe=recipe, overrides=overrides, **others)
        from heedful.run.own_file import is_own_file
        from heedful.training.run_folder import RunFolder

        own, settings = RunFolder(source).recipe, [f"data.learn_from={json.dumps(str(source))}"]
        if not own.is_file():
            raise UsageError(
                f"--from {source}: expected the folder of a run that has ended; it has no {own.name}"
            )
        if others.get("file") is not None:
            raise UsageError(f"--from {source}: the recipe is that of the run; name a file of new rows alone")
        if recipe is not None:
            data = cast("Path | None", others.get("data"))
            if not is_own_file(recipe, data):
                raise UsageError(
                    f"{recipe}: with --from the recipe is that of the run; name a file of new rows"
                )
            settings += [f"data.train={json.dumps(recipe)}"]
        elif not any(each.startswith("data.train=") for each in overrides):
            raise UsageError("--from: name the new rows, as in heedful train new.csv --from RUN")
        return function(*arguments, recipe=str(own), overrides=(*settings, *overrides), **others)

    return cast(F, with_source)


@click.command()
@click.argument("recipe", metavar="DATA_OR_RECIPE", required=False)
@click.argument("file", metavar="[DATA]", required=False)
@out_option(
    "Folder of the run. It gets the settings, metrics.jsonl and the model. By default a new one, such as runs/reviews "
    "for reviews.csv.",
    default="",
)
@training_options
@teacher_options
@keep_examples_option
@click.option(
    "--none-of-these",
    metavar="FILE",
    help="File of texts that belong to no class: the model may then answer that none of its classes fits. Short for "
    "--set model.task_options.none_of_these=FILE; 'reject' beside it is the share of known texts to keep.",
)
@click.option("--resume", is_flag=True, help="Continue an interrupted run in --out.")
@click.option("--overwrite", is_flag=True, help="Replace an earlier run in --out.")
@no_baseline_option
@track_option
@computing_options
@printing_options
@from_option
@grouped(recipe=Recipe, lessons=Lessons, place=RunPlace, printing=Printing)
def command(
    recipe: Recipe,
    lessons: Lessons,
    none_of_these: str | None,
    seed: int | None,
    keep_examples: str | None,
    place: RunPlace,
    no_baseline: bool,
    trackers: tuple[str, ...],
    printing: Printing,
) -> None:
    """Train a model on your own data, such as reviews.csv, or from a recipe.

    Data is a table (.csv, .tsv, .jsonl, .json, .parquet, .xlsx, .ods), a folder with a folder of text files for each
    class, a file of SQLite or DuckDB, hub:owner/name of the Hugging Face Hub, or a file of words and tags. Texts,
    pairs, classes, labels, numbers and tags are recognized and said in one line; --text NAME, --premise NAME,
    --hypothesis NAME, --label NAME and --score NAME name columns. A recipe is a packaged one ('heedful recipes') or a
    TOML file of the same form.

    Ctrl-C finishes the current step, saves everything and stops. Pass --resume to continue from there.

    With --from it goes on from a run: heedful train new.csv --from runs/reviews learns new rows, words and classes.

    With --teacher the model also learns what a larger one answers, to the training texts and to those of --texts.

    Example: heedful train reviews.csv
    """
    from heedful.baselines.run_baselines import beside_run, or_warning
    from heedful.data.cache_contents import first_use_note
    from heedful.run import check_place, check_run_folder, prepare, train
    from heedful.run.card import cautions
    from heedful.run.recipe_files import as_table
    from heedful.training.distributed import is_first_process, settled
    from heedful.training.run_folder import RunFolder
    from heedful.training.state import checkpoint_exists

    place.check("the run")
    short = {
        "train.seed": seed,
        "data.keep_examples": keep_examples,
        "model.task_options.none_of_these": None if none_of_these is None else json.dumps(none_of_these),
    }
    config = recipe.config(
        *lessons.settings(), *(f"{name}={value}" for name, value in short.items() if value is not None)
    )
    out, data, quiet = place.folder(recipe.named), recipe.data, printing.quiet
    first, kept = is_first_process(), first_use_note()
    reporter = printing.reporter()
    if first:
        if trackers:
            from heedful.training.trackers import with_trackers

            reporter = with_trackers(reporter, trackers, out, as_table(config))
        check_place(out)
    with printing.stages(), RunFolder(out).alone("heedful train"):
        if first:
            _refuse_replacing(recipe.recipe, out, place)
            check_run_folder(out, resume=place.resume or place.overwrite)
            if place.resume and not checkpoint_exists(RunFolder(out).checkpoint):
                print_note(f"--resume: {out} has no checkpoint; the run starts from the beginning")
        if config.distil.teacher:
            from heedful.run.distilling.distillation import Places
            from heedful.run.distilling.fine_tuning import fine_tuned

            places = Places(out, data, resume=place.resume, overwrite=place.overwrite)
            with going_on_by("the same command with --resume"):
                config = fine_tuned(config, places, reporter=reporter, print_line=printing.print_line).config
        prepared = prepare(config, data)
        if first and not quiet:
            for note in (*prepared.notes, *kept):
                click.echo(note, err=True)
            if config.train.precision == "auto":
                settled_train, reason = settled(config.train)
                click.echo(f"train.precision=auto: {settled_train.precision}, because {reason}", err=True)
        with going_on_by("the same command with --resume"):
            result = train(
                config,
                prepared,
                folder=out,
                resume=place.resume,
                overwrite=place.overwrite,
                reporter=reporter,
            )
    if first:
        warnings = cautions(prepared, result)
        prepared = replace(prepared, datasets={})  # the simple models take as much memory again
        with printing.stages():
            compared = (None, []) if no_baseline else or_warning(lambda: beside_run(config, data, result))
        beside, failures = compared
        warnings += failures
        if printing.as_json:
            print_json(_record(prepared, result, out, beside, warnings))
        else:
            click.echo(_summary(prepared, result, out, beside, warnings))
            with printing.stages():
                part = getattr(result.predictor.about, "columns", None)  # which may be left out
                read = () if part is None else part.columns.names
                last = ending(config, data, RunFolder(out).model, named=out, columns=read)
            click.echo(last)


def _refuse_replacing(recipe: str, out: Path, place: RunPlace) -> None:
    """Refuse a folder in which the run would replace something of the user's."""
    from heedful.errors import UsageError
    from heedful.training.run_folder import RunFolder

    home = RunFolder(out)
    home.refuse_foreign(replaces=place.overwrite)
    own = Path(recipe)
    if not (place.overwrite and own.is_file()):
        return
    if any(path.is_file() and own.samefile(path) for path in home.written()):
        raise UsageError(
            f"{recipe}: is the recipe, and --overwrite would delete it with the run in {out}; copy it elsewhere "
            "first, or choose another --out"
        )


def _record(
    prepared: Prepared, result: RunResult, out: Path, beside: Beside | None, warnings: list[str]
) -> dict[str, object]:
    from heedful.training.run_folder import RunFolder

    return {
        "model": str(RunFolder(out).model),
        "protocol": prepared.protocol.sentence(),
        "notes": list(prepared.notes),
        "warnings": warnings,
        "baselines": None if beside is None else beside.as_dict(),
        **result.summary(),
    }


def _summary(
    prepared: Prepared, result: RunResult, out: Path, beside: Beside | None, warnings: list[str]
) -> str:
    from heedful.run.card import made_of
    from heedful.training.run_folder import RunFolder

    first = [] if beside is None or not beside.warning else [beside.warning]
    lines = [*first, *(f"warning: {warning}" for warning in warnings)]
    held = "cross-validated " if prepared.protocol.selects == "folds" else "dev "
    lines += [f"protocol: {prepared.protocol.sentence()}", *([result.parts] if result.parts else [])]
    lines += ["", f"{held}  {result.dev.render()}"]
    if result.test is not None:
        lines += ["", f"test  {result.test.render()}"]
    lines += [] if beside is None else ["", beside.render()]
    return "\n".join(
        [*lines, "", f"model: {RunFolder(out).model}  ({made_of(result)}; {result.seconds:.0f} s)"]
    )
