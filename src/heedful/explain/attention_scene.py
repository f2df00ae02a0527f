"""What the pictures of attention show, in which order and with which legend: one scene, which a page and a figure draw.

A new picture of cells is one more `Square` here; both pens draw it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from heedful.explain.summary import Grid, focus, opened_against

if TYPE_CHECKING:
    from heedful.explain.explanation_record import ExplanationRecord, SentenceView

Key = Literal["own meaning", "context", "opened by the mask selector"]


@dataclass(frozen=True)
class Square:
    """A picture of cells.

    Attributes:
        key: of its note in an explanation, "map NAME", "tree_distance" and so on.
        title: of the picture.
        grid: the cells with their labels.
        name: what a screen reader says.
        between: what stands between a row and a column where a cell is put into words.
        kind: "weights" from 0 to 1; "distances" in a tree, of which -1 is none; or a "choice", 1 for yes.
    """

    key: str
    title: str
    grid: Grid
    name: str
    between: str = "←"
    kind: Literal["weights", "distances", "choice"] = "weights"

    def tip(self, row: int, column: int) -> str:
        """Put a cell into words: its row, its column and its weight."""
        said = f"{self.grid.rows[row]} {self.between} {self.grid.columns[column]}"
        return said if self.kind == "choice" else f"{said}: {self.grid.values[row, column]:.3f}"


def maps_of(view: SentenceView, names: Iterable[str]) -> Iterator[Square]:
    """Yield attention maps of a sentence.

    Args:
        view: the sentence, or the most important words of it.
        names: of the maps.

    Yields:
        A picture of each; the cells that a policy opened against the rule of a map are outlined.
    """
    for name in names:
        grid = Grid(view.words, view.words, view.maps[name], opened_against(view, name))
        yield Square(f"map {name}", f"attention, {name}", grid, f"{name} attention, {view.name}")


def squares_of(view: SentenceView) -> Iterator[Square]:
    """Yield what else is known of pairs of words: the tree, the choices of a mask selector, and the attentions' shares.

    Args:
        view: the sentence, or the most important words of it.

    Yields:
        The pictures.
    """
    words = view.words
    if view.tree_distance is not None:
        tree = Grid(words, words, view.tree_distance)
        yield Square("tree_distance", "tree distance", tree, f"tree distance, {view.name}", kind="distances")
    if view.chosen is not None:
        title = "chosen by the mask selector"
        chosen = Grid(words, words, view.chosen.astype(float), numbers=False)
        yield Square("chosen", title, chosen, f"{title}, {view.name}", "may look at", "choice")
    if view.fusion:
        shares = Grid(words, tuple(view.fusion), np.stack(list(view.fusion.values()), axis=1))
        yield Square("fusion", "attention fusion", shares, f"fusion, {view.name}", "from")


def alignments_of(explanation: ExplanationRecord) -> tuple[tuple[SentenceView, SentenceView], list[Square]]:
    """Return the attention between the two sides of a pair.

    Args:
        explanation: of a pair with alignments.

    Returns:
        Both sides, of long ones the most important words; and a picture of each alignment.
    """
    (first, rows), (second, columns) = (focus(view) for view in explanation.sides)
    found = []
    for name, whole in explanation.alignments.items():
        grid = Grid(first.words, second.words, whole[list(rows)][:, list(columns)])
        found.append(Square(f"alignment {name}", name, grid, f"alignment {name}", "↔"))
    return (first, second), found


def keys_of(views: Sequence[SentenceView]) -> tuple[Key, ...]:
    """Return what a legend explains beside the shades of weights: the colors of gates, and outlined cells."""
    gates: tuple[Key, ...] = ("own meaning", "context") if any(view.gates for view in views) else ()
    outlines = [opened_against(view, name) for view in views for name in view.maps]
    opened = any(outline is not None and outline.any() for outline in outlines)
    return (*gates, "opened by the mask selector") if opened else gates
