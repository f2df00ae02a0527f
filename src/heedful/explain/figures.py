"""Draw an explanation as a figure for a paper (PNG, SVG or PDF) with matplotlib."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from heedful.explain import panels
from heedful.explain.attention_scene import keys_of
from heedful.explain.figure_panels import GAP, WIDEST, FigurePanel, Group, alignments, side
from heedful.explain.html import headline
from heedful.explain.signed_words import number
from heedful.explain.style import drawable
from heedful.figure_style import write_figure
from heedful.tables import percent
from heedful.text.characters import shorten, visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from heedful.explain.explanation_record import ExplanationRecord

_MARGIN, _TITLE = 0.3, 0.26
_HEAD = 0.55
_CHARACTERS_AN_INCH = 12.5


def draw(
    explanation: ExplanationRecord, path: Path | str, dpi: int = 200, *, attention: bool | None = None
) -> Path:
    """Draw what each word contributes; or what Figures 6 and 7 of DiSAN show, and the source2token weights.

    Each side gives a row: a heat map for each attention map, then a bar for each word and gate, then the weights, then
    the contributions; alignments between the sides come last. Of a text of more than 60 words the 40 most important
    are drawn.

    Args:
        explanation: what to draw.
        path: the file, a .png, .svg or .pdf.
        dpi: dots per inch of a PNG.
        attention: whether to draw maps, gates and weights; by default where there are no contributions.

    Returns:
        The file; see `heedful.figure_style.write_figure`.
    """
    shown = explanation.attribution is None if attention is None else attention
    return write_figure(path, lambda: _figure(explanation, shown), "Drawing an explanation", dpi=dpi)


def _figure(explanation: ExplanationRecord, attention: bool) -> Figure:
    from matplotlib.figure import Figure

    said = explanation.attribution
    groups = [
        side(view, attention=attention)
        if said is None
        else side(view, values, said.reach, attention=attention)
        for view, values in zip(
            explanation.sides,
            said.values if said is not None else (None,) * len(explanation.sides),
            strict=True,
        )
    ]
    if explanation.alignments and attention:
        groups.append(alignments(explanation))
    lines = [_lines(group) for group in groups]
    least = 8.2 if attention else 6.4
    width = max([least, *(_line_width(line) for group in lines for line in group)]) + 2 * _MARGIN
    height = _MARGIN + _HEAD
    for group, wrapped in zip(groups, lines, strict=True):
        height += 0.5 + sum(_line_height(group, line) + GAP for line in wrapped)
    figure = Figure(figsize=(width, height + 0.55 + 0.2 * (said is not None)), facecolor="white")
    _write(figure, _MARGIN, _MARGIN - 0.05, _prediction(explanation), size=13, weight="bold")
    _write(figure, _MARGIN, _MARGIN + 0.2, explanation.method, size=9.5, color=panels.SOFT)
    top = _MARGIN + _HEAD
    for group, wrapped in zip(groups, lines, strict=True):
        top = _place(figure, group, wrapped, top)
    _legend(figure, explanation, top, attention)
    return figure


def _lines(group: Group) -> list[list[FigurePanel]]:
    """Break panels into lines no wider than the page.

    Maps are dealt evenly, so that six heads make two lines of three, which nothing else joins; a panel without labels
    stays beside the one before it.
    """
    lines = _dealt(group.maps)
    if len(lines) > 1 and group.others:
        lines.append([])
    for panel in group.others:
        if lines and (panel.left == 0.0 or _line_width([*lines[-1], panel]) <= WIDEST):
            lines[-1].append(panel)
        else:
            lines.append([panel])
    return lines


def _dealt(maps: Sequence[FigurePanel]) -> list[list[FigurePanel]]:
    """Deal panels to as few lines as hold them, the same number to each."""
    for count in range(1, len(maps) + 1):
        each = math.ceil(len(maps) / count)
        lines = [list(maps[start : start + each]) for start in range(0, len(maps), each)]
        if each == 1 or all(_line_width(line) <= WIDEST for line in lines):
            return lines
    return []


def _line_width(line: Sequence[FigurePanel]) -> float:
    return sum(panel.left + panel.width + panel.right for panel in line) + GAP * (len(line) - 1)


def _line_height(group: Group, line: Sequence[FigurePanel]) -> float:
    return _TITLE + max(panel.header for panel in line) + group.height


def _place(figure: Figure, group: Group, lines: list[list[FigurePanel]], top: float) -> float:
    _write(figure, _MARGIN, top, group.heading, size=11, weight="bold")
    width, height = figure.get_size_inches()
    note = shorten(group.note, int(_CHARACTERS_AN_INCH * (width - 2 * _MARGIN)))
    _write(figure, _MARGIN, top + 0.21, note, size=9.5, color=panels.SOFT)
    top += 0.5
    for line in lines:
        left = _MARGIN
        bottom = top + _line_height(group, line)
        for panel in line:
            x = left + panel.left
            place = (left, top) if panel.header else (x, bottom - group.height - 0.2)
            _write(figure, *place, panel.title, size=9, weight="bold")
            box = (x / width, 1 - bottom / height, panel.width / width, group.height / height)
            panel.paint(figure.add_axes(box))
            left = x + panel.width + panel.right + GAP
        top = bottom + GAP
    return top


def _legend(figure: Figure, explanation: ExplanationRecord, top: float, attention: bool) -> None:
    from matplotlib.patches import Rectangle

    width, height = figure.get_size_inches()
    if attention and (explanation.alignments or any(view.maps for view in explanation.sides)):
        reading = "attention weight" + ("" if explanation.alignments else ", row looks at column")
        _write(figure, _MARGIN, top, reading, size=8, color=panels.SOFT)
        box = ((_MARGIN + 0.06 * len(reading)) / width, 1 - (top + 0.12) / height, 1.6 / width, 0.1 / height)
        panels.paint_scale(figure.add_axes(box))
    said = explanation.attribution
    if said is not None:
        up, down = said.signs
        legend = (
            f"contribution to {visible(said.of)}: blue {up}, orange {down}; base {number(said.start)}, sum "
        )
        legend += number(said.whole)
        _write(figure, _MARGIN, top + 0.3, legend, size=8, color=panels.SOFT)
    drawn = {
        "own meaning": (panels.OWN, True),
        "context": (panels.CONTEXT, True),
        "opened by the mask selector": (panels.CHOSEN, False),
    }
    keys = [(name, *drawn[name]) for name in (keys_of(explanation.sides) if attention else ())]
    for k, (name, color, fill) in enumerate(keys):
        left = _MARGIN + 4.3 + 1.05 * k
        place = (left / width, 1 - (top + 0.11) / height)
        figure.add_artist(
            Rectangle(place, 0.16 / width, 0.09 / height, color=color, fill=fill, linewidth=1 - fill)
        )
        _write(figure, left + 0.22, top, name, size=8, color=panels.SOFT)


def _write(
    figure: Figure,
    left: float,
    top: float,
    text: str,
    *,
    size: float,
    weight: str = "normal",
    color: str = panels.INK,
) -> None:
    width, height = figure.get_size_inches()
    figure.text(
        left / width,
        1 - top / height,
        drawable(text),
        va="top",
        ha="left",
        size=size,
        weight=weight,
        color=color,
    )


def _prediction(explanation: ExplanationRecord) -> str:
    if explanation.score is not None:
        return f"{shorten(visible(explanation.quantity or 'score'), 40)} {explanation.score:.2f}"
    what, how = headline(explanation)
    apart = explanation.chosen is not None or explanation.predicted != explanation.nearest
    return f"{what}, {how}" if apart else f"{what} {percent(explanation.certainty)}"
