"""``heedful evaluate``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from heedful.cli.answer_options import SetOptions, TreeOptions
from heedful.cli.measuring_options import GoldOptions, OutcomeOptions, gold_options, judge
from heedful.cli.option_groups import TextLimits, grouped
from heedful.cli.options import (
    PATH,
    computing_options,
    figures_option,
    json_option,
    limit_options,
    precision_option,
    set_options,
    tree_options,
)
from heedful.cli.output import print_json, print_note, print_text
from heedful.errors import ExitCode, check_known

if TYPE_CHECKING:
    from heedful.evaluation import Report
    from heedful.models.precision import Precision


@dataclass(frozen=True)
class Tables:
    """Which tables are printed below the figures."""

    by_length: bool
    calibration: bool
    confusion: bool

    def render(self, report: Report) -> str:
        """Return the report and the tables as text."""
        from heedful.evaluation.report_text import render_confusion, render_lengths, render_reliability

        asked = {
            render_lengths: self.by_length,
            render_reliability: self.calibration,
            render_confusion: self.confusion,
        }
        return "\n\n".join([report.render(), *(table(report) for table, wanted in asked.items() if wanted)])


@click.command()
@click.argument("model", type=PATH)
@gold_options("trec:test")
@click.option(
    "--references",
    type=PATH,
    help="File with the translations of FILE, line by line, for a translation model.",
)
@click.option("--by-length", is_flag=True, help="Also print the first metric by sentence length.")
@click.option(
    "--calibration", is_flag=True, help="Also print confidence and accuracy for each bin of confidence."
)
@click.option(
    "--confusion", is_flag=True, help="Also print how often each class was predicted for each class."
)
@figures_option("Draw calibration and accuracy by length as .png, .svg or .pdf. May be repeated.")
@click.option(
    "--fail-under", metavar="METRIC=VALUE", help="Exit with code 1 if the metric is worse than this value."
)
@set_options
@tree_options
@limit_options
@precision_option
@computing_options
@json_option
@grouped(
    gold=GoldOptions,
    tables=Tables,
    outcome=OutcomeOptions,
    limits=TextLimits,
    sets=SetOptions,
    tree=TreeOptions,
)
def command(
    model: Path,
    gold: GoldOptions,
    references: Path | None,
    tables: Tables,
    outcome: OutcomeOptions,
    limits: TextLimits,
    precision: Precision,
    sets: SetOptions,
    tree: TreeOptions,
) -> int:
    """Measure MODEL on FILE (.csv .tsv .jsonl .json .parquet with named columns) or on a known data set.

    FILE is read like the file that the model was trained with: with the same columns, encoding and separator. Options
    name others. With --column group=NAME the figures are also given for each value of that column.

    For semantic roles FILE is a .conll, .gold_conll, .props or .conllu file, for tags of words any file of columns or
    CoNLL-U. For translation it has one text in each
    line, and --references names the file with its translations.

    Numbers in brackets are 95 % intervals over the examples. --json prints every figure and all tables.

    Example: heedful evaluate runs/trec --on trec:test --data DIR --fail-under accuracy=0.9
    """
    from heedful.cli.opened_model import with_torch
    from heedful.evaluation import METRICS
    from heedful.evaluation.rejection import reject_figures
    from heedful.evaluation.report_figure import WHAT, draw_report
    from heedful.evaluation.sets import set_figures
    from heedful.evaluation.tree_levels import tree_figures
    from heedful.run.evaluate import evaluate_gold, was_trained_on
    from heedful.tasks import task_of

    outcome.check_figures(WHAT)
    predictor = with_torch(model, limits, precision)  # whose task may bring metrics
    gate = outcome.gate(list(METRICS), "accuracy=0.9")
    if gate:
        _refuse_other_metric(gate[0], (*task_of(predictor).metrics, "ece"))
    promising = tree.of(sets.of(predictor))
    report, skipped = evaluate_gold(predictor, gold.file, gold.split, gold.data, gold.options(references))
    found = None
    reject = predictor.about.reject
    rejection = levels = None
    if promising.promise is not None or promising.tree is not None or reject is not None:
        corpus = gold.read(predictor, references)
        answers = promising.answer(corpus)
        if promising.promise is not None:
            found = set_figures(promising.promise, answers, corpus.examples)
        if promising.tree is not None:
            levels = tree_figures(promising.tree, answers, corpus.examples)
        if reject is not None:
            rejection = reject_figures(reject.label, predictor.labels, answers, corpus.examples)
    if outcome.as_json:
        more = {"sets": found, "none_of_these": rejection, "tree": levels}
        further = {name: value.as_dict() for name, value in more.items() if value is not None}
        print_json({**report.as_dict(), "left_out": dict(skipped), **further})
    else:
        shown = [each.render() for each in (rejection, found, levels) if each is not None]
        print_text("\n\n".join([tables.render(report), *shown]))
    for path in outcome.figures:
        print_note(f"wrote {draw_report(report, path, rejection=rejection)}")
    if gold.file is not None and was_trained_on(predictor, model, gold.file):
        said = "is the file that the model was trained on; figures of it say nothing about new texts"
        click.echo(f"{gold.file}: {said}", err=True)
    for reason, count in skipped.items():
        click.echo(f"rows skipped: {count:,} ({reason})", err=True)
    return _judge(report.figures(), *gate) if gate else ExitCode.OK


def _refuse_other_metric(name: str, measured: Collection[str]) -> None:
    check_known(name, measured, f"--fail-under: this task has no metric {name!r}")


def _judge(metrics: Mapping[str, float], name: str, limit: float) -> ExitCode:
    from heedful.evaluation import METRICS

    _refuse_other_metric(name, metrics)
    return judge(name, metrics[name], limit, higher_is_better=METRICS[name].better == "higher")
