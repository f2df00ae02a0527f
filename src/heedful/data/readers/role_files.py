"""Semantic roles in any of the formats that are read, by the name of the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from heedful.data.examples import Corpus, Frame
from heedful.data.parses import is_number, is_word
from heedful.data.readers.corpus_builder import CorpusBuilder
from heedful.data.readers.reading import options_of
from heedful.data.readers.role_columns import read_role_columns, tags_or_none
from heedful.data.readers.text_lines import bare_suffix, find_file, numbered_blocks
from heedful.errors import DataError, UsageError
from heedful.settings import Settings
from heedful.text.bio import Span

_MARK = "# global.columns ="
_USUAL = [
    "ID",
    "FORM",
    "LEMMA",
    "UPOS",
    "XPOS",
    "FEATS",
    "HEAD",
    "DEPREL",
    "DEPS",
    "MISC",
    "UP:PRED",
    "UP:ARGHEADS",
    "UP:ARGSPANS",
]
PREDICATE, SPANS = "UP:PRED", "UP:ARGSPANS"


def read_role_spans(path: str | Path) -> Corpus:
    """Read sentences with predicates and the spans of their arguments.

    Args:
        path: a CoNLL-U Plus file, plain or compressed, with the columns ID, FORM, UP:PRED and, for gold, UP:ARGSPANS;
            without a line ``# global.columns =`` those of CoNLL-U followed by UP:PRED, UP:ARGHEADS and UP:ARGSPANS.

    Returns:
        One example a sentence, its target the frames, whose tags are empty where the file has no spans. The predicate
        is V where no span covers it. The frame of a predicate whose spans overlap has no tags either, and it is counted
        as left out.

    Raises:
        DataError: naming the row and the column, if a line is not of the format.
    """
    file = find_file(path)
    builder = CorpusBuilder(file)
    names = _USUAL
    for block in numbered_blocks(file):
        for row, line in block:
            if line.startswith(_MARK):
                names = _columns(line, file, row)
        words = _words([(row, line) for row, line in block if not line.startswith("#")], names, file)
        if words:
            _add(words, names, builder)
    return builder.build()


def _add(lines: list[tuple[int, list[str]]], names: list[str], builder: CorpusBuilder) -> None:
    form, predicate = names.index("FORM"), names.index(PREDICATE)
    words = tuple(fields[form] for _, fields in lines)
    if SPANS in names:
        frames = tuple(_frames(lines, predicate, names.index(SPANS), builder))
    else:
        senses = enumerate(fields[predicate] for _, fields in lines)
        frames = tuple(Frame(place, (), sense) for place, sense in senses if sense != "_")
    builder.add(lines[0][0], (" ".join(words),), frames, (words,))


def _columns(line: str, file: Path, row: int) -> list[str]:
    names = line.removeprefix(_MARK).split()
    for name in ("ID", "FORM", PREDICATE):
        if name not in names:
            raise DataError(f"{file}: row {row}: the columns must hold {name}; got {' '.join(names)}")
    return names


def _words(block: list[tuple[int, str]], names: list[str], file: Path) -> list[tuple[int, list[str]]]:
    """Return row and fields of each word."""
    words: list[tuple[int, list[str]]] = []
    for row, line in block:
        fields = line.split("\t")
        if len(fields) != len(names):
            raise DataError(
                f"{file}: row {row}: expected {len(names)} fields set apart by tabs ({' '.join(names)}), got "
                f"{len(fields)}"
            )
        if is_word(fields[names.index("ID")], len(words) + 1, file, row):
            words.append((row, fields))
    return words


def _frames(
    lines: list[tuple[int, list[str]]], predicate: int, spans: int, builder: CorpusBuilder
) -> Iterator[Frame]:
    for place, (row, fields) in enumerate(lines):
        if fields[predicate] == "_":
            continue
        found = _spans(fields[spans], len(lines), builder, row)
        if not any(span.start <= place < span.end for span in found):
            found.append(Span(place, place + 1, "V"))
        yield Frame(place, tags_or_none(found, len(lines), builder), fields[predicate])


def _spans(cell: str, length: int, builder: CorpusBuilder, row: int) -> list[Span]:
    found = []
    for part in cell.split("|") if cell != "_" else ():
        role, _, places = part.rpartition(":")
        first, _, last = places.partition("-")
        last = last or first
        if not (role and is_number(first) and is_number(last) and 1 <= int(first) <= int(last) <= length):
            raise DataError(
                f"{builder.where(row, SPANS)}: expected ROLE:FIRST-LAST with words from 1 to {length}, got {part!r:.80}"
            )
        found.append(Span(int(first) - 1, int(last), role))
    return found


_COLUMNS, _PROPS, _SPANS = (".gold_conll", ".conll"), (".props",), (".conllu", ".conllup")
_FORMATS = (_COLUMNS, _PROPS, _SPANS)
ROLE_SUFFIXES = (*_COLUMNS, *_PROPS, *_SPANS)


@dataclass(frozen=True)
class RoleOptions(Settings):
    """The options of `read_role_columns`, whose parameters these are."""

    layout: str = "propbank"
    word: int | None = None
    predicate: int | None = None
    roles: int | None = None
    after: int | None = None
    genre: int | None = None


def read_roles_like(path: str | Path, other: str | Path, options: Mapping[str, object]) -> Corpus:
    """Read a file with the options of another one, where the names of both promise the same columns.

    Args:
        path: the file; see `read_roles`.
        other: the file that the options are for.
        options: of `read_roles`; left out where the columns are others, so that ``.props`` stays CoNLL-2005.

    Returns:
        What `read_roles` gives.
    """
    alike = any({bare_suffix(Path(path)), bare_suffix(Path(other))} <= set(suffixes) for suffixes in _FORMATS)
    return read_roles(path, **(options if alike else {}))


def read_roles(path: str | Path, **options: object) -> Corpus:
    """Read sentences with their predicates and arguments.

    Args:
        path: ``.gold_conll``, ``.conll`` and ``.props`` hold columns of brackets, ``.conllu`` and ``.conllup`` the
            columns of CoNLL-U Plus; plain or compressed.
        **options: of `read_role_columns`; the layout is "conll2005" for ``.props`` unless it is named.

    Returns:
        One example a sentence, its target the frames.

    Raises:
        DataError: naming the row, if the file is not of its format.
        UsageError: if the name has another suffix, or an option is unknown.
    """
    suffix = bare_suffix(Path(path))
    if suffix in _SPANS:
        if options:
            raise UsageError(
                f"{path}: a CoNLL-U file names its columns itself; leave out {', '.join(options)}"
            )
        return read_role_spans(path)
    if suffix not in ROLE_SUFFIXES:
        raise UsageError(f"{path}: for semantic roles the name must end in one of {', '.join(ROLE_SUFFIXES)}")
    own = options_of(RoleOptions, {"layout": "conll2005"} | options if suffix in _PROPS else options)
    return read_role_columns(path, **vars(own))
