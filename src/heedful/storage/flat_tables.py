"""A large table of strings in a JSON file, of which one process looks up a few: it becomes a dict when that happens.

Inflected forms and their base forms are a hundred thousand strings. To parse them as a list takes a fourth of the time
of parsing them as a table, and a text of known words never asks for one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property


class FlatTable(Mapping[str, str]):
    """A table of strings that were checked.

    Args:
        flat: a name, its value, the next name and so on.
    """

    def __init__(self, flat: list[str]) -> None:
        self._flat = flat

    @cached_property
    def _table(self) -> dict[str, str]:
        return dict(zip(self._flat[::2], self._flat[1::2], strict=True))

    def __getitem__(self, name: str) -> str:
        return self._table[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)


def cut_out(text: str, name: str) -> tuple[str, FlatTable] | None:
    """Take a table of strings out of a JSON text.

    Args:
        text: JSON, not checked.
        name: of the table.

    Returns:
        The text with an empty table in its place, still not checked, and the table; None where the table is not there
        or holds something that only a parser of JSON understands, such as a quotation mark in a word.
    """
    before, found, rest = text.partition(f'"{name}":')
    body, closed, after = rest.lstrip().partition("}")
    inner = body.removeprefix("{")
    if not found or not closed or inner == body or '\\"' in inner:
        return None
    try:
        flat = json.loads("[" + inner.replace('":', '",') + "]")
    except (ValueError, RecursionError):
        return None
    if not set(map(type, flat)) <= {str} or len(flat) != 2 * inner.count('":'):
        return None
    return before + found + "{}" + after, FlatTable(flat)
