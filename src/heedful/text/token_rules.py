"""The expressions and lists of the tokenizers as plain values, for the metadata of exported files (docs/tokens.md)."""

from __future__ import annotations

import re

from heedful.text.emoji import EMOJI, PICTOGRAPH
from heedful.text.normalization import HIDDEN_FIRST, HIDDEN_JOINERS, HIDDEN_TAGS, QUOTES
from heedful.text.tokenize import ABBREVIATION, CLITIC, INITIALS, MARK, SECOND_SPLIT, SEVERAL_WORDS


def token_rules() -> dict[str, object]:
    """Return the expressions by name, written for Python's `re`.

    Returns:
        "hidden", three searches one after the other; "composing", the vowels and final consonants of Hangul;
        "pictograph", "emoji" and "quotes"; and of the treebank rules "mark", "clitic", "keeps_stop",
        "double" and "second_split".
    """
    return {
        "hidden": [HIDDEN_FIRST, HIDDEN_TAGS, HIDDEN_JOINERS],
        "composing": "[\u1160-\u11ff\ud7b0-\ud7ff\U00016d67\U00016d68]",
        "pictograph": f"[{PICTOGRAPH}]",
        "emoji": f"({EMOJI})",
        "quotes": QUOTES,
        "mark": re.sub(r"\s+", "", MARK.pattern),
        "clitic": f"(?i:{CLITIC.pattern})",
        "keeps_stop": f"(?i:{ABBREVIATION.pattern})|{INITIALS.pattern}",
        "double": SEVERAL_WORDS,
        "second_split": SECOND_SPLIT.pattern,
    }
