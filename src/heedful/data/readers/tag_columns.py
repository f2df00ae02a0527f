"""Words with their tags in columns: those of the CoNLL tasks, or CoNLL-U; the whole file decides which."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

from heedful.data.parses import CONLLU_FIELDS, conllu_words
from heedful.data.readers.corpus_builder import CorpusBuilder
from heedful.data.readers.text_lines import numbered_blocks
from heedful.errors import DataError
from heedful.text.bio import OUTSIDE

Layout = Literal["auto", "columns", "conllu"]
UNKNOWN = "_"
"""The tag of a word whose tag is not known."""
_UPOS, _XPOS = 3, 4
_PEEKED = 200
"""Sentences by which a file is judged."""
_DOCUMENT = "-DOCSTART-"
_COMMENT = re.compile(r"#\s*(?:[\w.-]+\s*=|newdoc\b|newpar\b|(?:begin|end) document\b)")
_NUMBER = re.compile(r"\d+(?:[-.]\d+)?")
Block = list[tuple[int, str]]


class Word(NamedTuple):
    """A word of a sentence.

    Attributes:
        row: where it is in the file, from 1.
        word: the word.
        tag: its tag; `UNKNOWN` where it is not known or not read.
    """

    row: int
    word: str
    tag: str


@dataclass(frozen=True)
class TagColumnOptions:
    """The options of `heedful.data.readers.tag_files.read_tags` that say where words and tags are."""

    layout: Layout = "auto"
    word: int = 0
    tag: int = -1
    conllu: Literal["upos", "xpos"] = "upos"
    gold: bool = True


def looks_tagged(file: Path) -> bool:
    """Return whether a file of any name holds a word and its tag a line, with empty lines between sentences.

    Args:
        file: the file.

    Returns:
        Whether there are two sentences or more whose lines all have as many columns, at least two, and few tags.
    """
    try:
        blocks = list(itertools.islice(numbered_blocks(file), _PEEKED))
    except DataError:  # reported when it is read
        return False
    lines = [_fields(line) for block in blocks for _, line in block if not _COMMENT.match(line)]
    widths = {len(fields) for fields in lines}
    if len(blocks) < 2 or len(widths) != 1 or not lines:
        return False
    tags = {fields[-1] for fields in lines}
    return min(widths) >= 2 and len(lines) > 2 * len(blocks) and 1 < len(tags) <= len(lines) / 2


def tagged_blocks(file: Path, columns: TagColumnOptions, builder: CorpusBuilder) -> Iterator[list[Word]]:
    """Read the sentences of a file.

    Args:
        file: the file.
        columns: where words and tags are.
        builder: of the file; hears of a column that is passed over.

    Yields:
        The words of each sentence, at least one.

    Raises:
        DataError: naming file and row, if a line is not like the others.
    """
    blocks = list(numbered_blocks(file))
    if columns.layout == "conllu" or (columns.layout == "auto" and _is_conllu(blocks)):
        place = _UPOS if columns.conllu == "upos" else _XPOS
        for block in blocks:
            found = conllu_words(block, file)
            if found:
                yield [
                    Word(row, fields[1], fields[place] if columns.gold else UNKNOWN) for row, fields in found
                ]
        return
    width = _usual_width(blocks)
    tags = _tags_of_words(blocks, columns.tag, width)
    sentences = [
        [(row, _fields(line)) for row, line in block if not _is_passed_over(line, width, tags, columns.tag)]
        for block in blocks
    ]
    sentences = [sentence for sentence in sentences if sentence]
    if columns.layout == "auto" and columns.word == 0 and width > 1 and _are_numbered(sentences):
        columns = replace(columns, word=1)
        builder.note(f"{file}: the first column numbers the words, so the second is read as the words")
    for sentence in sentences:
        yield [_word(row, fields, width, columns, file) for row, fields in sentence]


def _is_conllu(blocks: Sequence[Block]) -> bool:
    """Return whether most lines but comments have the ten fields of CoNLL-U, the first of them a number."""
    lines = [line for block in blocks for _, line in block if not line.startswith("#")]
    like = sum(
        line.count("\t") == CONLLU_FIELDS - 1 and bool(_NUMBER.fullmatch(line.partition("\t")[0]))
        for line in lines
    )
    return 2 * like > len(lines)


def _usual_width(blocks: Sequence[Block]) -> int:
    """Return how many columns most lines have, of several numbers that are equally frequent the first."""
    lines = (line for block in blocks for _, line in block)
    counts = Counter(len(_fields(line)) for line in lines if not line.startswith((_DOCUMENT, "#")))
    return max(counts, key=counts.__getitem__, default=0)


def _tags_of_words(blocks: Sequence[Block], tag: int, width: int) -> frozenset[str]:
    """Return the tags of all lines that do not begin as a comment does."""
    lines = (_fields(line) for block in blocks for _, line in block if not line.startswith("#"))
    place = tag if -width <= tag < width else -1
    return frozenset((OUTSIDE, UNKNOWN, *(fields[place] for fields in lines if len(fields) == width)))


def _is_passed_over(line: str, width: int, tags: frozenset[str], tag: int) -> bool:
    """Distinguish a comment and the line before a document from a word, which may be "#" too."""
    if line.startswith(_DOCUMENT):
        return True
    if not line.startswith("#"):
        return False
    fields = _fields(line)
    if len(fields) != width or _COMMENT.match(line):
        return True
    return width > 1 and fields[tag if -width <= tag < width else -1] not in tags


def _are_numbered(sentences: Sequence[Sequence[tuple[int, Sequence[str]]]]) -> bool:
    """Return whether the first column counts the words of every sentence, from 0 or from 1."""
    first = [[fields[0] for _, fields in sentence] for sentence in sentences]
    if sum(map(len, first)) < 2:
        return False
    return any(
        all(own == [str(k) for k in range(start, start + len(own))] for own in first) for start in (0, 1)
    )


def _fields(line: str) -> list[str]:
    return line.split("\t") if "\t" in line else re.split(r" +", line.strip(" "))


def _word(row: int, fields: Sequence[str], width: int, columns: TagColumnOptions, file: Path) -> Word:
    if len(fields) != width:
        raise DataError(
            f"{file}: row {row}: expected {width} columns as in most lines, got {len(fields)}; columns are set apart "
            "by tabs, or by blanks where a line has no tab"
        )
    word, tag, gold = columns.word, columns.tag, columns.gold
    needed = [word, tag] if gold else [word]
    if any(not -width <= place < width for place in needed):
        raise DataError(
            f"{file}: row {row}: there are {width} columns, and data.options.word = {word} and data.options.tag = "
            f"{tag} name others"
        )
    if gold and word % width == tag % width:
        raise DataError(
            f"{file}: row {row}: expected a word and its tag in two columns, got {width} column(s): "
            f"{fields[word]!r:.80}"
        )
    values = [fields[place].strip() for place in needed]
    if not all(values):
        raise DataError(f"{file}: row {row}: the {'word' if not values[0] else 'tag'} is empty")
    return Word(row, values[0], values[-1] if gold else UNKNOWN)
