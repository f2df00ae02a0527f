"""A model that gives every word of a text a tag, without torch; the tags are the best sequence that fits together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from heedful.errors import ArtefactError
from heedful.runtime.answers import TagsAnswer, role_spans
from heedful.runtime.asking import Asking, Block, Request, Words, texts_of
from heedful.runtime.kernels import Floats
from heedful.runtime.model import Model, in_order
from heedful.text.bio import OUTSIDE, may_follow, scheme_of
from heedful.text.windows import Window, windows_of

Number = TypeVar("Number", bound=np.floating)


class TagPaths:
    """Chooses the tags of a text: the best of each word, or the best sequence where tags mark spans (Viterbi, 1967).

    Args:
        tags: the tags in the order of the scores.

    Attributes:
        marks_spans: whether the tags are BIO or BIOES.
    """

    def __init__(self, tags: Sequence[str]) -> None:
        scheme = scheme_of(tags)
        self.marks_spans = scheme != "plain"
        if not self.marks_spans:
            return
        follows = [[may_follow(tag, before, scheme) for before in tags] for tag in tags]
        ends = [may_follow(OUTSIDE, tag, scheme) for tag in tags]
        self._follows = np.where(follows, 0, -np.inf).astype(np.float32)
        self._first = self._follows[:, tags.index(OUTSIDE)]
        self._last = np.where(ends, 0, -np.inf).astype(np.float32)

    def of(self, scores: Floats) -> NDArray[np.int64]:
        """Return the numbers of the tags of one text.

        Args:
            scores: log-probability of each tag of each word, [L, Y].

        Returns:
            [L]; among equals the smallest number wins.
        """
        if not self.marks_spans or not len(scores):
            return scores.argmax(axis=1)
        best, came = scores[0] + self._first, list[NDArray[np.int64]]()
        each = np.arange(scores.shape[1])
        for own in scores[1:]:
            reached = best + self._follows
            before = reached.argmax(axis=1)
            best = reached[each, before] + own
            came.append(before)
        path = [int((best + self._last).argmax())]
        for before in reversed(came):
            path.append(int(before[path[-1]]))
        return np.array(path[::-1])


@dataclass(frozen=True, slots=True)
class PlacedWords(Words):
    """The words of one text with their places in it.

    Attributes:
        text: the text; of ready-made words these words with single spaces between them.
        spans: [start, end) of each word in the text, in characters.
        written: the words as they were written.
    """

    text: str = ""
    spans: tuple[tuple[int, int], ...] = ()
    written: tuple[str, ...] = ()


class PlacedAsking(Asking):
    """Turns a request into words with their places; a request is a text, or a sequence of ready-made words."""

    def read(self, request: object, number: int, texts: int) -> tuple[PlacedWords, ...]:
        """See `Asking.read`."""
        ready = isinstance(request, Sequence) and not isinstance(request, str)
        if ready and all(isinstance(word, str) for word in cast("Sequence[object]", request)):
            return (self.words(tuple(cast("Sequence[str]", request)), number, 1, texts),)
        sides = enumerate(texts_of(request, number, texts), start=1)
        return tuple(self.words(text, number, place, texts) for place, text in sides)

    def words(self, text: str | Sequence[str], number: int, place: int, texts: int) -> PlacedWords:
        """See `Asking.words`."""
        placed = self.tokenizer.placed(text)
        self.refuse_long(len(placed.words), number, place, texts)
        read = self.looked_up(placed.words)
        return PlacedWords(
            read.ids, read.ngrams, read.unknown, False, read.kept, placed.text, placed.spans, placed.written
        )


class Tagger(Model):
    """A network that gives every word a tag; see `Model`. A request is a string, or a sequence of ready-made words."""

    def logits(self, requests: Iterable[Request]) -> Floats:
        """Return the scores of the tags of all words, those of each text behind those of the one before, [T, Y]."""
        blocks = self.asking.blocks(requests, 1)
        rows = [row for block in in_order(self.logits_of, blocks, self.threads) for row in block]
        return np.concatenate(rows) if rows else np.zeros((0, self.program.outputs), np.float32)

    def answers(self, block: Block) -> Sequence[TagsAnswer]:
        """See `Model.answers`."""
        each = zip(self.logits_of(block), block, strict=True)
        return [self.tagged(logits, cast(PlacedWords, words)) for logits, (_, (words,)) in each]

    def placed(self, request: Request) -> PlacedWords:
        """Return the words of one request that are read at a time, at most `max_tokens`; errors as in `predict`."""
        (words,) = self.asking.read(request, 1, 1)
        placed, limit = cast(PlacedWords, words), self.settings.max_tokens
        if len(placed.kept) <= limit:
            return placed
        read = self.asking.looked_up(placed.kept[:limit], truncated=True)
        own = placed.spans[:limit], placed.written[:limit]
        return PlacedWords(read.ids, read.ngrams, read.unknown, True, read.kept, placed.text, *own)

    def logits_of(self, block: Block) -> list[Floats]:
        """See `Model.logits_of`; a text of more words than `max_tokens` is read in windows, so that each has a tag."""
        size = self.settings.max_tokens
        cut = [windows_of(len(words.kept), size) for _, (words,) in block]
        parts: Block = [
            (number, (words if len(own) == 1 else _part(words, window),))
            for (number, (words,)), own in zip(block, cut, strict=True)
            for window in own
        ]
        rows = iter(super().logits_of(parts))
        return [
            np.concatenate([next(rows)[first - start : last - start] for start, _, first, last in own])
            for own in cut
        ]

    @cached_property
    def paths(self) -> TagPaths:
        """Which tags fit together."""
        return TagPaths(self.decision.names)

    def tagged(self, logits: Floats, words: PlacedWords) -> TagsAnswer:
        """Answer for one text.

        Args:
            logits: what the network gave, [L, Y].
            words: what it read.

        Returns:
            The answer.

        Raises:
            ArtefactError: if the network does not give one row for each word.
        """
        if len(logits) != len(words.kept):
            raise ArtefactError(f"the network gives {len(logits)} rows for {len(words.kept)} words")
        scores = log_softmax(logits)
        numbers = self.paths.of(scores)
        tags = tuple(self.decision.names[number] for number in numbers.tolist())
        shares = tuple(np.exp(scores[np.arange(len(numbers)), numbers]).tolist())
        spans = role_spans(tags, shares, words.spans, words.text) if self.paths.marks_spans else ()
        return TagsAnswer(words.written, words.spans, tags, shares, spans, words.unknown, words.truncated)


def _part(words: Words, window: Window) -> Words:
    place = slice(window.start, window.end)
    return Words(words.ids[place], words.ngrams[place], 0, False, words.kept[place])


def log_softmax(logits: NDArray[Number]) -> NDArray[Number]:
    """Return log-probabilities of rows of logits, [L, Y]."""
    low = logits - logits.max(axis=1, keepdims=True, initial=-np.inf)
    scores: NDArray[Number] = low - np.log(np.exp(low).sum(axis=1, keepdims=True))
    return scores
