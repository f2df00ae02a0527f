"""How a model of torch reads requests: as examples, all of them together, whatever a reader made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from heedful.data.encoding import EncodedDataset
from heedful.data.examples import Corpus
from heedful.data.tokens import place
from heedful.features.feature_columns import Row
from heedful.model.answers import Read, ReadWords
from heedful.tasks.schema import TextSettings
from heedful.text.tokenize import Tokenizer

if TYPE_CHECKING:
    from heedful.tasks.saved_model import SavedModel
    from heedful.tasks.words.tagging import TaggingModel
    from heedful.tasks.words.text_model import Readings, TextModel


@dataclass(frozen=True, eq=False)
class CorpusReading:
    """Requests as the examples of a corpus; see `heedful.model.text_reading.TextReading`.

    Attributes:
        model: what reads.
    """

    model: SavedModel[Any]

    @property
    def cutter(self) -> Tokenizer:
        """What cuts texts into words."""
        return self.model.text.cutter

    @property
    def max_tokens(self) -> int:
        """Longest text, in words or pieces."""
        return self.model.text.max_tokens

    @property
    def refuses_long(self) -> bool:
        """Whether a longer one is refused."""
        return self.model.text.truncate == "error"

    @property
    def vocabulary(self) -> Any:
        """What looks words up; None for a translation."""
        return getattr(self.model, "vocabulary", None)

    def blocks(self, requests: Any, texts: int) -> Iterator[Any]:
        """Yield all requests as one block; see `TextReading.blocks`."""
        yield self.model.read(requests)

    def one(self, request: Any) -> Any:
        """Return one request, read; see `TextReading.one`."""
        (block,) = self.blocks(self.model.one(request), 0)
        return block

    def texts(self, block: Any) -> tuple[str, ...]:
        """Return the texts of the one request of a block."""
        (example,) = block.examples
        return tuple(example.texts)

    def row(self, block: Any) -> Row:
        """See `TextReading.row`."""
        return ()

    def read(self, block: Any) -> Sequence[Read]:
        """Return nothing: a model whose examples are read in its own way says it in its answers."""
        return ()

    def knows(self, word: str) -> bool:
        """Return whether the model has a vector of a word; what has no words, as a translation, knows all."""
        known = getattr(self.model, "knows", None)
        return known is None or bool(known(word))


@dataclass(frozen=True, eq=False)
class EncodedExamples:
    """Examples as the numbers that a network reads.

    Attributes:
        corpus: the examples.
        dataset: their words and what else is read of them.
        readings: how they were read.
    """

    corpus: Corpus
    dataset: EncodedDataset
    readings: Readings


@dataclass(frozen=True, eq=False)
class EncodedReading(CorpusReading):
    """Requests as encoded examples of texts or pairs."""

    model: TextModel[Any]

    def texts(self, block: EncodedExamples) -> tuple[str, ...]:
        """See `TextReading.texts`."""
        return super().texts(block.corpus)

    def blocks(self, requests: Any, texts: int) -> Iterator[EncodedExamples]:
        """See `TextReading.blocks`."""
        for corpus in super().blocks(requests, texts):
            if (columns := self.model.about.columns) is not None:  # refused here, where the file is known
                for number, example in enumerate(corpus.examples, start=1):
                    columns.read(example.cells, place(corpus.source, example.row or number))
            yield EncodedExamples(corpus, *self.model.encode_examples(corpus.examples, corpus.source))

    def row(self, block: EncodedExamples) -> Row:
        """See `TextReading.row`."""
        columns, (example,) = self.model.about.columns, block.corpus.examples
        return () if columns is None else columns.read(example.cells, f"row {example.row or 1}")

    def read(self, block: EncodedExamples) -> Sequence[Read]:
        """See `TextReading.read`."""
        lengths, readings = block.dataset.words(), block.readings
        empty = (lengths == 0).any(axis=1).tolist()
        rows = zip(
            lengths.tolist(), readings.unknown.tolist(), readings.truncated.tolist(), empty, strict=True
        )
        return [Read(tuple(tokens), unknown, truncated, none) for tokens, unknown, truncated, none in rows]


@dataclass(frozen=True, eq=False)
class WordReading(EncodedReading):
    """Requests as encoded texts of which every word is to have a tag."""

    model: TaggingModel[Any]

    def blocks(self, requests: Any, texts: int) -> Iterator[EncodedExamples]:
        """See `TextReading.blocks`; texts of more than `max_tokens` words are read in windows."""
        yield from EncodedReading(self.model.reading_as(in_whole(self.model.text))).blocks(requests, texts)

    def read(self, block: EncodedExamples) -> Sequence[ReadWords]:
        """See `TextReading.read`."""
        lengths, readings = block.dataset.words()[:, 0].tolist(), block.readings
        placed = [
            self.model.words_of(example, length)
            for example, length in zip(block.corpus.examples, lengths, strict=True)
        ]
        rows = zip(placed, readings.unknown.tolist(), readings.truncated.tolist(), strict=True)
        return [ReadWords.of(words, unknown, truncated=cut) for words, unknown, cut in rows]


def in_whole(text: TextSettings) -> TextSettings:
    """Return how texts are read if every word is to have a tag: none is cut, unless long ones are refused."""
    return replace(text, truncate="window") if text.truncate == "head" else text
