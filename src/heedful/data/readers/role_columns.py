"""Semantic roles in columns with brackets: PropBank's gold_conll, CoNLL-2005 and CoNLL-2012."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from heedful.data.examples import Corpus, Frame
from heedful.data.readers.corpus_builder import CorpusBuilder
from heedful.data.readers.text_lines import find_file, numbered_blocks
from heedful.errors import DataError, check_known
from heedful.text.bio import Span, tags_of

NESTED = "predicate whose spans nest or overlap"
NONE = "-"
_LAYOUT_QUESTION = (
    "is the layout right? Set data.options.layout, or data.options.predicate and data.options.roles, where the model "
    "is trained, and it reads such files; or bring the columns of CoNLL-2005 as .props"
)
_CELL = re.compile(r"((?:\([^()*\s]+)*)\*(\)*)")
_DOCUMENT = re.compile(r"#begin document\b.*|#end document[ \t]*")
"""A line around a document; a word may begin like one, such as the hashtag "#endviolence"."""


@dataclass(frozen=True)
class RoleLayout:
    """Which column, from 0, plays which part.

    Attributes:
        word: the word.
        predicate: "-" but for a predicate, where it holds the roleset or the lemma.
        roles: the first column of brackets; there is one a predicate, in the order of the predicates.
        after: columns after the last one of brackets.
        file: the column of the document's path, or None.
    """

    word: int
    predicate: int
    roles: int
    after: int = 0
    file: int | None = None


LAYOUTS = {
    "propbank": RoleLayout(word=3, predicate=7, roles=8, file=0),
    "conll2005": RoleLayout(word=0, predicate=1, roles=2),
    "conll2012": RoleLayout(word=3, predicate=7, roles=11, after=1, file=0),
}
"""Layout by name. ``propbank``: the gold_conll files that the PropBank release makes. ``conll2005``: words beside the
"props" columns of the shared task, lemma and brackets. ``conll2012``: the shared task's files."""


def read_role_columns(
    path: str | Path,
    *,
    layout: str = "propbank",
    word: int | None = None,
    predicate: int | None = None,
    roles: int | None = None,
    after: int | None = None,
    genre: int | None = None,
) -> Corpus:
    """Read sentences with their predicates and bracketed arguments.

    One word a line, an empty line between sentences; columns are set apart by blanks or tabs, and any other space is
    part of its word. The lines "#begin document ..." and "#end document" are passed over.

    Args:
        path: the file, plain or compressed.
        layout: a key of `LAYOUTS`.
        word: another column of the word.
        predicate: another column of the predicates.
        roles: another first column of brackets.
        after: another number of columns after those of brackets.
        genre: which folder of the document's path, from 0, is the group of a breakdown; None for no groups.

    Returns:
        One example a sentence, its target the frames in the order of their predicates, its row the line of its first
        word. A predicate whose spans nest or overlap has no BIO form: its frame has no tags, and it is counted as left
        out.

    Raises:
        DataError: naming the row, if a line does not fit the layout or a bracket does not open or close.
        UsageError: if there is no such layout.
    """
    check_known(layout, LAYOUTS, f"layout {layout!r} is unknown")
    base = LAYOUTS[layout]
    own = RoleLayout(
        base.word if word is None else word,
        base.predicate if predicate is None else predicate,
        base.roles if roles is None else roles,
        base.after if after is None else after,
        base.file,
    )
    file = find_file(path)
    builder = CorpusBuilder(file)
    for block in numbered_blocks(file):
        found = [(row, re.split(r"[ \t]+", line.strip(" \t")), line) for row, line in block]
        lines = [
            (row, fields)
            for row, fields, line in found
            if not _DOCUMENT.fullmatch(line) or _fits(fields, own)
        ]
        if lines:
            _add(lines[0][0], [fields for _, fields in lines], own, genre, builder)
    return builder.build()


def brackets(spans: Sequence[Span], length: int) -> list[str]:
    """Write spans as one cell of brackets a word: ``(ARG0*``, ``*``, ``*)``, ``(V*)``.

    Returns the cells.
    """
    cells = ["*"] * length
    for span in spans:
        cells[span.start] = f"({span.role}{cells[span.start]}"
        cells[span.end - 1] += ")"
    return cells


