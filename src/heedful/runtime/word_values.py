"""The word vectors of a network, and what its first steps make of each word alone, kept for words that come again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError
from heedful.runtime.kernels import Floats, room
from heedful.runtime.weights import Weights

Ids = NDArray[np.int64]
Ngrams = Sequence[NDArray[np.int32]]
"""For each word the rows of its n-grams; empty for a network that reads none."""
MEMORY = 1 << 24
"""Bytes for what is kept of words, about 1,400 words of a DiSAN; a server, which answers for long, keeps more."""


class WordCounts(NamedTuple):
    """What became of the words that were asked for.

    Attributes:
        requested: words, each as often as it was asked for.
        computed: words whose values were computed; the others were kept from before.
        kept: words whose values are kept now.
    """

    requested: int
    computed: int
    kept: int


class WordTables:
    """The word vectors: a trained table and a frozen one, laid end to end, and perhaps one of n-grams.

    Args:
        weights: the tensors.
        description: ``{"trained": tensor, "frozen": tensor}``, with "ngrams" where the vocabulary has n-grams.
        rows: how many rows the vocabulary has in each of the three.

    Raises:
        UsageError: if a table is missing or does not fit the vocabulary.
    """

    def __init__(self, weights: Weights, description: object, rows: tuple[int, int, int]) -> None:
        tables = ("trained", "frozen", *(["ngrams"] if rows[2] else []))
        if not isinstance(description, Mapping) or set(description) != set(tables):
            raise UsageError(
                f"words: names of the tables {', '.join(tables)} expected; got {description!r:.80}"
            )
        self._weights, self._rows = weights, rows[0]
        self._trained, self._frozen = str(description["trained"]), str(description["frozen"])
        self._ngrams = str(description.get("ngrams", ""))
        width = weights.raw(self._trained).shape[-1:]
        for table, count in zip(tables, rows, strict=False):
            name = str(description[table])
            shape = weights.raw(name).shape
            if shape != (count, *width):
                raise UsageError(
                    f"tensor {name!r:.200} is {list(shape)}, the vocabulary asks for {[count, *width]}"
                )
        self.width = int(width[0])

    def of(self, ids: Ids, ngrams: Ngrams) -> Floats:
        """Return the vectors of words.

        Args:
            ids: of the words, [L].
            ngrams: rows of each word's n-grams, if the network has any.

        Returns:
            [L, D]; rows 0 and 1, padding and unknown, are zero but for their n-grams.
        """
        x = np.zeros((len(ids), self.width), np.float32)
        trained, frozen = (ids < self._rows) & (ids > 1), ids >= self._rows
        x[trained] = self._weights.rows(self._trained, ids[trained])
        if frozen.any():
            x[frozen] = self._weights.rows(self._frozen, ids[frozen] - self._rows)
        if self._ngrams:
            counts = np.fromiter(map(len, ngrams), np.int64, len(ngrams))
            some = counts > 0  # a masked word has none
            if some.any():
                rows = self._weights.rows(self._ngrams, np.concatenate(ngrams))
                starts = (np.cumsum(counts) - counts)[some]
                x[some] += np.add.reduceat(rows, starts, axis=0) / counts[some, None].astype(np.float32)
        return x


class WordValues:
    """Values of words by name, computed once; where their memory is full, the rarer half is forgotten.

    Threads may share it.

    Args:
        compute: returns the values of words by name, a row for each word; no row depends on the others.
        memory: bytes for them; more only where the words of one request need more. 0 keeps nothing.
    """

    def __init__(self, compute: Callable[[Ids, Ngrams], Mapping[str, Floats]], memory: int = MEMORY) -> None:
        self._compute, self._memory, self._room = compute, memory, 0
        self._places: dict[object, int] = {}
        self._tables: dict[str, Floats] = {}
        self._asked = np.zeros(0, np.int64)
        self._lock = RLock()
        self._asked_for = self._computed = self._readers = 0

    @property
    def counts(self) -> WordCounts:
        """What became of the words that were asked for."""
        with self._lock:
            return WordCounts(self._asked_for, self._computed, len(self._places))

    def of(self, ids: Ids, ngrams: Ngrams) -> dict[str, Floats]:
        """Return the values of words.

        Args:
            ids: of the words, [L].
            ngrams: rows of each word's n-grams, if the network has any.

        Returns:
            The values by name, [L, D] each; the same to the last bit whatever was asked before.
        """
        with self.lent(ids, ngrams) as (tables, where):
            if where is None:
                return dict(tables)
            return {
                name: table.take(where, axis=0, out=room(len(where), table.shape[1]), mode="clip")
                for name, table in tables.items()
            }

    @contextmanager
    def lent(self, ids: Ids, ngrams: Ngrams) -> Iterator[tuple[Mapping[str, Floats], Ids | None]]:
        """Lend the tables of what is kept, which stay as they are until they are given back.

        Args:
            ids: see `of`.
            ngrams: see there.

        Yields:
            The tables by name, and the row of each word there; None where a table has the words in their order.
        """
        if not self._memory:
            with self._lock:
                self._asked_for, self._computed = self._asked_for + len(ids), self._computed + len(ids)
            yield self._compute(ids, ngrams), None
            return
        keys: list[object] = ids.tolist()
        if ngrams:
            keys = [(key, n.tobytes()) if len(n) else key for key, n in zip(keys, ngrams, strict=True)]
        new, values = self._of_new(keys, ids, ngrams)
        with self._lock:
            self._asked_for += len(keys)
            if not self._tables or not all(map(self._places.__contains__, keys)):
                self._keep(keys, ids, ngrams, new, values)
            where = np.fromiter(map(self._places.__getitem__, keys), np.int64, len(keys))
            self._asked[where] += 1
            tables = self._tables
            self._readers += 1
        try:  # outside the lock: what is kept stays where it is while there are readers
            yield tables, where
        finally:
            with self._lock:
                self._readers -= 1

    def _of_new(
        self, keys: list[object], ids: Ids, ngrams: Ngrams
    ) -> tuple[Mapping[object, int], Mapping[str, Floats]]:
        """Compute words that are not kept, while other threads may ask; return the row of each, and the values."""
        places = self._places  # another thread may change it: `_keep` looks again
        chosen = {key: place for place, key in enumerate(keys) if key not in places}
        if not chosen and self._tables:
            return {}, {}
        values = self._values(list(chosen.values()), ids, ngrams)
        return {key: row for row, key in enumerate(chosen)}, values

    def _values(self, chosen: list[int], ids: Ids, ngrams: Ngrams) -> Mapping[str, Floats]:
        values = self._compute(ids[chosen], [ngrams[place] for place in chosen] if ngrams else ())
        with self._lock:
            self._computed += len(chosen)
        return values

    def _keep(
        self,
        keys: list[object],
        ids: Ids,
        ngrams: Ngrams,
        rows: Mapping[object, int],
        values: Mapping[str, Floats],
    ) -> None:
        """Keep the words that are not kept yet, and compute those of them that another thread has made forgotten."""
        first = {key: place for place, key in reversed(list(enumerate(keys)))}
        needed = len(self._places) + len(first.keys() - self._places.keys())
        if needed > self._room or not self._tables:
            widths = {name: x.shape[1] for name, x in (values or self._tables).items()}
            most = self._memory // (4 * max(sum(widths.values()), 1))
            if self._room < most or not self._tables:
                self._take_room(min(most, max(needed, 2 * self._room)), widths)
            if needed > self._room:
                self._forget(self._room // 2 if len(first) <= self._room // 2 else 0)
            if len(first) > self._room:
                self._take_room(len(first), widths)
        new = [key for key in first if key not in self._places]
        ahead = [key for key in new if key in rows]
        self._add(ahead, values, [rows[key] for key in ahead])
        if forgotten := [key for key in new if key not in rows]:
            again = self._values([first[key] for key in forgotten], ids, ngrams)
            self._add(forgotten, again, list(range(len(forgotten))))

    def _add(self, keys: list[object], values: Mapping[str, Floats], rows: list[int]) -> None:
        start, stop = len(self._places), len(self._places) + len(keys)
        for name, x in values.items():
            x.take(rows, axis=0, out=self._tables[name][start:stop], mode="clip")
        self._asked[start:stop] = 0
        self._places.update(zip(keys, range(start, stop), strict=True))

    def _take_room(self, count: int, widths: Mapping[str, int]) -> None:
        """Take room for so many words, and keep those that there are."""
        kept, self._room = len(self._places), count
        asked, tables = self._asked, self._tables
        self._asked = np.zeros(count, np.int64)
        self._tables = {name: np.empty((count, width), np.float32) for name, width in widths.items()}
        self._asked[:kept] = asked[:kept]
        for name, table in tables.items():
            self._tables[name][:kept] = table[:kept]

    def _forget(self, count: int) -> None:
        """Keep the words that were asked for most often, and count half of how often that was."""
        words = list(self._places)
        best = np.argsort(-self._asked[: len(words)], kind="stable")[:count]
        kept = self._tables
        fresh = {name: np.empty_like(table) for name, table in kept.items()} if self._readers else kept
        for name, table in fresh.items():
            table[: len(best)] = kept[name][best]
        self._tables = fresh
        self._asked[: len(best)] = self._asked[best] // 2
        self._places = {words[place]: number for number, place in enumerate(best.tolist())}
