"""What no installed font can draw is replaced before it is drawn."""

from __future__ import annotations

from functools import cache

from heedful.drawing import families
from heedful.explain.characters import visible

_MISSING = "□"


def drawable(text: str) -> str:
    """Replace controls, and characters that no installed font has, so that drawing never fails or warns.

    Args:
        text: any string.

    Returns:
        The string with controls made visible and with a box for each character without a glyph.
    """
    known = _characters()
    return "".join(c if ord(c) in known else _MISSING for c in visible(text) if ord(c) not in _JOINERS)


_JOINERS = {0x200B, 0x200C, 0x200D, 0xFE0E, 0xFE0F}
"""Without a shape of their own; most fonts lack them."""


@cache
def _characters() -> frozenset[int]:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    known: set[int] = set()
    for family in families():
        known.update(get_font(findfont(FontProperties(family=family))).get_charmap())
    return frozenset(known)
