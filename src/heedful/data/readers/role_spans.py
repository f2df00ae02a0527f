"""Semantic roles in CoNLL-U Plus: the columns UP:PRED and UP:ARGSPANS of the Universal Proposition Banks.

Column format: https://universaldependencies.org/ext-format.html. A predicate's line names the spans of its arguments,
``ARG0:1-3|ARGM-TMP:7-7``, by the ids of their first and last word.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from heedful.data.bio import Span
from heedful.data.conllu import is_word
from heedful.data.examples import Corpus
from heedful.data.frame import Frame
from heedful.data.readers.build import CorpusBuilder
from heedful.data.readers.opening import find_file, numbered_blocks
from heedful.data.readers.role_columns import tags_or_none
from heedful.errors import DataError

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
        if not (role and first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last) <= length):
            raise DataError(
                f"{builder.where(row, SPANS)}: expected ROLE:FIRST-LAST with words from 1 to {length}, got {part!r}"
            )
        found.append(Span(int(first) - 1, int(last), role))
    return found
