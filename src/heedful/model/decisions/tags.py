"""Answers of one tag a word: the best tags that fit together, and how likely each is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from heedful.model.answers import ReadWords, ShownAnswer, TagsAnswer
from heedful.model.decisions.decision import Decision, Logits
from heedful.model.decisions.tag_paths import TagChain, TagPaths, log_softmax
from heedful.model.role_spans import role_spans
from heedful.text.bio import OUTSIDE


@dataclass(frozen=True, eq=False)
class TagsDecision(Decision[TagsAnswer]):
    """A tag for each word of a text. Tags that mark spans are valid BIO, BIOES or BILOU.

    Attributes:
        chain: what tags side by side score; None where nothing but what fits together counts.
        outside: what is taken from the score of O when tags are chosen; probabilities are those without it.
    """

    chain: TagChain | None = None
    outside: float = 0.0

    @cached_property
    def paths(self) -> TagPaths:
        """Which tags fit together, and what they score side by side."""
        return TagPaths(self.names, self.chain)

    @property
    def lower(self) -> Logits:
        """What is taken from the scores of the tags when they are chosen, [Y]."""
        return np.array([self.outside * (tag == OUTSIDE) for tag in self.names], np.float32)

    def probabilities(self, logits: NDArray[np.floating]) -> NDArray[np.floating]:  # type: ignore[override]
        """Return the probability of each tag of each word of one text.

        Args:
            logits: [L, Y].

        Returns:
            [L, Y]: without a chain the softmax of each word by itself, with one the odds over all sequences.
        """
        found: NDArray[np.floating] = np.exp(self.paths.log_shares(logits))
        return found

    def chosen(self, texts: Sequence[NDArray[np.floating]]) -> list[NDArray[np.int64]]:
        """Return the numbers of the tags of texts.

        Args:
            texts: logits of the words of each, [L, Y].

        Returns:
            [L] for each, as `answers` has them.
        """
        if not self.paths.has_chain:
            texts = [log_softmax(logits) for logits in texts]
        return self._chosen(texts)

    def _chosen(self, texts: Sequence[NDArray[np.floating]]) -> list[NDArray[np.int64]]:
        return self.paths.of_each([scores - self.lower for scores in texts] if self.outside else texts)

    def chosen_with_shares(
        self, texts: Sequence[Logits]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.floating]]]:
        """Yield for each text the numbers of its tags, [L], and how probable each is, [L]; see `chosen`."""
        scores = [self.paths.log_shares(logits) for logits in texts]
        chosen = self._chosen(texts if self.paths.has_chain else scores)
        for numbers, own in zip(chosen, scores, strict=True):
            yield numbers, np.exp(own[np.arange(len(numbers)), numbers])

    def answers(self, logits: Sequence[Logits], read: Sequence[ReadWords]) -> Iterator[TagsAnswer]:
        """Answer requests; see `Decision.answers`.

        Args:
            logits: of the words of each text, [L, Y].
            read: the words of each text.

        Yields:
            The answers.
        """
        for (numbers, probabilities), how in zip(self.chosen_with_shares(logits), read, strict=True):
            tags = tuple(self.names[number] for number in numbers.tolist())
            shares, placed = tuple(probabilities.tolist()), how.placed
            spans = role_spans(tags, shares, placed.spans, placed.text) if self.paths.marks_spans else ()
            yield TagsAnswer(placed.written, placed.spans, tags, shares, spans, how.unknown, how.truncated)

    def shown(self, logits: Logits) -> ShownAnswer:
        """See `Decision.shown`; the logits are those of one word, with what the words beside it say of its tag."""
        shares = np.exp(log_softmax(np.asarray(logits, np.float64)[None]))[0]
        return ShownAnswer(self.names, tuple(shares.tolist()))
