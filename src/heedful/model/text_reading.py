"""How a model reads texts: requests to blocks of words, which an engine computes together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeVar

from heedful.model.answers import Read
from heedful.text.tokenize import Tokenizer

B = TypeVar("B")


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
        """Yield requests that are computed together.

        Args:
            requests: what the model takes; or the examples that a reader made of a file, a corpus.
            texts: how many texts each has.

        Yields:
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

    def read(self, block: B) -> Sequence[Read]:
        """Return how each request of a block was read."""

    def knows(self, word: str) -> bool:
        """Return whether the network or a part beside it has a vector of a word."""
