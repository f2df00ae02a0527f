"""HTML tags and links in a text: where they are, and what becomes of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

Markup = Literal["keep", "drop", "token"]
"""`keep`: tags and links are text like any other. `drop`: they separate words and are none. `token`: each is one word,
`TAG` or `LINK`, whatever it says."""

TAG, LINK = "<tag>", "<link>"

_MARKUP = re.compile(
    r"""
      (?P<comment> <!-- )
    | (?P<tag> </?[a-zA-Z][a-zA-Z0-9:-]{0,40}(?:\s[^<>]{0,2000})?/?> )
    | (?P<link> \b(?:https?|ftp)://[^\s<>"]+ | \bwww\.[^\s<>"]+\.[^\s<>"]+ )
    """,
    re.VERBOSE,
)
_LONGEST_COMMENT = 2000
_AFTER_LINK = ".,;:!?)]}'\u2019\u201d"


def pieces(text: str) -> Iterator[tuple[int, int, str]]:
    """Cut a text at its tags and links, in time linear in its length.

    Args:
        text: any string.

    Yields:
        Start and end of each piece, and `TAG`, `LINK` or, for the text between them, nothing. Marks at the end of a
        link, such as a full stop, are no part of it. A comment of HTML is a tag if it holds at most 2,000 characters.
    """
    reached = place = closed = 0
    while match := _MARKUP.search(text, place):
        start, end = match.span()
        if match["comment"]:
            if closed < end:  # else the end that was found for an earlier comment is also the next one here
                closed = text.find("-->", end)
                closed = len(text) + _LONGEST_COMMENT + 1 if closed < 0 else closed
            if closed - end > _LONGEST_COMMENT:
                place = end
                continue
            end = closed + len("-->")
        elif match["link"]:
            end = start + len(match["link"].rstrip(_AFTER_LINK))
        yield reached, start, ""
        yield start, end, LINK if match["link"] else TAG
        reached, place = end, match.end() if match["link"] else end
    yield reached, len(text), ""
