"""Explanations of a prediction: a record, a page, a figure, lines for a terminal, and a deletion test.

Computing (`from_output`, `methods`), drawing (`html`, `figures`, `text`) and testing (`faithfulness`) are separate, and
the record (`explanation`) connects them. Importing this package imports no torch; matplotlib is imported when a figure
is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heedful.lazy_imports import imported_on_use

if TYPE_CHECKING:
    from heedful.explain.attribution import Attribution
    from heedful.explain.explanation import Explanation
    from heedful.explain.explanation_record import SentenceView
    from heedful.explain.faithfulness import DeletionScore, deletion_score
    from heedful.explain.figures import draw
    from heedful.explain.from_output import explanation_from
    from heedful.explain.html import render_html, write_html
    from heedful.explain.legends import SYSTEMS, SystemNames
    from heedful.explain.methods import METHODS
    from heedful.explain.policy_steps import PolicySteps
    from heedful.explain.side_by_side import render_side_by_side, write_side_by_side
    from heedful.explain.summary import AttentionLink, strongest_alignments, strongest_links
    from heedful.explain.text import render_text
    from heedful.explain.word_features import WordFeatures

__all__ = [
    "METHODS",
    "SYSTEMS",
    "AttentionLink",
    "Attribution",
    "DeletionScore",
    "Explanation",
    "PolicySteps",
    "SentenceView",
    "SystemNames",
    "WordFeatures",
    "deletion_score",
    "draw",
    "explanation_from",
    "render_html",
    "render_side_by_side",
    "render_text",
    "strongest_alignments",
    "strongest_links",
    "write_html",
    "write_side_by_side",
]

if not TYPE_CHECKING:  # a type checker reads the imports above
    __getattr__ = imported_on_use(
        __name__,
        {
            "heedful.explain.attribution": ("Attribution",),
            "heedful.explain.explanation": ("Explanation",),
            "heedful.explain.explanation_record": ("SentenceView",),
            "heedful.explain.faithfulness": ("DeletionScore", "deletion_score"),
            "heedful.explain.figures": ("draw",),
            "heedful.explain.from_output": ("explanation_from",),
            "heedful.explain.html": ("render_html", "write_html"),
            "heedful.explain.legends": ("SYSTEMS", "SystemNames"),
            "heedful.explain.methods": ("METHODS",),
            "heedful.explain.policy_steps": ("PolicySteps",),
            "heedful.explain.side_by_side": ("render_side_by_side", "write_side_by_side"),
            "heedful.explain.summary": ("AttentionLink", "strongest_alignments", "strongest_links"),
            "heedful.explain.text": ("render_text",),
            "heedful.explain.word_features": ("WordFeatures",),
        },
    )
