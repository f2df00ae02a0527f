"""What the columns of a table hold, judged by their values: texts, classes, several labels, numbers, or row numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from heedful.data.readers.text_fields import is_missing
from heedful.data.readers.written_labels import written_labels
from heedful.errors import DataError

LOOKED_AT = 20_000
"""Rows whose values are judged."""
_SEPARATORS = (",", ";", "|")
_MOST_CLASSES, _LONGEST_CLASS = 500, 60
_KNOWN = 0.6
"""Share of the parts of joined labels that stand in other values too."""
WORDS_OF_TEXT = 3
"""Mean number of words from which a column is one of texts."""


@dataclass(frozen=True)
class ColumnKind:
    """The values of one column.

    Attributes:
        name: of the column.
        values: those that are there, as text.
        lists: how many of them are lists of labels, such as ``["a", "b"]``.
        missing: how many rows have none.
    """

    name: str
    values: tuple[str, ...]
    lists: int = 0
    missing: int = 0

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each value is there."""
        return Counter(self.values)

    @cached_property
    def numbers(self) -> tuple[float, ...]:
        """The values as numbers; empty unless each of them is one."""
        try:
            found = tuple(float(value) for value in self.values)
        except ValueError:
            return ()
        return found if all(map(math.isfinite, found)) else ()

    @property
    def is_number(self) -> bool:
        """Whether each value is a number."""
        return bool(self.numbers)

    @property
    def is_whole(self) -> bool:
        """Whether each value is a whole number."""
        return self.is_number and all(number.is_integer() for number in self.numbers)

    @property
    def is_switch(self) -> bool:
        """Whether each value is 0 or 1, or false or true as pandas writes them, and both are there."""
        return self.flags == {"0", "1"}

    @property
    def flags(self) -> set[str]:
        """The values that differ: false as 0, true as 1, 1.0 as 1, and others as they are."""
        small = (value.lower().removesuffix(".0") for value in self.counts)
        return {{"false": "0", "true": "1"}.get(value, value) for value in small}

    @property
    def is_constant(self) -> bool:
        """Whether there is one value at most."""
        return len(self.counts) < 2

    @property
    def is_row_number(self) -> bool:
        """Whether the values only tell the rows apart: whole numbers, or single words, all of them different."""
        apart = len(self.counts) == len(self.values) > 2
        return apart and (self.is_whole or (not self.is_number and self.words < 1.05))

    @cached_property
    def words(self) -> float:
        """The mean number of words of a value."""
        return sum(len(value.split()) for value in self.values) / max(1, len(self.values))

    @property
    def is_text(self) -> bool:
        """Whether the values are texts: several words, and seldom the same ones."""
        return not self.is_number and self.words >= WORDS_OF_TEXT and not self._few

    @property
    def is_classes(self) -> bool:
        """Whether the values can be names of classes: short ones, each of them several times."""
        longest = max(map(len, self.counts), default=0)
        return not self.is_constant and longest <= _LONGEST_CLASS and self._few

    @property
    def _few(self) -> bool:
        return len(self.counts) <= min(_MOST_CLASSES, len(self.values) / 2)

    @cached_property
    def separator(self) -> str:
        """What stands between several labels of a value; "list" for lists, and empty where a value is one label."""
        if self.lists:
            return "list"
        return next((mark for mark in _SEPARATORS if self._joined(mark) == "certain"), "")

    @cached_property
    def doubtful_separator(self) -> str:
        """What may stand between several labels of a value, where the values leave that open; else empty."""
        if self.separator:
            return ""
        return next((mark for mark in _SEPARATORS if self._joined(mark) == "open"), "")

    @cached_property
    def possible_separator(self) -> str:
        """What stands between labels if the user says that a value has several: the mark of most values, or empty."""
        sure = self.separator or self.doubtful_separator
        return sure or max(_SEPARATORS, key=self.with_mark) if any(map(self.with_mark, _SEPARATORS)) else sure

    def with_mark(self, mark: str) -> int:
        """Count the rows whose value holds a mark."""
        return sum(count for value, count in self.counts.items() if mark in value)

    def _joined(self, mark: str) -> Literal["certain", "open", "no"]:
        """Judge whether a mark joins labels: whether its parts stand alone and in other combinations."""
        split = {value: [part.strip() for part in value.split(mark)] for value in self.counts}
        combined = [each for each in split.values() if len(each) > 1]
        if any(not 0 < len(part) <= _LONGEST_CLASS for each in combined for part in each):
            return "no"
        values_with = Counter(part for each in split.values() for part in set(each))
        parts = [part for each in combined for part in each]
        known = sum(values_with[part] > 1 for part in parts)
        if not known:
            return "no"
        in_combinations = Counter(part for each in combined for part in set(each))
        recur = all(in_combinations[part] > 1 for part in parts)
        if known >= _KNOWN * len(parts) and (len(values_with) < len(split) or recur):
            return "certain"
        return "open" if mark != "," or known >= _KNOWN * len(parts) else "no"


def kinds_of(records: Iterable[Mapping[str, object]]) -> dict[str, ColumnKind]:
    """Judge the columns of some rows.

    Args:
        records: the fields of each row by name.

    Returns:
        The kind of each column, in the order of the first row.
    """
    values: dict[str, list[str]] = {}
    lists, missing = Counter[str](), Counter[str]()
    for record in records:
        for name, value in record.items():
            found = values.setdefault(name, [])
            if is_missing(value) or (isinstance(value, str) and not value.strip()):
                missing[name] += 1
            elif _is_list(value):
                lists[name] += 1
                found.append(str(value))
            elif isinstance(value, str | int | float):
                found.append(str(value).strip())
    return {
        name: ColumnKind(name, tuple(found), lists[name], missing[name]) for name, found in values.items()
    }


def _is_list(value: object) -> bool:
    try:
        return written_labels(value, "") is not None
    except DataError:
        return False
