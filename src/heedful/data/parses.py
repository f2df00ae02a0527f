"""Trees for the sentences of a tokenised corpus, from a parser or from a file, kept on disk by content."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from heedful.data.cache import load_or_build_arrays
from heedful.data.conllu import read_conllu
from heedful.data.ragged import Ragged
from heedful.data.readers.opening import bare_suffix, find_file
from heedful.data.stored import Arrays
from heedful.data.tokens import TokenisedCorpus
from heedful.errors import DataError
from heedful.files import sha256
from heedful.text.dependency import UNKNOWN, Parse
from heedful.text.parsers import DependencyParser, dependency_parser

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

    Args:
        name: ``builtin``, ``spacy:MODEL``, ``stanza:LANGUAGE``, or a file that ends in ``.conllu``.
        folder: where a file is looked for first; then the working folder.

    Returns:
        The parser; models are loaded on first use.

    Raises:
        UsageError: if the name is of another form.
        DataError: if there is no such file.
    """
    if bare_suffix(Path(name)) != ".conllu":
        return dependency_parser(name)
    inside = Path(name) if folder is None else folder / name
    return FileParser(inside if inside.exists() or not Path(name).exists() else Path(name))


def parse_corpus(
    corpus: TokenisedCorpus, parser: DependencyParser, cache: Path | None = None, *, keep: bool = True
) -> TokenisedCorpus:
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


def parse_if_possible(corpus: TokenisedCorpus, name: str, folder: Path | None = None) -> TokenisedCorpus:
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


def sentences_of(corpus: TokenisedCorpus) -> list[tuple[str, ...]]:
    """Return the words of each distinct text, in order of appearance, empty ones left out."""
    distinct = {
        row.tobytes(): row for side in corpus.sides for row in map(side.__getitem__, range(len(side)))
    }
    return [tuple(corpus.words[n] for n in row) for row in distinct.values() if len(row)]


def _parsed(corpus: TokenisedCorpus, parser: DependencyParser) -> Arrays:
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


def _key(corpus: TokenisedCorpus, parser: DependencyParser) -> str:
    digest = hashlib.sha256(json.dumps([parser.identity, corpus.words]).encode("utf-8", "surrogatepass"))
    for side in corpus.sides:
        digest.update(side.values.tobytes())
        digest.update(side.offsets.tobytes())
    return digest.hexdigest()
