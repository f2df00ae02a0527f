"""Makes a figure of single sentences: trains its models, or takes those that are given, and draws what they look at."""

from __future__ import annotations

import json
from pathlib import Path

from heedful.drawing import check_figure
from heedful.errors import UsageError, check_known
from heedful.storage import write_text
from heedful.workshop.reproduce.answering import check_budget, load_models, origin_of
from heedful.workshop.reproduce.painting import WHAT, draw_panels
from heedful.workshop.reproduce.plan import Table
from heedful.workshop.reproduce.runner import Order, command_of
from heedful.workshop.reproduce.sentence_panels import read_panels


def draw_figure(table: Table, order: Order) -> list[Path]:
    """Make a figure of single sentences; its models are trained once and kept.

    Args:
        table: with a picture.
        order: how it is made.

    Returns:
        The files: the picture as PNG and SVG, every number of it as JSON, and what stands behind it as Markdown.

    Raises:
        UsageError: if a model is missing, not one of the figure, or does not record what the figure shows.
        MissingExtraError: without matplotlib.
    """
    picture = table.picture
    assert picture is not None  # the caller looked
    check_figure(order.out / f"{table.name}.png", WHAT)  # before hours of training
    check_budget(table, picture, order.budget)
    for name in order.models:
        check_known(name, picture.models, f"--model: {table.name} has no model {name!r}")
    predictors = load_models(table, picture, order)
    if lacking := [name for name in picture.models if name not in predictors]:
        raise UsageError(
            f"{table.name}: {', '.join(lacking)}: not trained yet; leave --no-run out, or name it: --model NAME=FOLDER"
        )
    panels = read_panels(picture, predictors)
    stem = order.out / table.name
    files = [draw_panels(table.title, panels, stem.with_suffix(suffix)) for suffix in (".png", ".svg")]
    words = " ".join(
        [command_of(table, order.budget), *(f"--model {model}=FOLDER" for model in order.models)]
    )
    notes = [*table.notes, *(f"{name}: {origin_of(predictor)}" for name, predictor in predictors.items())]
    notes += [f"{one.name or 'sentence'}: {one.text}" for one in picture.sentences]
    lines = "\n".join(f"- {note}" for note in notes)
    image = f"![{table.title}]({table.name}.png)"
    write_text(stem.with_suffix(".md"), f"### {table.title}\n\n```bash\n{words}\n```\n\n{image}\n\n{lines}\n")
    records = [panel.as_record() for panel in panels]
    write_text(stem.with_suffix(".json"), json.dumps(records, indent=1) + "\n")
    return [*files, stem.with_suffix(".json"), stem.with_suffix(".md")]
