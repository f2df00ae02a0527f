"""One text whose words were given their tags, as an explanation needs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from heedful.model.answers import TagsAnswer
from heedful.model.sights import Sight


@dataclass(frozen=True, eq=False)
class TaggedText:
    """A text, its tags, and what the network looked at.

    Attributes:
        words: as the vocabulary reads them, at most as many as are read at a time.
        text: the text; of ready-made words these words with single spaces between them.
        answer: the tags.
        block: the text as the engine takes it.
        sight: what the network looked at.
    """

    words: tuple[str, ...]
    text: str
    answer: TagsAnswer
    block: Any
    sight: Sight
