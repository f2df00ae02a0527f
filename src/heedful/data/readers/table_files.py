"""The formats most users bring: CSV, TSV, JSON and Parquet with named columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heedful.data.examples import Corpus, LabelSet
from heedful.data.readers.corpus_builder import CorpusBuilder
from heedful.data.readers.reading import USUAL, Reading, checked_separator, find_separator
from heedful.data.readers.record_files import (
    Record,
    Refuse,
    csv_records,
    json_records,
    parquet_records,
    split_records,
    stop,
)
from heedful.data.readers.text_fields import Columns, OnMissing, check_on_missing, is_missing, text_fields
from heedful.data.readers.text_lines import bare_suffix, find_file
from heedful.errors import DataError, UsageError, nearest

NO_LABEL = "no label"
TABLE_SUFFIXES = (".csv", ".tsv", ".jsonl", ".json", ".parquet")
SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")


def read_table(
    path: str | Path,
    *,
    text: str | None = None,
    premise: str | None = None,
    hypothesis: str | None = None,
    label: str | None = None,
    score: str | None = None,
    group: str | None = None,
    labels: Sequence[str] = (),
    on_missing: OnMissing = "error",
    keep_empty: bool = False,
    encoding: str = "utf-8",
    separator: str = "",
    quotes: bool = True,
    label_separator: str = "",
    weight: str = "",
) -> Corpus:
    """Read a table; the suffix (.csv .tsv .jsonl .json .parquet, all but the last also compressed) says the format.

    JSON is one object a line, or an array of objects, under either suffix.

    Args:
        path: the file.
        text: column of the text; or
        premise: column of the first text of a pair, and
        hypothesis: column of the second.
        label: column of the class name. Numbers become text once, here; a column that mixes types is an error.
        score: column of a number.
        group: column a breakdown goes by.
        labels: the class names allowed; empty for any.
        on_missing: what a missing value (None, NaN) does: "error", "empty" (an empty text), or "skip" (counted). A
            missing label is an error unless "skip". An empty string is a text, not a missing value.
        keep_empty: keep rows of which a text is empty rather than count and leave them out.
        encoding: encoding of CSV, TSV and JSON.
        separator: character between the fields of CSV and TSV, or "tab"; empty for that of the first line.
        quotes: whether CSV and TSV quote fields that hold separators; without, a quotation mark is a character.
        label_separator: what stands between the labels of an example that may have several, or none where the field is
            empty; JSON may also hold a list of them. Empty where an example has one label.
        weight: column of how much each example counts in training, 0 or more; empty where all count alike.

    Returns:
        The examples.

    Raises:
        UsageError: if columns or options contradict each other, or the suffix is unknown.
        DataError: naming row and field, if something is missing, mistyped or unknown.
        MissingExtraError: for Parquet without pyarrow.
    """
    columns = Columns.named(text, premise, hypothesis, label, score, group)
    file = find_file(path)
    builder = CorpusBuilder(file, keep_empty=keep_empty)
    how = Reading({}, encoding, separator, quotes, on_missing)
    for _ in _read(
        builder, columns, _Gold(builder, columns, tuple(labels), label_separator), file, how, weight
    ):
        pass
    return builder.build()


def table_blocks(
    path: str | Path,
    roles: tuple[str, ...],
    how: Reading,
    *,
    labels: Sequence[str] = (),
    keep_fields: bool = False,
) -> Iterator[Corpus]:
    """Read a table in blocks, empty texts kept; see `read_table`.

    Args:
        path: the file.
        roles: "text", or "premise" and "hypothesis"; then "label" or "score", and "group", where they are read. A
            column that is not named has the name of its role.
        how: how the file is read.
        labels: the class names allowed; empty for any.
        keep_fields: whether the examples keep all fields of their rows.

    Yields:
        The examples; see `CorpusBuilder.blocks`.
    """
    file = find_file(path)
    builder = CorpusBuilder(file, keep_empty=True, keep_fields=keep_fields)
    gold = {role: how.columns.get(role, role) for role in roles if role in ("label", "score", "group")}
    columns = Columns(tuple(how.columns.get(role, role) for role in roles if role not in gold), **gold)
    targets = _Gold(builder, columns, tuple(labels), how.label_separator or "")
    yield from builder.blocks(_read(builder, columns, targets, file, how))


def _read(
    builder: CorpusBuilder, columns: Columns, gold: _Gold, file: Path, how: Reading, weight: str = ""
) -> Iterator[int]:
    """Add the rows of a table to a builder, and yield the number of each."""
    builder.columns = columns.texts
    on_missing, roles = check_on_missing(how.on_missing or "error"), columns.roles()
    for row, record in table_records(file, how):
        for role, name in roles:
            if name not in record:
                raise _no_column(file, row, record, role, name)
        texts = text_fields(builder, row, record, columns.texts, on_missing)
        if texts is None:
            continue
        target = gold.read(row, record)
        if target is None and gold.column is not None:
            if on_missing != "skip":
                raise DataError(
                    f"{builder.where(row, gold.column)}: value is missing; fill it in or drop the row, or skip all "
                    "such rows with --on-missing skip"
                )
            builder.skip(NO_LABEL)
            continue
        kind = (
            "" if columns.group is None or is_missing(record[columns.group]) else str(record[columns.group])
        )
        builder.add(row, texts, target, group=kind, fields=record)
        if weight:
            builder.weigh(row, builder.score(row, weight, builder.field(row, record, weight), 0.0))
        yield row
    gold.refuse_mixture()


def _no_column(file: Path, row: int, record: Record, role: str, name: str) -> DataError:
    """Return the refusal of a table without a column: the fault is in the header, and of JSON in the row."""
    place = f"{file}: row {row}" if bare_suffix(file) in (".json", ".jsonl") else str(file)
    return DataError(f"{place}: {no_column(name, record, f'--column {role}=NAME')}")


def no_column(name: str, present: Iterable[object], remedy: str) -> str:
    """Say that a table lacks a column, which it has, and how to name the right one.

    Args:
        name: the column that was looked for.
        present: the names of the columns.
        remedy: what to type.

    Returns:
        The message, without the place of the table.
    """
    names = [" ".join(str(each).split()) for each in present]
    hint = nearest(name, names)
    close = f"; {hint}" if hint.startswith("did") else "."  # else it would list the columns once more
    return f"no column {name!r}; columns: {', '.join(names) or 'none'}{close} Name yours: {remedy}"


def table_records(file: Path, how: Reading, refuse: Refuse = stop) -> Iterator[tuple[int, Record]]:
    """Read the rows of a table as fields by name, whatever its format; see `heedful.data.readers.record_files`.

    Args:
        file: the file; its suffix says the format.
        how: its encoding, separator and quotes.
        refuse: hears of a row that cannot be read; by default the file is refused.

    Returns:
        The 1-based row and its fields.

    Raises:
        UsageError: if the suffix is unknown.
    """
    suffix, encoding = bare_suffix(file), how.encoding or "utf-8"
    if suffix in (".jsonl", ".json"):
        return json_records(file, encoding, refuse)
    if suffix == ".parquet" and file.suffix.lower() == suffix:
        return parquet_records(file)
    if suffix in USUAL:
        quotes = how.quotes is not False
        separator = (
            checked_separator(how.separator)
            if how.separator
            else find_separator(file, encoding, quotes=quotes)
        )
        return (csv_records if quotes else split_records)(file, encoding, separator, refuse)
    raise UsageError(format_problem(file))


def format_problem(file: Path) -> str:
    """Say why a file whose name is not that of a table cannot be read, and what to do."""
    suffix = bare_suffix(file)
    if suffix in SPREADSHEETS:
        return (
            f"{file}: is a spreadsheet; save it as CSV (in Excel: Save As, 'CSV UTF-8'), and name that file"
        )
    return f"{file}: cannot tell the format; expected a name that ends in {', '.join(TABLE_SUFFIXES)}"


@dataclass
class _Gold:
    builder: CorpusBuilder
    columns: Columns
    labels: tuple[str, ...]
    separator: str = ""
    types: dict[str, list[int]] = field(default_factory=dict)  # type of the label: how many, first row

    @property
    def column(self) -> str | None:
        return self.columns.label or self.columns.score

    def read(self, row: int, record: Record) -> str | float | LabelSet | None:
        if self.column is None:
            return None
        value = record[self.column]
        if self.separator:
            return None if is_missing(value) else self._several(row, self.column, value)
        if is_missing(value) or (isinstance(value, str) and not value.strip()):
            return None
        if self.columns.score is not None:
            return self.builder.score(row, self.column, value)
        if not isinstance(value, (str, int, float)):
            kind = type(value).__name__
            raise DataError(f"{self.builder.where(row, self.column)}: expected a label, got a {kind}")
        self.types.setdefault(type(value).__name__, [0, row])[0] += 1
        return self.builder.label(row, self.column, str(value).strip(), self.labels)

    def _several(self, row: int, column: str, value: object) -> LabelSet:
        parts = value.split(self.separator) if isinstance(value, str) else value
        if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
            raise DataError(
                f"{self.builder.where(row, column)}: expected labels with {self.separator!r} between them, or a list "
                f"of strings, got {value!r:.80}"
            )
        names = dict.fromkeys(part.strip() for part in parts if part.strip())
        return LabelSet(tuple(self.builder.label(row, column, name, self.labels) for name in names))

    def refuse_mixture(self) -> None:
        if len(self.types) > 1:
            found = ", ".join(
                f"{count} {kind} (first in row {row})" for kind, (count, row) in self.types.items()
            )
            place = self.builder.where(1, self.column or "").replace("row 1, ", "")
            raise DataError(f"{place}: labels of mixed types: {found}; write all of them as text")
