"""Tables of SQLite and DuckDB files, or what a query gives; nothing but reading is allowed."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from heedful.data.readers.record_files import Record, column_names, plain_cell
from heedful.errors import DataError, MissingExtraError, UsageError
from heedful.storage import note_read

_BATCH = 1_024
_READING = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)


def database_records(file: Path, query: str = "") -> Iterator[tuple[int, Record]]:
    """Read the rows of a query, or of the only table.

    Args:
        file: a file of SQLite; or of DuckDB, whose name ends in ``.duckdb``.
        query: a SELECT; empty for the only table of the file.

    Yields:
        The 1-based row and the fields by name.

    Raises:
        UsageError: if there are several tables and no query.
        DataError: if the file or the query cannot be read, or the query does more than read.
        MissingExtraError: for DuckDB without its package.
    """
    note_read(file)
    reading = _duckdb_rows if file.suffix.lower() == ".duckdb" else _sqlite_rows
    yield from reading(file, query)


def _sqlite_rows(file: Path, query: str) -> Iterator[tuple[int, Record]]:
    try:
        address = f"file:{quote(str(file.absolute()))}?mode=ro"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as connection:
            names = connection.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
            )
            asked = query or _only_table(file, [(name,) for (name,) in names])
            connection.set_authorizer(
                lambda action, *_: sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY
            )
            yield from _rows(connection.execute(asked))
    except sqlite3.Error as error:
        raise _problem(file, query, error) from error


def _duckdb_rows(file: Path, query: str) -> Iterator[tuple[int, Record]]:
    try:
        import duckdb
    except ImportError as error:
        raise MissingExtraError("duckdb", "duckdb", "reading DuckDB") from error
    closed: dict[str, str | bool | int | float | list[str]] = {
        "enable_external_access": "false",
        "lock_configuration": "true",
    }
    try:
        with duckdb.connect(str(file), read_only=True, config=closed) as connection:
            names = connection.execute("SELECT table_schema, table_name FROM information_schema.tables")
            yield from _rows(connection.execute(query or _only_table(file, names.fetchall())))
    except duckdb.Error as error:
        raise _problem(file, query, error) from error


def _only_table(file: Path, names: list[tuple[str, ...]]) -> str:
    """Return what reads the only table, whose name has that of its schema before it where there are schemas."""
    if not names:
        raise DataError(f"{file}: has no tables")
    if len(names) > 1:
        choices = ", ".join(sorted(name[-1] for name in names)[:10])
        raise UsageError(
            f"{file}: has the tables {choices}; name what is read: --query 'SELECT ... FROM ...'"
        )
    quoted = ('"{}"'.format(each.replace('"', '""')) for each in names[0])
    return f"SELECT * FROM {'.'.join(quoted)}"


def _rows(cursor: Any) -> Iterator[tuple[int, Record]]:
    names = column_names([each[0] for each in cursor.description or ()])
    row = 0
    while batch := cursor.fetchmany(_BATCH):
        for cells in batch:
            row += 1
            yield row, dict(zip(names, map(plain_cell, cells), strict=True))


def _problem(file: Path, query: str, error: Exception) -> DataError:
    what = f"the query {query!r:.200} cannot be answered" if query else "cannot be read"
    return DataError(f"{file}: {what}: {str(error).splitlines()[0]:.300}")
