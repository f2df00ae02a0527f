"""``heedful tune``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from heedful.cli.option_groups import Printing, Recipe, grouped
from heedful.cli.options import (
    PATH,
    computing_options,
    data_option,
    executor_of,
    first_use_reported,
    going_on_by,
    number_option,
    out_option,
    printing_options,
    ray_option,
    set_option,
)
from heedful.cli.output import print_json
from heedful.cli.reading_options import own_file_options
from heedful.cli.run_folders import kept_folder
from heedful.errors import MOST_AT_ONCE


@dataclass(frozen=True)
class Trials:
    """What is searched, and with how many trials."""

    trials: int
    vary: tuple[str, ...]
    space: Path | None
    jobs: int
    no_prune: bool


@click.command()
@click.argument("recipe", metavar="DATA_OR_RECIPE")
@click.argument("file", metavar="[DATA]", required=False)
@out_option(
    "Folder of the search. Finished trials in it are not repeated. By default runs/NAME-search, after the data or the "
    "recipe.",
    default="",
    makes=("best.toml", "trials.csv"),
)
@data_option
@number_option("--trials", 30, "Total number of trials, including those of earlier calls.")
@click.option(
    "--vary",
    multiple=True,
    metavar="NAME=RANGE",
    help="A setting to vary, for example train.optimizer.lr=1e-4..1e-2:log, model.dropout=0.1..0.5:0.1 (in steps) or "
    "batches.size=16,32,64. May be repeated.",
)
@click.option("--space", type=PATH, help="TOML file with ranges and lists, in the tables of a recipe.")
@number_option("--jobs", 1, "Number of trials that run at the same time.", largest=MOST_AT_ONCE)
@click.option("--no-prune", is_flag=True, help="Train every trial to its end, also poor ones.")
@click.option(
    "--test", is_flag=True, help="At the end, measure the model of the best trial once on the test split."
)
@set_option
@own_file_options
@ray_option
@computing_options
@printing_options
@grouped(recipe=Recipe, wanted=Trials, printing=Printing)
def command(
    recipe: Recipe, out: Path | None, wanted: Trials, test: bool, ray: str | None, printing: Printing
) -> None:
    """Search for the settings with the best score on the dev split, with Optuna, on your own data or by a recipe.

    By default the search varies learning rate, L2, dropout and batch size around the values of the recipe. It writes
    the best settings to best.toml in --out, which is a recipe for heedful train and heedful study. Ctrl-C saves
    everything; run the same command again to continue.

    Example: heedful tune reviews.csv --trials 30
    """
    from heedful.errors import UsageError
    from heedful.run.idle_settings import idle_in_space
    from heedful.run.tuning import Search, outcome, read_space, report_on_test, run_search

    out = out or kept_folder(recipe.named, "search")
    config = recipe.config()
    if test and not config.data.set and not config.data.test:
        raise UsageError(
            "--test: there is no test split; name its file (--set data.test=FILE), or leave --test out"
        )
    space = read_space(wanted.space, wanted.vary, config)
    search = Search(config, space, out, recipe.data, prune=not wanted.no_prune)
    for line in idle_in_space(config, search.space):
        click.echo(line, err=True)
    for name, domain in search.space.items():
        printing.print_line(f"varies {name}: {domain}")
    with (
        going_on_by("the same command goes on"),
        first_use_reported(quiet=printing.quiet),
        printing.stages(),
        executor_of(ray) as executor,
    ):
        study = run_search(
            search,
            wanted.trials,
            jobs=wanted.jobs,
            reporter=printing.reporter(),
            executor=executor,
            print_line=printing.print_line,
        )
    found = outcome(search, study)
    report = report_on_test(found, recipe.data) if test else None
    if printing.as_json:
        read = {"test": report.as_dict()} if report else {}
        print_json({**found.as_dict(), **read})
        return
    click.echo(found.render(test=report))
    click.echo(
        f"\nheedful train {found.recipe} --out RUN    # or heedful study {found.recipe} --seeds 1,2,3 --out STUDY"
    )
