"""The request options to examples."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from heedful.data.examples import Corpus
from heedful.data.readers.build import CorpusBuilder
from heedful.data.readers.opening import bare_suffix, numbered_lines
from heedful.data.readers.requests import read_requests
from heedful.data.readers.roles import is_role_file
from heedful.data.readers.table import TABLE_SUFFIXES, read_table
from heedful.errors import DataError, UsageError

STDIN = Path("-")
_STDIN_NAME = Path("standard input")


def gather(
    texts: tuple[str, ...],
    pair: tuple[str | None, str | None],
    input_file: Path | None,
    columns: str | None,
    on_missing: Literal["error", "empty"],
    *,
    is_pair: bool,
    role_reader: Callable[[Path], Corpus] | None = None,
) -> Corpus:
    """Collect the requests of a command.

    Args:
        texts: values of ``--text``.
        pair: values of ``--premise`` and ``--hypothesis``.
        input_file: value of ``--input``; ``-`` is standard input.
        columns: value of ``--columns``.
        on_missing: what a missing value in a table is.
        is_pair: whether pairs are wanted.
        role_reader: reads files that name the predicates, for a model of semantic roles; None for another.

    Returns:
        One example a request, in order, with its row.

    Raises:
        UsageError: if nothing was given, too much, or what does not fit the model.
        DataError: naming file, row and field, if the input is wrong.
    """
    _check_options(texts, pair, input_file, columns, is_pair=is_pair)
    if input_file is not None and role_reader is not None and is_role_file(input_file):
        return role_reader(input_file)
    if input_file is not None:
        return _from_file(input_file, _column_names(columns, is_pair), on_missing)
    return read_requests([pair] if is_pair else texts, pair=is_pair)


def _check_options(
    texts: tuple[str, ...],
    pair: tuple[str | None, str | None],
    input_file: Path | None,
    columns: str | None,
    *,
    is_pair: bool,
) -> None:
    given_pair = pair != (None, None)
    if is_pair and texts:
        raise UsageError(
            "this model takes pairs: use --premise and --hypothesis, or --input with both columns"
        )
    if not is_pair and given_pair:
        raise UsageError("this model takes single texts: use --text, or --input")
    if given_pair and None in pair:
        raise UsageError("--premise and --hypothesis go together")
    direct = "--premise and --hypothesis" if is_pair else "--text"
    if input_file is None and not texts and not given_pair:
        raise UsageError(f"nothing to read: give {direct}, or --input FILE (- for standard input)")
    if input_file is not None and (texts or given_pair):
        raise UsageError(f"give either {direct} or --input, not both")
    if columns is not None and (input_file is None or not _is_table(input_file)):
        raise UsageError(
            f"--columns is for tables: --input with a name that ends in {', '.join(TABLE_SUFFIXES)}"
        )


def _column_names(columns: str | None, is_pair: bool) -> tuple[str, ...]:
    names = tuple(columns.split(",")) if columns else ("premise", "hypothesis") if is_pair else ("text",)
    wanted = 2 if is_pair else 1
    if len(names) != wanted or not all(names):
        raise UsageError(
            f"--columns {columns!r}: this model takes {wanted} text(s), so name {wanted} column(s)"
        )
    return names


def _is_table(path: Path) -> bool:
    return bare_suffix(path) in TABLE_SUFFIXES


def _from_file(path: Path, columns: tuple[str, ...], on_missing: Literal["error", "empty"]) -> Corpus:
    if _is_table(path):
        if len(columns) == 2:
            return read_table(
                path, premise=columns[0], hypothesis=columns[1], on_missing=on_missing, keep_empty=True
            )
        return read_table(path, text=columns[0], on_missing=on_missing, keep_empty=True)
    if path == STDIN:
        return _from_lines(_STDIN_NAME, _stdin_lines(), len(columns))
    return _from_lines(path, numbered_lines(path), len(columns))


def _from_lines(source: Path, lines: Iterator[tuple[int, str]], sides: int) -> Corpus:
    builder = CorpusBuilder(source, keep_empty=True)
    for row, line in lines:
        texts = tuple(line.split("\t")) if sides == 2 else (line,)
        if len(texts) != sides:
            raise DataError(
                f"{builder.where(row)}: expected premise TAB hypothesis, got {len(texts)} field(s); "
                "or bring a .csv, .tsv, .jsonl or .parquet table with named columns"
            )
        builder.add(row, texts, None)
    return builder.build()


def _stdin_lines() -> Iterator[tuple[int, str]]:
    row = 0
    if sys.stdin is None:  # the shell closed it
        raise DataError(f"{_STDIN_NAME}: is closed; pipe lines into the command, or give --input FILE")
    for row, raw in enumerate(sys.stdin.buffer, start=1):
        try:
            line = raw.decode("utf-8-sig" if row == 1 else "utf-8")
        except UnicodeDecodeError as error:
            place = f"{_STDIN_NAME}: row {row}"
            raise DataError(
                f"{place}: byte 0x{raw[error.start]:02x} is not utf-8; send UTF-8 text"
            ) from error
        yield row, line.rstrip("\r\n")
    if not row:
        raise DataError(f"{_STDIN_NAME}: is empty; at least one line was expected")
