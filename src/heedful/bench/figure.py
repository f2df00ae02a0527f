"""MTSA's Figure 1 with our lines: time and memory of a training step against the length of a sentence."""

from __future__ import annotations

from pathlib import Path

from heedful.bench.report import BenchReport, Row
from heedful.errors import MissingExtraError, OutputError

_COLOURS = {
    "plain torch DiSA": "#999999",
    "plain torch MTSA": "#c0a060",
    "DiSA layer": "#0072b2",
    "MTSA layer": "#d55e00",
    "MTSA encoder": "#a04000",
    "DiSA fused": "#0072b2",
    "DiSA linear": "#56b4e9",
    "DiSA chunked": "#8888cc",
    "MTSA matrix": "#e8a070",
    "MTSA fused": "#d55e00",
    "bare SDPA": "#009e73",
    "nn.MultiheadAttention": "#009e73",
    "Bi-LSTM": "#cc79a7",
    "three convolutions": "#444444",
}


def draw(report: BenchReport, folder: Path) -> list[Path]:
    """Draw ``figure1.svg`` and ``figure1.png``.

    Args:
        report: measurements at two lengths or more.
        folder: where to; it exists.

    Returns:
        The files written; none if there is only one length.

    Raises:
        MissingExtraError: if matplotlib is not installed.
        OutputError: if a file cannot be written.
    """
    if len({row.length for row in report.rows}) < 2:
        return []
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("matplotlib", "plot", "drawing the benchmark's figure") from error
    figure = Figure(figsize=(11, 8), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(2, 2, sharex=True)
    for line, (group, title) in enumerate((("operation", "operations"), ("layer", "layers"))):
        rows = [row for row in report.rows if row.group == group]
        _panel(panels[line][0], rows, "milliseconds", f"Time of a training step, {title}", "ms a sentence")
        _panel(panels[line][1], rows, "megabytes", f"Memory of a training step, {title}", "MB a sentence")
        panels[line][1].legend(fontsize=8, loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False)
    for panel in panels[1]:
        panel.set_xlabel("tokens a sentence")
    paths = [folder / "figure1.svg", folder / "figure1.png"]
    for path in paths:
        try:
            figure.savefig(path, dpi=130, metadata={"Date": None} if path.suffix == ".svg" else None)
        except OSError as error:
            raise OutputError(f"cannot write {path}: {error.strerror}") from error
    return paths


def _panel(panel: object, rows: list[Row], field: str, title: str, unit: str) -> None:
    from matplotlib.axes import Axes
    from matplotlib.ticker import NullLocator, ScalarFormatter

    assert isinstance(panel, Axes)
    for name in dict.fromkeys(row.name for row in rows):
        points = [(r.length, getattr(r, field) / r.batch, r.ours) for r in rows if r.name == name]
        ours = points[0][2]
        panel.plot(
            [x for x, _, _ in points],
            [y for _, y, _ in points],
            label=name,
            color=_COLOURS.get(name, "#000000"),
            linewidth=2.4 if ours else 1.3,
            linestyle="-" if ours else "--",
            marker="o" if ours else ".",
            markersize=4,
        )
    panel.set_xscale("log", base=2)
    panel.set_yscale("log")
    panel.set_title(title, fontsize=10)
    panel.set_ylabel(unit)
    panel.set_xticks(sorted({row.length for row in rows}))
    panel.xaxis.set_major_formatter(ScalarFormatter())
    panel.xaxis.set_minor_locator(NullLocator())
    panel.grid(True, which="major", alpha=0.3)
