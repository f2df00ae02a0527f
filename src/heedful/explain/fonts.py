"""Fonts for the figures: installed families in order of preference, and what none of them can draw."""

from __future__ import annotations

from functools import cache

from heedful.explain.characters import visible

_PREFERRED = ("DejaVu Sans", "Noto Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans Arabic",
              "Noto Sans Hebrew", "Noto Sans Devanagari", "Noto Sans Thai", "Noto Emoji", "Symbola")  # fmt: skip
_MISSING = "□"


@cache
def families() -> tuple[str, ...]:
    """Return the preferred font families that are installed; DejaVu Sans comes with matplotlib and is first."""
    from matplotlib.font_manager import fontManager

    installed = set(fontManager.get_font_names())
    return tuple(name for name in _PREFERRED if name in installed)


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
