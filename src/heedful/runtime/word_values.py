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
_HELD = np.iinfo(np.int64).max
"""Stands for how often a word was asked for whose row must stay as it is."""


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
    """Values of words by name, computed once; where their memory is full, the rarest give way to new ones.

    Threads may share it.

    Args:
        compute: returns the values of words by name, a row for each word; no row depends on the others.
        memory: bytes for them; more only where the words of one request need more. 0 keeps nothing.
    """

    def __init__(self, compute: Callable[[Ids, Ngrams], Mapping[str, Floats]], memory: int = MEMORY) -> None:
        self._compute, self._memory, self._room = compute, memory, 0
        self._places: dict[object, int] = {}
        self._keys: list[object] = []
        self._free: list[int] = []
        self._tables: dict[str, Floats] = {}
        self._asked = np.zeros(0, np.int64)
        self._lock = RLock()
        self._lent = dict[int, Ids]()
        self._asked_for = self._computed = self._replaced = self._loans = 0

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
        """Lend the tables of what is kept, whose rows of these words stay as they are until they are given back.

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
            self._loans += 1
            loan = self._loans
            self._lent[loan] = where
        try:  # outside the lock: no row of a loan is written while it lasts
            yield tables, where
        finally:
            with self._lock:
                del self._lent[loan]

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
        new = [key for key in first if key not in self._places]
        needed = len(self._places) + len(new)
        if needed > self._room or not self._tables:
            widths = {name: x.shape[1] for name, x in (values or self._tables).items()}
            most = self._memory // (4 * max(sum(widths.values()), 1))
            if self._room < most or not self._tables:
                self._take_room(min(most, max(needed, 2 * self._room)), widths)
            self._forget(len(new) - len(self._free), first)
            if len(new) > len(self._free):  # the words of this request, and those of loans, need more
                self._take_room(self._room + len(new) - len(self._free), widths)
        ahead = [key for key in new if key in rows]
        self._add(ahead, values, [rows[key] for key in ahead])
        if forgotten := [key for key in new if key not in rows]:
            again = self._values([first[key] for key in forgotten], ids, ngrams)
            self._add(forgotten, again, list(range(len(forgotten))))

    def _add(self, keys: list[object], values: Mapping[str, Floats], rows: list[int]) -> None:
        places = self._free[: len(keys)]
        del self._free[: len(keys)]
        for name, x in values.items():
            self._tables[name][places] = x if rows == list(range(len(x))) else x[rows]
        self._asked[places] = 0
        for key, place in zip(keys, places, strict=True):
            self._keys[place] = key
            self._places[key] = place

    def _take_room(self, count: int, widths: Mapping[str, int]) -> None:
        """Take room for so many words; those that there are keep their rows."""
        kept, self._room = len(self._keys), count
        asked, tables = self._asked, self._tables
        self._asked = np.zeros(count, np.int64)
        self._tables = {name: np.empty((count, width), np.float32) for name, width in widths.items()}
        self._asked[:kept] = asked
        for name, table in tables.items():
            self._tables[name][:kept] = table
        self._keys += [None] * (count - kept)
        self._free += range(kept, count)

    def _forget(self, count: int, spared: Mapping[object, int]) -> None:
        """Free the rows of words that were asked for least, none of which is `spared` or on loan."""
        if count <= 0:
            return
        asked = self._asked.copy()
        asked[[self._places[key] for key in spared if key in self._places]] = _HELD
        for where in self._lent.values():
            asked[where[where < len(asked)]] = _HELD
        asked[self._free] = _HELD
        count = min(count, int((asked < _HELD).sum()))
        for place in np.argpartition(asked, count - 1)[:count].tolist() if count else ():
            del self._places[self._keys[place]]
            self._keys[place] = None
            self._free.append(place)
        self._replaced += count
        if self._replaced >= self._room:  # what was asked for long ago counts less
            self._asked, self._replaced = self._asked // 2, 0
