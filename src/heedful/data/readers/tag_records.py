"""Words with their tags in JSON: ``tokens`` and ``tags``, or texts with spans as annotation tools write them.

Spans come from Prodigy (``spans``, with its ``tokens``), doccano (``label``, ``labels`` or ``entities``), spaCy
(``entities``, ``ents``) and Label Studio. A text is cut into words by the tokenizer that ``text.tokenizer = "auto"``
chooses for the texts of the file; a span that ends within a word takes the whole word, and a note counts such spans.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from heedful.data.readers.corpus_builder import CorpusBuilder
from heedful.data.readers.record_files import json_records
from heedful.data.readers.tag_columns import UNKNOWN, Word
from heedful.data.readers.text_lines import bare_suffix
from heedful.data.readers.tool_formats import Remarks, plain_record, rejected
from heedful.errors import DataError
from heedful.text.bio import OUTSIDE, Span, tags_of
from heedful.text.boundaries import choose_tokenizer
from heedful.text.tokenize import tokenizer

TOKENS = ("tokens", "words")
TAGS = ("tags", "ner_tags", "pos_tags", "chunk_tags", "upos", "labels", "label")
SPANS = ("spans", "entities", "ents", "label", "labels")
_START, _END = ("start", "start_offset", 0), ("end", "end_offset", 1)
_KIND = ("label", "entity", "type", 2)


class _Cut(NamedTuple):
    """A text as words with their places."""

    words: tuple[str, ...]
    places: tuple[tuple[int, int], ...]


def holds_tokens(file: Path) -> bool:
    """Return whether a file is one of JSON whose first record has a list of words."""
    if bare_suffix(file) not in (".jsonl", ".json"):
        return False
    try:
        _, record = next(iter(json_records(file)), (0, {}))
    except DataError:  # reported when it is read
        return False
    return any(isinstance(record.get(name), list) for name in TOKENS) and "text" not in record


def tagged_records(
    file: Path,
    builder: CorpusBuilder,
    *,
    gold: bool,
    weight: str = "",
    weights: dict[int, float] | None = None,
) -> Iterator[list[Word]]:
    """Read the sentences of a file.

    Args:
        file: the file.
        builder: of the file; counts what is passed over.
        gold: whether tags are read.
        weight: the field of how much a sentence counts; empty for none.
        weights: what is found there is put here, by row.

    Yields:
        The words of each sentence, at least one, all with the row of their record.

    Raises:
        DataError: naming the row, if a record has no words or text, or no tags or spans that fit them.
    """
    records = [(row, plain_record(record)) for row, record in json_records(file)]
    texts = (record["text"] for _, record in records if isinstance(record.get("text"), str))
    cutter = tokenizer(choose_tokenizer(texts).name)
    moved, outside, remarks = 0, 0, Remarks()
    for row, record in records:
        if reason := rejected(record, ()):
            builder.skip(reason)
            continue
        cut = _words(record, builder, row, cutter.tokens)
        if not cut.words:
            builder.skip("no text")
            continue
        if not gold:
            tags: Sequence[str] = [UNKNOWN] * len(cut.words)
        elif (found := _tags(record, cut, builder, row)) is not None:
            tags = found
        else:
            tags, wider, beyond = _tags_of_spans(record, cut, builder, row)
            moved += wider
            outside += beyond
        if weight and weights is not None:
            weights[row] = builder.weight(row, weight, builder.field(row, record, weight))
        if gold:
            remarks.see(record, ())
        yield [Word(row, word, tag) for word, tag in zip(cut.words, tags, strict=True)]
    if moved:
        builder.note(f"{file}: {moved:,} spans end within a word, and take the whole word")
    if outside:
        builder.note(f"{file}: {outside:,} spans begin or end outside their text, and are cut to it")
    for note in remarks.notes():
        builder.note(f"{file}: {note}")


def _words(record: Mapping[str, Any], builder: CorpusBuilder, row: int, cut: Any) -> _Cut:
    for name in TOKENS:
        tokens = record.get(name)
        if not isinstance(tokens, list):
            continue
        if not tokens and "text" not in record:
            raise DataError(f"{builder.where(row, name)}: is empty; drop the row, or write its words")
        if not tokens:
            continue
        if all(isinstance(token, str) for token in tokens):
            if not all(token.strip() for token in tokens):
                raise DataError(f"{builder.where(row, name)}: a word is empty")
            return _Cut(tuple(map(str, tokens)), ())
        places = tuple((_value(token, _START), _value(token, _END)) for token in tokens)
        text = record.get("text")
        if isinstance(text, str) and all(isinstance(a, int) and isinstance(b, int) for a, b in places):
            kept = [place for place in places if text[slice(*place)].strip()]
            return _Cut(tuple(text[start:end] for start, end in kept), tuple(kept))
        strange = next((token for token in tokens if not isinstance(token, str | Mapping)), tokens[0])
        raise DataError(
            f"{builder.where(row, name)}: expected words, or tables with start and end, got {strange!r:.60} at "
            f"place {tokens.index(strange) + 1}"
        )
    text = builder.field(row, record, "text")
    if not isinstance(text, str):
        raise DataError(f"{builder.where(row, 'text')}: expected text, got {text!r:.60}")
    found = cut(text)
    return _Cut(found.words, found.spans)


def _tags(record: Mapping[str, Any], cut: _Cut, builder: CorpusBuilder, row: int) -> list[str] | None:
    """Return a tag a word where a field lists them; None where there is no such field."""
    for name in TAGS:
        tags = record.get(name)
        if not isinstance(tags, list) or not tags or isinstance(tags[0], list | Mapping):
            continue
        where = builder.where(row, name)
        if not all(isinstance(tag, str) and tag for tag in tags):
            wrong = next(tag for tag in tags if not (isinstance(tag, str) and tag))
            raise DataError(
                f"{where}: a tag is {wrong!r:.40}; write the names of the tags, such as B-PER, and no numbers"
            )
        if cut.places and name in SPANS and len(tags) != len(cut.words):
            continue
        if len(tags) != len(cut.words):
            raise DataError(f"{where}: {len(tags)} tags for {len(cut.words)} words; give one tag a word")
        return [str(tag) for tag in tags]
    return None


def _tags_of_spans(
    record: Mapping[str, Any], cut: _Cut, builder: CorpusBuilder, row: int
) -> tuple[tuple[str, ...], int, int]:
    """Return BIO tags of the spans of a text, and how many spans were widened to whole words, and cut to the text."""
    name = next((name for name in SPANS if isinstance(record.get(name), list)), "")
    if not name:
        known = ", ".join((TAGS[0], *SPANS[:3]))
        raise DataError(
            f"{builder.where(row)}: no tags and no spans; expected one of the fields {known}, or label"
        )
    if record[name] and not cut.places:
        raise DataError(
            f"{builder.where(row, name)}: spans need the text that they are of, in the field text"
        )
    spans: list[Span] = []
    moved = outside = 0
    text = record.get("text")
    for span in sorted(_each_label(record[name]), key=_length, reverse=True):
        start, end, kind = _value(span, _START), _value(span, _END), _value(span, _KIND)
        whole = type(start) is int and type(end) is int  # True is no place
        if not (whole and isinstance(kind, str) and kind.strip()):
            raise DataError(
                f"{builder.where(row, name)}: expected a start and an end as whole numbers, and a label, "
                f"got {span!r:.60}"
            )
        if end < start:
            raise DataError(f"{builder.where(row, name)}: a span ends before it begins: {span!r:.60}")
        outside += isinstance(text, str) and not 0 <= start <= end <= len(text)
        inside = [
            k for k, (first, last) in enumerate(cut.places) if first < end and last > start and start < end
        ]
        if not inside or any(inside[0] < other.end and other.start <= inside[-1] for other in spans):
            builder.skip("span without a word" if not inside else "span within another")
            continue
        moved += cut.places[inside[0]][0] < start or cut.places[inside[-1]][1] > end
        spans.append(Span(inside[0], inside[-1] + 1, kind.strip()))
    return (tags_of(spans, len(cut.words)) if spans else (OUTSIDE,) * len(cut.words)), moved, outside


def _each_label(spans: Sequence[Any]) -> Iterator[Any]:
    """Yield spans with one label each; Label Studio's shorter export (JSON-MIN) lists the labels of a span."""
    for span in spans:
        if isinstance(span, Mapping) and isinstance(span.get("labels"), list) and "label" not in span:
            yield from ({**span, "label": name} for name in span["labels"])
        else:
            yield span


def _length(span: object) -> int:
    start, end = _value(span, _START), _value(span, _END)
    return end - start if isinstance(start, int) and isinstance(end, int) else 0


def _value(part: object, names: Sequence[str | int]) -> Any:
    """Return a part of a span or a token by the first of its names that is there, or by its place in a list."""
    if isinstance(part, Mapping):
        return next((part[name] for name in names if name in part), None)
    place = names[-1]
    return part[place] if isinstance(part, list) and isinstance(place, int) and len(part) > place else None
