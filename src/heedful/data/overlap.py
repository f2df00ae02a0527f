"""Finding the same text twice: duplicates, contradicting gold, rows shared between two parts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from heedful.data.examples import Example

Key = tuple[str, ...]
_WORDS = re.compile(r"\w+")


def normalised(text: str) -> str:
    """Return a text in lower case without punctuation and with single spaces, so that near copies are equal."""
    return " ".join(_WORDS.findall(text.casefold())) or text.strip()


def keys(examples: Sequence[Example]) -> list[Key]:
    """Return the normalised texts of each example, in order of premise and hypothesis."""
    return [tuple(normalised(text) for text in example.texts) for example in examples]


@dataclass(frozen=True)
class Repeats:
    """What one part repeats.

    Attributes:
        rows: rows that repeat an earlier one.
        conflicting: rows that repeat an earlier one with other gold.
    """

    rows: list[int]
    conflicting: list[int]


def repeats(examples: Sequence[Example], of: Sequence[Key]) -> Repeats:
    """Find rows that repeat an earlier row of the same part.

    Args:
        examples: the part.
        of: their keys.

    Returns:
        The rows in the file.
    """
    first: dict[Key, Example] = {}
    again: list[int] = []
    conflicting: list[int] = []
    for example, key in zip(examples, of, strict=True):
        earlier = first.setdefault(key, example)
        if earlier is example:
            continue
        again.append(example.row)
        if earlier.target != example.target:
            conflicting.append(example.row)
    return Repeats(again, conflicting)


@dataclass(frozen=True)
class Shared:
    """Rows of a part that another part has too.

    Attributes:
        ordered: places in the part, texts in the same order.
        swapped: places found only when premise and hypothesis change places.
    """

    ordered: list[int]
    swapped: list[int]


def shared(part: Sequence[Key], other: Sequence[Key]) -> Shared:
    """Find what a part shares with another one.

    Args:
        part: keys of the part, such as test.
        other: keys of the other, such as train.

    Returns:
        Places in ``part``.
    """
    there = set(other)
    ordered = [place for place, key in enumerate(part) if key in there]
    swapped = [
        place
        for place, key in enumerate(part)
        if len(key) == 2 and key not in there and (key[1], key[0]) in there
    ]
    return Shared(ordered, swapped)
