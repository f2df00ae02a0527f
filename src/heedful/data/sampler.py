"""Which examples go into a batch together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError

_POOL = (50, 200)
"""Fewest and most batches in a pool."""


class BucketSampler:
    """Batches of examples of similar length, a pure function of seed and epoch.

    An epoch is shuffled, cut into pools of about `pool` batches, each pool is sorted by length and cut into batches,
    and the batches are shuffled. Every example comes exactly once an epoch. The published code of the papers does not
    bucket, and fills its last batch with examples of the next epoch; `bucketing=False` gives its plain shuffle.

    Args:
        lengths: tokens of each text, [N] or [N, sides].
        batch_size: most examples in a batch; None for no limit.
        max_tokens: most tokens in a batch, padding counted: examples times the longest text, added up over the sides.
            None for no limit. An example that alone exceeds it is a batch of its own.
        seed: of all the shuffles.
        shuffle: False gives the same batches every epoch: in order of length, or in the data's own order without
            bucketing.
        bucketing: whether texts of similar length go together.
        pool: batches in a pool; more save more padding, fewer mix better. None takes a tenth of the epoch's batches, at
            least 50 and at most 200: on SNLI 9 % of the places are then padding, in batches of 64, where 50 leave 19 %.

    Raises:
        UsageError: if neither limit is given or a number is out of range.
    """

    def __init__(
        self,
        lengths: NDArray[np.int64],
        *,
        batch_size: int | None = None,
        max_tokens: int | None = None,
        seed: int = 0,
        shuffle: bool = True,
        bucketing: bool = True,
        pool: int | None = None,
    ) -> None:
        if batch_size is None and max_tokens is None:
            raise UsageError("batch_size, max_tokens: give at least one of the two limits of a batch")
        for name, value in (("batch_size", batch_size), ("max_tokens", max_tokens), ("pool", pool)):
            if value is not None and value < 1:
                raise UsageError(f"{name}: expected at least 1, got {value}")
        table = np.asarray(lengths)
        # A text without words is still padded to one place.
        self._lengths = np.maximum(table[:, None] if table.ndim == 1 else table, 1)
        self._batch_size = batch_size
        self._max_tokens = max_tokens
        self._seed = seed
        self._shuffle = shuffle
        self._bucketing = bucketing
        self._pool = pool

    def batches(self, epoch: int) -> list[NDArray[np.int64]]:
        """Return the batches of an epoch.

        Args:
            epoch: number of the epoch, from 0.

        Returns:
            For each batch the positions of its examples, int64.
        """
        count = len(self._lengths)
        generator = np.random.default_rng([self._seed, epoch])
        order = generator.permutation(count) if self._shuffle else np.arange(count)
        size = self._pool_size() if self._shuffle and self._bucketing else max(count, 1)
        batches = []
        for start in range(0, count, size):
            pool = order[start : start + size]
            batches += self._cut(self._sorted(pool) if self._bucketing else pool)
        if self._shuffle and self._bucketing:
            return [batches[number] for number in generator.permutation(len(batches))]
        return batches

    def _sorted(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sort by the first side, and among equals by the second: upwards and downwards in turn.

        So the second side does not jump from its longest to its shortest where the first grows by one; on SNLI that
        leaves a quarter less padding than sorting upwards only.
        """
        first = self._lengths[rows, 0]
        if self._lengths.shape[1] == 1:
            return rows[np.argsort(first, kind="stable")]
        rank = np.unique(first, return_inverse=True)[1]
        second = self._lengths[rows, 1] * np.where(rank % 2, -1, 1)
        return rows[np.lexsort((second, first))]

    def _pool_size(self) -> int:
        """Return the number of examples in a pool."""
        typical = self._batch_size or max(1, len(self._lengths))
        if self._max_tokens is not None and len(self._lengths):
            typical = min(typical, max(1, int(self._max_tokens / self._lengths.sum(axis=1).mean())))
        pool = self._pool or min(max(_POOL[0], len(self._lengths) // typical // 10), _POOL[1])
        return pool * typical

    def _cut(self, rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        most = self._batch_size or len(rows)
        if self._max_tokens is None:
            return [rows[start : start + most] for start in range(0, len(rows), most)]
        ends, count, longest = [], 0, [0] * self._lengths.shape[1]
        for position, lengths in enumerate(self._lengths[rows].tolist()):
            widened = list(map(max, longest, lengths))
            if count and (count == most or (count + 1) * sum(widened) > self._max_tokens):
                ends.append(position)
                count, widened = 0, lengths
            count, longest = count + 1, widened
        return np.split(rows, ends) if len(rows) else []
