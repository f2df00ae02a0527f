"""Draw one panel of a figure into matplotlib axes: a heat map, a gate, the weights or the color scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from heedful.explain.signed_words import number, signed_colors
from heedful.explain.style import drawable, light_palette
from heedful.explain.summary import Grid, cell_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import LinearSegmentedColormap, Normalize
    from matplotlib.patches import Rectangle

    from heedful.explain.explanation_record import Array

INK, SOFT, LINE, EMPTY = "#16202b", "#5a6775", "#ccd5de", "#f7f9fb"
OWN, CONTEXT, WEIGHT, CHOSEN = "#1f68ad", "#f6c9a4", "#5d7387", "#c2570c"


def shades() -> tuple[LinearSegmentedColormap, Normalize]:
    """Return the color map and its scale: the shade grows with the square root of a weight in 0..1."""
    from matplotlib.colors import LinearSegmentedColormap, PowerNorm

    return LinearSegmentedColormap.from_list("heedful", light_palette()), PowerNorm(0.5, 0.0, 1.0)


def paint_heat_map(axes: Axes, grid: Grid, font: float, *, even: bool = False) -> None:
    """Paint weights; an exact zero leaves its cell empty.

    Args:
        axes: where to paint.
        grid: what to paint.
        font: size of the labels in points.
        even: whether the shade grows evenly with the value, and not with its square root.
    """
    colors, scale = shades()
    if even:
        from matplotlib.colors import Normalize

        scale = Normalize(0.0, 1.0)
    _grid(axes, grid.rows, grid.columns, font)
    shown = np.ma.masked_less_equal(grid.values, 0.0)
    axes.pcolormesh(shown, cmap=colors, norm=scale, edgecolors="white", linewidth=0.6)
    if grid.numbered:
        for (i, j), value in np.ndenumerate(grid.values):
            tone = "white" if value > (0.55 if even else 0.3) else INK
            number = cell_number(value)
            axes.text(j + 0.5, i + 0.52, number, ha="center", va="center", size=font * 0.72, color=tone)
    if grid.outlined is not None:
        for i, j in np.argwhere(grid.outlined):
            axes.add_patch(_outline(int(i), int(j)))


def paint_distances(axes: Axes, words: Sequence[str], steps: Array, font: float) -> None:
    """Paint tree distances as numbers, nearer words darker; a dot where there is no path."""
    _grid(axes, words, words, font)
    near = np.where(steps < 0, 0, np.clip(5 - steps, 0, 5)) * 0.09
    axes.pcolormesh(near, cmap="Greys", vmin=0, vmax=1, edgecolors="white", linewidth=0.6)
    for (i, j), step in np.ndenumerate(steps):
        shown = "·" if step < 0 else str(int(step))
        axes.text(j + 0.5, i + 0.52, shown, ha="center", va="center", size=font * 0.8, color=INK)


def paint_gate(axes: Axes, words: Sequence[str], gate: Array, font: float, labels: bool) -> None:
    """Paint for each word the share that a gate keeps (blue) and the share it takes from the context (orange)."""
    places = np.arange(len(words)) + 0.5
    axes.barh(places, 1 - gate, left=gate, height=0.72, color=CONTEXT, linewidth=0)
    axes.barh(places, gate, height=0.72, color=OWN, linewidth=0)
    _bars(axes, words, [f"{value:.2f}" for value in gate], 1.0, font, labels)


def paint_weights(axes: Axes, words: Sequence[str], weights: Array, font: float, labels: bool) -> None:
    """Paint the weight of each word in the sentence vector; the longest bar is the largest weight."""
    largest = max(float(weights.max(initial=0.0)), 1e-9)
    axes.barh(np.arange(len(words)) + 0.5, weights, height=0.72, color=WEIGHT, linewidth=0)
    _bars(axes, words, [f"{100 * value:.1f} %" for value in weights], largest, font, labels)


def paint_contributions(axes: Axes, words: Sequence[str], values: Array, reach: float, font: float) -> None:
    """Paint what each word contributes: a bar to the right that raises the number, to the left that lowers it.

    Args:
        axes: where to paint.
        words: the words, each on its color.
        values: their contributions, [n].
        reach: the size of a contribution with the darkest color; a longer bar makes the scale longer.
        font: size of the labels in points.
    """
    longest = max(reach, float(np.abs(values).max(initial=0.0)))
    colors = [OWN if value >= 0 else CHOSEN for value in values]
    axes.barh(np.arange(len(words)) + 0.5, values, height=0.72, color=colors, linewidth=0)
    axes.axvline(0, color=LINE, linewidth=0.8)
    _bars(axes, words, [number(float(value)) for value in values], longest, font, True)
    axes.set_xlim(-longest, longest)
    for label, (behind, ink) in zip(axes.get_yticklabels(), signed_colors(values, reach), strict=True):
        label.set_bbox({"facecolor": behind, "edgecolor": "none", "pad": 1.2})
        label.set_color(ink)


def paint_scale(axes: Axes) -> None:
    """Paint the color scale of the heat maps."""
    colors, scale = shades()
    edges = np.linspace(0.0, 1.0, 129) ** 2
    axes.pcolormesh(
        np.linspace(0, 1, 129), [0, 1], edges[None, 1:], cmap=colors, norm=scale, rasterized=False
    )
    ticks = np.array([0, 0.05, 0.25, 0.5, 1.0])
    axes.set_xticks(np.sqrt(ticks), [f"{tick:g}" for tick in ticks], size=7.5, color=SOFT)
    axes.set_yticks([])
    axes.tick_params(length=2, color=LINE, pad=2)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _grid(axes: Axes, rows: Sequence[str], columns: Sequence[str], font: float) -> None:
    axes.set_facecolor(EMPTY)
    axes.set_xlim(0, len(columns))
    axes.set_ylim(len(rows), 0)
    axes.xaxis.tick_top()
    places = np.arange(len(columns)) + 0.5
    axes.set_xticks(places, [drawable(word) for word in columns], size=font, color=INK)
    for label in axes.get_xticklabels():
        label.set(rotation=60, ha="left", va="center", rotation_mode="anchor")
    _row_labels(axes, rows, font)
    for spine in axes.spines.values():
        spine.set(color=LINE, linewidth=0.6)


def _row_labels(axes: Axes, words: Sequence[str], font: float) -> None:
    axes.set_yticks(np.arange(len(words)) + 0.5, [drawable(word) for word in words], size=font, color=INK)
    axes.tick_params(length=0, pad=3)


def _bars(
    axes: Axes, words: Sequence[str], numbers: Sequence[str], largest: float, font: float, labels: bool
) -> None:
    axes.set_xlim(0, largest)
    axes.set_ylim(len(words), 0)
    axes.set_xticks([])
    _row_labels(axes, words if labels else [""] * len(words), font)
    for i, shown in enumerate(numbers):
        axes.text(largest * 1.05, i + 0.52, shown, ha="left", va="center", size=font * 0.82, color=SOFT)
    for side, spine in axes.spines.items():
        spine.set(visible=side == "left", color=LINE, linewidth=0.6)


def _outline(i: int, j: int) -> Rectangle:
    from matplotlib.patches import Rectangle

    return Rectangle((j + 0.06, i + 0.06), 0.88, 0.88, fill=False, edgecolor=CHOSEN, linewidth=1.0)
