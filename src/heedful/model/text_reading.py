"""How a model reads texts: requests to blocks of words, which an engine computes together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, TypeVar

from heedful.errors import UsageError, checked_whole
from heedful.model.answers import Read
from heedful.text.tokenize import Tokenizer

B = TypeVar("B")
S = TypeVar("S")


class TextReading(Protocol[B]):
    """Turns requests into blocks."""

    @property
    def cutter(self) -> Tokenizer:
        """What cuts a text into words."""

    @property
    def max_tokens(self) -> int:
        """Longest text, in words; of a pretrained encoder or a translation in pieces of words."""

    @property
    def refuses_long(self) -> bool:
        """Whether a longer text is refused, and not cut or read in windows."""

    def blocks(self, requests: Any, texts: int) -> Iterator[B]:
        """Return requests that are computed together.

        Args:
            requests: what the model takes; or the examples that a reader made of a file, a corpus.
            texts: how many texts each has.

        Returns:
            The blocks, in order.

        Raises:
            DataError: naming the request, if it is no text or too long.
            UsageError: if it is one string, or no list.
        """

    @property
    def vocabulary(self) -> Any:
        """What looks words up, a `heedful.text.vocabulary.AnyVocabulary`; None where pieces of words are read alone."""

    def one(self, request: object) -> B:
        """Return one request, read; see `blocks`."""

    def texts(self, block: B) -> tuple[str, ...]:
        """Return the texts of the one request of a block."""

    def row(self, block: B) -> Any:
        """Return what the columns beside the texts of the one request of a block say; empty without columns."""

    def read(self, block: B) -> Sequence[Read]:
        """Return how each request of a block was read."""

    def knows(self, word: str) -> bool:
        """Return whether the network or a part beside it has a vector of a word."""


@dataclass(frozen=True)
class Limits:
    """Another limit on the length of a text than the model was saved with.

    Attributes:
        max_tokens: longest text, in tokens; None leaves it.
        truncate: what a longer text does; None leaves it.
    """

    max_tokens: int | None = None
    truncate: Literal["error", "head"] | None = None

    def of(self, text: S) -> S:
        """Return how a model reads text under these limits.

        Args:
            text: how it was saved, a record with the fields ``max_tokens`` and ``truncate``.

        Returns:
            The record with these limits.

        Raises:
            UsageError: if the limit is below 1.
        """
        longest = None if self.max_tokens is None else checked_whole("max_tokens", self.max_tokens, 1)
        given = {"max_tokens": longest, "truncate": self.truncate}
        record: Any = text
        changed: S = replace(record, **{name: value for name, value in given.items() if value is not None})
        return changed


def listed(requests: object, what: str = "requests") -> Iterable[Any]:
    """Return the items of a list, or of a column of NumPy, pandas or pyarrow, as plain values.

    Raises UsageError, naming what they are, for one string, for what is no list, and for what has no order of rows.
    """
    if isinstance(requests, list | tuple):
        return requests
    if isinstance(requests, str | bytes):
        raise UsageError(f"expected a list of {what}, got one string: write [{requests!r:.60}]")
    plain = next(
        (getattr(requests, way)() for way in ("to_pylist", "tolist") if hasattr(requests, way)), requests
    )
    unordered = isinstance(requests, Set | Mapping) and not isinstance(requests, KeysView)
    table = plain is requests and (hasattr(requests, "columns") or hasattr(requests, "toarray"))
    if unordered or table or isinstance(plain, str) or not isinstance(plain, Iterable):
        came = " ".join(f"{type(requests).__name__} {requests!r:.60}".split())
        raise UsageError(f"expected a list of {what}, got {came}")
    return plain
