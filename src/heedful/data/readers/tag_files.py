"""Sentences with one tag a word: columns of the CoNLL tasks, or CoNLL-U; the content of the file decides."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from heedful.checked import Settings
from heedful.data.examples import Corpus, WordTags
from heedful.data.parses import CONLLU_FIELDS, conllu_words
from heedful.data.readers.corpus_builder import CorpusBuilder
from heedful.data.readers.reading import RequestFiles, options_of
from heedful.data.readers.text_lines import find_file, numbered_blocks
from heedful.errors import DataError, UsageError
from heedful.text.bio import Scheme, mistake_at, scheme_of, spans_of, tags_of

TAG_SUFFIXES = (".conll", ".conllu", ".bio", ".iob", ".iob2", ".bioes", ".tags")
"""Names of files of words that are given to a model to be tagged; a file to train on may have any name."""
Layout = Literal["auto", "columns", "conllu"]
_UPOS, _XPOS = 3, 4
_UNKNOWN = "_"
_DOCUMENT = "-DOCSTART-"
_COMMENT = re.compile(r"#\s*(?:[\w.-]+\s*=|newdoc\b|newpar\b)")
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class TagOptions(Settings):
    """The options of `read_tags`, whose parameters these are."""

    layout: Layout = "auto"
    word: int = 0
    tag: int = -1
    conllu: Literal["upos", "xpos"] = "upos"
    repair: bool = False


class _Word(NamedTuple):
    row: int
    word: str
    tag: str


def read_tags(
    path: str | Path,
    *,
    layout: Layout = "auto",
    word: int = 0,
    tag: int = -1,
    conllu: Literal["upos", "xpos"] = "upos",
    repair: bool = False,
    gold: bool = True,
) -> Corpus:
    """Read sentences with one tag a word: a word a line, an empty line between sentences.

    Args:
        path: the file, plain or compressed.
        layout: "columns", set apart by tabs or by blanks; "conllu"; or "auto", which takes a file for CoNLL-U where its
            first word has the number 1 and ten fields set apart by tabs.
        word: the column of the word, from 0; below 0 counted from the last.
        tag: the column of the tag, likewise.
        conllu: which column of CoNLL-U is the tag.
        repair: whether an I-X that goes on with nothing begins a span, and other mistakes in BIO or BIOES are put
            right in the same way, rather than refused; a warning counts the sentences.
        gold: whether the tags are read; without, a column of words is enough.

    Returns:
        One example a sentence, its row the line of its first word. Its target is None where CoNLL-U has an underscore
        for every tag. Comments of the form ``# name = value`` and the lines -DOCSTART- are passed over.

    Raises:
        DataError: naming file and row: a line has another number of columns than the first, a word or a tag is empty,
            or BIO or BIOES is broken.
        UsageError: if word and tag are the same column.
    """
    if gold and word == tag:
        raise UsageError(f"word and tag must be two columns; both are {word}")
    file = find_file(path)
    builder = CorpusBuilder(file)
    sentences = list(_sentences(file, layout, word, tag, _UPOS if conllu == "upos" else _XPOS, gold=gold))
    scheme = scheme_of({each.tag for sentence in sentences for each in sentence} if gold else ())
    repaired = 0
    for sentence in sentences:
        words, given = tuple(each.word for each in sentence), tuple(each.tag for each in sentence)
        tags = _checked(sentence, given, scheme, file, repair=repair)
        repaired += tags != given
        known = gold and not all(each == _UNKNOWN for each in tags)
        builder.add(sentence[0].row, (" ".join(words),), WordTags(tags) if known else None, (words,))
    if repaired:
        _LOG.warning("%s: the tags of %d sentences were repaired", file, repaired)
    return builder.build()


def files_of_words(options: Mapping[str, object]) -> RequestFiles:
    """Return which files hold words to be tagged, and how they are read.

    Args:
        options: those that the training file was read with.

    Returns:
        The files.
    """
    own = options_of(TagOptions, options)
    return RequestFiles(TAG_SUFFIXES, lambda path: read_tags(path, **vars(own), gold=False))


def _sentences(
    file: Path, layout: Layout, word: int, tag: int, conllu: int, *, gold: bool
) -> Iterator[list[_Word]]:
    columns = 0
    for block in numbered_blocks(file):
        if layout == "auto":
            layout = "conllu" if _is_conllu(block) else "columns"
        if layout == "conllu":
            rows = conllu_words(block, file)
            found = [_Word(row, fields[1], fields[conllu] if gold else _UNKNOWN) for row, fields in rows]
        else:
            lines = [(row, _fields(line)) for row, line in block if not _COMMENT.match(line)]
            columns = columns or (len(lines[0][1]) if lines else 0)
            found = [_word(row, fields, columns, word, tag, file, gold=gold) for row, fields in lines]
        found = [each for each in found if each.word != _DOCUMENT]
        if found:
            yield found


def _is_conllu(block: Iterable[tuple[int, str]]) -> bool:
    """Say whether the first word of a sentence stands in a line of CoNLL-U."""
    fields = next((line.split("\t") for _, line in block if not _COMMENT.match(line)), [])
    return len(fields) == CONLLU_FIELDS and fields[0].partition("-")[0] == "1"


def _fields(line: str) -> list[str]:
    return line.split("\t") if "\t" in line else re.split(r" +", line.strip(" "))


def _word(
    row: int, fields: Sequence[str], columns: int, word: int, tag: int, file: Path, *, gold: bool
) -> _Word:
    if len(fields) != columns:
        raise DataError(
            f"{file}: row {row}: expected {columns} columns as in the first line of words, got {len(fields)}; columns "
            "are set apart by tabs, or by blanks where a line has no tab"
        )
    needed = [word, tag] if gold else [word]
    if any(not -columns <= place < columns for place in needed):
        raise DataError(
            f"{file}: row {row}: there are {columns} columns, and data.options.word = {word} and data.options.tag = "
            f"{tag} name others"
        )
    if gold and word % columns == tag % columns:
        raise DataError(
            f"{file}: row {row}: expected a word and its tag in two columns, got {columns} column(s): "
            f"{fields[word]!r:.80}"
        )
    values = [fields[place].strip() for place in needed]
    if not all(values):
        raise DataError(f"{file}: row {row}: the {'word' if not values[0] else 'tag'} is empty")
    return _Word(row, values[0], values[-1] if gold else _UNKNOWN)


def _checked(
    sentence: Sequence[_Word], tags: tuple[str, ...], scheme: Scheme, file: Path, *, repair: bool
) -> tuple[str, ...]:
    """Return the tags of a sentence that keep to their scheme."""
    mistake = None if scheme == "plain" else mistake_at(tags, scheme)
    if mistake is not None and repair:
        marked = tuple(t if t.startswith(("B-", "I-", "E-", "S-")) and t[2:] else "O" for t in tags)
        if marked == tags:
            return tags_of(spans_of(tags), len(tags), scheme)
    if mistake is None:
        if scheme == "plain" and _UNKNOWN in tags and set(tags) != {_UNKNOWN}:
            place = tags.index(_UNKNOWN)
            where = f"{file}: row {sentence[place].row}"
            raise DataError(f"{where}: the tag is not known (_), but others of the sentence are")
        return tags
    place, what = mistake
    raise DataError(
        f"{file}: row {sentence[place].row}: {what}. Correct the tag; data.options.repair = true begins a span where "
        "an I- or E- goes on with nothing"
    )
