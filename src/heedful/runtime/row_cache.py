"""Rows of numbers of texts, computed once and kept while a process trains again and again on nearly the same texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock

import numpy as np

from heedful.runtime.kernels import Floats

Words = tuple[str, ...]


class KeptRows:
    """The rows of the texts that were asked for last.

    Args:
        most: how many rows are kept; the oldest give way.
    """

    def __init__(self, most: int = 10_000) -> None:
        self._most = most
        self._rows = dict[Words, Floats]()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._rows)

    def __reduce__(self) -> tuple[type[KeptRows], tuple[int]]:
        """Copy and pickle without the rows: another process computes its own."""
        return KeptRows, (self._most,)

    def of(
        self, texts: Sequence[Sequence[str]], compute: Callable[[Sequence[Sequence[str]]], Floats]
    ) -> Floats:
        """Return the rows of texts; those that are not kept are computed, each distinct text once.

        Args:
            texts: the words of each, [N].
            compute: gives the rows of such texts, of each the same whatever the others are.

        Returns:
            The rows, [N, F].
        """
        keys = [tuple(each) for each in texts]
        if not keys:
            return compute(texts)
        with self._lock:
            found = {key: self._rows[key] for key in keys if key in self._rows}
        new = list(dict.fromkeys(key for key in keys if key not in found))
        found.update(zip(new, compute(new), strict=True) if new else ())
        with self._lock:
            self._rows.update((key, found[key].copy()) for key in new)
            while len(self._rows) > self._most:
                del self._rows[next(iter(self._rows))]
        return np.stack([found[key] for key in keys])
