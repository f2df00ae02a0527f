"""``heedful explain``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from heedful.cli.options import PATH, json_option, print_json, request_options


@click.command()
@click.argument("model", type=PATH)
@request_options
@click.option("--html", type=PATH, help="Write a self-contained page.")
@click.option("--figure", type=PATH, multiple=True, help="Write a figure: .png, .svg or .pdf; may be repeated.")
@json_option
def command(
    model: Path,
    texts: tuple[str, ...],
    premise: str | None,
    hypothesis: str | None,
    input_file: Path | None,
    on_missing: str,
    html: Path | None,
    figure: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Show what MODEL looked at: word-to-word attention, fusion gates, the weight of each word, and a deletion test.

    Example: heedful explain runs/demo/model --premise "A dog runs." --hypothesis "An animal runs." --html why.html
    """
    from heedful.cli.requests import gather
    from heedful.errors import UsageError
    from heedful.estimators import model_folder
    from heedful.predictor import Predictor

    predictor = Predictor.load(model_folder(model))
    requests = gather(texts, premise, hypothesis, input_file, on_missing, predictor.is_pair)
    if len(requests) != 1:
        raise UsageError(f"explain takes one request at a time; got {len(requests)}")
    explanation = predictor.explain(requests[0])
    if as_json:
        print_json(explanation.to_dict())
    else:
        click.echo(explanation.to_text(colour=sys.stdout.isatty()))
    for path in [html] if html else []:
        click.echo(f"wrote {explanation.to_html(path)}", err=True)
    for path in figure:
        click.echo(f"wrote {explanation.to_figure(path)}", err=True)
