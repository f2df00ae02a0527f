"""Which tags a text has: the best sequence under a chain (Viterbi, 1967), and how likely each tag is under it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from heedful.text.bio import OUTSIDE, begin_numbers, may_follow, scheme_of

Number = TypeVar("Number", bound=np.floating)
Floats = NDArray[np.float32]
_MOST = 700.0
_CELLS = 1 << 16
"""Transitions of all sentences that are weighed together, if there are several sentences."""
_MANY = 24
"""Tags from which BIO without a chain is decoded by what each tag may follow, and not by a table of all pairs."""
FLOOR = -60.0
"""The logarithm at which a sequence that cannot be counts where a finite number is needed."""


@dataclass(frozen=True, eq=False)
class TagChain:
    """What tags side by side score.

    Attributes:
        follows: a tag behind another one, [tag, before], [Y, Y]; minus infinity where it may not be.
        first: a tag at the beginning of a text, [Y].
        last: a tag at its end, [Y].
    """

    follows: NDArray[np.floating]
    first: NDArray[np.floating]
    last: NDArray[np.floating]

    @classmethod
    def allowed(cls, tags: Sequence[str]) -> TagChain:
        """Return the chain that only says which tags fit together: 0, or minus infinity.

        Args:
            tags: in the order of the scores.

        Returns:
            The chain; of plain tags all fit.
        """
        return _allowed(tuple(tags))

    def plus(self, other: TagChain) -> TagChain:
        """Return the sum of both."""
        follows, first, last = self.follows + other.follows, self.first + other.first, self.last + other.last
        return TagChain(follows, first, last)


@lru_cache(16)
def _allowed(tags: tuple[str, ...]) -> TagChain:
    scheme, count = scheme_of(tags), len(tags)
    if scheme == "plain":
        return TagChain(np.zeros((count, count), np.float32), *np.zeros((2, count), np.float32))
    follows = [[may_follow(tag, before, scheme) for before in tags] for tag in tags]
    ends = [may_follow(OUTSIDE, tag, scheme) for tag in tags]
    table = np.where(follows, 0, -np.inf).astype(np.float32)
    last = np.where(ends, 0, -np.inf).astype(np.float32)
    return TagChain(table, table[:, tags.index(OUTSIDE)], last)


class TagPaths:
    """Chooses the tags of a text: the best of each word, or the best sequence where tags mark spans or have a chain.

    Args:
        tags: the tags in the order of the scores.
        chain: what tags side by side score; None for nothing but what fits together.

    Attributes:
        marks_spans: whether the tags are BIO, BIOES or BILOU.
        chain: what tags side by side score; what may not be is minus infinity.
        has_chain: whether it says more than what fits together.
    """

    def __init__(self, tags: Sequence[str], chain: TagChain | None = None) -> None:
        scheme, allowed = scheme_of(tags), TagChain.allowed(tags)
        self.marks_spans, self.has_chain = scheme != "plain", chain is not None
        self.chain = allowed if chain is None else allowed.plus(chain)
        self._begins: NDArray[np.int64] | None = None
        if scheme == "bio" and chain is None and len(tags) >= _MANY:
            self._begins = np.array(begin_numbers(tags))

    def of(self, scores: NDArray[np.floating]) -> NDArray[np.int64]:
        """Return the numbers of the tags of one text.

        Args:
            scores: of each tag of each word, [L, Y]: log-probabilities, or what the chain's scores are added to.

        Returns:
            [L]; among equals the smallest number wins.
        """
        return self.of_each([scores])[0]

    def of_each(self, texts: Sequence[NDArray[np.floating]]) -> list[NDArray[np.int64]]:
        """Return the numbers of the tags of several texts, each as if it were alone; see `of`.

        Args:
            texts: the scores of each, [L, Y].

        Returns:
            [L] for each.
        """
        if not (self.marks_spans or self.has_chain):
            return [scores.argmax(axis=1) for scores in texts]
        found = [np.zeros(0, np.int64)] * len(texts)
        for rows in self._blocks([len(scores) for scores in texts]):
            for row, tags in zip(rows, self._best([texts[row] for row in rows]), strict=True):
                found[row] = tags
        return found

    def _blocks(self, lengths: Sequence[int]) -> Iterator[list[int]]:
        """Yield the places of texts of similar length that are decoded together, the shortest first; none is empty."""
        order = sorted((row for row, length in enumerate(lengths) if length), key=lengths.__getitem__)
        weighed = self.chain.follows.size if self._begins is None else len(self._begins)
        most = max(_CELLS // weighed, 1)
        yield from (order[start : start + most] for start in range(0, len(order), most))

    def _best(self, texts: Sequence[NDArray[np.floating]]) -> list[NDArray[np.int64]]:
        """Return the best sequences of texts, the shortest first, each with a word or more."""
        lengths = np.array([len(scores) for scores in texts])
        table = np.zeros((lengths[-1], len(texts), texts[0].shape[1]), texts[0].dtype)  # [L, B, Y]
        for row, scores in enumerate(texts):
            table[: len(scores), row] = scores
        best = table[0] + self.chain.first
        first = np.searchsorted(
            lengths, np.arange(len(table)), "right"
        )  # the first text that has such a word
        came = [np.zeros((0, 0), np.int64)]
        for own, start in zip(table[1:], first[1:].tolist(), strict=True):
            before, reached = self._step(best[start:])
            best[start:] = reached + own[start:]
            came.append(before)
        tag = (best + self.chain.last).argmax(axis=1)
        tags = np.zeros(table.shape[:2], np.int64)
        for place in range(len(table) - 1, 0, -1):
            start, before = first[place], came[place]
            tags[place, start:] = tag[start:]
            tag[start:] = before[np.arange(len(before)), tag[start:]]
        tags[0] = tag
        return [tags[:length, row] for row, length in enumerate(lengths)]

    def _step(self, best: NDArray[np.floating]) -> tuple[NDArray[np.int64], NDArray[np.floating]]:
        """Return from which tag each tag is reached best, and with which score, both [B, Y], from the scores [B, Y]."""
        if self._begins is None:
            reached = best[:, None] + self.chain.follows
            before = reached.argmax(axis=2)
            return before, np.take_along_axis(reached, before[..., None], axis=2)[..., 0]
        # O and B-X follow the best tag of all, I-X the better one of B-X and itself
        own = np.arange(best.shape[1])
        free = self._begins < 0
        begin = np.where(free, own, self._begins)
        top = best.argmax(axis=1, keepdims=True)
        begun = best[:, begin]
        equal = np.minimum(own, begin)
        inside = np.where(best > begun, own, np.where(best < begun, begin, equal))
        reached = np.where(free, np.take_along_axis(best, top, axis=1), np.maximum(best, begun))
        return np.where(free, top, inside), reached

    def log_shares(self, scores: Floats) -> NDArray[np.floating]:
        """Return the logarithm of the probability of each tag of each word.

        Args:
            scores: of each tag of each word, [L, Y].

        Returns:
            [L, Y]: without a chain each word by itself, float32; with one over all sequences that fit together, by the
            forward-backward algorithm in double precision.
        """
        return log_softmax(self.marginal_logits(scores) if self.has_chain else scores)

    def marginal_logits(self, scores: Floats) -> NDArray[np.float64]:
        """Return unnormalized logarithms of the probability of each tag of each word over all sequences, [L, Y].

        Args:
            scores: of each tag of each word, [L, Y].

        Returns:
            What a word scores by itself, plus what all sequences before it and behind it say of its tag.
        """
        if not len(scores):
            return scores.astype(np.float64)
        own, chain = scores.astype(np.float64), self.chain
        top = float(chain.follows.max())
        table = np.exp(chain.follows.astype(np.float64) - top)
        forward, backward = np.empty_like(own), np.empty_like(own)
        forward[0], backward[-1] = chain.first + own[0], chain.last
        for place in range(1, len(own)):
            forward[place] = _step(forward[place - 1], table.T) + top + own[place]
            back = len(own) - place
            backward[back - 1] = _step(backward[back] + own[back], table) + top
        found: NDArray[np.float64] = forward + backward
        return found

    def context(self, scores: Floats) -> NDArray[np.float64]:
        """Return what the other words' tags say of each word's tag: `marginal_logits` without its own scores, [L, Y].

        What cannot be is `FLOOR` below what says most, rather than minus infinity; without a chain all is 0.
        """
        if not self.has_chain or not len(scores):
            return np.zeros(scores.shape)
        beside = self.marginal_logits(scores) - scores
        return np.maximum(beside - beside.max(axis=1, keepdims=True), FLOOR)


def _step(logs: NDArray[np.float64], table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithm of ``exp(logs) table``, [Y]."""
    most = logs.max()
    with np.errstate(divide="ignore"):
        found: NDArray[np.float64] = np.log(np.exp(np.minimum(logs - most, _MOST)) @ table) + most
    return found


def log_softmax(logits: NDArray[Number]) -> NDArray[Number]:
    """Return log-probabilities of rows of logits, [L, Y]."""
    low = logits - logits.max(axis=1, keepdims=True, initial=-np.inf)
    scores: NDArray[Number] = low - np.log(np.exp(low).sum(axis=1, keepdims=True))
    return scores
