"""``heedful explain``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from heedful.cli.file_options import reading_options
from heedful.cli.options import (
    PATH,
    input_options,
    json_option,
    limit_options,
    pair_options,
    predicates_option,
    text_option,
    threads_option,
)

if TYPE_CHECKING:
    from heedful.data.readers.reading import Reading


@click.command()
@click.argument("model", type=PATH)
@text_option
@pair_options
@predicates_option
@input_options
@reading_options
@click.option("--html", type=PATH, help="Write a page that works offline.")
@click.option(
    "--figure", type=PATH, multiple=True, help="Write a figure as .png, .svg or .pdf. May be repeated."
)
@limit_options
@threads_option
@json_option
def command(
    model: Path,
    texts: tuple[str, ...],
    premise: str | None,
    hypothesis: str | None,
    predicates: tuple[str, ...],
    input_file: Path | None,
    reading: Reading,
    html: Path | None,
    figure: tuple[Path, ...],
    max_tokens: int | None,
    truncate: Literal["error", "head"] | None,
    as_json: bool,
) -> None:
    """Show what MODEL attended to: word-to-word attention, fusion gates, the weight of each word, and a deletion test.

    For semantic roles, one predicate is shown: the first that is found, or the one in --predicates. For a translation,
    each translated word is shown with the source words that it attended to.

    Example: heedful explain demo-run --premise "A dog runs." --hypothesis "An animal runs." --html why.html
    """
    from heedful.cli.answers import open_model, with_torch, without_torch
    from heedful.cli.output import print_json, print_text, terminal_width
    from heedful.cli.requests import gather
    from heedful.drawing import check_figure

    for path in figure:
        check_figure(path, "The figure of an explanation")
    given = {"predicates": predicates}
    opened = None if any(given.values()) else without_torch(model, max_tokens, truncate)
    if opened is None or opened.explain is None:
        opened = with_torch(open_model(model, max_tokens, truncate), given)
    corpus = gather(opened.asked(texts, (premise, hypothesis), input_file, reading))
    assert opened.explain is not None  # with torch every model has one
    explanation = opened.explain(corpus)
    if as_json:
        print_json(explanation.to_dict())
    else:
        print_text(explanation.to_text(width=terminal_width(), colour=_colour()), colored=_colour())
    for path in [html] if html else []:
        click.echo(f"wrote {explanation.to_html(path)}", err=True)
    for path in figure:
        click.echo(f"wrote {explanation.to_figure(path)}", err=True)


def _colour() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")
