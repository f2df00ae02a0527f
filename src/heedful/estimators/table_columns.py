"""Which columns of a table X an estimator reads: its texts, and the columns beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heedful.errors import DataError, UsageError, checked_list, nearest
from heedful.estimators.columns import rows_of
from heedful.features.cells import Cell, plain_cell
from heedful.features.feature_kinds import Wanted, refuse_roles
from heedful.tasks.tables import PAIR, TEXT


def named_texts(text: str | Sequence[str] | None, *, pair: bool) -> tuple[str, ...]:
    """Return the names of the columns of texts that a user gives; none where he leaves them open.

    Args:
        text: the name, or of pairs both.
        pair: whether an example is a pair.

    Returns:
        The names.

    Raises:
        UsageError: if there are too few or too many.
    """
    if text is None:
        return ()
    names = (text,) if isinstance(text, str) else tuple(map(str, checked_list("text", text, "names")))
    if len(names) != 1 + pair:
        wanted = "the names of two columns" if pair else "the name of one column"
        raise UsageError(f"text: expected {wanted}, got {text!r:.80}")
    return names


@dataclass(frozen=True)
class TableColumns:
    """The columns of a table.

    Attributes:
        texts: names of those of the texts; empty where they are what the others leave.
        features: those beside the texts.
        pair: whether an example is a pair.
    """

    texts: tuple[str, ...]
    features: tuple[Wanted, ...]
    pair: bool

    def texts_in(self, table: object) -> tuple[str, ...]:
        """Return the names of the columns of the texts of a table.

        Args:
            table: a data frame of pandas or polars, a table of pyarrow, or a list of mappings.

        Returns:
            One name, or two of a pair.

        Raises:
            UsageError: if it is no table, or leaves open which columns are meant.
        """
        names = _names_of(table)
        beside = [each.name for each in self.features]
        found = self.texts or self._left(names, beside)
        for name in (*found, *beside):
            if name not in names:
                raise UsageError(f"X: there is no column {name!r}; {nearest(name, names)}")
        refuse_roles(beside, dict(zip(PAIR if self.pair else TEXT, found, strict=True)))
        return found

    def parted(self, table: Any) -> tuple[list[object], list[dict[str, Cell]]]:
        """Part a table into its texts and the values beside them.

        Args:
            table: see `texts_in`.

        Returns:
            For each row the text, or of a pair a list of both; and the values by the name of their column.

        Raises:
            UsageError: see `texts_in`.
            DataError: naming row and column, if a value is no plain one.
        """
        texts = [_column(table, name) for name in self.texts_in(table)]
        beside = {each.name: _column(table, each.name) for each in self.features}
        rows = range(len(texts[0]))
        cells = [
            {
                name: plain_cell(values[row], f"row {row + 1}, column {name!r}")
                for name, values in beside.items()
            }
            for row in rows
        ]
        return [[column[row] for column in texts] if self.pair else texts[0][row] for row in rows], cells

    def _left(self, names: Sequence[str], beside: Sequence[str]) -> tuple[str, ...]:
        left = [name for name in names if name not in beside]
        usual = PAIR if self.pair else TEXT
        found = usual if set(usual) <= set(left) else tuple(left)
        if len(found) != len(usual):
            wanted = "text=[FIRST, SECOND]" if self.pair else "text=NAME"
            listed = ", ".join(f"{name:.60}" for name in left[:20]) or "none"
            raise UsageError(
                f"X: which column is the text? Say {wanted}; columns that are no features: {listed}"
            )
        return found


def _names_of(table: Any) -> list[str]:
    names = getattr(table, "column_names", None)  # of pyarrow
    if names is None:
        names = getattr(table, "columns", None)
    if names is None and isinstance(table, list | tuple) and table and isinstance(table[0], Mapping):
        names = list(table[0])
    if names is None or isinstance(names, str):
        raise UsageError(
            "X: expected a table, a data frame or a list of mappings, because features name its columns; got "
            f"{type(table).__name__} {table!r:.60}"
        )
    return [str(name) for name in names]


def _column(table: Any, name: str) -> list[object]:
    """Return the values of a column; of mappings each must have it."""
    if isinstance(table, list | tuple):
        for row, record in enumerate(table, start=1):
            if not isinstance(record, Mapping) or name not in record:
                names = [str(each) for each in record] if isinstance(record, Mapping) else []
                hint = f"; {nearest(name, names)}" if names else ""
                raise DataError(f"row {row}: there is no column {name!r}{hint}")
        return [record[name] for record in table]
    found = table[_column_key(table, name)]
    if getattr(found, "ndim", 1) != 1:
        raise UsageError(f"X: {found.shape[1]} columns are called {name!r}; give each a name of its own")
    return rows_of(found, name=f"X[{name!r}]")


def _column_key(table: Any, name: str) -> Any:
    """Return the name of a column as the table has it: those of pandas may be numbers."""
    names = (
        () if hasattr(table, "column_names") else getattr(table, "columns", ())
    )  # pyarrow has arrays there
    return next((each for each in names if not isinstance(each, str) and str(each) == name), name)
