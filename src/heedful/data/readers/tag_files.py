"""Sentences with one tag a word: columns of the CoNLL tasks, or CoNLL-U; the content of the file decides."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from heedful.data.examples import Corpus, WordTags
from heedful.data.readers.corpus_builder import CorpusBuilder
from heedful.data.readers.reading import RequestFiles, options_of
from heedful.data.readers.tag_columns import UNKNOWN, Layout, TagColumnOptions, Word, tagged_blocks
from heedful.data.readers.tag_records import holds_tokens, tagged_records
from heedful.data.readers.text_lines import bare_suffix, find_file
from heedful.data.readers.written_labels import checked_name
from heedful.errors import DataError, UsageError
from heedful.settings import Settings
from heedful.text.bio import (
    OUTSIDE,
    SPAN_MARKS,
    Scheme,
    mistake_at,
    scheme_of,
    spans_of,
    tags_of,
    unread_spans,
)

TAG_SUFFIXES = (".conll", ".conllu", ".bio", ".iob", ".iob2", ".bioes", ".tags")
"""Names of files of words that are given to a model to be tagged; a file to train on may have any name."""
_JSON = (".jsonl", ".json")
_TABLES = (".csv", ".parquet", ".xlsx", ".xls", ".ods")
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class TagOptions(Settings):
    """The options of `read_tags`, whose parameters these are."""

    layout: Layout = "auto"
    word: int = 0
    tag: int = -1
    conllu: Literal["upos", "xpos"] = "upos"
    repair: bool = False
    weight: str = ""


def read_tags(
    path: str | Path,
    *,
    layout: Layout = "auto",
    word: int = 0,
    tag: int = -1,
    conllu: Literal["upos", "xpos"] = "upos",
    repair: bool = False,
    weight: str = "",
    gold: bool = True,
) -> Corpus:
    """Read sentences with one tag a word: a word a line, an empty line between sentences; or JSON.

    Args:
        path: the file, plain or compressed. A name that ends in .jsonl or .json is read as JSON: words and their tags
            (``tokens`` and ``tags``), or texts and their spans, as Prodigy, doccano, spaCy and Label Studio write them
            (`heedful.data.readers.tag_records`). Any other holds columns.
        layout: "columns", set apart by tabs or by blanks; "conllu"; or "auto", which takes a file for CoNLL-U where
            most of its lines have ten fields set apart by tabs and begin with a number, and passes over a first column
            that only numbers the words of each sentence.
        word: the column of the word, from 0; below 0 counted from the last.
        tag: the column of the tag, likewise.
        conllu: which column of CoNLL-U is the tag.
        repair: whether an I-X that goes on with nothing begins a span, and other mistakes in BIO, BIOES or BILOU are
            put right in the same way, rather than refused; a warning counts the sentences.
        weight: field of JSON that says how much a sentence counts in training, 0 or more; empty where all count alike.
        gold: whether the tags are read; without, a column of words is enough.

    Returns:
        One example a sentence, its row the line of its first word. Its target is None where CoNLL-U has an underscore
        for every tag. Comments and the lines -DOCSTART- are passed over.

    Raises:
        DataError: naming file and row: a line has another number of columns than most, a word or a tag is empty, or
            tags break their scheme or mark spans in a form that is not read.
        UsageError: if word and tag are the same column; if weights are asked for of a file that is no JSON.
    """
    if gold and word == tag:
        raise UsageError(f"word and tag must be two columns; both are {word}")
    file = find_file(path)
    builder = CorpusBuilder(file)
    if weight and gold and bare_suffix(file) not in _JSON:
        raise UsageError(
            f"data.options.weight={weight!r}: is a field of a .jsonl file, and {file} has lines of words"
        )
    weights: dict[int, float] = {}
    sentences = list(
        _sentences(file, TagColumnOptions(layout, word, tag, conllu, gold), builder, weight, weights)
    )
    used = {each.tag for sentence in sentences for each in sentence} if gold else set()
    for name in used:
        checked_name(name, str(file))
    if problem := unread_spans(used):
        raise DataError(f"{file}: {problem}")
    scheme = scheme_of(used)
    repaired = 0
    for sentence in sentences:
        words, given = tuple(each.word for each in sentence), tuple(each.tag for each in sentence)
        tags = _checked(sentence, given, scheme, file, repair=repair)
        repaired += tags != given
        known = gold and not all(each == UNKNOWN for each in tags)
        builder.add(sentence[0].row, (" ".join(words),), WordTags(tags) if known else None, (words,))
        if sentence[0].row in weights:
            builder.weigh(sentence[0].row, weights[sentence[0].row])
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
    return RequestFiles(
        TAG_SUFFIXES,
        lambda path: read_tags(path, **vars(own), gold=False),
        recognizes=holds_tokens,
        read_gold=lambda path: read_tags(path, **vars(own)),
    )


def _sentences(
    file: Path, columns: TagColumnOptions, builder: CorpusBuilder, weight: str, weights: dict[int, float]
) -> Iterator[list[Word]]:
    suffix = bare_suffix(file)
    if suffix in _JSON:
        own = weight if columns.gold else ""
        return tagged_records(file, builder, gold=columns.gold, weight=own, weights=weights)
    if suffix in _TABLES:
        raise DataError(
            f"{file}: is a table, and tags are read from a word and its tag in each line, set apart by a tab or a "
            "blank, with an empty line between sentences; or from a .jsonl file with the fields tokens and tags"
        )
    return tagged_blocks(file, columns, builder)


def repaired_tags(tags: Sequence[str], scheme: Scheme) -> tuple[str, ...]:
    """Return tags of which every one that goes on with nothing begins a span; unchanged where one has another form."""
    if scheme == "plain" or not all(
        tag == OUTSIDE or (tag.startswith(SPAN_MARKS) and tag[2:]) for tag in tags
    ):
        return tuple(tags)
    return tags_of(spans_of(tags), len(tags), scheme)


def _checked(
    sentence: Sequence[Word], tags: tuple[str, ...], scheme: Scheme, file: Path, *, repair: bool
) -> tuple[str, ...]:
    """Return the tags of a sentence that keep to their scheme."""
    mistake = None if scheme == "plain" else mistake_at(tags, scheme)
    if mistake is not None and repair:
        tags = repaired_tags(tags, scheme)
        mistake = mistake_at(tags, scheme)
    if mistake is None:
        if scheme == "plain" and UNKNOWN in tags and set(tags) != {UNKNOWN}:
            place = tags.index(UNKNOWN)
            where = f"{file}: row {sentence[place].row}"
            raise DataError(f"{where}: the tag is not known (_), but others of the sentence are")
        return tags
    place, what = mistake
    raise DataError(
        f"{file}: row {sentence[place].row}: {what}. Correct the tag; data.options.repair = true begins a span where "
        "an I- or E- goes on with nothing"
    )
