"""A value of several texts: their rows end to end, which most steps compute at once, or an array for each text."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from heedful.runtime.kernels import Floats

Lengths = tuple[int, ...]
"""How many rows each text has."""


class Rows:
    """A value of several texts.

    Args:
        lengths: rows of each text.
        whole: the rows of all texts end to end, [rows, D]; None where `parts` are given.
        parts: an array for each text.

    Attributes:
        lengths: as given.
    """

    __slots__ = ("_parts", "_whole", "lengths")

    def __init__(
        self, lengths: Lengths, whole: Floats | None = None, parts: Sequence[Floats] | None = None
    ) -> None:
        self.lengths, self._whole, self._parts = lengths, whole, parts

    @classmethod
    def of(cls, parts: Sequence[Floats]) -> Rows:
        """Return the value that has these arrays, one for each text."""
        return cls(tuple(map(len, parts)), parts[0] if len(parts) == 1 else None, parts)

    @property
    def whole(self) -> Floats:
        """All rows end to end."""
        if self._whole is None:
            assert self._parts is not None  # one of both is given
            self._whole = np.concatenate(self._parts)
        return self._whole

    @property
    def arrays(self) -> Sequence[Floats]:
        """The arrays that there are, one or one for each text."""
        return (self._whole,) if self._whole is not None else self.parts

    @property
    def parts(self) -> Sequence[Floats]:
        """The rows of each text."""
        if self._parts is None:
            assert self._whole is not None
            ends = itertools.accumulate(self.lengths, initial=0)
            self._parts = [self._whole[first:last] for first, last in itertools.pairwise(ends)]
        return self._parts


class Action(NamedTuple):
    """A step as functions.

    Attributes:
        to: name of the value it makes.
        of: names of the values it reads.
        compute: computes one text, or the rows of several where `row_wise`.
        row_wise: whether each row is computed by itself.
        together: computes several texts at once, from the rows of each and the values of all; None for no such way.
    """

    to: str
    of: tuple[str, ...]
    compute: Callable[..., Floats]
    row_wise: bool = False
    together: Callable[..., Rows] | None = None
