"""``heedful faithfulness``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import click

from heedful.cli.measuring_options import GoldOptions, OutcomeOptions, gold_options, judge
from heedful.cli.option_groups import TextLimits, grouped
from heedful.cli.options import (
    PATH,
    figures_option,
    json_option,
    limit_options,
    number_option,
    threads_option,
)
from heedful.errors import ExitCode


@dataclass(frozen=True)
class Draws:
    """What is measured, and what is drawn for it."""

    methods: tuple[str, ...]
    limit: int
    samples: int
    seed: int


@click.command()
@click.argument("model", type=PATH)
@gold_options("sst2:dev")
@click.option(
    "--method",
    "methods",
    metavar="NAME",
    multiple=True,
    help="A method to measure: attention, gradient, integrated, occlusion or shapley. May be repeated. By default all "
    "that MODEL has.",
)
@number_option("--limit", 200, "Largest number of texts to measure, drawn with --seed.")
@number_option("--samples", 20, "Random orders of the words for Shapley values.")
@number_option("--seed", 0, "Seed of all random numbers.", smallest=0)
@figures_option("Draw the curves as .png, .svg or .pdf. May be repeated.")
@click.option(
    "--fail-under",
    metavar="MEASURE=VALUE",
    help="Exit with code 1 if the best method is worse than this value: comprehensiveness, sufficiency, log_odds, "
    "sign_violations or correlation.",
)
@click.option(
    "--no-save", is_flag=True, help="Do not make the best method the default of 'heedful explain' for MODEL."
)
@limit_options
@threads_option
@json_option
@grouped(gold=GoldOptions, draws=Draws, outcome=OutcomeOptions, limits=TextLimits)
def command(
    model: Path,
    gold: GoldOptions,
    draws: Draws,
    outcome: OutcomeOptions,
    no_save: bool,
    limits: TextLimits,
) -> int:
    """Measure how faithful the explanations of MODEL are on FILE or on a known data set.

    The command deletes or keeps the most important words of each text and measures how the probability of the predicted
    class changes. It does so for every method of 'heedful explain' and for two controls: a random order of the words,
    and leave-one-out in a network with random weights. The best method is written into the folder of MODEL and its
    card, and becomes the default of 'heedful explain'. Use texts that MODEL was not trained on, and not the test split
    that you report results on.

    Example: heedful faithfulness runs/reviews held-out.csv --limit 100 --figure faithfulness.svg
    """
    from heedful.cli.opened_model import with_torch
    from heedful.cli.output import print_json, print_note, print_text
    from heedful.explain.measured_figure import WHAT, draw_measured
    from heedful.explain.measured_methods import MEASURES
    from heedful.explain.methods import Sampling
    from heedful.run.measuring import keep_standing, measure_explanations
    from heedful.tasks import model_folder

    outcome.check_figures(WHAT)
    gate = outcome.gate(list(MEASURES), "comprehensiveness=0.2")
    predictor = with_torch(model, limits)
    measured = measure_explanations(
        predictor,
        gold.read(predictor),
        gold.split or str(gold.file and gold.file.name),
        methods=draws.methods,
        limit=draws.limit,
        sampling=Sampling(draws.samples, draws.seed),
        progress=_progress,
    )
    if outcome.as_json:
        print_json(measured.as_dict())
    else:
        print_text(measured.render())
    for path in outcome.figures:
        print_note(f"wrote {draw_measured(measured, path)}")
    if measured.skipped:
        click.echo(f"texts skipped: {measured.skipped:,} (fewer than two words)", err=True)
    best = measured.methods[0]
    if not no_save and model.is_dir():
        keep_standing(model_folder(model), measured)
        shown = measured.standing.default
        print_note(f"wrote {model_folder(model)}: 'heedful explain' now shows {shown} by default")
    elif not no_save:
        print_note(f"{model} is no folder of yours, so its default stays; copy it to change that")
    if gate is None:
        return ExitCode.OK
    name, limit = gate
    value = measured.mean(best, name).value
    return judge(f"{name} of {best}", value, limit, higher_is_better=MEASURES[name])


def _progress(done: int, of: int) -> None:
    if sys.stderr.isatty():
        click.echo(f"\r{done + 1:,} of {of:,} texts", err=True, nl=done + 1 == of)
