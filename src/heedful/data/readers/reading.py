"""How a file of one's own is read: its columns, encoding and separator, as asked or as the training file was read."""

from __future__ import annotations

import codecs
import csv
import io
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, TypedDict, TypeVar, get_args

from heedful.data.readers.text_lines import (
    DAMAGE,
    bare_suffix,
    check_encoding,
    encoding_of,
    find_file,
    open_text,
)
from heedful.errors import UsageError, check_known
from heedful.features.feature_kinds import wanted_columns
from heedful.text.limits import LINE
from heedful.text.pipes import is_spooled

if TYPE_CHECKING:
    from heedful.data.examples import Corpus

Own = TypeVar("Own")
ROLES = ("text", "premise", "hypothesis", "label", "score", "group")
"""What a column can be; all but the last are also settings, such as ``data.text``."""
USUAL = {".csv": ",", ".tsv": "\t"}
"""The separator that the name of a file promises."""
BOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
"""How the names of spreadsheets end."""
DATABASES = (".sqlite", ".sqlite3", ".db", ".duckdb")
"""How the names of files of SQLite and DuckDB end."""
_OTHERS = (";", "\t", "|", ",")
_SPELLED = {"tab": "\t", "\\t": "\t"}
_NAMES = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars"}
_LOG = logging.getLogger(__name__)


OnMissing = Literal["error", "empty", "skip"]
"""What a missing value is."""


class ReadingOptions(TypedDict, total=False):
    """What is said of how a file is read, by attribute of `FileReading`."""

    encoding: str
    separator: str
    quotes: bool
    header: bool
    on_missing: OnMissing
    label_separator: str
    query: str


@dataclass(frozen=True)
class RequestFiles:
    """Files of requests that a model reads in its own way, beside tables and files of a text a line.

    Attributes:
        suffixes: how their names end.
        read: reads one.
        line_suffixes: further endings of files of a text a line.
        recognizes: tells by the content whether a file of another name is one; None for none.
        read_gold: reads one with its gold; None where that is done in another way.
    """

    suffixes: tuple[str, ...] = ()
    read: Callable[[Path], Corpus] | None = None
    line_suffixes: tuple[str, ...] = ()
    recognizes: Callable[[Path], bool] | None = None
    read_gold: Callable[[Path], Corpus] | None = None


