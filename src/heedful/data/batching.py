"""Which examples go into a batch together, padded; a text that several of them share is read once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.data.encoding import EncodedDataset
from heedful.data.examples import Ragged, joined
from heedful.data.tokens import between_pieces, distances, head_places
from heedful.errors import UsageError
from heedful.structures import Batch, Sentences, SharedBatch, Spellings

_POOL = (50, 200)
"""Fewest and most batches in a pool."""
_PIECES = 8
"""No group fills more than this part of a batch, so that a step never sees one text alone."""


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
        groups: number of each example's group, [N]; the examples of a group come one after another, in one batch where
            it has room. Of a group larger than an eighth of a batch, pieces of that size stand for it. None for none.
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
        groups: NDArray[np.int64] | None = None,
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
        self._groups = None if groups is None else np.unique(groups, return_inverse=True)[1].reshape(-1)
        self._sort_by = self._lengths
        if self._groups is not None and len(self._groups):  # a group stands where its longest texts belong
            longest = np.zeros((self._groups.max() + 1, self._lengths.shape[1]), self._lengths.dtype)
            np.maximum.at(longest, self._groups, self._lengths)
            self._sort_by = longest[self._groups]
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
        if self._groups is not None:
            order = self._together(order, self._groups)
        size = self._pool_size() if self._shuffle and self._bucketing else max(count, 1)
        batches = []
        for start in range(0, count, size):
            pool = order[start : start + size]
            batches += self._cut(self._sorted(pool) if self._bucketing else pool)
        if self._shuffle and self._bucketing:
            return [batches[number] for number in generator.permutation(len(batches))]
        return batches

    def _together(self, order: NDArray[np.int64], groups: NDArray[np.int64]) -> NDArray[np.int64]:
        """Move the rows of a group, or of a piece of one, to where the first of them stands."""
        most = max(1, (self._batch_size or len(order)) // _PIECES)
        by_group = np.argsort(groups[order], kind="stable")
        numbers = groups[order][by_group]
        starts = np.flatnonzero(np.diff(numbers, prepend=-1))
        within = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
        # by_group holds places in `order`: a piece's first place is that of its first row
        pieces = np.cumsum(within % most == 0) - 1
        first = by_group[within % most == 0]
        return order[by_group[np.lexsort((by_group, first[pieces]))]]

    def _sorted(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sort by the first side, and among equals by the second: upwards and downwards in turn.

        So the second side does not jump from its longest to its shortest where the first grows by one; on SNLI that
        leaves a quarter less padding than sorting upwards only. Groups stay together.
        """
        first = self._sort_by[rows, 0]
        if self._lengths.shape[1] == 1:
            return rows[np.argsort(first, kind="stable")]
        rank = np.unique(first, return_inverse=True)[1]
        second = self._sort_by[rows, 1] * np.where(rank % 2, -1, 1)
        if self._groups is None:
            return rows[np.lexsort((second, first))]
        own = self._groups[rows]
        place = np.full(own.max(initial=0) + 1, len(rows))
        np.minimum.at(
            place, own, np.arange(len(rows))
        )  # where a group first stands: random, so ties stay shuffled
        return rows[np.lexsort((place[own], second, first))]

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


def collate(
    dataset: EncodedDataset, indices: NDArray[np.int64], device: torch.device | str | None = None
) -> Batch:
    """Pad chosen examples to a batch, each side to its own longest text.

    Args:
        dataset: the encoded examples.
        indices: positions in the data set (not file rows), [B].
        device: where to put the batch; None for the CPU.

    Returns:
        The batch. L is at least 1, also where no text has words; validity comes from the lengths, so that an unknown
        word is a token like any other. Tree distances and heads are there where the data set has heads.
    """
    indices = np.asarray(indices, dtype=np.int64)
    targets = None if dataset.targets is None else torch.from_numpy(dataset.targets[indices])
    batch = Batch(
        sides=tuple(_side(dataset, number, indices) for number in range(len(dataset.sides))),
        targets=targets,
        rows=tuple(dataset.rows[indices].tolist()),
        weights=_weights(dataset, indices),
    )
    return batch if device is None else batch.to(device)


def _weights(dataset: EncodedDataset, indices: NDArray[np.int64]) -> torch.Tensor | None:
    return None if dataset.weights is None else torch.from_numpy(dataset.weights[indices])


def _side(dataset: EncodedDataset, number: int, indices: NDArray[np.int64]) -> Sentences:
    ids, valid = padded(dataset.sides[number], indices)
    words = padded(dataset.places[number], indices)[0] if dataset.places else None
    tree = above = None
    if dataset.heads:
        heads = dataset.heads[number]
        longest = max(1, int(heads.lengths()[indices].max(initial=0)))
        tree = distances(heads, indices, longest)
        above = head_places(heads, indices, longest)
        if words is not None:
            tree = between_pieces(tree, words, valid)
            above = np.where(valid, np.take_along_axis(above, words, axis=1), -1)
    return Sentences(
        torch.from_numpy(ids),
        torch.from_numpy(valid),
        None if tree is None else torch.from_numpy(tree),
        None if words is None else torch.from_numpy(words),
        None if above is None else torch.from_numpy(above),
        None if dataset.ngrams is None else _spellings(dataset.spelled[number], dataset.ngrams, indices),
    )


