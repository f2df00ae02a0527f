"""Which parts there are: a row group of a Parquet file, or a file of another format."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from heedful.data.readers.table_files import TABLE_SUFFIXES, no_column
from heedful.data.readers.text_lines import COMPRESSED, bare_suffix
from heedful.errors import DataError, MissingExtraError, UsageError
from heedful.features.cells import missing_column

if TYPE_CHECKING:
    from pyarrow import DataType

LINES = (".txt", ".text", ".lines")
"""Endings of files of a text a line."""
OUTPUTS = {
    ".parquet": ("parquet", "csv", "tsv", "jsonl"),
    ".csv": ("csv", "tsv", "jsonl"),
    ".tsv": ("tsv", "csv", "jsonl"),
    ".jsonl": ("jsonl",),
    ".json": ("jsonl",),
    **dict.fromkeys(LINES, ("csv", "tsv", "jsonl")),
}
"""Ending of a part to the formats in which its predictions can be written, the usual one first."""


@dataclass(frozen=True)
class PredictionPart:
    """What one task predicts.

    Attributes:
        file: the file.
        name: of what is written for it, without an ending; may hold folders.
        format: of what is written for it.
        group: the row group of a Parquet file; None for a whole file.
        first: rows of the file before it.
        state: size of the file in bytes and when it was last changed, in nanoseconds.
    """

    file: Path
    name: str
    format: str
    group: int | None
    first: int
    state: tuple[int, int]

    @property
    def output(self) -> str:
        """Return the name of the file that is written for it."""
        return f"{self.name}.{self.format}"


def is_pattern(text: str) -> bool:
    """Return whether a value of ``--input`` stands for several files."""
    return glob.has_magic(text) and not Path(text).exists()


def find_files(pattern: str) -> list[tuple[Path, str]]:
    """Find the files that a pattern stands for.

    Args:
        pattern: a path in which ``*``, ``?``, ``[...]`` and ``**`` stand for what they stand for in a shell; or a file.

    Returns:
        Each file, and its path below the part of the pattern that has no such sign, in the order of their names.

    Raises:
        DataError: if there is none.
    """
    if not is_pattern(pattern):
        files = [Path(pattern)] if Path(pattern).exists() else []
    else:
        files = [Path(found) for found in sorted(glob.glob(pattern, recursive=True))]
    files = [file for file in files if not file.is_dir()]
    if not files:
        raise DataError(
            f"--input {pattern}: no file has such a name. Check the path, and put a pattern in quotes: "
            "--input 'part-*.parquet'"
        )
    base = Path(*_fixed(Path(pattern).parts[:-1]))
    return [(file, str(file.relative_to(base))) for file in files]


def _fixed(parts: Sequence[str]) -> Iterator[str]:
    for part in parts:
        if glob.has_magic(part):
            return
        yield part


def list_parts(
    files: Sequence[tuple[Path, str]],
    columns: Sequence[tuple[str, str]],
    wanted: str,
    beside: Sequence[str] = (),
) -> list[PredictionPart]:
    """Look into every file and return its parts; nothing is predicted before this has ended.

    Args:
        files: from `find_files`.
        columns: role and name of the columns that a Parquet file must have.
        wanted: format of what is written; empty for that of each file.
        beside: names of further columns that it must have, of any kind.

    Returns:
        The parts in order.

    Raises:
        UsageError: if a file is of a format that is not read, or cannot be written as it is asked for, or two files
            would be written to one name.
        DataError: if a Parquet file is damaged, or lacks a column of text.
        MissingExtraError: for Parquet without pyarrow.
    """
    parts: list[PredictionPart] = []
    named: dict[str, Path] = {}
    for file, inner in files:
        form = _format(file, wanted)
        stem = _stem(inner)
        if named.setdefault(stem, file) != file:
            raise UsageError(
                f"{named[stem]} and {file}: the predictions of both would be written to {stem}.*; name one pattern "
                "for each ending and write to two folders"
            )
        status = file.stat()
        state = (status.st_size, status.st_mtime_ns)
        if bare_suffix(file) != ".parquet":
            parts.append(PredictionPart(file, stem, form, None, 0, state))
            continue
        first = 0
        for group, rows in enumerate(_row_groups(file, columns, beside)):
            parts.append(PredictionPart(file, f"{stem}-{group:05}", form, group, first, state))
            first += rows
    return parts


def _format(file: Path, wanted: str) -> str:
    suffix = bare_suffix(file)
    if suffix not in OUTPUTS or (suffix == ".parquet" and file.suffix.lower() != suffix):
        known = ", ".join((*TABLE_SUFFIXES, *LINES))
        raise UsageError(
            f"{file}: parts are read from files that end in {known}; all but .parquet also with "
            f"{', '.join(COMPRESSED)} added"
        )
    possible = OUTPUTS[suffix]
    if wanted and wanted not in possible:
        raise UsageError(f"--format {wanted}: predictions of {file} can be written as {', '.join(possible)}")
    return wanted or possible[0]


def _stem(inner: str) -> str:
    bare = inner
    for suffix in COMPRESSED:
        bare = bare.removesuffix(suffix)
    return bare[: -len(Path(bare).suffix)] if Path(bare).suffix else bare


def _row_groups(file: Path, columns: Sequence[tuple[str, str]], beside: Sequence[str]) -> list[int]:
    """Return the number of rows of each row group of a Parquet file that has these columns of text, and others."""
    pyarrow, parquet = import_parquet()
    try:
        with parquet.ParquetFile(file) as table:
            schema = table.schema_arrow
            counts = [table.metadata.row_group(k).num_rows for k in range(table.metadata.num_row_groups)]
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise DataError(f"{file}: not a readable Parquet file: {' '.join(str(error).split())}") from error
    if len(set(schema.names)) < len(schema.names):
        raise DataError(f"{file}: names a column twice: {', '.join(schema.names)}")
    for role, name in columns:
        if name not in schema.names:
            raise DataError(f"{file}: {no_column(name, schema.names, f'--column {role}=NAME')}")
        if not _is_text(pyarrow, kind := schema.field(name).type):
            raise DataError(f"{file}: the column {name!r} holds {kind}, and text was expected")
    for name in beside:
        if name not in schema.names:
            raise DataError(f"{file}: {missing_column(name, schema.names)}")
    return counts


def _is_text(pyarrow: ModuleType, kind: DataType) -> bool:
    types = pyarrow.types
    inner = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(inner) or types.is_large_string(inner) or str(inner) == "string_view")


def import_parquet() -> tuple[ModuleType, ModuleType]:
    """Return pyarrow and its reader of Parquet; raises MissingExtraError if it is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("pyarrow", "parquet", "reading Parquet") from error
    return pyarrow, pyarrow.parquet
