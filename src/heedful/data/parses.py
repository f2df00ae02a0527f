"""Trees for the sentences of a tokenized corpus, from a parser or from a file, kept on disk by content."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from heedful.data.cache import Arrays, load_or_build_arrays
from heedful.data.examples import Ragged
from heedful.data.readers.text_lines import bare_suffix, find_file, numbered_blocks
from heedful.data.tokens import TokenizedCorpus
from heedful.errors import DataError
from heedful.storage import sha256
from heedful.text.dependency import UNKNOWN, Parse, mistake_in
from heedful.text.parsers import DependencyParser, dependency_parser

CONLLU_FIELDS = 10
_DIGITS = 9


def read_conllu(path: str | Path) -> Iterator[Parse]:
    """Read the sentences of a CoNLL-U file.

    Comments, multiword tokens (``3-4``) and empty nodes (``5.1``) are skipped, as the format says: the tree is one over
    the words. An underscore for a head means that it is not known.

    Yields the sentences in order. Raises DataError, naming file and row, if a line is not of the format or the heads of
    a sentence make no tree.
    """
    file = find_file(path)
    for block in numbered_blocks(file):
        words = conllu_words(block, file)
        if words:
            yield _parse([fields for _, fields in words], [row for row, _ in words], file)


def conllu_words(block: Iterable[tuple[int, str]], file: Path) -> list[tuple[int, list[str]]]:
    """Return the row and the ten fields of each word of a sentence; see `read_conllu` for what is passed over.

    Raises DataError, naming file and row, if a line is not of the format.
    """
    words: list[tuple[int, list[str]]] = []
    for row, line in block:
        if line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != CONLLU_FIELDS:
            raise DataError(
                f"{file}: row {row}: expected {CONLLU_FIELDS} fields set apart by tabs, got {len(fields)}: "
                f"{line[:60]!r}"
            )
        if is_word(fields[0], len(words) + 1, file, row):
            words.append((row, fields))
    return words


def conllu_text(parses: Iterable[Parse]) -> Iterator[str]:
    """Write sentences as CoNLL-U, with a comment that holds the words; what is not known is an underscore.

    Yields the text of one sentence, blank line included. A sentence without words has no form in CoNLL-U and gives
    nothing.
    """
    for parse in parses:
        if not parse.words:
            continue
        lines = [f"# text = {' '.join(parse.words)}"]
        relations = parse.relations or ("_",) * len(parse.words)
        for place, (word, head, relation) in enumerate(
            zip(parse.words, parse.heads, relations, strict=True), start=1
        ):
            head_field = "_" if head == UNKNOWN else str(head)
            lines.append("\t".join([str(place), word, "_", "_", "_", "_", head_field, relation, "_", "_"]))
        yield "\n".join(lines) + "\n\n"


def is_word(number: str, expected: int, file: Path, row: int) -> bool:
    """Return whether a line is that of a word, and not of a multiword token (``3-4``) or an empty node (``5.1``).

    Raises DataError if it is none of the three.
    """
    parts = number.replace("-", ".").split(".")
    if len(parts) == 2 and all(map(is_number, parts)):
        return False
    if number != str(expected):
        raise DataError(f"{file}: row {row}, field ID: expected {expected}, got {number!r}")
    return True


def is_number(field: str) -> bool:
    """Return whether a field is a number of a word: of digits, and of no more than any sentence can need."""
    return field.isascii() and field.isdigit() and len(field) <= _DIGITS


def _parse(words: list[list[str]], rows: list[int], file: Path) -> Parse:
    heads = []
    for fields, row in zip(words, rows, strict=True):
        head = fields[6]
        if head != "_" and not is_number(head):
            raise DataError(f"{file}: row {row}, field HEAD: expected a whole number or _, got {head!r:.40}")
        heads.append(UNKNOWN if head == "_" else int(head))
    mistake = mistake_in(np.array(heads, np.int64), np.array([0, len(heads)]))
    if mistake is not None:
        raise DataError(f"{file}: row {rows[mistake[1]]}, field HEAD: {mistake[2]}")
    return Parse(tuple(f[1] for f in words), tuple(heads), tuple(f[7] for f in words))


_LOG = logging.getLogger(__name__)


class FileParser(DependencyParser):
    """Look sentences up in a CoNLL-U file by their words; a sentence that it lacks has no tree.

    Args:
        path: the file, plain or compressed.

    Raises:
        DataError: if there is no such file; on first use, if it is not of the format.
    """

    def __init__(self, path: Path) -> None:
        self.name, self._path = str(path), find_file(path)
        self._heads: dict[tuple[str, ...], Parse] | None = None

    @property
    def identity(self) -> str:
        """See `DependencyParser.identity`."""
        return sha256(self._path)

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[Parse]:
        """See `DependencyParser.parse`; what is not in the file has unknown heads."""
        if self._heads is None:
            self._heads = {parse.words: parse for parse in read_conllu(self._path)}
        known = self._heads
        keys = map(tuple, sentences)
        return [known.get(words) or Parse(words, (UNKNOWN,) * len(words)) for words in keys]


def find_parser(name: str, folder: Path | None = None) -> DependencyParser:
    """Return a parser by name.

    Returns the parser; models are loaded on first use. Raises UsageError if the name is of another form. Raises
    DataError if there is no such file.
    """
    if bare_suffix(Path(name)) != ".conllu":
        return dependency_parser(name)
    inside = Path(name) if folder is None else folder / name
    return FileParser(inside if inside.exists() or not Path(name).exists() else Path(name))


def parse_corpus(
    corpus: TokenizedCorpus, parser: DependencyParser, cache: Path | None = None, *, keep: bool = True
) -> TokenizedCorpus:
    """Give every text of a corpus its tree; a text that came with heads keeps them.

    Each distinct sentence is parsed once. Sentences without a tree are counted in a warning.

    Args:
        corpus: the words.
        parser: see `find_parser`.
        cache: the cache folder; None for the default.
        keep: whether parses are kept on disk; no for a few sentences.

    Returns:
        The corpus with heads.
    """
    build = lambda: _parsed(corpus, parser)  # noqa: E731
    arrays = load_or_build_arrays("parses", _key(corpus, parser), build, cache) if keep else build()
    heads = []
    for number, side in enumerate(corpus.sides):
        values = arrays[f"heads-{number}"]
        if corpus.heads:
            given = corpus.heads[number].values
            values = np.where(given == UNKNOWN, values, given)
        heads.append(Ragged(values, side.offsets))
    missing = sum(_without_tree(side) for side in heads)
    if missing:
        total = sum(int((side.lengths() > 0).sum()) for side in heads)
        source = corpus.source or "data"
        _LOG.warning("%s: %d of %d texts have no parse in %s", source, missing, total, parser.name)
    return replace(corpus, heads=tuple(heads))


def parse_if_possible(corpus: TokenizedCorpus, name: str, folder: Path | None = None) -> TokenizedCorpus:
    """Give the texts of a request their trees; a file of trees that is not on this machine is done without, and named.

    Args:
        corpus: the words.
        name: see `find_parser`.
        folder: where a file is looked for first; None for ``HEEDFUL_DATA``.

    Returns:
        The corpus with heads, or as it is.

    Raises:
        UsageError: if a parser is named that cannot be used.
    """
    try:
        parser = _shared_parser(name, folder or os.environ.get("HEEDFUL_DATA"))
    except DataError as error:
        _LOG.warning("texts are read without a parse: %s", error)
        return corpus
    return parse_corpus(corpus, parser, keep=False)


@lru_cache(maxsize=4)
def _shared_parser(name: str, folder: Path | str | None) -> DependencyParser:
    """Return one parser for all requests, since its model takes seconds to load."""
    return find_parser(name, Path(folder) if folder else None)


def sentences_of(corpus: TokenizedCorpus) -> list[tuple[str, ...]]:
    """Return the words of each distinct text, in order of appearance, empty ones left out."""
    distinct = {
        row.tobytes(): row for side in corpus.sides for row in map(side.__getitem__, range(len(side)))
    }
    return [tuple(corpus.words[n] for n in row) for row in distinct.values() if len(row)]


def _parsed(corpus: TokenizedCorpus, parser: DependencyParser) -> Arrays:
    sentences = sentences_of(corpus)
    heads = {parse.words: parse.heads for parse in parser.parse(sentences)}
    arrays = {}
    for number, side in enumerate(corpus.sides):
        rows = (tuple(corpus.words[n] for n in side[row]) for row in range(len(side)))
        arrays[f"heads-{number}"] = np.array(
            [head for words in rows for head in heads.get(words, ())], np.int32
        )
    return arrays


def _without_tree(heads: Ragged) -> int:
    known = np.concatenate([[0], np.cumsum(heads.values != UNKNOWN)])
    return int(((known[heads.offsets[1:]] == known[heads.offsets[:-1]]) & (heads.lengths() > 0)).sum())


def _key(corpus: TokenizedCorpus, parser: DependencyParser) -> str:
    digest = hashlib.sha256(json.dumps([parser.identity, corpus.words]).encode("utf-8", "surrogatepass"))
    for side in corpus.sides:
        digest.update(side.values.tobytes())
        digest.update(side.offsets.tobytes())
    return digest.hexdigest()
