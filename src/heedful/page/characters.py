"""What Python's own Unicode data says of characters, for the tokenizers in JavaScript."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from itertools import groupby

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
    found: dict[str, object] = {
        "digits": _brackets(str.isdecimal),
        "letters": _brackets(str.isalpha),
        "words": _brackets(str.isalnum),
        "letters_numbers": _brackets(lambda c: c.isalnum() and not c.isdecimal()),
    }
    if tokenizer.startswith("unicode"):
        runs = groupby(map(chr, range(sys.maxunicode + 1)), class_of)
        found["classes"] = [[ord(next(run)), kind] for kind, run in runs]
        # JavaScript has no possessive repetitions; they spare steps here and change no match
        found["rules"] = RULES.replace("*+", "*").replace("++", "+").replace("?+", "?")
    return found


@cache
def characters_in_shapes() -> dict[str, str]:
    """Describe what the shape of a word tells apart beside letters (`heedful.text.unknown_words.NgramRule.cased`).

    Returns:
        Capitals and digits as the inside of a regular expression's brackets.
    """
    return {"capitals": _brackets(str.isupper), "digit_signs": _brackets(str.isdigit)}


@cache
def normalization_in_use() -> dict[str, object]:
    """Describe how a text is normalized (`heedful.text.normalization`), in expressions that JavaScript reads too."""
    runs = groupby(map(chr, range(sys.maxunicode + 1)), kind_of)
    return {
        "hidden": [HIDDEN_FIRST, HIDDEN_TAGS, HIDDEN_JOINERS],
        "kinds": [[ord(next(run)), kind] for kind, run in runs],
        "unit": UNIT,
        "mark": MARK,
        "pictograph": KEPT,
        "quotes": QUOTES,
        "most_marks": MOST_MARKS,
    }


def _brackets(holds: Callable[[str], bool]) -> str:
    """Return the characters of which something holds, as ranges for a regular expression of JavaScript."""
    parts, start = [], 0
    for held, run in groupby(range(sys.maxunicode + 1), lambda number: holds(chr(number))):
        numbers = list(run)
        start = numbers[0]
        if held:
            parts.append(rf"\u{{{start:x}}}-\u{{{numbers[-1]:x}}}")
    return "".join(parts)
