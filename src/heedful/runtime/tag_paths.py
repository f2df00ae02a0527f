"""The best sequence of tags that fit together, in NumPy; see `heedful.attention.bio` for the same with torch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from heedful.runtime.kernels import Floats
from heedful.text.bio import OUTSIDE, may_follow, scheme_of


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
