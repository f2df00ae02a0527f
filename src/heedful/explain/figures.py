"""The explanation as a figure for a paper: PNG, SVG or PDF, drawn with matplotlib."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heedful.errors import MissingExtraError, UsageError
from heedful.explain import panels
from heedful.explain.characters import cells, shorten, visible
from heedful.explain.explanation import Explanation, SentenceView
from heedful.explain.fonts import drawable, families
from heedful.explain.summary import focus
from heedful.files import told_plainly

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Without dates and program names, so that the same explanation always gives the same file.
_METADATA: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
_WIDEST = 13.8
_MARGIN, _GAP, _TITLE, _BAR, _NUMBER = 0.3, 0.3, 0.26, 0.85, 0.5
_LABEL_CELLS = 16
_HEAD = 0.55
_CHARACTERS_AN_INCH = 12.5


def draw(explanation: Explanation, path: Path | str, dpi: int = 200) -> Path:
    """Draw what Figures 6 and 7 of DiSAN show, and the source2token weights, for every side.

    Each side gives a row: a heat map for each attention map, then a bar for each word and gate, then the weights;
    alignments between the sides come last. Of a text of more than 60 words the 40 most important are drawn.

    Args:
        explanation: what to draw.
        path: the file; its suffix .png, .svg or .pdf decides the format.
        dpi: dots per inch of a PNG.

    Returns:
        The file. The same explanation gives the same bytes with the same version of matplotlib.

    Raises:
        UsageError: for another suffix.
        MissingExtraError: without matplotlib.
        OutputError: if it cannot be written.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in _METADATA:
        raise UsageError(f"{path}: the suffix decides the format: .png, .svg or .pdf; got {path.suffix!r}.")
    try:
        from matplotlib import rc_context
    except ImportError as error:
        raise MissingExtraError("matplotlib", "plot", "Drawing an explanation") from error
    buffer = BytesIO()
    with rc_context(_settings()):
        _figure(explanation).savefig(buffer, format=suffix[1:], dpi=dpi, metadata=_METADATA[suffix])
    with told_plainly(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(buffer.getvalue())
    return path


@dataclass(frozen=True)
class _Panel:
    """One pair of axes: its title, the room for labels left of it, its width, what stands right of it, in inches."""

    title: str
    bar: bool
    left: float
    width: float
    right: float
    paint: Callable[[Axes], None]


@dataclass(frozen=True)
class _Group:
    """Panels with the same rows, under one heading; ``header`` is the room for the labels along their tops."""

    heading: str
    note: str
    header: float
    height: float
    panels: tuple[_Panel, ...]


@dataclass(frozen=True)
class _Size:
    """Sizes for this many words: cell and label margins in inches, labels in points."""

    cell: float
    font: float
    left: float
    header: float

    @classmethod
    def of(cls, rows: Sequence[str], columns: Sequence[str]) -> _Size:
        n = max(len(rows), len(columns), 1)
        steps = ((8, 0.36), (14, 0.30), (22, 0.22), (32, 0.17))
        cell = next((size for most, size in steps if n <= most), 0.135)
        font = min(9.5, cell * 72 * 0.74)
        header = _inches(columns, font) * math.sin(math.radians(60)) + 0.12
        return cls(cell, font, _inches(rows, font) + 0.08, header)


def _settings() -> Any:
    return {
        "font.family": list(families()),
        "svg.hashsalt": "heedful",
        "svg.fonttype": "path",
        "pdf.fonttype": 42,
        "text.parse_math": False,
        "text.usetex": False,
        "axes.unicode_minus": False,
        "savefig.bbox": "standard",
    }


def _figure(explanation: Explanation) -> Figure:
    from matplotlib.figure import Figure

    groups = [_side(view) for view in explanation.sides]
    if explanation.alignments:
        groups.append(_alignments(explanation))
    lines = [_wrapped(group.panels) for group in groups]
    width = max([8.2, *(_line_width(line) for group in lines for line in group)]) + 2 * _MARGIN
    height = _MARGIN + _HEAD
    for group, wrapped in zip(groups, lines, strict=True):
        height += 0.5 + sum(_line_height(group, line) + _GAP for line in wrapped)
    figure = Figure(figsize=(width, height + 0.55), facecolor="white")
    _write(figure, _MARGIN, _MARGIN - 0.05, _prediction(explanation), size=13, weight="bold")
    _write(figure, _MARGIN, _MARGIN + 0.2, explanation.method, size=9.5, color=panels.SOFT)
    top = _MARGIN + _HEAD
    for group, wrapped in zip(groups, lines, strict=True):
        top = _place(figure, group, wrapped, top)
    _legend(figure, explanation, top)
    return figure


def _side(whole: SentenceView) -> _Group:
    view, kept = focus(whole)
    words = tuple(_label(word) for word in view.words)
    size = _Size.of(words, words)
    square = size.cell * len(words)
    found = [
        _Panel(
            f"attention, {name}", False, size.left, square, 0.1, _heat(words, words, weights, size.font, view)
        )
        for name, weights in view.maps.items()
    ]
    if view.tree_distance is not None:
        steps = view.tree_distance
        found.append(
            _Panel("tree distance", False, size.left, square, 0.1,
                   lambda axes: panels.paint_distances(axes, words, steps, size.font))
        )  # fmt: skip
    bars = {f"gate {name}": _gate(words, gate, size.font) for name, gate in view.gates.items()}
    if whole.weights is not None:
        bars["weight"] = _weight(words, whole.weights[list(kept)], size.font)
    for k, (title, paint) in enumerate(bars.items()):
        left = size.left if k == 0 else 0.0
        found.append(_Panel(title, True, left, _BAR, _NUMBER, _labelled(paint, k == 0)))
    note = (
        f"  the {len(kept)} most important of {len(whole.words)} words"
        if len(kept) < len(whole.words)
        else ""
    )
    return _Group(
        f"{view.name}{note}", visible(view.text), size.header, square, tuple(found) if words else ()
    )


def _alignments(explanation: Explanation) -> _Group:
    (first, rows), (second, columns) = (focus(view) for view in explanation.sides)
    down, along = tuple(_label(w) for w in first.words), tuple(_label(w) for w in second.words)
    size = _Size.of(down, along)
    found = [
        _Panel(name, False, size.left, size.cell * len(along), 0.1,
               _heat(down, along, weights[list(rows)][:, list(columns)], size.font, None))
        for name, weights in explanation.alignments.items()
    ]  # fmt: skip
    heading = f"{first.name} (rows) against {second.name} (columns)"
    return _Group(heading, "", size.header, size.cell * len(down), tuple(found) if down and along else ())


def _heat(
    rows: Sequence[str], columns: Sequence[str], values: Any, font: float, view: SentenceView | None
) -> Any:
    chosen = None if view is None else view.chosen
    return lambda axes: panels.paint_heat_map(axes, rows, columns, values, font, chosen)


def _gate(words: Sequence[str], gate: Any, font: float) -> Callable[[Axes, bool], None]:
    return lambda axes, labels: panels.paint_gate(axes, words, gate, font, labels)


def _weight(words: Sequence[str], weights: Any, font: float) -> Callable[[Axes, bool], None]:
    return lambda axes, labels: panels.paint_weights(axes, words, weights, font, labels)


def _labelled(paint: Callable[[Axes, bool], None], labels: bool) -> Callable[[Axes], None]:
    return lambda axes: paint(axes, labels)


def _wrapped(found: Sequence[_Panel]) -> list[list[_Panel]]:
    """Break panels into lines no wider than the page; a panel without labels stays beside the one before it."""
    lines: list[list[_Panel]] = []
    for panel in found:
        if lines and (panel.left == 0.0 or _line_width([*lines[-1], panel]) <= _WIDEST):
            lines[-1].append(panel)
        else:
            lines.append([panel])
    return lines


def _line_width(line: Sequence[_Panel]) -> float:
    return sum(panel.left + panel.width + panel.right for panel in line) + _GAP * (len(line) - 1)


def _line_height(group: _Group, line: Sequence[_Panel]) -> float:
    labels_above = 0.0 if all(panel.bar for panel in line) else group.header
    return _TITLE + labels_above + group.height


def _place(figure: Figure, group: _Group, lines: list[list[_Panel]], top: float) -> float:
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
            place = (x, bottom - group.height - 0.2) if panel.bar else (left, top)
            _write(figure, *place, panel.title, size=9, weight="bold")
            box = (x / width, 1 - bottom / height, panel.width / width, group.height / height)
            panel.paint(figure.add_axes(box))
            left = x + panel.width + panel.right + _GAP
        top = bottom + _GAP
    return top


def _legend(figure: Figure, explanation: Explanation, top: float) -> None:
    from matplotlib.patches import Rectangle

    width, height = figure.get_size_inches()
    if explanation.alignments or any(view.maps for view in explanation.sides):
        reading = "" if explanation.alignments else ", row looks at column"
        _write(figure, _MARGIN, top, f"attention weight{reading}", size=8, color=panels.SOFT)
        box = ((_MARGIN + 2.2) / width, 1 - (top + 0.12) / height, 1.6 / width, 0.1 / height)
        panels.paint_scale(figure.add_axes(box))
    keys = []
    if any(view.gates for view in explanation.sides):
        keys += [("own meaning", panels.OWN, True), ("context", panels.CONTEXT, True)]
    if any(view.chosen is not None for view in explanation.sides):
        keys.append(("opened by the mask selector", panels.CHOSEN, False))
    for k, (name, colour, fill) in enumerate(keys):
        left = _MARGIN + 4.3 + 1.05 * k
        place = (left / width, 1 - (top + 0.11) / height)
        figure.add_artist(
            Rectangle(place, 0.16 / width, 0.09 / height, color=colour, fill=fill, linewidth=1 - fill)
        )
        _write(figure, left + 0.22, top, name, size=8, color=panels.SOFT)


def _write(figure: Figure, left: float, top: float, text: str, **style: Any) -> None:
    width, height = figure.get_size_inches()
    style = {"color": panels.INK, **style}
    figure.text(left / width, 1 - top / height, drawable(text), va="top", ha="left", **style)


def _prediction(explanation: Explanation) -> str:
    if explanation.score is not None:
        return f"score {explanation.score:.2f}"
    return f"{explanation.predicted} {max(explanation.probabilities):.2f}"


def _label(word: str) -> str:
    return shorten(visible(word), _LABEL_CELLS)


def _inches(words: Sequence[str], font: float) -> float:
    return max((cells(word) for word in words), default=0) * font * 0.6 / 72
