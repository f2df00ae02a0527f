"""The formats most users bring: CSV, TSV, JSON and Parquet with named columns."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from heedful.data.examples import Corpus
from heedful.data.readers.class_folders import folder_records, found_data, is_class_folder
from heedful.data.readers.corpus_builder import CorpusBuilder
from heedful.data.readers.gold_cells import NO_LABEL, GoldCells, PassedOver
from heedful.data.readers.label_lines import begins_with_label, label_line_records
from heedful.data.readers.reading import (
    BOOKS,
    DATABASES,
    USUAL,
    FileReading,
    checked_separator,
    find_separator,
    meaningless,
    note_once,
    stated_separator,
)
from heedful.data.readers.record_files import (
    FieldForm,
    Record,
    Refuse,
    json_records,
    parquet_records,
    separated_records,
    stop,
)
from heedful.data.readers.text_fields import OnMissing, TextColumns, check_on_missing, is_missing, text_fields
from heedful.data.readers.text_lines import bare_suffix
from heedful.data.readers.tool_formats import Remarks, plain_record, rejected
from heedful.errors import DataError, UsageError, listed, nearest
from heedful.features.cells import plain_cell
from heedful.text.pipes import is_spooled

_LOOKED_AT = 1_000
"""Rows of JSON in which a field must stand once, so that it is missing where it does not."""
TABLE_SUFFIXES = (".csv", ".tsv", ".jsonl", ".json", ".parquet")
"""Names of tables that are text, and of Parquet."""
BINARY_TABLES = (*BOOKS, *DATABASES)
"""Names of tables that other programs keep."""
SPREADSHEETS = (".numbers",)
"""Names of spreadsheets that cannot be read."""


def is_table_name(path: Path) -> bool:
    """Return whether a name is that of a table that can be read."""
    return bare_suffix(path) in TABLE_SUFFIXES or path.suffix.lower() in BINARY_TABLES


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
    known: Sequence[str] = (),
    on_missing: OnMissing = "error",
    keep_empty: bool = False,
    encoding: str = "utf-8",
    separator: str = "",
    quotes: bool = True,
    header: bool = True,
    label_separator: str = "",
    weight: str = "",
    query: str = "",
    features: Sequence[str] = (),
    label_columns: bool = False,
) -> Corpus:
    """Read a table; the suffix (.csv .tsv .jsonl .json .parquet, all but the last also compressed) says the format.

    Spreadsheets (.xlsx .xls .ods), files of SQLite and DuckDB, and folders with a folder of text files for each class
    are read too, the last with the columns "text" and "label". A file of any other name whose lines begin with
    ``__label__`` is read as fastText does, into "text" and "label". JSON is one object a line, or an array of objects,
    under either suffix; also as Label Studio, doccano, Prodigy and spaCy write it
    (`heedful.data.readers.tool_formats`).

    Args:
        path: the file.
        text: column of the text; or
        premise: column of the first text of a pair, and
        hypothesis: column of the second.
        label: column of the class name. Numbers become text once, here; a column that mixes types is an error. For
            several labels also one column for each, which holds 0 or 1, with commas between the names of the columns.
        score: column of a number.
        group: column a breakdown goes by.
        labels: the class names allowed; empty for any.
        known: those of a trained model, beside which "-" and "ignore" are no labels; others are read too.
        on_missing: what a missing value (None, NaN) does: "error", "empty" (an empty text), or "skip" (counted). A
            missing label is an error unless "skip". An empty string is a text, not a missing value.
        keep_empty: keep rows of which a text is empty rather than count and leave them out.
        encoding: encoding of CSV, TSV and JSON.
        separator: character between the fields of CSV and TSV, or "tab"; empty for that of the first line.
        quotes: whether CSV and TSV quote fields that hold separators; without, a quotation mark is a character.
        header: whether the first row of CSV and TSV names the columns; without, they are called "1", "2" and so on.
        label_separator: what stands between the labels of an example that may have several, or none where the field is
            empty; JSON may also hold a list of them. Empty where an example has one label.
        weight: column of how much each example counts in training, 0 or more; empty where all count alike.
        query: a SELECT for a file of SQLite or DuckDB; empty for its only table.
        features: columns that are read beside the text; their values are kept as plain ones.
        label_columns: whether ``label`` names several columns with commas between, each of which holds one class.

    Returns:
        The examples.

    Raises:
        UsageError: if columns or options contradict each other, or the suffix is unknown.
        DataError: naming row and field, if something is missing, mistyped or unknown.
        MissingExtraError: for Parquet, spreadsheets and DuckDB without the package that reads them.
    """
    columns = TextColumns.named(text, premise, hypothesis, label, score, group)
    file = found_data(path)
    builder = CorpusBuilder(file, keep_empty=keep_empty)
    how = FileReading(
        {}, encoding, separator, quotes, header, on_missing, query=query, features=tuple(features)
    )
    for _ in _read(
        builder,
        columns,
        GoldCells(builder, columns, known, label_separator, labels, label_columns=label_columns),
        file,
        how,
        weight,
        trains=True,
    ):
        pass
    return builder.build()


def table_blocks(
    path: str | Path,
    roles: tuple[str, ...],
    how: FileReading,
    *,
    known: Sequence[str] = (),
    keep_fields: bool = False,
    label_columns: bool = False,
) -> Iterator[Corpus]:
    """Read a table in blocks, empty texts kept; see `read_table`.

    Args:
        path: the file.
        roles: "text", or "premise" and "hypothesis"; then "label" or "score", and "group", where they are read. A
            column that is not named has the name of its role.
        how: how the file is read.
        known: see `read_table`.
        keep_fields: whether the examples keep all fields of their rows.
        label_columns: see `read_table`.

    Yields:
        The examples; see `CorpusBuilder.blocks`.
    """
    file = found_data(path)
    builder = CorpusBuilder(file, keep_empty=True, keep_fields=keep_fields)
    gold = {role: how.columns.get(role, role) for role in roles if role in ("label", "score", "group")}
    columns = TextColumns(tuple(how.columns.get(role, role) for role in roles if role not in gold), **gold)
    targets = GoldCells(builder, columns, known, how.label_separator or "", label_columns=label_columns)
    yield from builder.blocks(_read(builder, columns, targets, file, how))


def _read(
    builder: CorpusBuilder,
    columns: TextColumns,
    gold: GoldCells,
    file: Path,
    how: FileReading,
    weight: str = "",
    *,
    trains: bool = False,
) -> Iterator[int]:
    """Add the rows of a table to a builder, and yield the number of each.

    Where a model is trained, the columns beside the text must be there; else the model says what it needs.
    """
    builder.columns, is_json = columns.texts, bare_suffix(file) in (".json", ".jsonl")
    on_missing, roles = check_on_missing(how.on_missing or "error"), columns.roles()
    remarks = Remarks()
    known_to_stand = set[str]()
    for row, given in table_records(file, how):
        record = plain_record(given) if is_json else given
        if is_json and gold.column is not None:
            if reason := rejected(record, (*gold.columns(record), *columns.texts)):
                builder.skip(reason)
                continue
            if "annotations" in record:  # a task of Label Studio that nobody has annotated yet
                record = {gold.column: None, **record}
        for role, name in roles:
            if name not in record and not (role == "label" and gold.columns(record) != (name,)):
                if not is_json or (name not in known_to_stand and not _stands(file, how, name)):
                    raise _no_column(file, row, record, role, name, how)
                known_to_stand.add(name)
                record = {**record, name: None}  # programs leave out what is null
        cells = None
        if how.features:
            cells = _cells(builder, file, row, record, how) if trains else record
        texts = text_fields(builder, row, record, columns.texts, on_missing)
        if texts is None:
            continue
        target = gold.read(row, record)
        if isinstance(target, PassedOver):
            builder.skip(target.reason)
            continue
        if target is None and gold.column is not None:
            if on_missing != "skip":
                raise DataError(
                    f"{builder.where(row, gold.column)}: value is missing; {gold.filled_in} or drop the row, or "
                    "skip all such rows with --on-missing skip"
                )
            builder.skip(NO_LABEL)
            continue
        kind = (
            "" if columns.group is None or is_missing(record[columns.group]) else str(record[columns.group])
        )
        builder.add(row, texts, target, group=kind, fields=given, cells=cells)
        if weight:
            builder.weigh(row, builder.weight(row, weight, builder.field(row, record, weight)))
        if gold.column is not None:
            remarks.see(record, (*gold.columns(record), *columns.texts))
        yield row
    gold.finish()
    for note in remarks.notes():
        builder.note(f"{file}: {note}")


def _stands(file: Path, how: FileReading, name: str) -> bool:
    """Return whether a field stands in one of the first rows of a file of JSON."""
    try:
        ahead = itertools.islice(table_records(file, how), _LOOKED_AT)
        return any(name in plain_record(record) for _, record in ahead)
    except DataError:  # reported where it is read
        return False


def _cells(
    builder: CorpusBuilder, file: Path, row: int, record: Record, how: FileReading
) -> dict[str, object]:
    """Return the values of the columns beside the text, by name."""
    for name in how.features:
        if name not in record:
            is_json = bare_suffix(file) in (".json", ".jsonl")
            place = f"{file}: row {row}" if is_json else str(file)
            raise DataError(f"{place}: {no_column(name, record, '--feature NAME')}")
    return {name: plain_cell(record[name], builder.where(row, name)) for name in how.features}


def _no_column(file: Path, row: int, record: Record, role: str, name: str, how: FileReading) -> DataError:
    """Return the refusal of a table without a column: the fault is in the header, and of JSON in the row."""
    is_json = bare_suffix(file) in (".json", ".jsonl")
    place = f"{file}: row {row}" if is_json else str(file)
    remedy = f"--column {role}=NAME"
    if bare_suffix(file) in USUAL and how.header is not False:
        remedy += f"; if the first row is an example and names no columns: --no-header --column {role}=NUMBER"
    return DataError(f"{place}: {no_column(name, record, remedy)}")


def no_column(name: str, present: Iterable[object], remedy: str) -> str:
    """Report that a table lacks a column, which it has, and how to name the right one.

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
    return f"no column {name!r}; columns: {listed(names)}{close} Name yours: {remedy}"


