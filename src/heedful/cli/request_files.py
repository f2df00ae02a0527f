"""Requests that lie in files and on standard input: a line, a row of a table, or a format of the model's own.

A request that stands on the command line itself needs none of this (`heedful.cli.requests`).
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from heedful.cli.request_options import STDIN, RequestOptions
from heedful.data.examples import Corpus
from heedful.data.readers.class_folders import is_class_folder
from heedful.data.readers.corpus_builder import BLOCK_ROWS, CorpusBuilder
from heedful.data.readers.label_lines import begins_with_label
from heedful.data.readers.reading import FileReading, RequestFiles, note_once
from heedful.data.readers.table_files import (
    SPREADSHEETS,
    TABLE_SUFFIXES,
    format_problem,
    is_table_name,
    table_blocks,
)
from heedful.data.readers.text_lines import COMPRESSED, bare_suffix, decoded_lines, numbered_lines
from heedful.errors import DataError, UsageError
from heedful.storage import note_read
from heedful.text.pipes import is_spooled

LINE_SUFFIXES = ("", ".txt", ".text", ".lines", ".tok")
"""Names of files of a text a line, or of a pair with a tab between its texts."""
_STDIN_NAME = Path("standard input")


def blocks_of(options: RequestOptions, file: Path) -> Iterator[Corpus]:
    """Read the requests of a file in blocks.

    Args:
        options: of the command.
        file: the file; `STDIN` is standard input.

    Yields:
        Requests, in order, with their rows.

    Raises:
        UsageError: if what is in the file is not known.
        DataError: naming file, row and field, if it is wrong.
    """
    if options.files and options.files.read and _is_own(options.files, file):
        corpus = options.files.read(file)
        for start in range(0, len(corpus.examples), BLOCK_ROWS):
            yield Corpus(corpus.examples[start : start + BLOCK_ROWS], source=corpus.source)
    elif is_table(file, options.reading) or (is_spooled(file) and _begins_as_table(options, file)):
        how = replace(options.reading.beside(options.trained, file), on_missing=options.reading.on_missing)
        roles = ("premise", "hypothesis") if options.is_pair else ("text",)
        yield from table_blocks(file, roles, how, keep_fields=options.keep_fields)
    else:
        builder = CorpusBuilder(_STDIN_NAME if file == STDIN else file, keep_empty=True)
        encoding = options.reading.encoding
        lines = _stdin_lines(encoding) if file == STDIN else _file_lines(options, file, encoding)
        lines = _without_header(options, str(builder.source), lines)
        yield from builder.blocks(_add_lines(builder, lines, 2 if options.is_pair else 1))


def _is_own(files: RequestFiles, path: Path) -> bool:
    """Return whether a model reads a file in its own way."""
    if path == STDIN:
        return False
    return bare_suffix(path) in files.suffixes or bool(files.recognizes and files.recognizes(path))


def is_table(path: Path, reading: FileReading) -> bool:
    """Return whether a file is read as a table: by its name, as a folder of classes; a pipe by an option for tables.

    Args:
        path: the file.
        reading: how the options say that it is read.

    Returns:
        Whether it is.
    """
    if (
        is_table_name(path)
        or is_class_folder(path)
        or (path != STDIN and os.path.isfile(path) and begins_with_label(path))
    ):
        return True
    return is_spooled(path) and not bare_suffix(path) and bool(reading.columns or reading.of_tables())


def _begins_as_table(options: RequestOptions, path: Path) -> bool:
    """Return whether the first line of a pipe without an ending names the columns of a table."""
    lines = () if bare_suffix(path) else numbered_lines(path, options.reading.encoding or "utf-8")
    return any(_names_columns(options, line) for _, line in itertools.islice(lines, 1))


def _without_header(
    options: RequestOptions, name: str, lines: Iterable[tuple[int, str]]
) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file of a text a line; say so if the first one names the columns of a table."""
    for row, line in lines:
        if row == 1 and _names_columns(options, line):
            note_once(
                f"{name}: the first line, {line!r:.60}, looks like the names of the columns of a table, and is read as "
                f"a text; give a table as a file that ends in {', '.join(TABLE_SUFFIXES[:3])}"
            )
        yield row, line


def _names_columns(options: RequestOptions, line: str) -> bool:
    """Return whether a line names the columns that a table of requests would have, perhaps among others."""
    known = {**options.trained.columns, **options.reading.columns}
    wanted = [known.get(role, role) for role in (("premise", "hypothesis") if options.is_pair else ("text",))]
    parts = ([cell.strip(" \"'") for cell in line.split(mark)] for mark in ",;\t|")
    return any(len(set(cells)) == len(cells) and set(wanted) <= set(cells) for cells in parts)


def _file_lines(options: RequestOptions, path: Path, encoding: str | None) -> Iterator[tuple[int, str]]:
    """Return the lines of a file of a text a line; refuse one whose name says that it is something else."""
    suffix = bare_suffix(path)
    named, own = (options.files.line_suffixes, options.files.suffixes) if options.files else ((), ())
    if suffix in LINE_SUFFIXES + named or is_spooled(path):
        return numbered_lines(path, encoding or "utf-8")
    if suffix in SPREADSHEETS:
        raise UsageError(format_problem(path))
    known = [*LINE_SUFFIXES[1:], *named, *TABLE_SUFFIXES, *own]
    raise UsageError(
        f"{path}: what is in a file that ends in {suffix} is not known; known: {', '.join(known)}, and these with "
        f"{', '.join(COMPRESSED)} added. If it holds one text in each line, read it with --input - < FILE"
    )


def _add_lines(builder: CorpusBuilder, lines: Iterable[tuple[int, str]], sides: int) -> Iterator[int]:
    for row, line in lines:
        texts = tuple(line.split("\t")) if sides == 2 else (line,)
        if len(texts) != sides:
            raise DataError(
                f"{builder.where(row)}: expected premise TAB hypothesis, got {len(texts)} field(s); "
                f"or bring a table ({', '.join(TABLE_SUFFIXES)}) with named columns"
            )
        builder.add(row, texts, None)
        yield row


def _stdin_lines(encoding: str | None) -> Iterator[tuple[int, str]]:
    if sys.stdin is None:  # the shell closed it
        raise DataError(f"{_STDIN_NAME}: is closed; pipe lines into the command, or give --input FILE")
    with contextlib.suppress(OSError):  # a stream in memory has no number
        note_read(sys.stdin.fileno())
    return decoded_lines(sys.stdin.buffer, str(_STDIN_NAME), encoding or "utf-8")
