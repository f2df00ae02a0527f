"""A table by sentence length as a picture: a line a model over the bins (DiSAN, Figure 5)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from heedful.errors import ArtifactError, UsageError
from heedful.figure_style import INK, bars_behind, line_looks, plain_axes, write_figure
from heedful_lab.reproduce.cell_runs import Result, Runs
from heedful_lab.reproduce.plan import Column, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WHAT = "Drawing a table by sentence length"
_BINS = "by_length"
_ASIDE = 0.07
"""Step between the lines of two models at one place, so that their error bars do not cover each other."""


def length_columns(table: Table) -> tuple[Column, ...]:
    """Return the columns of a table that are bins of sentence lengths; a table without any is not drawn."""
    return tuple(column for column in table.columns if f".{_BINS}." in column.figure)


def draw_by_length(result: Result, path: Path | str, dpi: int = 200) -> Path:
    """Draw a table whose columns are bins of sentence lengths: one line a model that has runs.

    Args:
        result: the table with its figures.
        path: the file, a .png, .svg or .pdf.
        dpi: dots per inch of a PNG.

    Returns:
        The file; see `heedful.figure_style.write_figure`.

    Raises:
        UsageError: for another suffix, or if the table has no such columns or no runs.
        MissingExtraError: without matplotlib.
        OutputError: if it cannot be written.
    """
    if not length_columns(result.table) or not result.runs:
        raise UsageError(f"{result.table.name}: no figures by sentence length to draw; run its rows first")
    return write_figure(path, lambda: _figure(result), WHAT, dpi)


def paint_by_length(axes: Axes, result: Result) -> None:
    """Paint the mean over runs of each model and bin, their standard deviation as error bars, the bins' sizes behind.

    Args:
        axes: where to.
        result: the table with its figures.
    """
    columns = length_columns(result.table)
    counts = _counts(result, columns)
    if counts:
        bars_behind(axes, counts)
    rows = [row for row in result.table.rows if any(result.figure(row, c).values for c in columns)]
    for number, (row, look) in enumerate(zip(rows, line_looks(), strict=False)):
        found = [(place, result.figure(row, column)) for place, column in enumerate(columns)]
        aside = _ASIDE * (number - (len(rows) - 1) / 2)
        axes.errorbar(
            [place + aside for place, figure in found if figure.values],
            [figure.mean for _, figure in found if figure.mean is not None],
            yerr=[figure.deviation or 0.0 for _, figure in found if figure.values],
            label=row.name,
            markersize=5,
            linewidth=1.6,
            elinewidth=1,
            color=look.color,
            marker=look.marker,
            linestyle=look.style,
        )
    bins, metrics = zip(*(column.figure.split(".")[-2:] for column in columns), strict=True)
    axes.set_xticks(range(len(columns)), bins, rotation=45, ha="right")
    axes.margins(y=0.25)
    axes.set(xlabel="tokens", ylabel=f"{metrics[0]}, %" if columns[0].scale == 100 else metrics[0])
    axes.legend(frameon=False, fontsize=8.5, labelcolor=INK)


def _figure(result: Result) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.6), facecolor="white", layout="constrained")
    axes = figure.subplots()
    paint_by_length(axes, result)
    plain_axes(axes)
    said = ["gray: examples"] if len(figure.axes) > 1 else []
    if any(len(runs.found) > 1 for runs in result.runs.values()):
        said.append("error bars: standard deviation over runs")
    axes.set_title(f"{result.table.title}\n{'; '.join(said)}", size=9.5, color=INK, loc="left")
    return figure


def _counts(result: Result, columns: tuple[Column, ...]) -> list[int]:
    """Return the examples of each bin by the first model that has runs; none where a run does not tell."""
    for row in result.table.rows:
        runs = [result.runs.get((column.experiment, row.system)) for column in columns]
        if all(runs):
            try:
                return [_count(found, column) for found, column in zip(runs, columns, strict=True) if found]
            except ArtifactError:
                return []
    return []


def _count(runs: Runs, column: Column) -> int:
    """Return the examples of a bin: seeds answer the same ones, folds different ones."""
    each = runs.figures(f"{column.figure.rpartition('.')[0]}.count")
    return round(sum(each) if runs.cell.experiment.folds else each[0])
