"""A large table of strings in a JSON file, of which a process may look up a few: it becomes a dict where many are.

To check that it holds plain strings takes a tenth of the time of parsing it, and to look for a name a fiftieth.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property

SEARCHED = 16
"""Names that are looked for in the text before it is parsed."""
_BETWEEN = " \t\r\n:,"
_PLAIN = bytes(code for code in range(32, 127) if chr(code) not in '"\\:,')


class FlatTable(Mapping[str, str]):
    """A table of strings that were checked.

    Args:
        text: the table as JSON, without its braces: plain strings, and nothing between them but colons and commas.
    """

    def __init__(self, text: str) -> None:
        self._text, self._searched = text, dict[str, str | None]()

    @cached_property
    def _table(self) -> dict[str, str]:
        found: dict[str, str] = json.loads("{" + self._text + "}")
        return found

    def __getitem__(self, name: str) -> str:
        if name not in self._searched:
            if len(self._searched) >= SEARCHED or not name.strip(_BETWEEN):
                return self._table[name]
            self._searched[name] = self._search(name)
        value = self._searched[name]
        if value is None:
            raise KeyError(name)
        return value

    def _search(self, name: str) -> str | None:
        """Look for a name, which is not only what stands between strings; of two, JSON means the last."""
        quoted = f'"{name}":"'
        place = self._text.rfind(quoted)
        return None if place < 0 else self._text[place + len(quoted) :].partition('"')[0]

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
        The text with an empty table in its place, still not checked, and the table; None where the table is not there,
        or holds what only a parser of JSON understands.
    """
    before, found, rest = text.partition(f'"{name}":')
    body, closed, after = rest.lstrip().partition("}")
    inner = body.removeprefix("{")
    if not found or not closed or inner == body:
        return None
    inner = _compact(inner)
    if not _is_plain(inner):
        return None
    return before + found + "{}" + after, FlatTable(inner)


def _compact(inner: str) -> str:
    """Return a table without the white space that a printer of JSON puts between names and values."""
    inner = inner.strip().replace('": "', '":"').replace('", "', '","')
    first = inner.find(",\n")
    if first < 0 or inner.count("\n") != inner.count(",\n"):
        return inner
    start = inner[first + 2 :]
    return inner.replace(",\n" + start[: len(start) - len(start.lstrip(" "))], ",")


def _is_plain(inner: str) -> bool:
    """Return whether a text is a list of names and values, printable ASCII without escapes, and nothing else.

    Without other characters ``"":"","":""`` is left, and with them each colon and comma is between quotation marks.
    """
    if not inner.isascii():
        return False
    pairs, code = inner.count('":"'), inner.encode("ascii")
    if not pairs or code.translate(None, _PLAIN) != (b'"":"",' * pairs)[:-1]:
        return False
    return inner.count('","') == pairs - 1 and inner[0] == inner[-1] == '"'
