"""Makes a figure of single sentences: trains its models, or takes those that are given, and draws what they look at.

The picture has lines of heat maps, one line for each sentence.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from heedful.errors import UsageError, check_known
from heedful.explain.panels import paint_heat_map
from heedful.explain.summary import Grid
from heedful.figure_style import INK, LINE, SOFT, check_figure, write_figure
from heedful.storage import write_text
from heedful_lab.reproduce.answering import check_budget, load_models, origin_of
from heedful_lab.reproduce.plan import Table
from heedful_lab.reproduce.runner import Order, command_of
from heedful_lab.reproduce.sentence_panels import Panel, read_panels
from heedful_lab.reproduce.table_records import refuse_foreign_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WHAT = "Drawing the figure of a paper"
_CELL, _LETTER, _FONT = 0.3, 0.07, 8.0
"""A cell and the width of a letter, in inches; the size of the labels, in points."""
_WIDEST, _GAP, _TOP, _STRIP = 13.0, 0.35, 0.5, 0.55
"""Width of the picture, room between panels, over the first line, and height of a row of features, in inches."""


def draw_panels(title: str, panels: Sequence[Panel], path: Path | str, dpi: int = 200) -> Path:
    """Draw panels, those of one sentence beside each other as far as the page is wide.

    Args:
        title: of the whole.
        panels: what to draw; those of one sentence stand together.
        path: the file, a .png, .svg or .pdf.
        dpi: dots per inch of a PNG.

    Returns:
        The file; see `heedful.figure_style.write_figure`.
    """
    return write_figure(path, lambda: _figure(title, panels), WHAT, dpi)


def _figure(title: str, panels: Sequence[Panel]) -> Figure:
    from matplotlib.figure import Figure

    lines = [line for _, group in groupby(panels, lambda panel: panel.sentence) for line in _lines([*group])]
    width = max(6.4, *(sum(map(_width, line)) + _GAP for line in lines), _LETTER * len(title) + 2 * _GAP)
    height = _TOP + sum(_height(line) for line in lines)
    figure = Figure(figsize=(width, height), facecolor="white")
    figure.text(_GAP / width, 1 - 0.12 / height, title, size=10.5, color=INK, va="top", weight="bold")
    top = _TOP
    for line in lines:
        left, head = _GAP, max(map(_header, line))
        for panel in line:
            text = _heading(panel)
            figure.text(left / width, 1 - top / height, text, size=9, color=INK, va="top")
            inner = _CELL * len(panel.columns) if panel.columns else _width(panel) - _GAP
            tall = _tall(panel)
            bottom = top + head + tall
            box = ((left + _labels(panel)) / width, 1 - bottom / height, inner / width, tall / height)
            _paint(figure.add_axes(box), panel)
            left += _width(panel)
        top += _height(line)
    return figure


def _lines(panels: list[Panel]) -> list[list[Panel]]:
    """Deal the panels of a sentence evenly to as few lines as hold them; panels of features stand alone."""
    for count in range(1, len(panels) + 1):
        each = -(-len(panels) // count)
        lines = [panels[start : start + each] for start in range(0, len(panels), each)]
        if each == 1 or all(sum(map(_width, line)) <= _WIDEST for line in lines):
            return lines
    return []


def _heading(panel: Panel) -> str:
    return f"{panel.sentence}: {panel.title}" if panel.sentence else panel.title


def _labels(panel: Panel) -> float:
    """Room for the labels of the rows; those of features are sentences, which stand over their rows."""
    return _LETTER * max(map(len, panel.rows)) + 0.1 if panel.columns else 0.0


def _header(panel: Panel) -> float:
    """Room for the title and the slanted labels of the columns."""
    return 0.26 + (_LETTER * 0.8 * max(map(len, panel.columns)) if panel.columns else 0.0)


def _width(panel: Panel) -> float:
    cells = _CELL * len(panel.columns) if panel.columns else _WIDEST - 2 * _GAP
    slant = _LETTER * 0.5 * len(panel.columns[-1]) if panel.columns else 0.0
    return max(_labels(panel) + cells + slant, _LETTER * 1.1 * len(_heading(panel))) + _GAP


def _tall(panel: Panel) -> float:
    return _CELL * len(panel.rows) if panel.columns else _STRIP * len(panel.rows)


def _height(line: Sequence[Panel]) -> float:
    return max(map(_header, line)) + max(map(_tall, line)) + _GAP


def _paint(axes: Axes, panel: Panel) -> None:
    if panel.columns:
        binary = bool(np.isin(panel.values, (0.0, 1.0)).all())
        paint_heat_map(
            axes,
            Grid(panel.rows, panel.columns, panel.values, panel.opened, numbers=not binary),
            _FONT,
            even=panel.even,
        )
        return
    _paint_features(axes, panel)


def _paint_features(axes: Axes, panel: Panel) -> None:
    """Paint a strip a sentence, a thin column a feature, all in one scale from 0 to the largest weight."""
    from matplotlib.colors import LinearSegmentedColormap

    from heedful.explain.style import light_palette

    rows, features = panel.values.shape
    colors = LinearSegmentedColormap.from_list("heedful", light_palette())
    edges = np.stack([np.arange(rows) + 0.42, np.arange(rows) + 1.0], axis=1)
    largest = float(panel.values.max(initial=0.0)) or 1.0
    for row, (low, high) in enumerate(edges):
        mesh = axes.pcolormesh(
            np.arange(features + 1),
            [low, high],
            panel.values[row : row + 1],
            cmap=colors,
            vmin=0,
            vmax=largest,
        )
        mesh.set_rasterized(False)
        axes.text(0, low - 0.06, panel.rows[row], size=_FONT, color=SOFT, ha="left", va="bottom")
    axes.set(xlim=(0, features), ylim=(rows, 0), yticks=[])
    axes.tick_params(labelsize=7, colors=SOFT, length=2, width=0.6)
    axes.set_title(
        f"lightest: 0, darkest: {largest:.3f}", size=7.5, color=SOFT, loc="right", y=1 - 0.36 / rows
    )
    for side, spine in axes.spines.items():
        spine.set(visible=side == "bottom", color=LINE, linewidth=0.6)


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
    refuse_foreign_table(order.out / table.name)
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
