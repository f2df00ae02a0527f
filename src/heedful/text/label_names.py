"""What the name of a label says: many are words, run together as a computer wants them."""

from __future__ import annotations

import re

_BETWEEN = re.compile(r"[\s_\-./:#]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def name_as_text(name: str) -> str:
    """Return the name of a label as a text.

    Args:
        name: such as "card_arrival", "AddToPlaylist" or "sci.space".

    Returns:
        Its words with a blank between any two, such as "card arrival"; case is kept.
    """
    return " ".join(part for part in _BETWEEN.split(name) if part)
