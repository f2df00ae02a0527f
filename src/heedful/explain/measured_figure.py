"""The picture of measured methods: what deleting and keeping the most important words costs, curve by curve."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from heedful.explain.measured_methods import CONTROLS, FRACTIONS, MeasuredMethods
from heedful.figure_style import INK, MAIN, SECOND, SOFT, plain_axes, write_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WHAT = "Drawing how faithful explanations are"
_STYLES = {
    "contributions": ("#b04a2f", "P"),
    "attention": (SECOND, "o"),
    "gradient": ("#8fbcdc", "^"),
    "integrated": ("#4f94c9", "v"),
    "occlusion": (MAIN, "s"),
    "shapley": ("#06234f", "D"),
    CONTROLS[0]: (SOFT, "x"),
    CONTROLS[1]: ("#a8b4c0", "+"),
}
_TITLES = {
    "comprehensiveness": ("Without the most important words", "share of the words deleted, %"),
    "sufficiency": ("With the most important words alone", "share of the words kept, %"),
}


def draw_measured(measured: MeasuredMethods, path: Path | str, dpi: int = 200) -> Path:
    """Draw the fall of the probability by the share of the words that are deleted or kept.

    Args:
        measured: the measures.
        path: the file, a .png, .svg or .pdf.
        dpi: dots per inch of a PNG.

    Returns:
        The file; see `heedful.figure_style.write_figure`.
    """
    return write_figure(path, lambda: _figure(measured), WHAT, dpi)


def _figure(measured: MeasuredMethods) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 4.6), facecolor="white", layout="constrained")
    for axes, measure in zip(figure.subplots(1, 2), _TITLES, strict=True):
        _paint(axes, measured, measure)
        plain_axes(axes)
    axes.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    said = (
        f"{measured.on}, {measured.count:,} texts, seed {measured.seed}; bars are 95 % intervals over texts"
    )
    figure.suptitle(said, size=8.5, color=SOFT, x=0.01, ha="left")
    return figure


def _paint(axes: Axes, measured: MeasuredMethods, measure: str) -> None:
    controls = [name for name in CONTROLS if name in measured.names]
    rows = [*measured.methods, *controls]
    for number, name in enumerate(rows):
        color, marker = _STYLES[name]
        means = measured.curve(name, measure)
        values = [mean.value for mean in means]
        errors = [[m.value - m.low for m in means], [m.high - m.value for m in means]]
        # Each method is moved a little sideways, so that the bars do not cover each other.
        places = [k + 0.06 * (number - len(rows) / 2) for k in range(len(FRACTIONS))]
        axes.errorbar(
            places,
            values,
            yerr=errors,
            color=color,
            marker=marker,
            markersize=4.5,
            linewidth=1.3,
            elinewidth=0.8,
            linestyle="--" if name in CONTROLS else "-",
            label=name,
        )
    title, below = _TITLES[measure]
    axes.set_xticks(range(len(FRACTIONS)), [f"{100 * share:g}" for share in FRACTIONS])
    axes.set(xlabel=below, ylabel="fall of the probability")
    better = "more is better" if measure == "comprehensiveness" else "less is better"
    axes.set_title(f"{title} ({better})", size=9.5, color=INK, loc="left")
