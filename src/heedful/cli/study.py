"""``heedful study``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from heedful.cli.option_groups import Printing, Recipe, grouped
from heedful.cli.options import (
    computing_options,
    data_option,
    executor_of,
    first_use_reported,
    going_on_by,
    no_baseline_option,
    out_option,
    printing_options,
    ray_option,
    set_option,
)
from heedful.cli.output import print_json
from heedful.cli.reading_options import own_file_options
from heedful.cli.run_folders import kept_folder


@dataclass(frozen=True)
class Runs:
    """Which runs there are."""

    seeds: str | None
    folds: int | None
    only: int | None


@click.command()
@click.argument("recipe", metavar="DATA_OR_RECIPE")
@click.argument("file", metavar="[DATA]", required=False)
@out_option(
    "Folder of the results. A finished run in it is not repeated. By default runs/NAME-study, after the data or the "
    "recipe.",
    default="",
)
@data_option
@click.option("--seeds", help="Seeds to run, separated by commas: 1,2,3.")
@click.option(
    "--folds",
    type=click.IntRange(min=2),
    default=None,
    help="Number of folds of a cross-validation, instead of seeds.",
)
@click.option("--only", type=click.IntRange(min=1), default=None, help="Run only the first N folds.")
@set_option
@own_file_options
@no_baseline_option
@ray_option
@computing_options
@printing_options
@grouped(recipe=Recipe, runs=Runs, printing=Printing)
def command(
    recipe: Recipe, out: Path | None, runs: Runs, ray: str | None, no_baseline: bool, printing: Printing
) -> None:
    """Train on your own data, or by a recipe, over seeds or folds, and report mean and spread on the test split.

    Run an interrupted command again to continue from its last checkpoint. Ctrl-C saves a checkpoint first.

    Example: heedful study reviews.csv --folds 5
    """
    from heedful.baselines.run_baselines import beside_study, or_warning
    from heedful.run.studies import fold_settings, run_study

    out = out or kept_folder(recipe.named, "study")
    folds = fold_settings(recipe.recipe, recipe.overrides, runs.folds or 0)
    recipe.config(*folds)  # says what has no effect
    with (
        going_on_by("the same command goes on"),
        first_use_reported(quiet=printing.quiet),
        printing.stages(),
        executor_of(ray) as executor,
    ):
        study = run_study(
            recipe.recipe,
            out,
            recipe.data,
            seeds=parse_seeds(runs.seeds),
            folds=runs.folds or 0,
            only=runs.only or 0,
            overrides=recipe.overrides,
            reporter=printing.reporter(),
            executor=executor,
            print_line=printing.print_line,
        )
    with printing.stages():
        beside, failures = (
            (None, [])
            if no_baseline
            else or_warning(
                lambda: beside_study(study, recipe.recipe, recipe.data, [*recipe.overrides, *folds])
            )
        )
    for failure in failures:
        click.echo(failure, err=True)
    if printing.as_json:
        print_json(
            {
                "runs": [run.summary() for run in study.runs],
                "mean": study.spread(),
                "protocol": study.protocol.sentence(),
                "baselines": None if beside is None else beside.as_dict(),
            }
        )
        return
    if beside is not None and beside.warning:
        click.echo(beside.warning)
    click.echo(study.render())
    if beside is not None:
        click.echo("\n" + beside.render())


def parse_seeds(text: str | None) -> tuple[int, ...]:
    """Read seeds as a person writes them.

    Args:
        text: whole numbers separated by commas; None for none.

    Returns:
        The numbers.

    Raises:
        UsageError: if it is anything else, or names a seed twice.
    """
    from heedful.errors import UsageError

    try:
        seeds = tuple(int(part) for part in text.split(",")) if text else ()
    except ValueError:
        raise UsageError(f"--seeds {text!r}: write whole numbers separated by commas: 1,2,3") from None
    if len(set(seeds)) < len(seeds):
        raise UsageError(f"--seeds {text!r}: name each seed once; a run counted twice would hide the spread")
    return seeds
