"""``heedful evaluate``."""

from __future__ import annotations

from pathlib import Path

import click

from heedful.cli.options import PATH, data_option, json_option, print_json
from heedful.errors import ExitCode


@click.command()
@click.argument("model", type=PATH)
@click.argument("file", type=PATH, required=False)
@click.option("--on", "split", metavar="SET:SPLIT", help="A known data set instead of FILE, for example trec:test.")
@data_option
@click.option("--text", help="Column of the text.", default="text", show_default=True)
@click.option("--premise", help="Column of the first text.", default="premise", show_default=True)
@click.option("--hypothesis", help="Column of the second text.", default="hypothesis", show_default=True)
@click.option("--label", help="Column of the class.", default="label", show_default=True)
@click.option("--score", help="Column of the score.", default="score", show_default=True)
@click.option("--group", help="Column to break the figures down by.")
@click.option("--fail-under", metavar="METRIC=VALUE", help="Exit with 1 when a metric is worse than this.")
@json_option
def command(
    model: Path,
    file: Path | None,
    split: str | None,
    data: Path | None,
    fail_under: str | None,
    as_json: bool,
    **columns: str | None,
) -> int:
    """Measure MODEL on FILE (.csv .tsv .jsonl .parquet with named columns) or on a known data set.

    Example: heedful evaluate runs/trec/model --on trec:test --data DIR --fail-under accuracy=0.9
    """
    from heedful.estimators import model_folder
    from heedful.pipeline.evaluate import evaluate_corpus, read_gold
    from heedful.predictor import Predictor

    predictor = Predictor.load(model_folder(model))
    corpus = read_gold(predictor, file, split, data, columns)
    report = evaluate_corpus(predictor, corpus)
    if as_json:
        print_json(report.as_dict())
    else:
        for reason, count in corpus.skipped.items():
            click.echo(f"left out {count:,} row(s): {reason}", err=True)
        click.echo(report.render())
    return _gate(report.metrics, fail_under) if fail_under else ExitCode.OK


def _gate(metrics: dict[str, float], condition: str) -> int:
    from heedful.errors import UsageError, nearest
    from heedful.evaluation import METRICS

    name, _, value = condition.partition("=")
    try:
        limit = float(value)
    except ValueError:
        raise UsageError(f"--fail-under {condition!r}: write METRIC=VALUE, for example accuracy=0.9") from None
    if name not in metrics:
        raise UsageError(f"--fail-under: this task has no metric {name!r}; {nearest(name, list(metrics))}")
    good = metrics[name] >= limit if METRICS[name].better == "higher" else metrics[name] <= limit
    if good:
        return ExitCode.OK
    click.echo(f"heedful: {name} is {metrics[name]:.4f}, worse than {limit}", err=True)
    return ExitCode.GATE_FAILED
