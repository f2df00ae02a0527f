"""Requests to an assistant, as two releases write them: the intent of each, and the words that fill its slots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from heedful.data.examples import Corpus, WordTags
from heedful.data.readers.corpus_builder import CorpusBuilder
from heedful.data.readers.text_lines import DAMAGE, damaged, find_file, open_bytes
from heedful.errors import DataError
from heedful.storage.fields import Fields, parsed
from heedful.text.bio import OUTSIDE


def read_clinc(path: str | Path, *, part: str = "train", keep_empty: bool = False) -> Corpus:
    """Read one part of the file of CLINC150 (Larson et al., 2019): an object of lists of ``[text, intent]``.

    Args:
        path: the file, plain or compressed.
        part: the list: "train", "val" or "test", or "oos_train" and so on, whose texts belong to no intent.
        keep_empty: keep rows without text.

    Returns:
        The texts; rows count within the list.

    Raises:
        DataError: if the file is no such object, lacks the part, or a row is not a text and its intent.
    """
    file = find_file(path)
    builder = CorpusBuilder(file, keep_empty=keep_empty)
    for row, pair in enumerate(_fields(file).items(part), start=1):
        match pair:
            case [str(text), str(intent)]:
                builder.add(row, (text,), intent)
            case _:
                raise DataError(f"{builder.where(row, part)}: expected [text, intent], got {pair!r:.80}")
    return builder.build()


def read_snips(
    path: str | Path,
    *,
    beside: Sequence[str] = (),
    gold: Literal["intent", "slots"] = "intent",
    keep_empty: bool = False,
) -> Corpus:
    """Read files of SNIPS (Coucke et al., 2018), each an object of one intent and its requests in pieces.

    Args:
        path: the file of the first intent, plain or compressed, in UTF-8 or Latin-1.
        beside: names of the files of the other intents, in the same folder.
        gold: "intent" gives the name of the file's intent; "slots" a tag in BIO for each word, where white space and
            the ends of pieces set words apart.
        keep_empty: keep rows without text.

    Returns:
        The requests of all files in turn; rows count within a file.

    Raises:
        DataError: if a file is no such object, or a request has no pieces of text.
    """
    first = find_file(path)
    builder = CorpusBuilder(first, keep_empty=keep_empty)
    for file in (first, *(find_file(first.parent / name) for name in beside)):
        for row, (intent, pieces) in enumerate(_requests(file), start=1):
            if gold == "intent":
                builder.add(row, ("".join(text for text, _ in pieces).strip(),), intent)
                continue
            tagged = [pair for text, slot in pieces for pair in _tagged(text.split(), slot)]
            words = tuple(word for word, _ in tagged)
            builder.add(row, (" ".join(words),), WordTags(tuple(tag for _, tag in tagged)), (words,))
    return builder.build()


def _tagged(words: Sequence[str], slot: str) -> Iterator[tuple[str, str]]:
    for place, word in enumerate(words):
        yield word, f"{'I' if place else 'B'}-{slot}" if slot else OUTSIDE


def _requests(file: Path) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the intent of each request of a file, and its pieces: a text and the slot that it fills, or ""."""
    intents = _fields(file)
    for intent in intents:
        for request in intents.parts(intent):
            yield intent, [(piece.text("text"), piece.text("entity", "")) for piece in request.parts("data")]


def _fields(file: Path) -> Fields:
    try:
        with open_bytes(file) as stream:
            content = stream.read()
    except DAMAGE as error:
        raise damaged(str(file), error) from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    return Fields(parsed(text, str(file), dict, DataError, finite=False), str(file), error=DataError)
