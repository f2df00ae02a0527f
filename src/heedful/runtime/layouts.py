"""Every task that needs no torch to answer, and how its answers are laid out.

The table is a file of its own because `tag_answers` imports `answers`: in `answers`, where a reader would look for it,
it would close a circle of imports.
"""

from __future__ import annotations

from typing import Any

from heedful.runtime.answers import CLASSES, GRADES, LABELS, NUMBERS, Layout
from heedful.runtime.tag_answers import TAGS

LAYOUTS: dict[str, Layout[Any]] = {
    "text": CLASSES,
    "pair": CLASSES,
    "relatedness": GRADES,
    "number": NUMBERS,
    "pair-number": NUMBERS,
    "labels": LABELS,
    "tags": TAGS,
}
"""``model.task`` to the layout of its answers: these tasks need no torch to answer."""
