"""What a model without torch is asked: requests as texts, and texts as words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Protocol, runtime_checkable

import numpy as np

from heedful.errors import DataError
from heedful.features.cells import Cells
from heedful.features.feature_columns import Row
from heedful.model.answers import Read
from heedful.model.text_reading import Limits, listed
from heedful.runtime.model_parts import NO_PARTS, ModelParts
from heedful.runtime.settings import RuntimeSettings
from heedful.runtime.word_values import Ids, Ngrams
from heedful.text.vocabulary import Vocabulary

Request = str | Sequence[str] | Mapping[str, object]
"""One text, a pair (premise, hypothesis), or a mapping with the text or the pair and the columns beside it."""
_BLOCK, _BLOCK_TOKENS, _REMEMBERED = 64, 2048, 1 << 14
"""Requests, and tokens of their texts, that are predicted together, where a text that several of them share is read
once; and words whose rows are remembered."""


@dataclass(frozen=True, slots=True)
class NetworkWords:
    """The words of one text, as the network takes them.

    Attributes:
        ids: rows of the tables of word vectors, [L].
        ngrams: for each word the rows of its n-grams; empty for a model that reads none.
        unknown: how many of them the model does not know.
        truncated: whether the text has more words than were read.
        kept: the words that were read.
        text: the text; of ready-made words these words with single spaces between them.
    """

    ids: Ids
    ngrams: Ngrams
    unknown: int
    truncated: bool
    kept: tuple[str, ...]
    text: str = ""


def read_of(words: Sequence[NetworkWords]) -> Read:
    """Return how the texts of a request were read."""
    kept = tuple(len(each.ids) for each in words)
    return Read(kept, sum(each.unknown for each in words), any(each.truncated for each in words), 0 in kept)


@runtime_checkable
class OfFile(Protocol):
    """The examples that a reader made of a file, `heedful.data.examples.Corpus`."""

    @property
    def examples(self) -> Sequence[AnExample]:
        """The examples."""


@runtime_checkable
class AnExample(Protocol):
    """One example, `heedful.data.examples.Example`."""

    @property
    def texts(self) -> tuple[str, ...]:
        """One string, or two for a pair."""

    @property
    def words(self) -> tuple[tuple[str, ...] | None, ...]:
        """For each text its ready-made words, if the file has them."""

    @property
    def cells(self) -> Cells | None:
        """The values of the columns beside the text, by name."""

    @property
    def row(self) -> int:
        """Its row in the file, from 1; 0 where there is no file."""


class RequestTexts(tuple[NetworkWords, ...]):
    """The words of each text of a request, and what the columns beside them say.

    Attributes:
        row: the values of the columns; empty for a model that reads none.
    """

    row: Row = ()


Block = list[tuple[int, tuple[NetworkWords, ...]]]
"""Requests that are computed together: the number of each, from 1, and the words of its texts."""


def row_of(words: tuple[NetworkWords, ...]) -> Row:
    """Return what the columns beside the texts of a request say."""
    return words.row if isinstance(words, RequestTexts) else ()


class RuntimeReading:
    """Turns requests into words.

    Args:
        settings: how text is read.
        vocabulary: words to ids.
        parts: what stands beside the network, which may know further words.
    """

    def __init__(
        self, settings: RuntimeSettings, vocabulary: Vocabulary, parts: ModelParts = NO_PARTS
    ) -> None:
        self.settings, self.vocabulary, self._parts = settings, vocabulary, parts
        self.cutter = settings.cutter
        self._row = lru_cache(_REMEMBERED)(lambda word: (vocabulary.id(word), not self.knows(word)))
        self._ngrams = lru_cache(_REMEMBERED // 8)(vocabulary.rows_of_ngrams)

    @property
    def max_tokens(self) -> int:
        """Longest text, in words."""
        return self.settings.max_tokens

    @property
    def refuses_long(self) -> bool:
        """Whether a longer one is refused."""
        return self.settings.truncate == "error"

    def limited(self, limits: Limits) -> RuntimeReading:
        """Return the same with another limit; see `RuntimeModel.limited`."""
        return type(self)(limits.of(self.settings), self.vocabulary, self._parts)

    def of_texts_alone(self) -> RuntimeReading:
        """Return the same for texts without the columns beside them, whose vectors need none."""
        return type(self)(self.settings, self.vocabulary, replace(self._parts, columns=None))

    def knows(self, word: str) -> bool:
        """Return whether the network or a part beside it has a vector of a word."""
        return self.vocabulary.knows(word) or self._parts.knows(word)

    def blocks(self, requests: object, texts: int) -> Iterator[Block]:
        """Yield numbered requests, several at a time, but not so many that they take much memory.

        Args:
            requests: texts, pairs, or the examples that a reader made of a file.
            texts: how many texts each has.

        Yields:
            The number of each request, from 1, and the words of its texts.

        Raises:
            DataError: naming the request, if it is no text or too long.
            UsageError: if it is one string, or no list.
        """
        block, tokens = Block(), 0
        for number, request in enumerate(each_request(requests), start=1):
            words = self.words_of(request, number, texts)
            block.append((number, words))
            tokens += sum(len(each.ids) for each in words)
            if len(block) == _BLOCK or tokens >= _BLOCK_TOKENS:
                yield block
                block, tokens = [], 0
        if block:
            yield block

    def one(self, request: object) -> Block:
        """Return one request, read; see `blocks`."""
        return [(1, self.words_of(single(request), 1, self.settings.kind.texts))]

    def texts(self, block: Block) -> tuple[str, ...]:
        """Return the texts of the one request of a block."""
        ((_, words),) = block
        return tuple(each.text for each in words)

    def row(self, block: Block) -> Row:
        """Return what the columns beside the texts of the one request of a block say."""
        ((_, words),) = block
        return row_of(words)

    def read(self, block: Block) -> Sequence[Read]:
        """Return how each request of a block was read."""
        return [read_of(words) for _, words in block]

    def words_of(self, request: object, number: int, texts: int) -> tuple[NetworkWords, ...]:
        """Cut each text of a request into words; see `blocks`."""
        sides = enumerate(texts_of(request, number, texts), start=1)
        found = RequestTexts(self.words(text, number, place, texts) for place, text in sides)
        if (columns := self._parts.columns) is not None:
            cells, where = _cells_of(request, number)
            found.row = columns.read(cells, where)
        return found

    def words(self, text: str, number: int, place: int, texts: int) -> NetworkWords:
        """Cut one text into words; see `blocks`."""
        limit, words = self.settings.max_tokens, self.cutter.words(text)
        self.refuse_long(len(words), number, place, texts)
        return self.looked_up(tuple(words[:limit]), truncated=len(words) > limit, text=text)

    def refuse_long(self, length: int, number: int, place: int, texts: int) -> None:
        """Refuse a text of more words than are allowed, if it may not be truncated."""
        limit = self.settings.max_tokens
        if length > limit and self.settings.truncate == "error":
            field = "text" if texts == 1 else f"text {place}"
            raise DataError(
                f"row {number}, {field}: {length} tokens, at most max_tokens = {limit} allowed. Raise "
                "max_tokens, or choose truncate = 'head' (cut)."
            )

    def looked_up(self, words: tuple[str, ...], *, truncated: bool = False, text: str = "") -> NetworkWords:
        """Look words up in the vocabulary."""
        rows = list(map(self._row, words))
        ids = np.array([row for row, _ in rows], np.int64)
        unknown = sum([new for _, new in rows])
        ngrams = tuple(map(self._ngrams, words)) if self.vocabulary.ngrams is not None else ()
        return NetworkWords(ids, ngrams, unknown, truncated, words, text)


TEXTS_OF = {1: ("text",), 2: ("premise", "hypothesis")}
"""The fields of the texts of a request that is a mapping."""


def _cells_of(request: object, number: int) -> tuple[Cells | None, str]:
    """Return the values of the columns of a request by name, and where they stand."""
    if isinstance(request, Mapping):
        return request, f"request {number}"
    if not isinstance(request, str | tuple | list) and isinstance(request, AnExample):
        return request.cells, f"row {request.row or number}"
    return None, f"request {number}"


def each_request(requests: object) -> Iterable[Any]:
    """Return the requests of a list, or the examples of a corpus; see `listed`."""
    if not isinstance(requests, str | list | tuple) and isinstance(requests, OfFile):
        return requests.examples
    return listed(requests)


def single(request: object) -> object:
    """Return one request; of a corpus, which holds one, its example."""
    return request.examples[0] if isinstance(request, OfFile) else request


def texts_of(request: object, number: int, count: int) -> tuple[str, ...]:
    """Return the texts of one request.

    Args:
        request: a text, or a pair of texts.
        number: which one it is, from 1, for messages.
        count: how many texts an example has.

    Returns:
        The texts.

    Raises:
        DataError: if it is not what the model takes.
    """
    if not isinstance(request, str | tuple | list) and isinstance(
        request, AnExample
    ):  # the second takes longer
        return request.texts
    where = f"request {number}"
    if isinstance(request, Mapping):
        names = TEXTS_OF[count]
        if missing := [name for name in names if name not in request]:
            listed = ", ".join(f"{name!s:.40}" for name in request) or "none"
            raise DataError(f"{where}: no field {missing[0]!r}; fields: {listed}")
        request = request[names[0]] if count == 1 else [request[name] for name in names]
    if count == 1:
        texts: Sequence[object] = (request,)
    elif isinstance(request, str) or not isinstance(request, Sequence) or len(request) != count:
        raise DataError(f"{where}: expected a pair (premise, hypothesis), got {request!r:.80}")
    else:
        texts = request
    for text in texts:
        if not isinstance(text, str):
            raise DataError(
                f"{where}: expected text, got {type(text).__name__} {text!r:.80}; write an empty string where there is "
                "no text"
            )
    return tuple(map(str, texts))
