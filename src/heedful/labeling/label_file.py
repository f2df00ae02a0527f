"""The file of labels: every label is on the disk before the next text appears, and none is lost.

A label is appended and synced. What is changed or taken back is written anew under another name, synced and renamed, so
that a crash at any moment leaves the old file or the new one. Where another program has changed the file meanwhile, it
is read again first: the file is what counts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from heedful.errors import DataError, OutputError
from heedful.labeling.forms import Label, LabelForm
from heedful.labeling.label_rows import CsvRows, Fields, JsonRows, RowForm
from heedful.storage.fields import is_list, plain_json
from heedful.storage.writing import plain_errors, remedy, replacing

OWN = ("note", "by", "chosen", "guess", "checked")
"""The columns beside the texts and the label."""


@dataclass(frozen=True)
class Record:
    """One label of one person.

    Attributes:
        texts: the text, or the two of a pair.
        label: what was chosen.
        by: who chose it; empty in a file from elsewhere.
        note: a remark.
        chosen: why the text was shown: "random", "typical", "uncertain", "similar", "search" and so on.
        guess: what the model would have said before the label was known; None where there was no model.
        checked: whether the label was shown again as doubtful, and kept.
        others: further fields of a file from elsewhere.
    """

    texts: tuple[str, ...]
    label: Label
    by: str = ""
    note: str = ""
    chosen: str = ""
    guess: Label | None = None
    checked: bool = False
    others: Fields = field(default_factory=dict)

    @property
    def key(self) -> str:
        """What stands for the texts; see `key_of`."""
        return key_of(self.texts)


def key_of(texts: Sequence[str]) -> str:
    """Return 16 digits that stand for texts, the same in every process."""
    return sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


class LabelFile:
    """The labels on the disk and in memory. The caller holds the lock of the file (`heedful.storage.lock`).

    Args:
        path: the file, CSV or JSON lines by its name; an existing one is continued.
        form: what a label is.
        print_line: tells what was found, one line each.

    Attributes:
        records: all labels, in the order of the file.

    Raises:
        DataError: if there is a file that is none of labels; names the row.
        OutputError: if it cannot be read or written.
    """

    def __init__(self, path: Path, form: LabelForm, print_line: Callable[[str], None]) -> None:
        self.path, self._form, self._say = Path(os.path.realpath(path)), form, print_line
        self.records: list[Record] = []
        self._rows = self._new_rows()
        self._seen: tuple[int, ...] = ()
        self._narrow = False  # whether the file on the disk lacks columns that a label of this form has
        if self.path.exists():
            self._read_again()
        else:
            with plain_errors(self.path):
                self.path.parent.mkdir(parents=True, exist_ok=True)
            self._write(self.records)

    def add(self, records: Sequence[Record]) -> None:
        """Append labels; when this returns, they are on the disk.

        Args:
            records: the labels.

        Raises:
            OutputError: if they cannot be written; the file is then as before.
            DataError: if another program has made the file unreadable.
        """
        self._follow()
        if self._narrow:
            self._write([*self.records, *records])
            self.records.extend(records)
            return
        data = b"".join(self._rows.row(self._fields(each)) for each in records)
        try:
            self._append(data)
        except OSError as error:
            reason = error.strerror or str(error)
            raise OutputError(
                f"{self.path}: the label cannot be written: {reason}. {remedy(error.errno)}"
            ) from error
        self.records.extend(records)

    def replace(self, old: Record, new: Record | None) -> None:
        """Write another label in the place of one, or none.

        Args:
            old: a label of the file.
            new: what takes its place; None takes the label back.

        Raises:
            OutputError: if that cannot be written; the file is then as before.
            DataError: if another program has made the file unreadable, or has removed the label.
        """
        self._follow()
        place = next((k for k in reversed(range(len(self.records))) if self.records[k] == old), None)
        if place is None:
            raise DataError(f"{self.path}: another program has changed this label; look at it again")
        records = [*self.records]
        records[place : place + 1] = [] if new is None else [replace(new, others=old.others)]
        self._write(records)
        self.records = records

    def _append(self, data: bytes) -> None:
        handle = os.open(self.path, os.O_RDWR | os.O_APPEND)
        try:
            size = os.fstat(handle).st_size
            if size and os.pread(handle, 1, size - 1) != b"\n":
                data = b"\n" + data
            try:
                left = memoryview(data)
                while left:
                    left = left[os.write(handle, left) :]
                os.fsync(handle)
            except OSError:
                os.ftruncate(handle, size)
                raise
        finally:
            self._seen = _stamp(os.fstat(handle))
            os.close(handle)

    def _write(self, records: Iterable[Record]) -> None:
        with replacing(self.path) as stream:
            stream.write(self._rows.head())
            for each in records:
                stream.write(self._rows.row(self._fields(each)))
        self._narrow = False
        with plain_errors(self.path):
            self._seen = _stamp(self.path.stat())

    def _follow(self) -> None:
        """Read the file again if another program has changed it; write it again if it is gone."""
        try:
            now = _stamp(self.path.stat())
        except FileNotFoundError:
            self._say(f"{self.path}: was removed, and is written again with all labels")
            self._write(self.records)
            return
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be read: {error.strerror}") from error
        if now != self._seen:
            before = len(self.records)
            self._read_again()
            self._say(
                f"{self.path}: another program changed it: {before:,} labels, now {len(self.records):,}"
            )

    def _read_again(self) -> None:
        with plain_errors(self.path):
            seen = _stamp(self.path.stat())
            data = self.path.read_bytes()
        rows = self._new_rows()
        try:
            found = rows.read(data)
            self._refuse_other_columns(rows)
            records = [self._record(number, row) for number, row in enumerate(found.rows, 2)]
        except DataError as error:
            raise DataError(f"{self.path}: {error}") from error
        self._rows, self._seen, self.records = rows, seen, records
        if isinstance(rows, CsvRows) and not data.strip():
            self._write(records)
            return
        self._narrow = False
        if isinstance(rows, CsvRows) and (wanted := [n for n in self._columns() if n not in rows.columns]):
            rows.columns = (*rows.columns, *wanted)
            self._narrow = True  # a file that is only read or exported stays as it is
        if found.end < len(data):
            self._set_aside(data[found.end :])
            self._write(records)

    def _set_aside(self, cut: bytes) -> None:
        """Keep the bytes of a row that was cut off in a file beside, before the file is written without them."""
        kept = self.path.with_name(f"{self.path.name}.cut")
        with plain_errors(kept), kept.open("ab") as stream:
            stream.write(cut.rstrip(b"\n") + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
        shown = cut.decode("utf-8", "replace")
        self._say(
            f"{self.path}: its last row was cut off while it was written, and is left out; {kept.name} has it: "
            f"{shown!r:.200}"
        )

    def _refuse_other_columns(self, rows: RowForm) -> None:
        """Refuse a table that lacks the texts or the label."""
        if not isinstance(rows, CsvRows):
            return
        for name in (*self._form.texts, self._form.column):
            if name not in rows.columns:
                raise DataError(
                    f"has no column {name!r}; columns: {', '.join(rows.columns)}. Rename its columns, or name another "
                    "--output"
                )

    def _new_rows(self) -> RowForm:
        if self.path.suffix.lower() == ".csv":
            return CsvRows(self._columns())
        return JsonRows((*self._form.texts, self._form.column))

    def _columns(self) -> tuple[str, ...]:
        return (*self._form.texts, self._form.column, *OWN)

    def _fields(self, record: Record) -> dict[str, object]:
        """Return the fields of a row."""
        as_cell = self._form.cell if isinstance(self._rows, CsvRows) else lambda label: label
        return {
            **record.others,
            **dict(zip(self._form.texts, record.texts, strict=True)),
            self._form.column: as_cell(record.label),
            "note": record.note,
            "by": record.by,
            "chosen": record.chosen,
            "guess": "" if record.guess is None else as_cell(record.guess),
            "checked": "yes" if record.checked else "",
        }

    def _record(self, number: int, row: Fields) -> Record:
        """Return the label of a row."""
        texts = tuple(self._text(number, row, name) for name in self._form.texts)
        value, guess = row.get(self._form.column), row.get("guess")
        read = self._form.read_cell if isinstance(self._rows, CsvRows) else self._form.checked
        if isinstance(self._rows, JsonRows) and self._form.kind == "classes" and is_list(value):
            value = value[0] if len(value) == 1 else value  # as doccano writes one class
        try:
            label = read(value, texts)  # type: ignore[arg-type]
        except DataError as error:
            raise DataError(f"row {number}, field {self._form.column!r}: {error}") from error
        try:
            guessed = None if guess in ("", None) else read(guess, texts)  # type: ignore[arg-type]
        except DataError:  # of a label that is no longer asked for
            guessed = None
        known = {*self._form.texts, self._form.column, *OWN}
        return Record(
            texts,
            label,
            str(row.get("by") or ""),
            str(row.get("note") or ""),
            str(row.get("chosen") or ""),
            guessed,
            row.get("checked") == "yes",
            {name: value for name, value in row.items() if name not in known},
        )

    def _text(self, number: int, row: Fields, name: str) -> str:
        value = row.get(name)
        if not isinstance(value, str):
            raise DataError(
                f"row {number}: has no text {name!r}; columns: {', '.join(row) or 'none'}. Rename its columns, or name "
                "another --output"
            )
        return value


def names_in(path: Path, form: LabelForm) -> list[str]:
    """Return the labels that a file uses, so that one which is continued keeps them.

    Args:
        path: the file; it may not be there yet.
        form: what a label is; its own labels are not looked at.

    Returns:
        The names, in the order of the file; none where it cannot be read, which opening it reports.
    """
    rows = CsvRows(()) if path.suffix.lower() == ".csv" else JsonRows(())
    try:
        found = rows.read(path.read_bytes()).rows
    except (OSError, DataError):
        return []
    values = (row.get(form.column) for row in found)
    return list(dict.fromkeys(name for value in values for name in _names(form, value)))


def _names(form: LabelForm, value: object) -> list[str]:
    """Return the names that a cell or a field uses, whatever is allowed."""
    if form.kind == "classes":
        value = value[0] if is_list(value) and len(value) == 1 else value
        return [value.strip()] if isinstance(value, str) and value.strip() not in ("", "-") else []
    if isinstance(value, str):
        try:
            value = plain_json(value, finite=False)
        except ValueError:
            return []
    if not is_list(value):
        return []
    names = [each[2] if is_list(each) and len(each) == 3 else each for each in value]
    return [each for each in names if isinstance(each, str)]


def _stamp(status: os.stat_result) -> tuple[int, ...]:
    """Return what changes when a file does."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
