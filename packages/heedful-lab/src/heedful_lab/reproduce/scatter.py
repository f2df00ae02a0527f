"""A table as a cloud of points: one figure against another, a third beside each point (MTSA, Figure 1c)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from heedful.errors import UsageError
from heedful.figure_style import INK, MAIN, SECOND, SOFT, plain_axes, write_figure
from heedful_lab.reproduce.cell_runs import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WHAT = "Drawing a table as points"
_NUMBER = re.compile(r"[\d.]+")
_WIDE = 4.0
"""Ratio of largest to smallest value from which an axis is logarithmic."""
Point = tuple[str, float, float, float]
"""Name of a row, and its figures in the three columns."""


def draw_scatter(result: Result, path: Path | str, dpi: int = 200) -> Path:
    """Draw the rows of a table as points: the paper's on the left, those of our runs on the right.

    Args:
        result: of a table whose ``scatter`` names three columns.
        path: the file; its suffix .png, .svg or .pdf decides the format.
        dpi: dots per inch of a PNG.

    Returns:
        The file. The same figures give the same bytes with the same version of matplotlib.

    Raises:
        UsageError: for another suffix, or if no row has all three figures.
        MissingExtraError: without matplotlib.
        OutputError: if it cannot be written.
    """
    if not points(result, paper=True) and not points(result, paper=False):
        raise UsageError(f"{result.table.name}: no row has {', '.join(result.table.scatter)} to draw")
    return write_figure(path, lambda: _figure(result), WHAT, dpi)


def points(result: Result, *, paper: bool) -> list[Point]:
    """Collect the rows that have all three figures.

    Args:
        result: the table with its figures.
        paper: whether those that the paper printed, or the means of our runs.

    Returns:
        The points.
    """
    columns = {column.key: column for column in result.table.columns}
    found = []
    for row in result.table.rows:
        figures = [result.figure(row, columns[key]) for key in result.table.scatter]
        if paper:
            numbers = [_NUMBER.search(figure.paper) for figure in figures]
            values = [None if number is None else float(number[0]) for number in numbers]
        else:
            values = [figure.mean for figure in figures]
        x, y, said = values
        if x is not None and y is not None and said is not None:
            found.append((row.name, x, y, said))
    return found


def _figure(result: Result) -> Figure:
    from matplotlib.figure import Figure

    clouds = {"as the paper printed": points(result, paper=True), "here": points(result, paper=False)}
    clouds = {name: cloud for name, cloud in clouds.items() if cloud}
    figure = Figure(figsize=(5.6 * len(clouds), 4.6), facecolor="white", layout="constrained")
    for axes, (name, cloud) in zip(
        figure.subplots(1, len(clouds), squeeze=False)[0], clouds.items(), strict=True
    ):
        _paint(axes, result, cloud, MAIN if name == "here" else SECOND)
        axes.set_title(name, size=9.5, color=INK, loc="left")
    said = {column.key: column.head for column in result.table.columns}[result.table.scatter[2]]
    figure.suptitle(f"{result.table.title}\nbeside each point: {said}", size=10, color=INK)
    return figure


def _paint(axes: Axes, result: Result, cloud: list[Point], color: str) -> None:
    heads = {column.key: column.head for column in result.table.columns}
    axes.scatter([point[1] for point in cloud], [point[2] for point in cloud], color=color, s=36, zorder=3)
    # Names of neighbors would cover each other: from the left, they stand by turns below and above their points.
    for number, (name, along, up, value) in enumerate(sorted(cloud, key=lambda point: point[1:3])):
        above = number % 2
        axes.annotate(
            f"{name}, {value:.1f}",
            (along, up),
            (14 if above else -14, 7 if above else -14),
            textcoords="offset points",
            ha="center",
            size=7.5,
            color=SOFT,
        )
    _scale(axes, [point[1] for point in cloud], "x")
    _scale(axes, [point[2] for point in cloud], "y")
    axes.margins(0.25, 0.18)
    axes.set(xlabel=heads[result.table.scatter[0]], ylabel=heads[result.table.scatter[1]])
    plain_axes(axes)


def _scale(axes: Axes, values: list[float], name: str) -> None:
    """Make an axis logarithmic where the largest value is many times the smallest, with plain numbers."""
    from matplotlib.ticker import LogLocator, NullLocator, ScalarFormatter

    if max(values) < _WIDE * min(values):
        return
    (axes.set_xscale if name == "x" else axes.set_yscale)("log")
    axis = axes.xaxis if name == "x" else axes.yaxis
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(ScalarFormatter())
    axis.set_minor_locator(NullLocator())
