"""Draw the pictures of the explanation page: maps, trees, choices of a mask selector, fusion, gates and weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from heedful.explain.attention_scene import Square, alignments_of, keys_of, maps_of, squares_of
from heedful.explain.page_frame import safe
from heedful.explain.summary import MANY, by_layer, focus, maps_beside
from heedful.explain.svg import Geometry, SvgPanel, distance_map, heat_map, scale_bar, word_bars

if TYPE_CHECKING:
    from heedful.explain.explanation_record import Array, ExplanationRecord, SentenceView

_PAGE, _GAP = 1236, 30
"""Width of the page's text, and the gap between pictures, in pixels; as in `style.py`."""


_GATES = (
    '<span><b style="background:var(--own)"></b>own meaning</span>'
    '<span><b style="background:var(--context-soft)"></b>context</span>'
)
Drawing = tuple[str, float]
"""HTML of a picture with its caption, and its width."""


def alignments(explanation: ExplanationRecord) -> str:
    """Draw the attention between the two sides; nothing where there is none.

    Args:
        explanation: what to show.

    Returns:
        HTML of a section.
    """
    if not explanation.alignments:
        return ""
    (first, second), squares = alignments_of(explanation)
    geometry = Geometry.of(first.words, second.words)
    figures = [
        figure_with_width(
            square.title,
            explanation.notes.get(square.key, ""),
            heat_map(square.grid, geometry, square.tip, empty="seen by no word", name=square.name),
        )
        for square in squares
    ]
    return (
        f"<section><h2>{safe(first.name)} against {safe(second.name)}</h2>{_key(explanation.sides[0], maps=True)}"
        f"{panels(figures)}</section>"
    )


def side(explanation: ExplanationRecord, whole: SentenceView) -> str:
    """Draw everything inside one sentence; nothing where there is nothing to draw.

    Args:
        explanation: what to show.
        whole: the sentence; of a long one the most important words are drawn.

    Returns:
        HTML of a section.
    """
    view, kept = focus(whole)
    weights = None if whole.weights is None else whole.weights[list(kept)]
    empty = "sees no word" if len(kept) == len(whole.words) else "sees none of these words"
    pictures = _Pictures(explanation, view, empty)
    others = [*pictures.squares(), *pictures.bars(weights)]
    if not view.words or not (view.maps or others):
        return ""
    short = ""
    if len(kept) < len(whole.words):
        reason = "the largest weights" if whole.weights is not None else "the most attention received"
        short = (
            f'<p class="warn">The text has {len(whole.words)} words. The pictures show the {len(kept)} words with '
            f"{reason}, in text order; rows need not sum to 1 here.</p>"
        )
    return (
        f"<section><h2>Inside the {safe(view.name)}</h2>{short}"
        f"{_key(view, maps=bool(view.maps))}{_arranged(view, pictures, others)}</section>"
    )


def _arranged(view: SentenceView, pictures: _Pictures, others: list[Drawing]) -> str:
    """Put the maps above the rest; of a deep stack a layer at a time, all but the last folded away."""
    layers = by_layer(view)
    if len(view.maps) <= MANY or len(layers) == 1:
        maps = pictures.maps(list(view.maps))
        if sum(width + _GAP for _, width in (*maps, *others)) <= _PAGE:
            return panels([*maps, *others])
        return panels(maps) + panels(others)
    *earlier, last = [(name, panels(pictures.maps(maps))) for name, maps in layers.items()]
    folded = "".join(f"<details><summary>{safe(name)}</summary>{drawn}</details>" for name, drawn in earlier)
    return f"{folded}<h3>{safe(last[0])}</h3>{last[1]}{panels(others)}"


