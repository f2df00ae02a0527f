"""The rows of a part, in blocks; a row that cannot be read is a row too, with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from heedful.bulk.part_files import LINES, PredictionPart, import_parquet
from heedful.data.readers.label_lines import begins_with_label
from heedful.data.readers.reading import FileReading
from heedful.data.readers.record_files import plain_cell
from heedful.data.readers.table_files import no_column, table_records
from heedful.data.readers.text_fields import is_missing
from heedful.data.readers.text_lines import bare_suffix, numbered_lines
from heedful.data.readers.tool_formats import plain_record
from heedful.errors import DataError
from heedful.features.cells import missing_column
from heedful.text.limits import UNPACKED

if TYPE_CHECKING:
    from pyarrow import RecordBatch, Schema

BLOCK_ROWS = 2_048
BLOCK_CHARACTERS = 1 << 20


@dataclass(frozen=True, slots=True)
class PartRow:
    """A row of a part.

    Attributes:
        number: 1-based row in its file, a header included.
        values: what the columns of the texts hold, and then those beside them; empty where there is a reason.
        fields: all fields by name.
        reason: why it cannot be read; empty where it can.
    """

    number: int
    values: tuple[object, ...]
    fields: Mapping[str, object]
    reason: str = ""


@dataclass(frozen=True)
class RowLayout:
    """Where the texts of a row are.

    Attributes:
        roles: ("text",) or ("premise", "hypothesis").
        names: the column of each.
        reading: how a file is read; see `heedful.data.readers.reading`.
        trained: how the training file of the model was read.
        beside: columns that the model reads beside the texts.
    """

    roles: tuple[str, ...]
    names: tuple[str, ...]
    reading: FileReading
    trained: FileReading
    beside: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Return whether a missing value is an empty text."""
        return self.reading.on_missing == "empty"

    def values(self, fields: Mapping[str, object]) -> tuple[object, ...]:
        """Return what the columns of the texts hold, and then those beside them."""
        found = (fields.get(name) for name in self.names)
        texts = tuple("" if self.empty and is_missing(value) else value for value in found)
        return (*texts, *(fields.get(name) for name in self.beside))


def file_blocks(part: PredictionPart, layout: RowLayout) -> Iterator[list[PartRow]]:
    """Read a file that is no Parquet in blocks, in the memory of one.

    Args:
        part: the file.
        layout: where its texts are.

    Returns:
        Rows, at least one.

    Raises:
        DataError: if the file cannot be read on: it is missing, damaged, in another encoding, its quotes do not close,
            or its header lacks a column.
    """
    lines = bare_suffix(part.file) in LINES and not begins_with_label(part.file)
    if lines and layout.beside:
        raise DataError(
            f"{part.file}: has texts alone, and the model also reads the column {layout.beside[0]!r}; bring a table"
        )
    return blocks(_line_rows(part.file, layout) if lines else _rows(part.file, layout))


def blocks(rows: Iterable[PartRow]) -> Iterator[list[PartRow]]:
    """Gather rows to blocks of at most `BLOCK_ROWS`, fewer where their texts are long."""
    block: list[PartRow] = []
    size = 0
    for row in rows:
        block.append(row)
        size += sum(len(value) for value in row.values if isinstance(value, str))
        if len(block) == BLOCK_ROWS or size >= BLOCK_CHARACTERS:
            yield block
            block, size = [], 0
    if block:
        yield block


def _rows(file: Path, layout: RowLayout) -> Iterator[PartRow]:
    how = layout.reading.beside(layout.trained, file)
    is_json = bare_suffix(file) in (".jsonl", ".json")
    unread: list[PartRow] = []
    # A field that an object of JSON leaves out is a missing text, if another object of the file has it.
    absent = set(layout.names) if is_json and layout.empty else set[str]()
    needed = (*(() if absent else layout.names), *layout.beside)
    fields: Mapping[str, object] = {}

    def refuse(number: int, error: DataError) -> None:
        unread.append(PartRow(number, (), {}, str(error).removeprefix(f"{file}: row {number}: ")))

    for number, given in table_records(file, how, refuse):
        fields = plain_record(given) if is_json else given
        yield from unread
        unread.clear()
        absent -= fields.keys()
        if missing := [name for name in needed if name not in fields]:
            said = _no_column(layout, missing[0], fields)
            if not is_json:
                raise DataError(f"{file}: {said}")
            yield PartRow(number, (), fields, said)
            continue
        yield PartRow(number, layout.values(fields), fields)
    if absent and fields:
        raise DataError(f"{file}: {_no_column(layout, min(absent), fields)}")
    yield from unread


def _line_rows(file: Path, layout: RowLayout) -> Iterator[PartRow]:
    sides = len(layout.roles)
    for number, line in numbered_lines(file, layout.reading.encoding or "utf-8"):
        texts = tuple(line.split("\t")) if sides == 2 else (line,)
        if len(texts) != sides:
            said = f"expected premise TAB hypothesis, got {len(texts)} field(s)"
            yield PartRow(number, (), {"line": line}, said)
        else:
            yield PartRow(number, texts, dict(zip(layout.roles, texts, strict=True)))


def _no_column(layout: RowLayout, name: str, fields: Mapping[str, object]) -> str:
    if name in layout.beside:
        return missing_column(name, list(fields))
    role = layout.roles[layout.names.index(name)]
    return no_column(name, fields, f"--column {role}=NAME")


def group_batches(part: PredictionPart) -> Iterator[RecordBatch]:
    """Read a row group of a Parquet file as record batches of at most `BLOCK_ROWS` rows.

    Args:
        part: the row group.

    Yields:
        A pyarrow.RecordBatch.

    Raises:
        DataError: if it is damaged, or unpacks to more than is allowed.
    """
    pyarrow, parquet = import_parquet()
    try:
        with parquet.ParquetFile(part.file) as table:
            if table.metadata.row_group(part.group).total_byte_size > UNPACKED.value():
                raise UNPACKED.exceeded(str(part.file), f"row group {part.group} unpacks to more than")
            yield from table.iter_batches(BLOCK_ROWS, row_groups=[part.group], use_threads=False)
    except DataError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
        said = " ".join(str(error).split())
        raise DataError(
            f"{part.file}: row group {part.group}: not a readable Parquet file: {said}"
        ) from error


def schema_of(part: PredictionPart) -> Schema:
    """Return the pyarrow.Schema of a Parquet file."""
    _, parquet = import_parquet()
    return parquet.read_schema(part.file)


def batch_rows(batch: RecordBatch, layout: RowLayout, first: int) -> list[PartRow]:
    """Return the rows of a record batch with the fields of their texts alone.

    Args:
        batch: a pyarrow.RecordBatch.
        layout: where the texts are.
        first: rows of the file before it.

    Returns:
        The rows.

    Raises:
        DataError: if a text is not UTF-8.
    """
    names = (*layout.names, *layout.beside)
    try:
        columns = [list(map(plain_cell, batch.column(name).to_pylist())) for name in names]
    except UnicodeDecodeError as error:
        raise DataError(f"after row {first:,}: a text is not UTF-8; write the column again") from error
    return [
        PartRow(number, layout.values(fields := dict(zip(names, values, strict=True))), fields)
        for number, values in enumerate(zip(*columns, strict=True), start=first + 1)
    ]
