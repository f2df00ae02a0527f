"""What Python's own Unicode data says of characters, for the tokenizers in JavaScript."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cache
from operator import gt

from heedful.text.boundaries import RULES, class_of
from heedful.text.normalization import (
    HIDDEN_FIRST,
    HIDDEN_JOINERS,
    HIDDEN_TAGS,
    KEPT,
    MARK,
    MOST_MARKS,
    QUOTES,
    UNIT,
    kind_of,
)


@cache
def characters_in_use(tokenizer: str) -> dict[str, object]:
    """Describe characters for a tokenizer, so that a browser's own Unicode version decides nothing.

    Args:
        tokenizer: its name.

    Returns:
        Classes of characters as the inside of a regular expression's brackets; for "unicode" also where each run of
        characters of one class begins, and the rules over these classes.
    """
    digits, words = _holding(str.isdecimal), _holding(str.isalnum)
    found: dict[str, object] = {
        "digits": _brackets(digits),
        "letters": _brackets(_holding(str.isalpha)),
        "words": _brackets(words),
        "letters_numbers": _brackets(bytes(map(gt, words, digits))),
    }
    if tokenizer.startswith("unicode"):
        found["classes"] = _runs(class_of)
        # JavaScript has no possessive repetitions; they spare steps here and change no match
        found["rules"] = RULES.replace("*+", "*").replace("++", "+").replace("?+", "?")
    return found


@cache
def characters_in_shapes() -> dict[str, str]:
    """Describe what the shape of a word tells apart beside letters (`heedful.text.unknown_words.NgramRule.cased`).

    Returns:
        Capitals and digits as the inside of a regular expression's brackets.
    """
    return {"capitals": _brackets(_holding(str.isupper)), "digit_signs": _brackets(_holding(str.isdigit))}


@cache
def normalization_in_use() -> dict[str, object]:
    """Describe how a text is normalized (`heedful.text.normalization`), in expressions that JavaScript reads too."""
    return {
        "hidden": [HIDDEN_FIRST, HIDDEN_TAGS, HIDDEN_JOINERS],
        "kinds": _runs(kind_of),
        "unit": UNIT,
        "mark": MARK,
        "pictograph": KEPT,
        "quotes": QUOTES,
        "most_marks": MOST_MARKS,
    }


@cache
def _every() -> str:
    """Return every character there is, in order."""
    return "".join(map(chr, range(sys.maxunicode + 1)))


def _holding(holds: Callable[[str], bool]) -> bytes:
    """Return for every character whether something holds of it."""
    return bytes(map(holds, _every()))


def _brackets(held: bytes) -> str:
    """Return the characters that are held, as ranges for a regular expression of JavaScript."""
    runs = (run.span() for run in re.finditer(rb"\x01+", held))
    return "".join(rf"\u{{{start:x}}}-\u{{{end - 1:x}}}" for start, end in runs)


def _runs(kind: Callable[[str], str]) -> list[list[object]]:
    """Return where each run of characters of one kind begins, and the kind, a character."""
    return [[run.start(), run[1]] for run in re.finditer(r"(.)\1*", "".join(map(kind, _every())))]
