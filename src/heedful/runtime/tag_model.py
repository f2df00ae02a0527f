"""A model that gives every word of a text a tag, without torch; the tags are the best sequence that fits together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from heedful.errors import ArtifactError, UsageError
from heedful.model.answers import TagsAnswer, role_spans
from heedful.model.decisions.decision import finite_row
from heedful.model.model import in_order
from heedful.model.sights import TaggedText
from heedful.runtime.asking import AnExample, Asking, Block, Request, Words, single, texts_of
from heedful.runtime.kernels import Floats
from heedful.runtime.runtime_model import RuntimeModel
from heedful.runtime.step_engine import StepEngine
from heedful.runtime.tag_paths import TagPaths
from heedful.text.windows import Window, windows_of


@dataclass(frozen=True, slots=True)
class PlacedWords(Words):
    """The words of one text with their places in it.

    Attributes:
        spans: [start, end) of each word in the text, in characters.
        written: the words as they were written.
    """

    spans: tuple[tuple[int, int], ...] = ()
    written: tuple[str, ...] = ()


class PlacedAsking(Asking):
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
        size = self.asking.max_tokens
        cut = [windows_of(len(words.kept), size) for _, (words,) in block]
        parts: Block = [
            (number, (words if len(own) == 1 else _part(words, window),))
            for (number, (words,)), own in zip(block, cut, strict=True)
            for window in own
        ]
        rows = iter(super().run(parts))
        found = [
            np.concatenate([next(rows)[first - start : last - start] for start, _, first, last in own])
            for own in cut
        ]
        return [
            self.parts.added_to_words(logits, words.kept)
            for logits, (_, (words,)) in zip(found, block, strict=True)
        ]


class Tagger(RuntimeModel):
    """A network that gives every word a tag; see `RuntimeModel`.

    A request is a string, or a sequence of ready-made words.
    """

    engine_type = TagEngine
    options = frozenset({"conll"})

    def logits(self, requests: Iterable[Request]) -> Floats:
        """Return the scores of the tags of all words, those of each text behind those of the one before, [T, Y]."""
        blocks = self.asking.blocks(requests, 1)
        rows = [row for found in in_order(self.engine.run, blocks, self.threads) for row in found]
        return np.concatenate(rows) if rows else np.zeros((0, self.program.outputs), np.float32)

    def answered(self, block: Block) -> Sequence[TagsAnswer]:
        """See `Model.answered`."""
        each = zip(self.engine.run(block), block, strict=True)
        return [self.tagged(logits, cast(PlacedWords, words)) for logits, (_, (words,)) in each]

    def tagged_text(self, request: object) -> TaggedText:
        """See `Model.tagged_text`."""
        words = self.placed(single(request))
        if not words.kept:
            raise UsageError("the text has no words, so there is nothing to explain")
        block: Block = [(1, (words,))]
        sight = self.engine.look(block)
        own = self.parts.added_to_words(finite_row("prediction", sight.logits, 1), words.kept)
        return TaggedText(words.kept, words.text, self.tagged(own, words), block, sight)

    def placed(self, request: object) -> PlacedWords:
        """Return the words of one request that are read at a time, at most `max_tokens`; errors as in `predict`."""
        (words,) = self.asking.words_of(request, 1, 1)
        placed, limit = cast(PlacedWords, words), self.settings.max_tokens
        if len(placed.kept) <= limit:
            return placed
        read = self.asking.looked_up(placed.kept[:limit], truncated=True)
        own = placed.spans[:limit], placed.written[:limit]
        return PlacedWords(read.ids, read.ngrams, read.unknown, True, read.kept, placed.text, *own)

    @cached_property
    def paths(self) -> TagPaths:
        """Which tags fit together, and what they score side by side."""
        part = self.parts.tagging
        return TagPaths(self.decision.names, None if part is None else part.chain)

    def tagged(self, logits: Floats, words: PlacedWords) -> TagsAnswer:
        """Answer for one text.

        Args:
            logits: what the network and the linear part gave, [L, Y].
            words: what it read.

        Returns:
            The answer.

        Raises:
            ArtifactError: if the network does not give one row for each word.
        """
        if len(logits) != len(words.kept):
            raise ArtifactError(f"the network gives {len(logits)} rows for {len(words.kept)} words")
        scores = self.paths.log_shares(logits)
        part, names = self.parts.tagging, self.decision.names
        numbers = self.paths.of(scores if part is None else part.deciding(logits, names))
        tags = tuple(names[number] for number in numbers.tolist())
        shares = tuple(np.exp(scores[np.arange(len(numbers)), numbers]).tolist())
        spans = role_spans(tags, shares, words.spans, words.text) if self.paths.marks_spans else ()
        return TagsAnswer(words.written, words.spans, tags, shares, spans, words.unknown, words.truncated)


def _part(words: Words, window: Window) -> Words:
    place = slice(window.start, window.end)
    return Words(words.ids[place], words.ngrams[place], 0, False, words.kept[place])
