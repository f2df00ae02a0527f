"""Which tags a text has: the best sequence under a chain (Viterbi, 1967), and how likely each tag is under it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from heedful.runtime.kernels import Floats
from heedful.text.bio import OUTSIDE, may_follow, scheme_of

Number = TypeVar("Number", bound=np.floating)
_MOST = 700.0
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
        scheme, count = scheme_of(tags), len(tags)
        if scheme == "plain":
            return cls(np.zeros((count, count), np.float32), *np.zeros((2, count), np.float32))
        follows = [[may_follow(tag, before, scheme) for before in tags] for tag in tags]
        ends = [may_follow(OUTSIDE, tag, scheme) for tag in tags]
        table = np.where(follows, 0, -np.inf).astype(np.float32)
        last = np.where(ends, 0, -np.inf).astype(np.float32)
        return cls(table, table[:, list(tags).index(OUTSIDE)], last)

    def plus(self, other: TagChain) -> TagChain:
        """Return the sum of both."""
        follows, first, last = self.follows + other.follows, self.first + other.first, self.last + other.last
        return TagChain(follows, first, last)


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
        self.marks_spans, self.has_chain = scheme_of(tags) != "plain", chain is not None
        allowed = TagChain.allowed(tags)
        self.chain = allowed if chain is None else allowed.plus(chain)

    def of(self, scores: NDArray[np.floating]) -> NDArray[np.int64]:
        """Return the numbers of the tags of one text.

        Args:
            scores: of each tag of each word, [L, Y]: log-probabilities, or what the chain's scores are added to.

        Returns:
            [L]; among equals the smallest number wins.
        """
        if not (self.marks_spans or self.has_chain) or not len(scores):
            return scores.argmax(axis=1)
        best, came = scores[0] + self.chain.first, list[NDArray[np.int64]]()
        each = np.arange(scores.shape[1])
        for own in scores[1:]:
            reached = best + self.chain.follows
            before = reached.argmax(axis=1)
            best = reached[each, before] + own
            came.append(before)
        path = [int((best + self.chain.last).argmax())]
        for before in reversed(came):
            path.append(int(before[path[-1]]))
        return np.array(path[::-1])

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
