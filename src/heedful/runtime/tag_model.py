"""A model that gives every word of a text a tag, without torch; the tags are the best sequence that fits together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from heedful.errors import ArtifactError, UsageError
from heedful.model.answers import ReadWords
from heedful.model.attention_records import TaggedText
from heedful.model.decisions.decision import finite_row
from heedful.runtime.kernels import Floats
from heedful.runtime.runtime_model import RuntimeModel
from heedful.runtime.runtime_reading import AnExample, Block, NetworkWords, RuntimeReading, single, texts_of
from heedful.runtime.step_engine import StepEngine
from heedful.text.tokenize import Placed
from heedful.text.windows import Window, windows_of


@dataclass(frozen=True, slots=True)
class PlacedWords(NetworkWords):
    """The words of one text with their places in it.

    Attributes:
        spans: [start, end) of each word in the text, in characters.
        written: the words as they were written.
    """

    spans: tuple[tuple[int, int], ...] = ()
    written: tuple[str, ...] = ()

    @property
    def read(self) -> ReadWords:
        """How they were read, for an answer."""
        placed = Placed(self.kept, self.spans, self.text, self.written)
        return ReadWords.of(placed, self.unknown, truncated=self.truncated)


class PlacedReading(RuntimeReading):
    """Turns a request into words with their places; a request is a text, or a sequence of ready-made words."""

    def words_of(self, request: object, number: int, texts: int) -> tuple[PlacedWords, ...]:
        """See `Asking.words_of`."""
        if (
            not isinstance(request, str | tuple | list)
            and isinstance(request, AnExample)
            and request.words
            and request.words[0] is not None
        ):
            request = request.words[0]
        ready = isinstance(request, Sequence) and not isinstance(request, str)
        if ready and all(isinstance(word, str) for word in cast("Sequence[object]", request)):
            return (self.words(tuple(cast("Sequence[str]", request)), number, 1, texts),)
        sides = enumerate(texts_of(request, number, texts), start=1)
        return tuple(self.words(text, number, place, texts) for place, text in sides)

    def read(self, block: Block) -> Sequence[ReadWords]:
        """See `TextReading.read`."""
        return [cast(PlacedWords, words).read for _, (words,) in block]

    def words(self, text: str | Sequence[str], number: int, place: int, texts: int) -> PlacedWords:
        """See `Asking.words`."""
        placed = self.cutter.placed(text)
        self.refuse_long(len(placed.words), number, place, texts)
        read = self.looked_up(placed.words)
        return PlacedWords(
            read.ids, read.ngrams, read.unknown, False, read.kept, placed.text, placed.spans, placed.written
        )


class TagEngine(StepEngine):
    """An engine that gives logits for each word of a text, [L, Y]; see `StepEngine`."""

    def run(self, block: Block) -> list[Floats]:
        """See `Engine.run`; a text of more words than `max_tokens` is read in windows, so that each has a tag."""
        size = self.reading.max_tokens
        cut = [windows_of(len(words.kept), size) for _, (words,) in block]
        parts: Block = [
            (number, (words if len(own) == 1 else _part(words, window),))
            for (number, (words,)), own in zip(block, cut, strict=True)
            for window in own
        ]
        rows, found = iter(super().run(parts)), list[Floats]()
        for (_, (words,)), own in zip(block, cut, strict=True):
            each = [next(rows)[first - start : last - start] for start, _, first, last in own]
            logits = np.concatenate(each)
            if len(logits) != len(words.kept):
                raise ArtifactError(f"the network gives {len(logits)} rows for {len(words.kept)} words")
            found.append(self.parts.added_to_words(logits, words.kept))
        return found


class Tagger(RuntimeModel):
    """A network that gives every word a tag; see `RuntimeModel`.

    A request is a string, or a sequence of ready-made words.
    """

    engine_type = TagEngine
    options = frozenset({"conll"})

    def tagged_text(self, request: object) -> TaggedText:
        """See `Model.tagged_text`."""
        words = self.placed(single(request))
        if not words.kept:
            raise UsageError("the text has no words, so there is nothing to explain")
        block: Block = [(1, (words,))]
        sight = self.engine.look(block)
        own = self.parts.added_to_words(finite_row("prediction", sight.logits, 1), words.kept)
        (answer,) = self.decision.answers([own], [words.read])
        return TaggedText(words.kept, words.text, answer, block, sight)

    def placed(self, request: object) -> PlacedWords:
        """Return the words of one request that are read at a time, at most `max_tokens`; errors as in `predict`."""
        (words,) = self.reading.words_of(request, 1, 1)
        placed, limit = cast(PlacedWords, words), self.settings.max_tokens
        if len(placed.kept) <= limit:
            return placed
        read = self.reading.looked_up(placed.kept[:limit], truncated=True)
        own = placed.spans[:limit], placed.written[:limit]
        return PlacedWords(read.ids, read.ngrams, read.unknown, True, read.kept, placed.text, *own)


def _part(words: NetworkWords, window: Window) -> NetworkWords:
    place = slice(window.start, window.end)
    return NetworkWords(words.ids[place], words.ngrams[place], 0, False, words.kept[place])
