"""The gold of a row of a table: a class, a score, or several labels, however people and tools write them.

What a cell could mean by itself is decided by `heedful.data.readers.written_labels`; what only the whole column says is
decided here, at its end.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heedful.data.examples import LabelSet
from heedful.data.readers.corpus_builder import CorpusBuilder
from heedful.data.readers.doubtful_labels import INDICATORS, doubts
from heedful.data.readers.text_fields import TextColumns, is_missing
from heedful.data.readers.written_labels import (
    LABELS_TASK,
    checked_name,
    holds_spans,
    is_indicators,
    left_brackets,
    no_gold,
    written_labels,
)
from heedful.errors import DataError
from heedful.model.decisions.label_columns import BETWEEN, label_of

NO_LABEL = "no label"


@dataclass(frozen=True)
class PassedOver:
    """A row whose label says that it has none; ``reason`` is what it is counted under."""

    reason: str


Found = str | float | LabelSet | PassedOver | None


class GoldCells:
    """Reads the gold of each row.

    Args:
        builder: of the file, for messages.
        columns: which column is the gold.
        known: the class names of a trained model; empty where there is none.
        separator: what stands between the labels of an example that may have several; empty where it has one.
        allowed: the class names that are not refused; empty for any.
        label_columns: whether each of the columns holds a class of its own.
    """

    def __init__(
        self,
        builder: CorpusBuilder,
        columns: TextColumns,
        known: Sequence[str] = (),
        separator: str = "",
        allowed: Sequence[str] = (),
        *,
        label_columns: bool = False,
    ) -> None:
        self._builder, self._columns, self._allowed = builder, columns, tuple(allowed)
        self._known, self._separator = tuple(known), separator
        self._types: dict[str, tuple[int, int]] = {}  # of the label: how many, first row
        self._rows_of = dict[str, list[int]]()  # label: how many, first row
        self._of_columns_each = dict[str, Counter[str]]()  # label column to its classes
        self._widths: Counter[int] = Counter()  # of cells of zeros and ones alone
        self._others = 0
        self._label_columns = label_columns

    @property
    def column(self) -> str | None:
        """The column of the gold."""
        return self._columns.label or self._columns.score

    def columns(self, record: Mapping[str, object]) -> tuple[str, ...]:
        """Return the columns of the gold: one, or of several labels one for each label, named with commas between."""
        if self.column is None:
            return ()
        if (self._separator or self._label_columns) and self.column not in record and "," in self.column:
            return tuple(name.strip() for name in self.column.split(","))
        return (self.column,)

    @property
    def filled_in(self) -> str:
        """What to write where the gold is missing."""
        several = self._separator and "," in (self.column or "")
        return "write 0 where a text has not the label of a column," if several else "fill it in"

    def read(self, row: int, record: Mapping[str, object]) -> Found:
        """Return the gold of a row.

        Args:
            row: 1-based row.
            record: its fields.

        Returns:
            The gold; None where it is missing.

        Raises:
            DataError: naming row and field, if it is not what the task takes.
        """
        names = self.columns(record)
        if not names:
            return None
        if self._label_columns:
            return self._classes(row, names, record)
        if len(names) > 1:
            return self._of_columns(row, names, record)
        value = record[names[0]]
        if self._separator:
            return None if is_missing(value) else self._several(row, names[0], value)
        if is_missing(value) or (isinstance(value, str) and not value.strip()):
            return None
        if self._columns.score is not None:
            return self._builder.score(row, names[0], value)
        return self._class(row, names[0], value)

    def finish(self) -> None:
        """Decide what only the whole column says; call it after the last row.

        Raises:
            DataError: if labels are of several types, or are indicators.
        """
        place = self._builder.where(1, self.column or "").replace("row 1, ", "")
        if len(self._types) > 1:
            found = ", ".join(
                f"{count} {kind} (first in row {row})" for kind, (count, row) in self._types.items()
            )
            raise DataError(f"{place}: labels of mixed types: {found}; write all of them as text")
        if len(self._widths) == 1 and not self._others:
            raise self._indicators(place)
        for name in no_gold(self._rows_of) if not (self._known or self._separator) else ():
            self._builder.take_back(name, f"no gold label: {name!r}")
            del self._rows_of[name]
        for note in (
            doubts({name: rows[0] for name, rows in self._rows_of.items()}) if not self._known else ()
        ):
            self._builder.note(f"{place}: {note}")
        if self._label_columns and self._of_columns_each and not self._known:
            for column in self.columns({}):
                if column not in self._of_columns_each:
                    raise DataError(
                        f"{place.partition(': field')[0]}: label column {column!r} holds no class; leave it out"
                    )
        for column, classes in self._of_columns_each.items() if not self._known else ():
            of_column = self._builder.where(1, column).replace("row 1, ", "")
            for note in doubts(classes):
                self._builder.note(f"{of_column}: {note}")

    def _class(self, row: int, column: str, value: object) -> str | PassedOver | None:
        where = self._builder.where(row, column)
        if (one := _one_class(value, where)) is None:
            return None
        value = one
        kind = type(value).__name__
        count, first = self._types.get(kind, (0, row))
        self._types[kind] = count + 1, first
        name = checked_name(str(value).strip(), where)
        if self._known and name not in self._known and name in no_gold((*self._known, name)):
            return PassedOver(f"no gold label: {name!r}")
        self._rows_of.setdefault(name, [0, row])[0] += 1
        return self._builder.label(row, column, name, self._allowed)

    def _several(self, row: int, column: str, value: object) -> LabelSet:
        where = self._builder.where(row, column)
        if holds_spans(value):
            raise DataError(
                f"{where}: holds spans and no labels; my-tags reads them from JSON (model.task=tags)"
            )
        given = written_labels(value, where)
        if given is None and isinstance(value, str) and INDICATORS.fullmatch(value.strip()):
            given = re.findall("[01]", value)  # "[1 0 1]", as NumPy prints it
        if given is None:
            given = value.split(self._separator) if isinstance(value, str) else None
            if given is not None and left_brackets(given):
                raise DataError(
                    f"{where}: {value!r:.80} is written as a list that cannot be read; expected labels with "
                    f"{self._separator!r} between them, or quoted ones as in ['a', 'b']"
                )
        if given is None:
            raise DataError(
                f"{where}: expected labels with {self._separator!r} between them, or a list of strings, got "
                f"{value!r:.80}"
            )
        names = [name.strip() for name in given if name.strip()]
        if is_indicators(names):
            self._widths[len(names)] += 1
            if len(set(names)) < len(names):  # no list of labels has one twice
                raise self._indicators(where)
        elif names:
            self._others += 1
        for name in (unique := dict.fromkeys(checked_name(name, where) for name in names)):
            self._rows_of.setdefault(name, [0, row])[0] += 1
        return LabelSet(tuple(self._builder.label(row, column, name, self._allowed) for name in unique))

    def _classes(self, row: int, names: Sequence[str], record: Mapping[str, object]) -> LabelSet | None:
        """Return the class of each column that has one; None where none has."""
        found = []
        for column in names:
            if BETWEEN in column:
                raise DataError(
                    f"{self._builder.where(row, column)}: the name of a label column must not hold {BETWEEN!r}; "
                    "rename it"
                )
            value = self._builder.field(row, record, column)
            if is_missing(value) or (isinstance(value, str) and not value.strip()):
                continue
            where = self._builder.where(row, column)
            if (one := _one_class(value, where)) is None:
                continue
            own = checked_name(str(one).strip(), where)
            self._of_columns_each.setdefault(column, Counter())[own] += 1
            name = label_of(column, own)
            found.append(self._builder.label(row, column, name, self._allowed))
        return LabelSet(tuple(found)) if found else None

    def _of_columns(self, row: int, names: Sequence[str], record: Mapping[str, object]) -> LabelSet | None:
        found = []
        for name in names:
            value = self._builder.field(row, record, name)
            if is_missing(value) or not str(value).strip():
                return None
            flag = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}.get(
                str(value).strip().lower()
            )
            if flag is None:
                raise DataError(
                    f"{self._builder.where(row, name)}: expected 0 or 1, whether the text has the label {name!r}, got "
                    f"{value!r:.80}"
                )
            if flag:
                found.append(name)
        return LabelSet(tuple(found))

    def _indicators(self, place: str) -> DataError:
        width = max(self._widths)
        return DataError(
            f"{place}: cells of {width} zeros and ones say which labels a text has, but no name of a label. Write the "
            "names, or one column for each label, and name the columns: --column label=NAME,NAME"
        )


def _one_class(value: object, where: str) -> str | int | float | None:
    """Return the one class that a cell names, also as a list of one; None for an empty list."""
    if holds_spans(value):
        raise DataError(f"{where}: holds spans and no class; my-tags reads them from JSON (model.task=tags)")
    names = written_labels(value, where)
    if names is not None:
        if len(names) > 1:
            raise DataError(
                f"{where}: {len(names)} labels, {names!r:.80}, and one was expected; {LABELS_TASK}"
            )
        value = names[0] if names else None
    if value is not None and not isinstance(value, str | int | float):
        raise DataError(f"{where}: expected a label, got a {type(value).__name__}")
    return value
