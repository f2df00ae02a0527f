"""The panels of a figure. Panels with the same rows are grouped by sentence."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from heedful.explain import panels
from heedful.explain.attention_scene import Square, alignments_of, maps_of, squares_of
from heedful.explain.summary import LABEL_CELLS, focus, maps_beside, maps_to_draw
from heedful.text.characters import cells, shorten, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from heedful.explain.explanation_record import Array, ExplanationRecord, SentenceView

Paint = Callable[..., None]
"""Paints a panel: from the axes, the words and what is painted of each."""
BAR = 0.85
WIDEST, GAP = 14.4, 0.3
"""Of a line of panels, and between two of them, in inches."""
_SMALLEST, _POINTS = 0.1, 72 * 0.74
"""A cell, in inches; points of a label's letters for an inch of a cell."""
_NUMBER = 0.5
_TITLE_CELL = 0.078
"""Width of a character of a panel's title, in inches."""


@dataclass(frozen=True)
class FigurePanel:
    """One pair of axes with its title, and in inches its width and the space for labels on its left and right.

    ``header`` is the space for the labels along its top; it is 0 for bars, which have none.
    """

    title: str
    left: float
    width: float
    right: float
    header: float
    paint: Callable[[Axes], None]


@dataclass(frozen=True)
class Group:
    """Panels with the same rows under one heading. The ``maps`` are spread evenly over lines, and ``others`` follow."""

    heading: str
    note: str
    height: float
    maps: tuple[FigurePanel, ...] = ()
    others: tuple[FigurePanel, ...] = ()


@dataclass(frozen=True)
class _Size:
    """Sizes for this many words: cell and margin for row labels in inches, labels in points."""

    cell: float
    font: float
    left: float

    @classmethod
    def of(cls, rows: Sequence[str], columns: Sequence[str], beside: int = 1) -> _Size:
        """Choose sizes at which ``beside`` maps stand in a line, if their labels stay readable at them."""
        n = max(len(rows), len(columns), 1)
        steps = ((8, 0.36), (14, 0.30), (22, 0.22), (32, 0.17))
        cell = next((size for most, size in steps if n <= most), 0.135)
        labels = _inches(rows, min(9.5, cell * _POINTS)) + 0.08
        cell = min(cell, max((WIDEST - GAP * (beside - 1)) / beside - labels - 0.1, _SMALLEST * n) / n)
        font = min(9.5, cell * _POINTS)
        return cls(cell, font, _inches(rows, font) + 0.08)


def side(
    whole: SentenceView, contributions: Array | None = None, reach: float = 0.0, *, attention: bool = True
) -> Group:
    """Collect the panels of one sentence: maps, tree, choices of a mask selector, fusion, gates, weights, and more.

    Args:
        whole: the sentence; of a long one the most important words are drawn.
        contributions: of each of its words, [n]; None for none.
        reach: the size of a contribution that has the darkest color.
        attention: whether maps, gates and weights are drawn.

    Returns:
        The panels.
    """
    view, kept = focus(whole)
    if not view.words:
        return Group(view.name, visible(view.text), 0.0)
    words = _labels(view.words)
    names, left_out = maps_to_draw(view)
    size = _Size.of(words, words, maps_beside(len(names)))
    notes = (
        [f"the {len(kept)} most important of {len(whole.words)} words"]
        if len(kept) < len(whole.words)
        else []
    )
    notes += [left_out] if left_out else []
    return Group(
        "  ".join([view.name, *notes]),
        visible(view.text),
        size.cell * len(words),
        tuple(_square(square, size) for square in maps_of(view, names if attention else ())),
        (
            *(_square(square, size) for square in (squares_of(view) if attention else ())),
            *(_bars(view, whole, kept, words, size) if attention else []),
            *_signed(None if contributions is None else contributions[list(kept)], reach, words, size),
        ),
    )


def alignments(explanation: ExplanationRecord) -> Group:
    """Collect the attention between the two sides.

    Args:
        explanation: a pair with alignments.

    Returns:
        The panels.
    """
    (first, second), squares = alignments_of(explanation)
    down, along = _labels(first.words), _labels(second.words)
    if not down or not along:
        return Group("", "", 0.0)
    size = _Size.of(down, along)
    found = tuple(_square(square, size) for square in squares)
    heading = f"{first.name} (rows) against {second.name} (columns)"
    return Group(heading, "", size.cell * len(down), found)


def _square(square: Square, size: _Size) -> FigurePanel:
    """Make a panel of cells, wide enough for its title."""
    grid = replace(square.grid, rows=_labels(square.grid.rows), columns=_labels(square.grid.columns))
    if square.kind == "distances":
        paint = _with(panels.paint_distances, grid.rows, grid.values, size.font)
    else:
        paint = _with(panels.paint_heat_map, grid, size.font)
    title = square.title + (": none" if square.kind == "choice" and not grid.values.any() else "")
    width = size.cell * len(grid.columns)
    right = max(0.1, cells(title) * _TITLE_CELL - size.left - width)
    return FigurePanel(title, size.left, width, right, _header(grid.columns, size.font), paint)


def _bars(
    view: SentenceView, whole: SentenceView, kept: Sequence[int], words: Sequence[str], size: _Size
) -> list[FigurePanel]:
    """Draw the gates and the weights; only the first has labels, and the rest stay beside it."""
    paints: dict[str, tuple[Paint, Array]] = {
        f"gate {name}": (panels.paint_gate, gate) for name, gate in view.gates.items()
    }
    if whole.weights is not None:
        paints["weight"] = (panels.paint_weights, whole.weights[list(kept)])
    return [
        FigurePanel(
            title,
            size.left if k == 0 else 0.0,
            BAR,
            max(_NUMBER, cells(title) * _TITLE_CELL - BAR),
            0.0,
            _with(paint, words, values, size.font, k == 0),
        )
        for k, (title, (paint, values)) in enumerate(paints.items())
    ]


def _signed(
    contributions: Array | None, reach: float, words: Sequence[str], size: _Size
) -> list[FigurePanel]:
    """Draw what each word contributes, with the word in its color."""
    if contributions is None:
        return []
    paint = _with(panels.paint_contributions, words, contributions, reach, size.font)
    return [FigurePanel("contribution", size.left, 2 * BAR, _NUMBER, 0.0, paint)]


def _with(paint: Callable[..., None], *arguments: object) -> Callable[[Axes], None]:
    return lambda axes: paint(axes, *arguments)


def _labels(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(shorten(visible(word), LABEL_CELLS) for word in words)


def _header(columns: Sequence[str], font: float) -> float:
    return _inches(columns, font) * math.sin(math.radians(60)) + 0.12


def _inches(words: Sequence[str], font: float) -> float:
    return max((cells(word) for word in words), default=0) * font * 0.6 / 72
