"""An explained prediction, and how it is shown: as a page, as a figure and as lines. Imports no torch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from heedful.explain.explanation_record import ExplanationRecord


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(ExplanationRecord):
    """One prediction and its explanation, for every system; `ExplanationRecord` lists what it holds."""

    def to_html(self, path: Path | str) -> Path:
        """Write the explanation as one self-contained page; see `heedful.explain.html.write_html`."""
        from heedful.explain.html import write_html

        return write_html(self, path)

    def __repr__(self) -> str:
        from heedful.explain.html import headline
        from heedful.explain.scene import brief

        said = "" if self.attribution is None else f": {brief(self.attribution, self.sides)}"
        return f"Explanation({' '.join(headline(self)).strip()}{said})"

    def _repr_html_(self) -> str:
        """Return the same page in a frame, which is how a notebook shows it."""
        from heedful.explain.html import render_frame

        return render_frame(self)

    def to_figure(self, path: Path | str, *, attention: bool | None = None) -> Path:
        """Draw the explanation as PNG, SVG or PDF; see `heedful.explain.figures.draw`."""
        from heedful.explain.figures import draw

        return draw(self, path, attention=attention)

    def to_text(self, width: int = 80, color: bool = False, attention: bool | None = None) -> str:
        """Return the explanation as lines for a terminal; see `heedful.explain.text.render_text`."""
        from heedful.explain.text import render_text

        return render_text(self, width=width, color=color, attention=attention)
