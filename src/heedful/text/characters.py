"""Replace characters that must not reach a page or a terminal, and measure the width of the others."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Mapping

HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff]"
)
"""Controls (a terminal would obey an escape sequence), direction overrides and isolates (they would turn round what
follows), and halves of surrogate pairs (no UTF-8 file can hold one). Tabs and line feeds are not among them."""


def visible(text: str, one_line: bool = True) -> str:
    """Show controls, direction overrides and lone surrogates as ``⟨U+202E⟩`` instead of obeying them.

    Joiners stay, since emoji and Persian need them.

    Args:
        text: any string.
        one_line: turn tabs and line ends into spaces; otherwise they stay.

    Returns:
        A string that is safe to print and to encode; escaping for HTML is still to be done.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if one_line:
        text = text.replace("\n", " ").replace("\t", " ")
    return HIDDEN.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", text)


def json_line(value: object) -> str:
    """Return one JSON value on one line; a number that is not finite becomes null, a control character its escape."""
    line = json.dumps(_finite(value), ensure_ascii=False, allow_nan=False)
    if line.isprintable():  # nearly always
        return line
    return HIDDEN.sub(lambda match: json.dumps(match[0])[1:-1], line)


def cells(text: str) -> int:
    """Return the width of a string in terminal cells: 2 for East Asian wide characters and emoji, 0 for marks."""
    return sum(_cell(character) for character in text)


def shorten(text: str, width: int) -> str:
    """Cut a string to at most ``width`` terminal cells, with an ellipsis where something was cut."""
    if cells(text) <= width:
        return text
    kept, used = "", 0
    for character in text:
        used += _cell(character)
        if used > width - 1:
            break
        kept += character
    return kept + "…"


def pad(text: str, width: int) -> str:
    """Cut or fill a string with spaces to exactly ``width`` terminal cells."""
    text = shorten(text, width)
    return text + " " * (width - cells(text))


def _cell(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _finite(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
