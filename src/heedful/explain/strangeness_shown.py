"""Why a text fits no class, as a section of a page: the signs of an unknown kind of text, which add up to its score."""

from __future__ import annotations

from html import escape

from heedful.explain.strangeness import Strangeness
from heedful.text.characters import visible

_NOTE = (
    "Each number is what a sign of an unknown kind of text adds to the score, beside known texts: doubt of the "
    "probabilities, logits that are alike, distance from the training texts, and words that none of them has."
)


def strangeness_section(found: Strangeness | None) -> str:
    """Write why a text is answered with no class as a section of a page; folded away for a text like known ones.

    Args:
        found: what was found; None for a model that always answers one of its classes.

    Returns:
        HTML, all text escaped; empty without anything found.
    """
    if found is None:
        return ""
    label = escape(visible(found.label))
    head = '<tr><th>sign</th><th class="r">adds</th></tr>'
    rows = "".join(
        f'<tr><td>{escape(name)}</td><td class="r">{added:+.2f}</td></tr>'
        for name, added in found.parts.items()
    )
    total = f"score; a class is answered up to {found.threshold:.2f}"
    rows += f'<tr class="sum"><td>{total}</td><td class="r">{found.score:+.2f}</td></tr>'
    standing = found.standing[0].upper() + found.standing[1:]
    body = (
        f'<p class="note">{standing}; <bdi>{escape(found.words)}</bdi>. Nearest class: '
        f'<bdi>{escape(visible(found.nearest))}</bdi>.</p><table class="signed">{head}{rows}</table>'
        f'<p class="note">{_NOTE}</p>'
    )
    if found.rejected:
        return f"<section><h2>Why “{label}”: unlike all training texts</h2>{body}</section>"
    why_not = f"<summary>Why not “{label}”? It is like training texts</summary>"
    return f"<section><details>{why_not}{body}</details></section>"
