"""MTSA's Figure 1 with our lines: time and memory of a training step against the length of a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from heedful.errors import UsageError
from heedful.figure_style import INK, LINE, SOFT, write_figure
from heedful_lab.bench.bench_report import BenchReport
from heedful_lab.bench.timing import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WHAT = "Drawing the benchmark's figure"
_FEATURE_WISE, _TENSORIZED, _HEADS = "#0072b2", "#d55e00", "#009e73"
# Color by kind of attention; whole lines are ours, dashed ones the peers'.
_STYLES = {
    "plain torch DiSA": ("#56b4e9", "s"),
    "DiSA chunked": ("#003f63", "v"),
    "DiSA fused": (_FEATURE_WISE, "o"),
    "DiSA linear": ("#4a90d9", "^"),
    "plain torch MTSA": ("#e69f00", "s"),
    "MTSA matrix": ("#8a3d00", "v"),
    "MTSA fused": (_TENSORIZED, "o"),
    "bare SDPA": (_HEADS, "D"),
    "nn.MultiheadAttention": (_HEADS, "D"),
    "Bi-LSTM": ("#cc79a7", "P"),
    "three convolutions": ("#777777", "X"),
    "DiSA layer": (_FEATURE_WISE, "o"),
    "MTSA layer": (_TENSORIZED, "o"),
    "MTSA encoder": ("#8a3d00", "v"),
}
_ROWS: tuple[tuple[Literal["operation", "layer"], str], ...] = (
    ("operation", "operations"),
    ("layer", "layers"),
)
_COLUMNS = (("milliseconds", "time", "ms a sentence"), ("megabytes", "memory", "MB a sentence"))


def draw(report: BenchReport, path: Path) -> Path:
    """Draw time and memory of operations and layers over the length of a sentence, on logarithmic axes.

    Args:
        report: measurements at two lengths or more.
        path: a .png, .svg or .pdf file.

    Returns:
        The file.

    Raises:
        UsageError: if there is only one length, or for another suffix.
        MissingExtraError: if matplotlib is not installed.
        OutputError: if the file cannot be written.
    """
    if len({row.length for row in report.rows}) < 2:
        raise UsageError("a line over the length of a sentence needs two lengths or more: repeat --length")
    return write_figure(path, lambda: _paint(report), WHAT, dpi=130)


def _paint(report: BenchReport) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.5, 8.2), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True)
    lengths = sorted({row.length for row in report.rows})  # shared by all panels
    for line, (group, plural) in zip(panels, _ROWS, strict=True):
        rows = [row for row in report.rows if row.group == group]
        for panel, (field, noun, unit) in zip(line, _COLUMNS, strict=True):
            _fill(panel, rows, field, lengths)
            panel.set_title(
                f"{plural.capitalize()}: {noun} of a training step", fontsize=10, color=INK, loc="left"
            )
            panel.set_ylabel(unit, color=SOFT)
        line[1].legend(
            fontsize=8, loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False, labelcolor=INK
        )
    for panel in panels[1]:
        panel.set_xlabel("tokens a sentence", color=SOFT)
    return figure


def _fill(panel: Axes, rows: Sequence[Row], field: str, lengths: Sequence[int]) -> None:
    from matplotlib.ticker import FuncFormatter, NullLocator

    for name in dict.fromkeys(row.name for row in rows):
        found = sorted((row for row in rows if row.name == name), key=lambda row: row.length)
        color, marker = _STYLES.get(name, (INK, "."))
        panel.plot(
            [row.length for row in found],
            [getattr(row, field) / row.batch for row in found],
            label=name,
            color=color,
            marker=marker,
            markersize=4.5,
            linewidth=2.2 if found[0].ours else 1.3,
            linestyle="-" if found[0].ours else (0, (4, 2)),
        )
    panel.set_xscale("log", base=2)
    panel.set_yscale("log")
    panel.set_xticks(lengths)
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_locator(NullLocator())
    panel.grid(True, which="major", color=LINE, linewidth=0.6)
    panel.set_axisbelow(True)
    panel.tick_params(colors=SOFT, labelsize=9)
    panel.spines[["top", "right"]].set_visible(False)
    panel.spines[["left", "bottom"]].set_color(LINE)
