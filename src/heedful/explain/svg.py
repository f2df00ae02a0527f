"""The panels of the page: heat maps and bars for words as inline SVG, colored by the classes of `style.py`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from heedful.explain.page_frame import safe
from heedful.explain.style import LEVELS
from heedful.explain.summary import LABEL_CELLS, Grid, cell_number, shade
from heedful.text.characters import cells, shorten, visible

if TYPE_CHECKING:
    from heedful.explain.explanation_record import Array

_ANGLE = 60
_BAR = 92
_SMALLEST = 9.5


class SvgPanel(NamedTuple):
    """A drawing and its natural width in pixels."""

    svg: str
    width: float


@dataclass(frozen=True)
class Geometry:
    """Sizes in pixels. Panels with the same geometry have their rows at the same heights."""

    cell: float
    font: float
    label: float
    header: float

    @classmethod
    def of(cls, rows: Sequence[str], columns: Sequence[str], widest: float = math.inf) -> Geometry:
        """Choose sizes for this many words of this length; a map is no wider than ``widest`` if it stays readable."""
        n = max(len(rows), len(columns), 1)
        steps = ((6, 40.0), (9, 35.0), (12, 30.0), (16, 25.0), (22, 20.0), (30, 16.0), (42, 12.5))
        cell = next((size for most, size in steps if n <= most), 11.0)
        first = cls._with_cell(cell, rows, columns)
        room = (widest - first.label - _overhang(columns, first.font)) / n
        return cls._with_cell(min(cell, max(room, _SMALLEST)), rows, columns)

    @classmethod
    def _with_cell(cls, cell: float, rows: Sequence[str], columns: Sequence[str]) -> Geometry:
        font = min(13.0, max(8.5, cell * 0.8))
        header = _width(columns, font) * math.sin(math.radians(_ANGLE)) + font + 8
        return cls(cell, font, _width(rows, font) + 10, max(header, 34.0))


def level(weight: float) -> int:
    """Return the shade class of a weight, 0 for an exact zero."""
    return 0 if weight <= 0 else max(1, round(shade(weight) * (LEVELS - 1)))


def heat_map(
    grid: Grid,
    geometry: Geometry,
    tip: Callable[[int, int], str],
    *,
    empty: str = "sees no word",
    name: str = "",
) -> SvgPanel:
    """Draw weights in 0..1 as a grid; an exact zero leaves its cell empty.

    Args:
        grid: what to draw.
        geometry: sizes.
        tip: the text that shows when the pointer rests on cell (i, j); escaped here.
        empty: what to write into a row without weights.
        name: what a screen reader announces.

    Returns:
        The panel.
    """
    g, rows, columns, values = geometry, grid.rows, grid.columns, grid.values
    parts = [_frame(len(rows), len(columns), g), _row_labels(rows, g), _column_labels(columns, g)]
    for i in range(len(rows)):
        if len(columns) and not (values[i] > 0).any():
            parts.append(_empty_row(i, len(columns), empty, g))
        for j in range(len(columns)):
            if values[i, j] > 0:
                parts.append(_cell(i, j, float(values[i, j]), g, tip(i, j), grid.numbered))
            if grid.outlined is not None and grid.outlined[i, j]:
                parts.append(_outline(i, j, g))
    width = g.label + len(columns) * g.cell + _overhang(columns, g.font)
    return _svg(width, len(rows), g, "".join(parts), name)


def distance_map(words: Sequence[str], steps: Array, geometry: Geometry, name: str = "") -> SvgPanel:
    """Draw tree distances as numbers on gray, nearer words darker; a dot where there is no path."""
    g = geometry
    parts = [_frame(len(words), len(words), g), _row_labels(words, g), _column_labels(words, g)]
    for i, j in ((i, j) for i in range(len(words)) for j in range(len(words))):
        x, y = g.label + j * g.cell, g.header + i * g.cell
        distance = int(steps[i, j])
        shown = "·" if distance < 0 else str(distance)
        near = max(0, 5 - distance) if distance >= 0 else 0
        title = f"{words[i]} to {words[j]}: " + ("no path" if distance < 0 else f"{distance} steps")
        parts.append(
            f'<g><title>{safe(title)}</title><rect class="d{near}" x="{x + 0.5:g}" y="{y + 0.5:g}" '
            f'width="{g.cell - 1:g}" height="{g.cell - 1:g}"/><text class="num" x="{x + g.cell / 2:g}" '
            f'y="{y + g.cell * 0.66:g}" font-size="{min(11.0, g.cell * 0.55):.3g}">{shown}</text></g>'
        )
    width = g.label + len(words) * g.cell + _overhang(words, g.font)
    return _svg(width, len(words), g, "".join(parts), name)


def word_bars(
    words: Sequence[str],
    gates: Mapping[str, Array],
    weights: Array | None,
    geometry: Geometry,
    name: str = "",
) -> SvgPanel:
    """Draw for each word the share that each gate keeps, and its weight in the sentence vector.

    Args:
        words: the words down the side.
        gates: gate by name, each [words].
        weights: [words], drawn relative to the largest; or None.
        geometry: sizes.
        name: what a screen reader announces.

    Returns:
        The panel.
    """
    g = replace(geometry, header=28.0)
    parts, x = [_row_labels(words, g)], g.label
    for gate, values in gates.items():
        parts.append(_bar_title(x, f"gate {gate}", g))
        for i, value in enumerate(values.tolist()):
            tip = f"{words[i]}, gate {gate}: {value:.0%} own meaning, {1 - value:.0%} context"
            parts.append(_bar(x, i, value, f"{value:.2f}", ("own", "context"), g, tip))
        x += _BAR + 48
    if weights is not None:
        largest = max(float(weights.max(initial=0.0)), 1e-9)
        parts.append(_bar_title(x, "weight", g))
        for i, value in enumerate(weights.tolist()):
            tip = f"{words[i]}: {value:.1%} of the sentence vector"
            parts.append(_bar(x, i, value / largest, f"{100 * value:.1f} %", ("weight", "track"), g, tip))
        x += _BAR + 48
    return _svg(x, len(words), g, "".join(parts), name)


def scale_bar() -> str:
    """Draw the color scale of the heat maps: the shade grows with the square root of the weight."""
    width, steps = 300, LEVELS - 1
    boxes = "".join(
        f'<rect class="c{k}" x="{(k - 1) * width / steps:g}" y="0" width="{width / steps:g}" height="10"/>'
        for k in range(1, LEVELS)
    )
    ticks = "".join(
        f'<text x="{shade(value) * width:g}" y="23" text-anchor="{anchor}" font-size="11">{value:g}</text>'
        for value, anchor in ((0, "start"), (0.05, "middle"), (0.25, "middle"), (0.5, "middle"), (1, "end"))
    )
    return f'<svg class="scale" width="300" height="26" viewBox="0 0 300 26" aria-hidden="true">{boxes}{ticks}</svg>'


def _svg(width: float, rows: int, g: Geometry, content: str, name: str) -> SvgPanel:
    height = g.header + rows * g.cell + 2
    svg = (
        f'<svg role="img" aria-label="{safe(name)}" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}">{content}</svg>'
    )
    return SvgPanel(svg, width)


def _frame(rows: int, columns: int, g: Geometry) -> str:
    return (
        f'<rect class="frame" x="{g.label:g}" y="{g.header:g}" width="{columns * g.cell:g}" '
        f'height="{rows * g.cell:g}"/>'
    )


def _cell(i: int, j: int, value: float, g: Geometry, tip: str, numbers: bool) -> str:
    x, y, size = g.label + j * g.cell, g.header + i * g.cell, g.cell - 1
    k = level(value)
    rectangle = f'<rect class="c{k}" x="{x + 0.5:g}" y="{y + 0.5:g}" width="{size:g}" height="{size:g}"'
    title = f"<title>{safe(tip)}</title>"
    shown = cell_number(value) if numbers else ""
    if not shown:
        return f"{rectangle}>{title}</rect>"
    font, tone = min(11.5, g.cell * 0.38), "num hi" if k > LEVELS * 0.55 else "num"
    middle = f'x="{x + g.cell / 2:g}" y="{y + g.cell / 2 + font * 0.36:.4g}" font-size="{font:.3g}"'
    return f'<g>{title}{rectangle}/><text class="{tone}" {middle}>{shown}</text></g>'


def _outline(i: int, j: int, g: Geometry) -> str:
    x, y = g.label + j * g.cell + 1.5, g.header + i * g.cell + 1.5
    return f'<rect class="chosen" x="{x:g}" y="{y:g}" width="{g.cell - 3:g}" height="{g.cell - 3:g}"/>'


def _empty_row(i: int, columns: int, said: str, g: Geometry) -> str:
    if columns * g.cell < 90:
        return ""
    x, y = g.label + columns * g.cell / 2, g.header + (i + 0.5) * g.cell + g.font * 0.33
    return f'<text class="none" x="{x:g}" y="{y:g}" font-size="{min(11.0, g.font):.3g}">{safe(said)}</text>'


def _row_labels(words: Sequence[str], g: Geometry) -> str:
    return "".join(
        f'<text class="label" x="{g.label - 7:g}" y="{g.header + (i + 0.5) * g.cell + g.font * 0.34:.5g}" '
        f'font-size="{g.font:.3g}">{_label(word)}</text>'
        for i, word in enumerate(words)
    )


def _column_labels(words: Sequence[str], g: Geometry) -> str:
    def place(j: int) -> str:
        return f"translate({g.label + (j + 0.5) * g.cell + g.font * 0.2:.5g} {g.header - 5:.5g}) rotate(-{_ANGLE})"

    return "".join(
        f'<text class="top" transform="{place(j)}" font-size="{g.font:.3g}">{_label(word)}</text>'
        for j, word in enumerate(words)
    )


def _bar_title(x: float, title: str, g: Geometry) -> str:
    shown = f'<text class="head" x="{x:g}" y="{g.header - 8:g}">{safe(shorten(title, 20))}</text>'
    return f"<g><title>{safe(title)}</title>{shown}</g>"


def _bar(x: float, i: int, share: float, shown: str, classes: tuple[str, str], g: Geometry, tip: str) -> str:
    full, rest = classes
    thick = min(g.cell - 3, 15.0)
    y, width = g.header + (i + 0.5) * g.cell - thick / 2, _BAR * min(max(share, 0.0), 1.0)
    return (
        f'<g><title>{safe(tip)}</title><rect class="{rest}" x="{x:g}" y="{y:g}" width="{_BAR}" height="{thick:g}"/>'
        f'<rect class="{full}" x="{x:g}" y="{y:g}" width="{width:.4g}" height="{thick:g}"/>'
        f'<text class="value" x="{x + _BAR + 5:g}" y="{y + thick / 2 + g.font * 0.32:.5g}" '
        f'font-size="{min(11.5, g.font):.3g}">{shown}</text></g>'
    )


def _label(word: str) -> str:
    shown = shorten(visible(word), LABEL_CELLS)
    full = "" if shown == word else f"<title>{safe(word)}</title>"
    return full + safe(shown)


def _overhang(columns: Sequence[str], font: float) -> float:
    """Return how far the slanted label of the last column stands out to the right."""
    return max(_width(columns[-1:], font) * math.cos(math.radians(_ANGLE)), 4.0)


def _width(words: Sequence[str], font: float) -> float:
    """Estimate the width of the widest label: a terminal cell is a little over half the font size."""
    return max((min(cells(visible(word)), LABEL_CELLS) for word in words), default=0) * font * 0.58
