"""What every column beside the text has: how a value is read, and the numbers that stand for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import ClassVar

from heedful.errors import DataError
from heedful.features.cells import LARGEST, Cell, is_beyond, is_missing_cell
from heedful.features.feature_kinds import Kind

Parsed = float | str | datetime | None
"""A value as its column reads it; None for a missing one."""
MISSING = "missing"


@dataclass(frozen=True)
class FeatureColumn(ABC):
    """A column as training found it.

    Attributes:
        name: of the column.
    """

    kind: ClassVar[Kind]
    name: str

    @property
    @abstractmethod
    def parts(self) -> tuple[str, ...]:
        """What each of its numbers is, the first of them ``MISSING``."""

    @abstractmethod
    def parse(self, cell: Cell) -> Parsed:
        """Return what a value that is there says; None if this column cannot read it."""

    @abstractmethod
    def features(self, value: Parsed) -> Sequence[tuple[int, float]]:
        """Return the numbers of a value that are not 0, each with its place in `parts`."""

    @abstractmethod
    def summary(self) -> str:
        """Return what it holds, in a few words."""

    @property
    def width(self) -> int:
        """How many numbers stand for a value."""
        return len(self.parts)

    def read(self, cell: Cell, where: str) -> Parsed:
        """Return what a value says; None if it is missing.

        Args:
            cell: the value.
            where: the row, for messages.

        Returns:
            A number, the name of a category, or a date.

        Raises:
            DataError: if it is there and of another kind.
        """
        if is_missing_cell(cell) and (self.kind != "category" or cell is None or cell == ""):
            return None
        found = self.parse(cell)
        if found is None and str(cell).strip():
            raise not_of_kind(self.kind, self.name, cell, where)
        return found

    def shown(self, value: Parsed) -> str:
        """Return a value as an explanation writes it."""
        if value is None:
            return "missing"
        if isinstance(value, float):
            return f"{value:.6g}"
        if isinstance(value, datetime):
            return value.isoformat(" ").removesuffix(" 00:00:00")
        return value

    def table(self) -> dict[str, object]:
        """Return what a folder keeps of it; see `heedful.features.feature_columns.read_columns`."""
        return {"kind": self.kind, **asdict(self)}


_EXPECTED = {
    "number": "a finite number such as 12.5",
    "date": "a date such as 2024-03-01 or 2024-03-01 09:30",
}


def not_of_kind(kind: Kind, name: str, cell: Cell, where: str) -> DataError:
    """Return the refusal of a value that is not of the kind of its column."""
    expected = _EXPECTED.get(kind, "a name")
    if kind == "number" and is_beyond(cell):
        expected = f"a number of at most {LARGEST:g}"
    return DataError(
        f"{where}, column {name!r}: expected {expected}, got {str(cell)!r:.60}; correct it, leave "
        f"it empty, or train with --feature {name}:category"
    )
