"""The pictures of a report: confidence against accuracy, and the first metric by sentence length (DiSAN, Figure 5)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from heedful.errors import UsageError
from heedful.evaluation.calibration import BINS, Calibration, Reliability
from heedful.evaluation.rejection import RejectFigures
from heedful.evaluation.report_text import Report
from heedful.evaluation.significance import accuracy_interval
from heedful.figure_style import INK, LINE, MAIN, SECOND, SOFT, bars_behind, plain_axes, write_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WHAT = "Drawing an evaluation"
_SIDE = 4.6


def draw_report(
    report: Report, path: Path | str, dpi: int = 200, rejection: RejectFigures | None = None
) -> Path:
    """Draw what a report knows beyond its tables: the reliability diagram and the first metric by sentence length.

    Args:
        report: what was measured.
        path: the file, a .png, .svg or .pdf.
        dpi: dots per inch of a PNG.
        rejection: of a model that may answer that no class fits, whose risk-coverage curve is drawn too.

    Returns:
        The file; see `heedful.figure_style.write_figure`.

    Raises:
        UsageError: if the report has neither confidences nor lengths; see also `heedful.figure_style.write_figure`.
    """
    panels: list[Callable[[Axes], None]] = []
    if report.calibration is not None:
        panels.append(lambda axes: _paint_reliability(axes, report))
    if report.by_length:
        panels.append(lambda axes: _paint_lengths(axes, report))
    if rejection is not None and rejection.curve:
        panels.append(lambda axes: _paint_risk(axes, rejection))
    if not panels:
        raise UsageError("this report has neither confidences nor sentence lengths to draw")
    return write_figure(path, lambda: _figure(panels), WHAT, dpi)


def _figure(panels: list[Callable[[Axes], None]]) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_SIDE * len(panels), _SIDE), facecolor="white", layout="constrained")
    for axes, paint in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        paint(axes)
        plain_axes(axes)
    return figure


def _paint_risk(axes: Axes, rejection: RejectFigures) -> None:
    """Paint the share of wrong answers over the share of texts that are answered, the least unlike first."""
    shares, risks = zip(*rejection.curve, strict=True)
    axes.plot(shares, risks, color=MAIN, linewidth=1.6)
    axes.set_xlim(0, 1)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("share of texts that are answered")
    axes.set_ylabel("share of these that is wrong")
    axes.set_title(
        "risk and coverage" + ("" if rejection.auroc is None else f", AUROC {rejection.auroc:.3f}"),
        color=INK,
        fontsize=10,
    )


def _paint_reliability(axes: Axes, report: Report) -> None:
    """Paint accuracy over mean confidence, a dot a bin, its area by the bin's answers; the diagonal is perfect."""
    assert report.calibration is not None  # the caller asked
    found = report.calibration
    axes.plot([0, 1], [0, 1], color=LINE, linewidth=1, zorder=1)
    for name, part, color, marker in _series(found):
        sizes = [12 + 220 * each.count / report.count for each in part.bins]
        confidence, accuracy = zip(*((each.confidence, each.accuracy) for each in part.bins), strict=True)
        axes.plot(confidence, accuracy, color=color, linewidth=1.2, zorder=2)
        axes.scatter(
            confidence,
            accuracy,
            s=sizes,
            color=color,
            marker=marker,
            alpha=0.75,
            linewidth=0,
            zorder=3,
            label=f"{name}, ECE {part.ece:.3f}",
        )
    axes.set(xlim=(0, 1.02), ylim=(0, 1.02), xlabel="confidence", ylabel="accuracy", aspect="equal")
    axes.set_title(f"Reliability, {BINS} bins, area by number of answers", size=9.5, color=INK, loc="left")
    legend = axes.legend(loc="upper left", frameon=False, fontsize=8.5, labelcolor=INK)
    for handle in legend.legend_handles:
        handle.set_sizes([40])  # type: ignore[union-attr]


def _series(found: Calibration) -> list[tuple[str, Reliability, str, str]]:
    if found.temperature == 1.0:
        return [("model", found.after, MAIN, "o")]
    return [
        ("temperature 1", found.before, SECOND, "s"),
        (f"temperature {found.temperature:.2f}", found.after, MAIN, "o"),
    ]


def _paint_lengths(axes: Axes, report: Report) -> None:
    """Paint the first metric of each bin of lengths, accuracy with Wilson's 95 % interval, over bars of bin sizes."""
    name = next(iter(report.metrics))
    places = range(len(report.by_length))
    values = [row[name] for row in report.by_length.values()]
    counts = [int(row["count"]) for row in report.by_length.values()]
    bars_behind(axes, counts)
    for place, value, count in zip(places, values, counts, strict=True):
        if name == "accuracy":
            interval = accuracy_interval(round(value * count), count)
            axes.plot([place, place], [interval.low, interval.high], color=MAIN, linewidth=1)
    axes.plot(places, values, color=MAIN, marker="o", markersize=5, linewidth=1.6)
    axes.axhline(report.metrics[name], color=SOFT, linewidth=0.8, linestyle="--")
    axes.set_xticks(list(places), list(report.by_length), rotation=45, ha="right")
    if name == "accuracy":
        axes.set_ylim(0, 1.02)
    axes.margins(y=0.25)
    axes.set(xlabel="tokens", ylabel=name)
    axes.set_title(f"{name} by length; bars: examples; dashed: all", size=9.5, color=INK, loc="left")