def table_records(file: Path, how: FileReading, refuse: Refuse = stop) -> Iterator[tuple[int, Record]]:
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
    _report_unused(file, how)
    if is_class_folder(file):
        return folder_records(file, encoding)
    if file.suffix.lower() in BOOKS:
        from heedful.data.readers.spreadsheets import spreadsheet_records

        return spreadsheet_records(file, header=how.header is not False)
    if file.suffix.lower() in DATABASES:
        from heedful.data.readers.databases import database_records

        return database_records(file, how.query or "")
    if suffix in (".jsonl", ".json"):
        return json_records(file, encoding, refuse)
    if suffix == ".parquet" and file.suffix.lower() == suffix:
        return parquet_records(file)
    if suffix in USUAL or is_spooled(file):
        quotes, stated = how.quotes is not False, stated_separator(file)
        if how.separator:
            separator = checked_separator(how.separator)
        else:
            separator = stated or find_separator(file, encoding, quotes=quotes)
        form = FieldForm(separator, quotes, how.header is not False, skip=1 if stated else 0)
        return separated_records(file, encoding, form, refuse)
    if begins_with_label(file):
        return label_line_records(file, encoding)
    raise UsageError(format_problem(file))


def _report_unused(file: Path, how: FileReading) -> None:
    """Report which options the format of a file does not have, so that nobody believes that they were followed."""
    said = how.chosen_options()
    for name in meaningless(file):
        if said.get(name, "utf-8") not in ("", "utf-8", True):
            option = f"no-{name}" if name in ("quotes", "header") else name
            note_once(f"{file}: --{option} means nothing for a file of this kind, and is not used")


def format_problem(file: Path) -> str:
    """Return why a file whose name is not that of a table cannot be read, and what to do."""
    suffix = bare_suffix(file)
    if suffix in SPREADSHEETS:
        return (
            f"{file}: is a spreadsheet; save it as CSV (in Excel: Save As, 'CSV UTF-8'), and name that file"
        )
    return f"{file}: cannot tell the format; expected a name that ends in {', '.join(TABLE_SUFFIXES)}"
