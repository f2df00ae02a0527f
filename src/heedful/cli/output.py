"""How results are printed: JSON for machines, aligned columns on a terminal, tab-separated rows elsewhere."""

from __future__ import annotations

import errno
import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO, cast

import click

LONGEST_MESSAGE = 1_000
_TAIL = 300
"""Characters of a message, and those of its end, where what to do stands."""
_REMEMBERED = 1_000
"""Lines of the log that are known again."""
MOST_ITEMS = 50
"""Items of the list in a message."""


class Lasting:
    """A terminal that may be closed while a command runs: what is written to it afterwards is dropped.

    Args:
        terminal: the stream that is written to.
    """

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal

    def write(self, text: str) -> int:
        """Write text."""
        self._unless_closed(lambda: self._terminal.write(text))
        return len(text)

    def flush(self) -> None:
        """Let the terminal show what was written."""
        self._unless_closed(self._terminal.flush)

    def _unless_closed(self, write: Callable[[], object]) -> None:
        try:
            write()
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            nowhere = os.open(os.devnull, os.O_WRONLY)  # what is in the buffer still must go somewhere too
            os.dup2(nowhere, self._terminal.fileno())
            os.close(nowhere)

    def __getattr__(self, name: str) -> object:
        return getattr(self._terminal, name)


class VisibleStream:
    """A text stream in which control characters and direction overrides stand as ``⟨U+001B⟩``.

    Whatever writes to it, be it a command, the log, a warning or another library, no text of a user's file can move the
    cursor, name the window or turn a line round. What was read from a pipe is called by the name of the pipe.

    Args:
        terminal: the stream that is written to.

    Attributes:
        terminal: the same, for what draws on a terminal itself: the progress bar, and colors.
    """

    def __init__(self, terminal: TextIO) -> None:
        self.terminal = terminal
        self.flush, self.isatty = terminal.flush, terminal.isatty  # asked for at every line

    def write(self, text: str) -> int:
        """Write text; line ends and tabs stay."""
        pipes = sys.modules.get(
            "heedful.text.pipes"
        )  # where nothing has read a pipe there is nothing to import
        self.terminal.write(shown(pipes.with_pipes_named(text) if pipes else text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write lines."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> object:
        if name == "buffer":  # who finds it writes past us
            raise AttributeError(name)
        return getattr(self.terminal, name)


def shown(text: str) -> str:
    """Return text that is safe to print, its line ends kept; see `heedful.text.characters.visible`."""
    if text.replace("\n", "").replace("\t", "").isprintable():  # nearly always
        return text
    from heedful.text.characters import visible

    return visible(text, one_line=False)


def message(text: str) -> str:
    """Return a message as one line of at most `LONGEST_MESSAGE` characters; the middle of a longer one is left out.

    The items of a list, each after a line end and two spaces, keep their lines; of more than `MOST_ITEMS` the last ones
    are counted.
    """
    first, *items = text.split("\n  ")
    more = [f"and {len(items) - MOST_ITEMS:,} more"] if len(items) > MOST_ITEMS else []
    return "\n  ".join(map(_line, [first, *items[:MOST_ITEMS], *more]))


def _line(text: str) -> str:
    line = shown(" ".join(text.splitlines()))
    if len(line) <= LONGEST_MESSAGE:
        return line
    left_out = len(line) - LONGEST_MESSAGE
    return f"{line[: LONGEST_MESSAGE - _TAIL]} … ({left_out:,} characters) … {line[-_TAIL:]}"


def print_note(text: str) -> None:
    """Print a line beside the results, on standard error: one line, whatever a name of a file in it holds."""
    click.echo(_line(text), err=True)


class _Once(logging.Filter):
    """Lets a line of the log through once: what reads a file twice in a command says the same of it twice."""

    def __init__(self) -> None:
        super().__init__()
        self._known: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        line = record.getMessage()
        if line in self._known:
            return False
        if len(self._known) < _REMEMBERED:
            self._known.add(line)
        return True


@contextmanager
def outlet() -> Iterator[None]:
    """Let standard output and standard error show what is written to them, and each line of the log once."""
    streams, log, once = (sys.stdout, sys.stderr), logging.lastResort, _Once()
    sys.stdout, sys.stderr = (stream and VisibleStream(_lasting(stream)) for stream in streams)
    if log is not None:
        log.addFilter(once)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams
        if log is not None:
            log.removeFilter(once)


def _lasting(stream: TextIO) -> TextIO:
    return cast(TextIO, Lasting(stream)) if stream.isatty() else stream


def drawn_on(stream: TextIO) -> TextIO:
    """Return the terminal behind a stream, for lines that hold escape sequences of our own."""
    return stream.terminal if isinstance(stream, VisibleStream) else stream


def exact(stream: TextIO) -> TextIO:
    """Return what data is written to: a file or pipe gets every character as it is, a terminal shows them."""
    return stream if stream.isatty() else drawn_on(stream)


_ASCII = str.maketrans(
    {**dict.fromkeys("█▉▊▋▌", "#"), **dict.fromkeys("▍▎▏", " "), "…": "~", "—": "-", "±": "+-"}
)


def print_json(value: object) -> None:
    """Print one JSON value on one line; a number that is not finite becomes null, a control character its escape."""
    from heedful.text.characters import json_line

    click.echo(json_line(value))


def print_rows(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows; see `RowPrinter.print`."""
    RowPrinter().print(header, rows)


class RowPrinter:
    """Prints rows, be it in several blocks: on a terminal the first one sets the header and the widths.

    Args:
        header: whether the names of the columns are printed first; None for on a terminal alone.
    """

    def __init__(self, header: bool | None = None) -> None:
        self._header = sys.stdout.isatty() if header is None else header
        self._widths: list[int] | None = None

    def print(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print rows: on a terminal aligned under a header and cut to its width, elsewhere tab-separated and bare.

        Args:
            header: name of each column.
            rows: the fields; tabs and line breaks inside one become spaces.
        """
        from heedful.text.characters import cells, pad, shorten, visible

        clean = [[visible(field) for field in row] for row in rows]
        table = [list(header), *clean] if self._header else clean
        self._header = False
        if not table:
            return
        if not sys.stdout.isatty():
            for row in table:
                click.echo("\t".join(row))
            return
        if self._widths is None:
            self._widths = [min(max(cells(row[k]) for row in table), 40) for k in range(len(header))]
        for row in table:
            line = "  ".join(
                [*(pad(field, width) for field, width in zip(row[:-1], self._widths, strict=False)), row[-1]]
            )
            print_text(shorten(line, terminal_width()).rstrip())


def print_text(text: str, colored: bool = False) -> None:
    """Print text; block characters and the like become ASCII where standard output cannot show them.

    Args:
        text: the text.
        colored: whether it holds escape sequences of our own; what it quotes must then be visible already.
    """
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = text.translate(_ASCII)
    click.echo(text, file=drawn_on(sys.stdout) if colored else None)


def terminal_width() -> int:
    """Return the columns of the terminal, at most 120; 80 where there is none."""
    return min(shutil.get_terminal_size((80, 24)).columns, 120)