@dataclass(frozen=True)
class FileReading:
    """How a file is read; what is None or missing is left to the reader.

    Attributes:
        columns: one of `ROLES` to the name of a column.
        encoding: encoding of the file.
        separator: character between the fields of CSV and TSV.
        quotes: whether fields of CSV and TSV may be quoted.
        header: whether the first row of CSV and TSV names the columns; without, they are called "1", "2" and so on.
        on_missing: what a missing value is: "error", "empty" or "skip".
        label_separator: what stands between the labels of an example that may have several.
        query: what is asked of a file of SQLite or DuckDB.
        features: columns that are read beside the text.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    encoding: str | None = None
    separator: str | None = None
    quotes: bool | None = None
    header: bool | None = None
    on_missing: OnMissing | None = None
    label_separator: str | None = None
    query: str | None = None
    features: tuple[str, ...] = ()

    @classmethod
    def of_run(cls, run: Mapping[str, object]) -> Self:
        """Return how the training file of a run was read.

        Args:
            run: the settings of a run, as a model folder keeps them.

        Returns:
            What they say; nothing for a known data set and for examples from Python.
        """
        data = run.get("data")
        if not isinstance(data, Mapping) or data.get("set"):
            return cls()
        features = _features_of(data.get("features"))
        if not data.get("train"):  # examples from Python, whose table may have named the text
            named = [
                role for role in ROLES[:3] if features and isinstance(data.get(role), str) and data[role]
            ]
            return cls({role: str(data[role]) for role in named}, features=features)
        columns = {role: data[role] for role in ROLES if isinstance(data.get(role), str) and data[role]}
        options = data.get("options")
        said = _options_of(options if isinstance(options, Mapping) else {})
        return cls(columns, **said, features=features)

    @classmethod
    def of_options(cls, options: Mapping[str, object]) -> Self:
        """Return what the options of a command say; see `as_options`."""
        columns = {role: name for role in ROLES if isinstance(name := options.get(role), str) and name}
        return cls(columns, **_options_of(options))

    def as_options(self) -> dict[str, object]:
        """Return the options of a command that say this, by role of a column and by attribute; None where not given."""
        return {**{role: self.columns.get(role) for role in ROLES}, **self.options()}

    def options(self) -> dict[str, str | bool | None]:
        """Return everything but the columns, by attribute."""
        return {name: getattr(self, name) for name in _OPTIONS}

    def of_tables(self) -> dict[str, object]:
        """Return what is said beside the columns and is for tables alone."""
        return {name: value for name, value in self.chosen_options().items() if name != "encoding"}

    def chosen_options(self) -> ReadingOptions:
        """Return `options` without those that are left to the reader."""
        return _options_of(self.options())

    def beside(self, trained: FileReading, file: Path) -> FileReading:
        """Return how to read a file that a trained model is given.

        What is not asked for is as in training, but for a query, which is for one file. A file that is UTF-8 is read as
        such, whatever the encoding of the training file was, and a file without its separator in the first line is
        looked at anew.

        Args:
            trained: how the training file was read.
            file: the file.

        Returns:
            How to read it.
        """
        kept = trained.chosen_options()
        kept.pop("query", None)
        for name in meaningless(file):
            kept.pop(name, None)  # type: ignore[misc]
        if os.path.isdir(file):  # whose columns have names of their own
            return replace(self, features=trained.features, **(kept | self.chosen_options()))
        if self.encoding is None and "encoding" in kept and _is_utf8(file):
            del kept["encoding"]
        if self.separator is None and "separator" in kept:
            mark = checked_separator(kept["separator"])
            if mark.encode("ascii", "replace") not in _first_line(file):
                del kept["separator"]
        columns, features = {**trained.columns, **self.columns}, self.features or trained.features
        return replace(self, columns=columns, features=features, **(kept | self.chosen_options()))


def meaningless(file: Path) -> tuple[str, ...]:
    """Return the options that the format of a file does not have, by attribute of `FileReading`.

    Args:
        file: a table, a pipe or a folder of text files; its name says the format.

    Returns:
        Of "query", "separator", "quotes", "header" and "encoding" those that mean nothing for it.
    """
    suffix = file.suffix.lower()
    if suffix in DATABASES:
        return "separator", "quotes", "header", "encoding"
    if suffix in BOOKS:
        return "query", "separator", "quotes", "encoding"
    if suffix == ".parquet":
        return "query", "separator", "quotes", "header", "encoding"
    separated = bare_suffix(file) in USUAL or is_spooled(file)
    return ("query",) if separated else ("query", "separator", "quotes", "header")


def options_of(kind: type[Own], options: Mapping[str, object]) -> Own:
    """Return the options of a reader, checked.

    Args:
        kind: the dataclass of its options.
        options: ``data.options`` of the settings.

    Returns:
        The options.

    Raises:
        UsageError: listing every option that is unknown or of another type.
    """
    from heedful.settings import read_table

    problems: list[str] = []
    own = read_table(kind, options, "data.options.", problems)
    if own is None or problems:
        raise UsageError("; ".join(problems))
    return own


def _features_of(named: object) -> tuple[str, ...]:
    """Return the names of the columns that a run read beside the text."""
    given = [each for each in named if isinstance(each, str)] if isinstance(named, list | tuple) else []
    return tuple(wanted.name for wanted in wanted_columns(given))


def _options_of(given: Mapping[str, object]) -> ReadingOptions:
    """Return the options that are given, each of its type."""
    found: ReadingOptions = {}
    if isinstance(encoding := given.get("encoding"), str):
        found["encoding"] = encoding
    if isinstance(separator := given.get("separator"), str):
        found["separator"] = separator
    if isinstance(quotes := given.get("quotes"), bool):
        found["quotes"] = quotes
    if isinstance(header := given.get("header"), bool):
        found["header"] = header
    for name in get_args(OnMissing):
        if given.get("on_missing") == name:
            found["on_missing"] = name
    if isinstance(label_separator := given.get("label_separator"), str):
        found["label_separator"] = label_separator
    if isinstance(query := given.get("query"), str):
        found["query"] = query
    return found


_OPTIONS = tuple(each.name for each in fields(FileReading) if each.name not in ("columns", "features"))


def checked_separator(separator: str) -> str:
    """Return the character that separates fields.

    Args:
        separator: the character, or "tab".

    Returns:
        One character.

    Raises:
        UsageError: if it is none that can separate fields.
    """
    mark = _SPELLED.get(separator, separator)
    if len(mark) != 1 or mark in '"\r\n' or mark.isalnum():
        raise UsageError(f"separator {separator!r}: expected one character such as ; or |, or the word tab")
    return mark


def find_separator(file: Path, encoding: str, *, quotes: bool) -> str:
    """Find the separator of a table in its first line, and log it if it is not what the name of the file promises.

    Args:
        file: a ``.csv`` or ``.tsv`` file that exists.
        encoding: its encoding.
        quotes: whether fields may be quoted.

    Returns:
        The usual separator, unless the first line has only another one.
    """
    check_encoding(encoding)
    usual = USUAL.get(bare_suffix(file), ",")  # a pipe has no ending
    header = _first_line(file).decode("utf-8" if _is_wide(file) else encoding, "replace").strip("\r\n")
    if _fields(header, usual, quotes=quotes) > 1:
        return usual
    counts = {mark: _fields(header, mark, quotes=quotes) for mark in _OTHERS}
    mark = max(counts, key=counts.__getitem__)
    if counts[mark] < 2:
        return usual
    note_once(
        f"{file}: read with {_NAMES[mark]} between the fields, because its first line has {_NAMES[mark]} and no "
        f"{_NAMES[usual]}; --separator names another character"
    )
    return mark


def stated_separator(file: Path) -> str:
    """Return the separator that the first line of a file of Excel states, as ``sep=;``; empty where there is none."""
    line = _first_line(file).removeprefix(codecs.BOM_UTF8).rstrip(b"\r\n").strip(b'"')
    return chr(line[4]) if len(line) == 5 and line[:4].lower() == b"sep=" and line[4] < 128 else ""


def parse_columns(columns_options: tuple[str, ...]) -> dict[str, str]:
    """Read the values of ``--column``.

    Args:
        columns_options: such as "text=review".

    Returns:
        Role to name; of several label columns their names with commas between.

    Raises:
        UsageError: if one is written in another way, names no role, or names one but label twice.
    """
    columns: dict[str, str] = {}
    for each in columns_options:
        role, sign, name = each.partition("=")
        if not sign or not name:
            raise UsageError(f"--column {each!r}: write ROLE=NAME, for example text={each or 'review'}")
        if role not in ROLES and name in ROLES:
            raise UsageError(f"--column {each!r}: the role comes first: write {name}={role}")
        check_known(role, ROLES, f"--column {each!r}: there is no role {role!r}")
        if role == "label" and role in columns:  # several label columns
            columns[role] = several_columns((*columns[role].split(","), name))
        elif columns.setdefault(role, name) != name:
            raise UsageError(f"--column names two columns for {role}: {columns[role]!r} and {name!r}")
    return columns


def several_columns(names: Sequence[str]) -> str:
    """Return what settings call several label columns: their names with commas between.

    Raises UsageError if one is named twice.
    """
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise UsageError(f"the label column {twice[0]!r:.80} is named twice; name it once")
    return ",".join(names)


def _fields(header: str, mark: str, *, quotes: bool) -> int:
    if not quotes:
        return len(header.split(mark))
    try:
        return len(next(csv.reader(io.StringIO(header), delimiter=mark), []))
    except csv.Error:
        return 1


def _is_wide(file: Path) -> bool:
    """Return whether a file begins with a mark of UTF-16 or UTF-32, so that it is read as UTF-8."""
    with open_text(find_file(file)) as stream:
        return encoding_of(stream, "") == "utf-8"


def _first_line(file: Path) -> bytes:
    return next(_pieces(file, lines=True), b"")


def _is_utf8(file: Path) -> bool:
    """Return whether all bytes of a file are UTF-8."""
    decode = codecs.getincrementaldecoder("utf-8")().decode
    try:
        for piece in _pieces(file, lines=False):
            decode(piece)
        decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _pieces(file: Path, *, lines: bool) -> Iterator[bytes]:
    """Yield the lines or the blocks of a file; a damaged one just ends, for its reader reports it."""
    longest = LINE.value()
    with open_text(find_file(file)) as stream:
        try:
            while piece := stream.readline(longest) if lines else stream.read(1 << 16):
                yield piece
        except DAMAGE:
            return


@cache
def note_once(line: str) -> None:
    """Log a warning, once in a process: a file is read several times."""
    _LOG.warning(line)
