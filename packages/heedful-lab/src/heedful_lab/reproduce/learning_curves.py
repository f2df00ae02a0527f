"""How the dev figure of a table's rows rose while they were trained, as a picture: by epochs, and by processor time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from heedful.errors import UsageError
from heedful.figure_style import INK, line_looks, plain_axes, write_figure
from heedful.run.record import RunFigures
from heedful_lab.reproduce.cell_runs import Result
from heedful_lab.reproduce.plan import Column

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WHAT = "Drawing learning curves"
Curves = dict[str, list[RunFigures]]
"""Name of a row to the figures of its runs."""


def learning_curves(result: Result, experiment: str) -> Curves:
    """Return the runs of an experiment that kept their dev figures, by row.

    Args:
        result: the figures.
        experiment: its key.

    Returns:
        The rows all of whose runs kept them, in their order; runs of earlier versions did not.
    """
    columns = [column for column in result.table.columns if column.experiment == experiment]
    found = {
        row.name: [record.figures for record in result.runs[experiment, row.system].found]
        for row in result.table.rows
        if any(result.figure(row, column).values for column in columns)
    }
    return {row: runs for row, runs in found.items() if all(run.dev_by_epoch for run in runs)}


def dev_column(result: Result, experiment: str) -> Column:
    """Return the column that says in which unit, and with how many digits, a dev figure is shown.

    Args:
        result: the figures.
        experiment: its key.

    Returns:
        The experiment's first column with a metric; without one (memory, seconds), its first column as per cent.
    """
    columns = [column for column in result.table.columns if column.experiment == experiment]
    metrics = [column for column in columns if ".metrics." in column.figure]
    return metrics[0] if metrics else replace(columns[0], scale=100.0, digits=1)


def stopped_rising(dev: Sequence[float]) -> bool:
    """Return whether a dev figure did not rise over the last fifth of a run.

    Args:
        dev: of each evaluation, in their order; of at least five.

    Returns:
        False for fewer, or where the best of the last fifth is above the best before.
    """
    last = max(1, round(len(dev) / 5))
    return len(dev) >= 5 and max(dev[-last:]) <= max(dev[:-last])


def draw_learning_curves(result: Result, path: Path | str, dpi: int = 200) -> Path:
    """Draw the dev figure of every run, by epochs and by processor minutes.

    Args:
        result: the table with its figures.
        path: the file, a .png, .svg or .pdf.
        dpi: dots per inch of a PNG.

    Returns:
        The file; see `heedful.figure_style.write_figure`.

    Raises:
        UsageError: for another suffix, or if no run kept its dev figures.
        MissingExtraError: without matplotlib.
        OutputError: if it cannot be written.
    """
    curves = {name: found for name in result.table.experiments() if (found := learning_curves(result, name))}
    if not curves:
        raise UsageError(f"{result.table.name}: no run kept its dev figures; run its rows first")
    return write_figure(path, lambda: _figure(result, curves), WHAT, dpi)


def _figure(result: Result, curves: dict[str, Curves]) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.4, 3.6 * len(curves) + 0.4), facecolor="white", layout="constrained")
    for (name, found), (left, right) in zip(
        curves.items(), figure.subplots(len(curves), 2, sharey="row", squeeze=False), strict=True
    ):
        scale = dev_column(result, name).scale
        _paint(left, found, scale)
        _paint(right, found, scale, minutes=True)
        left.set(xlabel="epochs", ylabel=f"dev split, {name}")
        right.set(xlabel="processor minutes of training steps")
        right.legend(frameon=False, fontsize=8, labelcolor=INK)
        for axes in (left, right):
            plain_axes(axes)
    figure.suptitle(result.table.title, size=9.5, color=INK)
    return figure


def _paint(axes: Axes, curves: Curves, scale: float, *, minutes: bool = False) -> None:
    """Paint one line a run, in one look a row; without a measured processor time, the wall time counts."""
    for (name, runs), look in zip(curves.items(), line_looks(), strict=False):
        for number, run in enumerate(runs):
            each = (run.epoch_cpu_seconds or run.epoch_seconds) / 60 if minutes else 1.0
            axes.plot(
                [each * float(epoch) for epoch in run.dev_by_epoch],
                [scale * value for value in run.dev_by_epoch.values()],
                label=name if number == 0 else None,
                markersize=4,
                linewidth=1.4,
                color=look.color,
                marker=look.marker,
                linestyle=look.style,
            )
