"""The cells as tables in Markdown: one for each data set and number of labels, and the means over data sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from heedful.evaluation import accuracy_interval
from heedful.tables import markdown_table
from heedful_lab.scoreboard.cell_file import Cell, Group

_HEAD = (
    "system",
    "accuracy",
    "95 % interval",
    "ECE",
    "log loss",
    "ms a text",
    "texts/CPU s",
    "MB model",
    "MB installed",
    "CPU s to train",
)
NOTES = (
    "Every system has the same labels and chooses its settings with them; the test split is read once a cell. The "
    "interval is Wilson's over the test examples. ECE and log loss are those of the probabilities that a system "
    "states; margins become probabilities at a temperature fitted on held-out labels. Ms a text: median of texts "
    "answered one at a time, by processor time on one thread, which is what a clock shows where nothing else works. "
    "Texts/CPU s: all test texts at once, by processor time on one thread. MB installed: the model and the Python "
    "packages that it needs to predict. CPU s to train: processor time over all threads, choices included; of a "
    "taught model its teacher's training too.",
)


@dataclass(frozen=True)
class Summary:
    """One system over the draws of a data set, or over data sets.

    Attributes:
        system: its name.
        group: what kind of system it is.
        accuracy: the mean.
        low: the lower end of its 95 % interval over the test examples, None for a mean over data sets.
        high: the upper end.
        means: the other figures of `Cell` by name, their means.
        cells: how many cells the means are of.
    """

    system: str
    group: Group
    accuracy: float
    low: float | None
    high: float | None
    means: Mapping[str, float]
    cells: int


TIMES = ("ms", "texts_per_second", "train_seconds")
"""Figures that are 0 where they were not taken."""
_MEANS = ("ece", "log_loss", "ms", "texts_per_second", "megabytes", "installed", "train_seconds")


def summaries(cells: Sequence[Cell], *, interval: bool = True) -> list[Summary]:
    """Average the cells of each system.

    Args:
        cells: of one number of labels.
        interval: whether all are of one data set, so that an interval makes sense.

    Returns:
        The systems, the most accurate first; cells of one data set count alike, and so do data sets.
    """
    found = []
    for name in dict.fromkeys(cell.system for cell in cells):
        own = [cell for cell in cells if cell.system == name]
        by_data = [[cell for cell in own if cell.data == data] for data in dict.fromkeys(c.data for c in own)]
        accuracy = float(np.mean([np.mean([cell.accuracy for cell in part]) for part in by_data]))
        tested = own[0].tested
        ends = accuracy_interval(round(accuracy * tested), tested) if interval else None
        means = {
            figure: float(np.mean([np.mean([getattr(cell, figure) for cell in part]) for part in by_data]))
            for figure in _MEANS
        }
        means |= {figure: 0.0 for figure in TIMES if not all(getattr(cell, figure) for cell in own)}
        low, high = (None, None) if ends is None else (ends.low, ends.high)
        found.append(Summary(name, own[0].group, accuracy, low, high, means, len(own)))
    return sorted(found, key=lambda each: -each.accuracy)


def markdown_page(cells: Sequence[Cell], skipped: Mapping[str, str], failed: Sequence[str] = ()) -> str:
    """Write the page of a scoreboard.

    Args:
        cells: what was measured.
        skipped: name of a system to why it has no cells.
        failed: what systems could not do.

    Returns:
        Markdown: the means over data sets where there are several, then each data set.
    """
    lines = ["# Scoreboard", ""]
    sizes = sorted({cell.labels for cell in cells}, key=lambda size: size or float("inf"))
    for size in sizes:
        own = [cell for cell in cells if cell.labels == size]
        names = list(dict.fromkeys(cell.data for cell in own))
        complete = [cell for cell in own if _everywhere(cell.system, own, names)]
        if len(names) > 1 and complete:
            lines += [
                f"## {_labels(size)}, mean of {', '.join(names)}",
                "",
                *_table(summaries(complete, interval=False)),
                "",
            ]
        for name in names:
            part = [cell for cell in own if cell.data == name]
            draws = len({cell.seed for cell in part})
            title = f"## {name}, {_labels(size)}"
            many = f"Mean of {draws} draws; {part[0].tested:,} test examples." if draws > 1 else (
                f"One draw of {part[0].rows:,} labels; {part[0].tested:,} test examples."
            )  # fmt: skip
            lines += [title, "", many, "", *_table(summaries(part)), ""]
    lines += [*NOTES, ""]
    lines += [f"- left out: {name}: {why}" for name, why in skipped.items()]
    lines += [f"- failed: {what}" for what in failed]
    return "\n".join(lines).rstrip() + "\n"


def _everywhere(system: str, cells: Sequence[Cell], names: Sequence[str]) -> bool:
    return {cell.data for cell in cells if cell.system == system} == set(names)


def _labels(size: int) -> str:
    return f"{size:,} labels" if size else "all labels"


def _table(rows: Sequence[Summary]) -> list[str]:
    cells = [
        [
            f"**{row.system}**" if row.group == "ours" else row.system,
            f"{100 * row.accuracy:.1f}",
            "" if row.low is None or row.high is None else f"{100 * row.low:.1f} to {100 * row.high:.1f}",
            f"{row.means['ece']:.3f}",
            f"{row.means['log_loss']:.3f}",
            _time(row.means["ms"]),
            f"{row.means['texts_per_second']:,.0f}" if row.means["texts_per_second"] else "",
            _short(row.means["megabytes"]),
            f"{row.means['installed']:,.0f}",
            _time(row.means["train_seconds"]),
        ]
        for row in rows
    ]
    return markdown_table(_HEAD, cells, right=range(1, len(_HEAD)))


def _time(value: float) -> str:
    """Return a time; nothing for one that was not taken."""
    return _short(value) if value else ""


def _short(value: float) -> str:
    return f"{value:.2f}" if value < 1 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"