class _Pictures:
    """The pictures of one sentence, with rows at the same heights."""

    def __init__(self, explanation: ExplanationRecord, view: SentenceView, empty: str) -> None:
        self.notes, self.view, self.empty = explanation.notes, view, empty
        beside = maps_beside(len(view.maps))
        widest = (_PAGE - _GAP * (beside - 1)) / beside
        self.geometry = Geometry.of(view.words, view.words, widest)

    def maps(self, names: Sequence[str]) -> list[Drawing]:
        """Draw attention maps."""
        return [self._square(square, empty=self.empty) for square in maps_of(self.view, names)]

    def squares(self) -> list[Drawing]:
        """Draw what else is known of pairs of words."""
        return [
            self._square(square, empty="not selected" if square.kind == "choice" else "sees no word")
            for square in squares_of(self.view)
        ]

    def _square(self, square: Square, *, empty: str) -> Drawing:
        grid, geometry = square.grid, self.geometry
        if square.kind == "distances":
            drawn = distance_map(grid.rows, grid.values, geometry, square.name)
        else:
            if grid.columns != grid.rows:
                geometry = replace(geometry, header=Geometry.of(grid.rows, grid.columns).header)
            drawn = heat_map(grid, geometry, square.tip, empty=empty, name=square.name)
        title = square.title[:1].upper() + square.title[1:]
        return figure_with_width(title, self.notes.get(square.key, ""), drawn)

    def bars(self, weights: Array | None) -> list[Drawing]:
        """Draw the gates and weights of each word."""
        view = self.view
        if not view.gates and weights is None:
            return []
        drawn = word_bars(view.words, view.gates, weights, self.geometry, f"gates and weights, {view.name}")
        notes = dict.fromkeys(f"Gate: {self.notes.get(f'gate {name}', '')}" for name in view.gates)
        notes |= {f"Weight: {self.notes.get('weights', '')}": None} if weights is not None else {}
        return [figure_with_width("Word by word", "\n".join(notes), drawn)]


def weight_tip(
    rows: Sequence[str], columns: Sequence[str], values: Array, between: str
) -> Callable[[int, int], str]:
    """Return what a cell says when the pointer rests on it: its row, its column and its weight."""
    return lambda i, j: f"{rows[i]} {between} {columns[j]}: {values[i, j]:.3f}"


def figure_with_width(title: str, note: str, panel: SvgPanel) -> Drawing:
    """Return a picture with its caption, and the width that it takes."""
    width = max(panel.width, 260)
    notes = "".join(f'<p class="note">{safe(line)}</p>' for line in note.splitlines())
    caption = f"<figcaption><h3>{safe(title)}</h3>{notes}</figcaption>"
    return f'<figure style="width:{width:.0f}px">{caption}{panel.svg}</figure>', width


def panels(figures: Sequence[Drawing]) -> str:
    """Set pictures in rows, the same number in each, so that six heads make two rows of three."""
    if not figures:
        return ""
    widest = max(width for _, width in figures)
    fit = max(1, int((_PAGE + _GAP) // (widest + _GAP)))
    each = math.ceil(len(figures) / math.ceil(len(figures) / fit))
    even = max(width for _, width in figures) - min(width for _, width in figures) < 1
    limit = f' style="max-width:{each * (widest + _GAP):.0f}px"' if even else ""
    return f'<div class="panels"{limit}>{"".join(html for html, _ in figures)}</div>'


def attention_key(what: str = "attention weight") -> str:
    """Return the legend of the colors of attention weights, or of other numbers from 0 to 1."""
    return f'<div class="key"><span>{what}</span>{scale_bar()}<span>empty: no weight</span></div>'


def gate_key() -> str:
    """Return the legend of the colors of gates."""
    return f'<div class="key">{_GATES}</div>'


def _key(view: SentenceView, *, maps: bool) -> str:
    parts = []
    if maps:
        parts.append(f"<span>attention weight</span>{scale_bar()}<span>empty: no weight</span>")
    keys = keys_of([view])
    if "context" in keys:
        parts.append(_GATES)
    if "opened by the mask selector" in keys:
        parts.append(
            '<span><b style="border:2px solid var(--context)"></b>opened by the mask selector</span>'
        )
    return f'<div class="key">{"".join(parts)}</div>' if parts else ""
