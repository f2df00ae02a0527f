"""``heedful evaluate``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import click

from heedful.cli.options import PATH, data_option, json_option, limit_options
from heedful.cli.output import print_json
from heedful.errors import ExitCode, UsageError, nearest


@click.command()
@click.argument("model", type=PATH)
@click.argument("file", type=PATH, required=False)
@click.option(
    "--on", "split", metavar="SET:SPLIT", help="A known data set instead of FILE, for example trec:test."
)
@data_option
@click.option("--text", help="Column of the text.", default="text", show_default=True)
@click.option("--premise", help="Column of the first text.", default="premise", show_default=True)
@click.option("--hypothesis", help="Column of the second text.", default="hypothesis", show_default=True)
@click.option("--label", help="Column of the class.", default="label", show_default=True)
@click.option("--score", help="Column of the score.", default="score", show_default=True)
@click.option("--group", help="Column to break the figures down by.")
@click.option("--fail-under", metavar="METRIC=VALUE", help="Exit with 1 when a metric is worse than this.")
@limit_options
@json_option
def command(
    model: Path,
    file: Path | None,
    split: str | None,
    data: Path | None,
    fail_under: str | None,
    max_tokens: int | None,
    truncate: Literal["error", "head"] | None,
    as_json: bool,
    **columns: str | None,
) -> int:
    """Measure MODEL on FILE (.csv .tsv .jsonl .parquet with named columns) or on a known data set.

    Example: heedful evaluate runs/trec --on trec:test --data DIR --fail-under accuracy=0.9
    """
    from heedful.cli.models import open_model
    from heedful.evaluation import METRICS
    from heedful.pipeline.evaluate import evaluate_corpus, read_gold

    gate = _parse_gate(fail_under, list(METRICS)) if fail_under else None
    predictor = open_model(model, max_tokens, truncate)
    corpus = read_gold(predictor, file, split, data, columns)
    report = evaluate_corpus(predictor, corpus)
    if as_json:
        print_json({**report.as_dict(), "left_out": dict(corpus.skipped)})
    else:
        click.echo(report.render())
    for reason, count in corpus.skipped.items():
        click.echo(f"left out {count:,} row(s): {reason}", err=True)
    return _judge(report.metrics, *gate) if gate else ExitCode.OK


def _parse_gate(condition: str, names: Sequence[str]) -> tuple[str, float]:
    name, _, value = condition.partition("=")
    if name not in names:
        raise UsageError(f"--fail-under: there is no metric {name!r}; {nearest(name, list(names))}")
    try:
        return name, float(value)
    except ValueError:
        raise UsageError(
            f"--fail-under {condition!r}: write METRIC=VALUE, for example accuracy=0.9"
        ) from None


def _judge(metrics: Mapping[str, float], name: str, limit: float) -> ExitCode:
    from heedful.evaluation import METRICS

    if name not in metrics:
        raise UsageError(f"--fail-under: this task has no metric {name!r}; {nearest(name, list(metrics))}")
    good = metrics[name] >= limit if METRICS[name].better == "higher" else metrics[name] <= limit
    if not good:
        click.echo(f"heedful: {name} is {metrics[name]:.4f}, worse than {limit:g}", err=True)
    return ExitCode.OK if good else ExitCode.GATE_FAILED