def tags_or_none(spans: Iterable[Span], length: int, builder: CorpusBuilder) -> tuple[str, ...]:
    """Return the tags of a predicate's words, or none, and count the predicate, where spans nest or overlap.

    Returns one tag a word; empty where they have no BIO form.
    """
    try:
        return tags_of(spans, length)
    except ValueError:
        builder.skip(NESTED)
        return ()


def _add(
    row: int, lines: list[list[str]], layout: RoleLayout, genre: int | None, builder: CorpusBuilder
) -> None:
    _check(lines, layout, builder, row)
    words = tuple(fields[layout.word] for fields in lines)
    frames = _frames(lines, layout, builder, row)
    known = genre is not None and layout.file is not None
    group = _folder(lines[0][layout.file], genre, builder, row) if known else ""  # type: ignore[index, arg-type]
    builder.add(row, (" ".join(words),), frames, (words,), group)


def _fits(fields: Sequence[str], layout: RoleLayout) -> bool:
    """Return whether a line could be that of a word; one around a document has no brackets of roles."""
    cells = fields[layout.roles : len(fields) - layout.after]
    enough = len(fields) > max(layout.word, layout.predicate)
    return enough and bool(cells) and all(map(_CELL.fullmatch, cells))


def _check(lines: list[list[str]], layout: RoleLayout, builder: CorpusBuilder, row: int) -> None:
    least = max(layout.word, layout.predicate, layout.roles + layout.after - 1) + 1
    count = len(lines[0])
    for place, fields in enumerate(lines):
        if len(fields) < least or len(fields) != count:
            wanted = (
                f"{count} columns as in the first line of the sentence"
                if place
                else f"{least} columns or more"
            )
            raise DataError(
                f"{builder.where(row + place)}: expected {wanted}, got {len(fields)}; {_LAYOUT_QUESTION}"
            )
    predicates = sum(fields[layout.predicate] != NONE for fields in lines)
    if predicates != count - layout.roles - layout.after:
        raise DataError(
            f"{builder.where(row)}: the sentence has {predicates} predicate(s) in column {layout.predicate}, but "
            f"{count - layout.roles - layout.after} column(s) of brackets from column {layout.roles}; "
            f"{_LAYOUT_QUESTION}"
        )


def _frames(
    lines: list[list[str]], layout: RoleLayout, builder: CorpusBuilder, row: int
) -> tuple[Frame, ...]:
    places = [place for place, fields in enumerate(lines) if fields[layout.predicate] != NONE]
    frames = []
    for column, place in enumerate(places, start=layout.roles):
        spans = _spans([fields[column] for fields in lines], builder, row)
        frames.append(Frame(place, tags_or_none(spans, len(lines), builder), lines[place][layout.predicate]))
    return tuple(frames)


def _spans(cells: Sequence[str], builder: CorpusBuilder, row: int) -> list[Span]:
    spans: list[Span] = []
    opened: list[tuple[int, str]] = []
    for place, cell in enumerate(cells):
        if cell == "*":  # nine of ten
            continue
        match = _CELL.fullmatch(cell)
        if match is None:
            raise DataError(
                f"{builder.where(row + place)}: expected brackets such as (ARG0*, * or *), got {cell!r}"
            )
        opened += [(place, role) for role in match[1].split("(")[1:]]
        for _ in match[2]:
            if not opened:
                raise DataError(
                    f"{builder.where(row + place)}: a bracket closes that was never opened: {cell!r}"
                )
            start, role = opened.pop()
            spans.append(Span(start, place + 1, role))
    if opened:
        start, role = opened[-1]
        raise DataError(f"{builder.where(row + start)}: the bracket ({role} is never closed")
    return spans


def _folder(path: str, number: int, builder: CorpusBuilder, row: int) -> str:
    folders = path.split("/")
    if not -len(folders) <= number < len(folders):
        raise DataError(
            f"{builder.where(row)}: genre = {number}, but the path {path!r} has {len(folders)} parts"
        )
    return folders[number]