def _spellings(words: Ragged, ngrams: Ragged, indices: NDArray[np.int64]) -> Spellings:
    """Return the n-grams of chosen texts, of each distinct word once and of one more word without any."""
    numbers, valid = padded(words, indices)
    distinct, places = np.unique(numbers[valid], return_inverse=True)
    all_places = np.full(numbers.shape, len(distinct), np.int64)
    all_places[valid] = places
    rows = ngrams.take(distinct)
    offsets = np.append(rows.offsets, rows.offsets[-1])
    flat = rows.values.astype(np.int64)
    return Spellings(torch.from_numpy(all_places), torch.from_numpy(flat), torch.from_numpy(offsets))


def padded(
    rows: Ragged, indices: NDArray[np.int64], fill: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Pad chosen rows to the longest of them.

    Args:
        rows: the rows.
        indices: which, [B].
        fill: what stands where a row has ended.

    Returns:
        The values and which of them are there, both [B, L]; L is at least 1.
    """
    chosen = rows.take(indices)
    valid = np.arange(max(1, int(chosen.lengths().max(initial=0)))) < chosen.lengths()[:, None]
    values = np.full(valid.shape, fill, np.int64)
    values[valid] = chosen.values  # row by row, the places that are valid take the values in order
    return values, valid


CALL = 64
"""What one call of an encoder costs beside its tokens, in tokens. Of 8, 24, 48, 96 and 400, steps of DiSAN on SNLI took
least at 48 and 96, and a tenth more at 8 and 24 (one thread, a busy machine)."""


@dataclass(frozen=True, eq=False)
class DistinctTexts:
    """The distinct texts of a data set: equal texts have equal ids, and equal heads and words if there are any.

    Attributes:
        texts: M examples of one text each, in the order in which they first occur, side by side; without gold.
        places: which text each example has on each side, [N, sides] int64.
    """

    texts: EncodedDataset
    places: NDArray[np.int64]

    def groups(self) -> NDArray[np.int64]:
        """Number the examples by the text they share: that of the side with fewer texts, [N] int64."""
        kinds = [len(np.unique(side)) for side in self.places.T]
        return self.places[:, int(np.argmin(kinds))]


def distinct_texts(dataset: EncodedDataset) -> DistinctTexts:
    """Find the distinct texts of all sides.

    Returns the texts, and where each example's are.
    """
    count = len(dataset)
    columns = [
        joined(parts) for parts in (dataset.sides, dataset.heads, dataset.places, dataset.spelled) if parts
    ]
    number: dict[tuple[bytes, ...], int] = {}
    first: list[int] = []
    places = np.empty(count * len(dataset.sides), np.int64)
    for row in range(len(places)):
        key = tuple(column[row].tobytes() for column in columns)
        places[row] = number.setdefault(key, len(number))
        if len(number) > len(first):
            first.append(row)
    rows = np.asarray(first, np.int64)

    def once(parts: tuple[Ragged, ...]) -> tuple[Ragged, ...]:
        return (joined(parts).take(rows),) if parts else ()

    texts = replace(
        dataset,
        sides=once(dataset.sides),
        targets=None,
        rows=dataset.rows[rows % max(count, 1)],
        groups=dataset.groups[rows % max(count, 1)],
        labels=(),
        heads=once(dataset.heads),
        places=once(dataset.places),
        spelled=once(dataset.spelled),
        phrases=None,
        weights=None,
        kept=None,
    )
    return DistinctTexts(texts, places.reshape(len(dataset.sides), count).T)


def collate_shared(
    dataset: EncodedDataset, distinct: DistinctTexts, indices: NDArray[np.int64]
) -> SharedBatch:
    """Pad the distinct texts of chosen examples, cut into columns of similar length.

    Args:
        dataset: the encoded examples.
        distinct: their texts.
        indices: positions in the data set (not file rows), [B].

    Returns:
        The batch; see `collate` for what a column holds.
    """
    indices = np.asarray(indices, dtype=np.int64)
    used, place = np.unique(distinct.places[indices], return_inverse=True)
    lengths = distinct.texts.lengths()[used, 0]
    columns = cut_by_length(lengths)
    order = np.concatenate([np.zeros(0, np.int64), *columns])
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return SharedBatch(
        sides=tuple(collate(distinct.texts, used[column]).sides[0] for column in columns),
        targets=None if dataset.targets is None else torch.from_numpy(dataset.targets[indices]),
        rows=tuple(dataset.rows[indices].tolist()),
        places=torch.from_numpy(rank[place].reshape(len(indices), -1)),
        weights=_weights(dataset, indices),
    )


def cut_by_length(lengths: NDArray[np.int64], call: int = CALL) -> list[NDArray[np.int64]]:
    """Cut texts into columns so that their tokens, padding counted, and the calls that read them cost least.

    Args:
        lengths: tokens of each text, [M].
        call: what a column costs beside its tokens, in tokens.

    Returns:
        For each column the positions of its texts, from short to long; every text is in one.
    """
    sizes, counts = np.unique(np.maximum(lengths, 1), return_counts=True)
    ends = np.concatenate([[0], np.cumsum(counts)]).tolist()
    least, starts = [0.0], [0]
    for last, longest in enumerate(sizes.tolist(), start=1):
        costs = [least[start] + (ends[last] - ends[start]) * longest + call for start in range(last)]
        starts.append(int(np.argmin(costs)))
        least.append(costs[starts[-1]])
    cuts, last = [], len(sizes)
    while last:
        last = starts[last]
        cuts.append(ends[last])
    order = np.argsort(np.maximum(lengths, 1), kind="stable")
    return np.split(order, cuts[-2::-1]) if cuts else []
