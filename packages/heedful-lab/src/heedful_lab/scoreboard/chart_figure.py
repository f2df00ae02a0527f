"""The picture: accuracy over the time of one text, every system a dot."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from heedful.errors import UsageError
from heedful.figure_style import INK, MAIN, SECOND, SOFT, plain_axes, write_figure
from heedful_lab.scoreboard.cell_file import Cell, Group
from heedful_lab.scoreboard.chart_table import Summary, summaries

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WHAT = "Drawing a scoreboard"
_NEAR, _LINE = 0.025, 8.0
"""Share of the height within which names would cover each other, and how far apart they then stand, in points."""
_ASIDE = re.compile(r" \((?:words|heedful)[^)]*\)")
_LOOKS: dict[Group, tuple[str, str, str]] = {
    "ours": (MAIN, "o", "Heedful"),
    "simple": ("#777777", "s", "scikit-learn"),
    "library": ("#009e73", "^", "other libraries"),
    "transformer": (SECOND, "D", "transformers"),
}
"""Kind of system to color, marker and what the legend says."""


def draw_chart(cells: Sequence[Cell], path: Path | str, dpi: int = 200) -> Path:
    """Draw the accuracy of every system over the time of one text, a picture for each number of labels.

    Args:
        cells: what was measured; where there are several data sets, systems that lack one of them are left out, and
            the others show their means.
        path: the file; its suffix .png, .svg or .pdf decides the format.
        dpi: dots per inch of a PNG.

    Returns:
        The file.

    Raises:
        UsageError: if there is nothing to draw, or for another suffix.
        MissingExtraError: without matplotlib.
    """
    if not any(cell.ms for cell in cells):
        raise UsageError("the scoreboard has no cell with a time yet: there is nothing to draw")
    return write_figure(path, lambda: _figure(cells), WHAT, dpi)


def _figure(cells: Sequence[Cell]) -> Figure:
    from matplotlib.figure import Figure

    cells = [cell for cell in cells if cell.ms]
    sizes = sorted({cell.labels for cell in cells}, key=lambda size: size or float("inf"))
    figure = Figure(figsize=(6.4 * len(sizes), 4.8), facecolor="white", layout="constrained")
    for axes, size in zip(figure.subplots(1, len(sizes), squeeze=False)[0], sizes, strict=True):
        own = [cell for cell in cells if cell.labels == size]
        names = list(dict.fromkeys(cell.data for cell in own))
        whole = [
            cell for cell in own if {each.data for each in own if each.system == cell.system} == set(names)
        ]
        _paint(axes, [row for row in summaries(whole, interval=False) if row.means["ms"]])
        labels = f"{size:,} labels" if size else "all labels"
        of = "mean of " if len(names) > 1 else ""
        axes.set_title(f"{labels}: {of}{', '.join(names)}", size=9.5, color=INK, loc="left")
    return figure


def _paint(axes: Axes, rows: Sequence[Summary]) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axes.set_xscale("log")
    for group, (color, marker, said) in _LOOKS.items():
        own = [row for row in rows if row.group == group]
        if own:
            along, up = [row.means["ms"] for row in own], [100 * row.accuracy for row in own]
            axes.scatter(along, up, color=color, marker=marker, s=42, zorder=3, label=said)
    _name_dots(axes, rows)
    axes.margins(0.3, 0.1)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set(xlabel="milliseconds a text, one at a time on one thread", ylabel="accuracy, %")
    axes.legend(fontsize=7.5, frameon=False, loc="lower right")
    plain_axes(axes)


def _name_dots(axes: Axes, rows: Sequence[Summary]) -> None:
    """Write the names on the free side of their dots; those of dots at about one height stand one above the other."""
    times = [math.log(row.means["ms"]) for row in rows]
    heights = [100 * row.accuracy for row in rows]
    middle, near = (min(times) + max(times)) / 2, _NEAR * max(max(heights) - min(heights), 1.0)
    last, lift = -math.inf, 0.0
    for along, up, row in sorted(zip(times, heights, rows, strict=True), key=lambda each: each[:2][::-1]):
        lift = lift + _LINE if up - last < near else 0.0
        last = up
        beside = [x for x, y in zip(times, heights, strict=True) if x != along and abs(y - up) < 2 * near]
        some = {x > along for x in beside}  # the free side, where there is one
        left = some.pop() if len(some) == 1 else along > middle
        axes.annotate(
            _short(row.system),
            (row.means["ms"], up),
            (-7 if left else 7, lift),
            textcoords="offset points",
            ha="right" if left else "left",
            va="center",
            size=7,
            color=SOFT,
        )


def _short(name: str) -> str:
    """Shorten a name for the picture; the table has it in full."""
    for long, short in (("logistic regression", "LR"), ("mean of word vectors", "mean of vectors")):
        name = name.replace(long, short)
    return _ASIDE.sub("", name)
