"""``heedful evaluate``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from heedful.cli.file_options import reading_options
from heedful.cli.gate import parse_gate
from heedful.cli.options import (
    PATH,
    cache_option,
    data_option,
    json_option,
    limit_options,
    precision_option,
    threads_option,
)
from heedful.cli.output import print_json, print_text
from heedful.errors import ExitCode, UsageError, nearest

if TYPE_CHECKING:
    from heedful.data.readers.reading import Reading
    from heedful.models.precision import Precision


@click.command()
@click.argument("model", type=PATH)
@click.argument("file", type=PATH, required=False)
@click.option(
    "--on", "split", metavar="SET:SPLIT", help="A known data set instead of FILE, for example trec:test."
)
@data_option
@reading_options
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
@click.option(
    "--figure",
    "figures",
    type=PATH,
    multiple=True,
    help="Draw calibration and accuracy by length as .png, .svg or .pdf. May be repeated.",
)
@click.option(
    "--fail-under", metavar="METRIC=VALUE", help="Exit with code 1 if the metric is worse than this value."
)
@limit_options
@precision_option
@cache_option
@threads_option
@json_option
def command(
    model: Path,
    file: Path | None,
    split: str | None,
    data: Path | None,
    reading: Reading,
    references: Path | None,
    by_length: bool,
    calibration: bool,
    confusion: bool,
    figures: tuple[Path, ...],
    fail_under: str | None,
    max_tokens: int | None,
    truncate: Literal["error", "head"] | None,
    precision: Precision,
    as_json: bool,
) -> int:
    """Measure MODEL on FILE (.csv .tsv .jsonl .json .parquet with named columns) or on a known data set.

    FILE is read like the file that the model was trained with: with the same columns, encoding and separator. Options
    name others. With --column group=NAME the figures are also given for each value of that column.

    For semantic roles FILE is a .conll, .gold_conll, .props or .conllu file, for tags of words any file of columns or
    CoNLL-U. For translation it has one text in each
    line, and --references names the file with its translations.

    The brackets contain 95 % intervals over the examples. --json prints every figure and all tables.

    Example: heedful evaluate runs/trec --on trec:test --data DIR --fail-under accuracy=0.9
    """
    from heedful.cli.answers import open_model
    from heedful.drawing import check_figure
    from heedful.evaluation import METRICS
    from heedful.evaluation.report_figure import WHAT, draw_report
    from heedful.evaluation.report_text import render_confusion, render_lengths, render_reliability
    from heedful.run.evaluate import evaluate_gold
    from heedful.tasks import task_of

    for path in figures:
        check_figure(path, WHAT)
    gate = parse_gate(fail_under, list(METRICS), "accuracy=0.9") if fail_under else None
    predictor = open_model(model, max_tokens, truncate, precision)
    if gate:
        _refuse_other_metric(gate[0], (*task_of(predictor).metrics, "ece"))
    given = {**reading.as_options(), "references": references}
    report, skipped = evaluate_gold(predictor, file, split, data, given)
    if as_json:
        print_json({**report.as_dict(), "left_out": dict(skipped)})
    else:
        tables = {render_lengths: by_length, render_reliability: calibration, render_confusion: confusion}
        print_text(
            "\n\n".join([report.render(), *(table(report) for table, asked in tables.items() if asked)])
        )
    for path in figures:
        click.echo(f"wrote {draw_report(report, path)}", err=True)
    for reason, count in skipped.items():
        click.echo(f"rows skipped: {count:,} ({reason})", err=True)
    return _judge(report.figures(), *gate) if gate else ExitCode.OK


def _refuse_other_metric(name: str, measured: Collection[str]) -> None:
    if name not in measured:
        raise UsageError(f"--fail-under: this task has no metric {name!r}; {nearest(name, list(measured))}")


def _judge(metrics: Mapping[str, float], name: str, limit: float) -> ExitCode:
    from heedful.evaluation import METRICS

    _refuse_other_metric(name, metrics)
    good = metrics[name] >= limit if METRICS[name].better == "higher" else metrics[name] <= limit
    if not good:
        click.echo(f"heedful: {name} is {metrics[name]:.4f}, worse than {limit:g}", err=True)
    return ExitCode.OK if good else ExitCode.GATE_FAILED
