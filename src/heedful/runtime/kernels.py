"""The rows of several texts as NumPy arrays, and the compiled kernels that are called with them through ctypes.

Without the kernels everything is computed in NumPy. A value of several texts is their rows end to end, which most steps
compute at once, or an array for each text.
"""

from __future__ import annotations

import ctypes
import itertools
import sys
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
MODULE = f"{__name__.partition('.')[0]}._kernels"
ACTIVATIONS = {"linear": 0, "elu": 1, "relu": 2}
"""Of dense layers, by their numbers in the kernels."""
_ALIGNMENT = 64
SCALES = (0.1, 10.0)
"""Bounds of the scores that the kernel of additive attention serves; see `heedful.attention.implementation`."""


def _load() -> ctypes.CDLL | None:
    spec = find_spec(MODULE)
    if spec is None or spec.origin is None:
        return None
    try:
        library = ctypes.CDLL(spec.origin)
        number, address = ctypes.c_int64, ctypes.c_void_p
        library.heedful_dense_panel.restype = number
        library.heedful_dense.argtypes = (*(address,) * 5, *(number,) * 3, ctypes.c_int32)
        library.heedful_whole.argtypes = (*(address,) * 6, *(number,) * 3, ctypes.c_int32)
        library.heedful_whole_form.restype = ctypes.c_char_p
        library.heedful_use_whole_form.argtypes = (ctypes.c_char_p,)
        library.heedful_additive_of_text.argtypes = (
            *(address,) * 4,
            *(number,) * 4,
            *(ctypes.c_int32, ctypes.c_float, address),
        )
        library.heedful_additive_of_texts.argtypes = library.heedful_additive_of_text.argtypes
        library.heedful_weighted_sum.argtypes = (*(address,) * 3, number, number, address)
        library.heedful_weighted_sum.restype = None
        library.heedful_mean.argtypes = (address, address, number, number, address)
        library.heedful_mean.restype = None
        library.heedful_gated.argtypes = (*(address,) * 5, number, number, address)
        library.heedful_gated.restype = None
    except (OSError, AttributeError):  # built for another machine, or by an older version
        return None
    return library


LIBRARY = _load()
"""The loaded library, or None where there is none."""


def later_function(name: str, result: object, *arguments: object) -> Callable[..., object] | None:
    """Return a function that older kernels lack.

    Args:
        name: of the function.
        result: what it returns, as a type of ctypes.
        *arguments: their types.

    Returns:
        The function; None where the kernels are not compiled, or were by an older version.
    """
    found: Callable[..., object] | None = getattr(LIBRARY, name, None)
    if found is not None:
        found.restype, found.argtypes = result, arguments  # type: ignore[attr-defined]
    return found


def compiled() -> bool:
    """Return whether the compiled kernels are there."""
    return LIBRARY is not None


def _address(array: NDArray[np.generic]) -> int:
    start: int = array.__array_interface__["data"][0]
    return start


def _fast_address() -> Callable[[NDArray[np.generic]], int]:
    """Return the compiled form of `address`, or the one of Python where there is none."""
    try:
        return getattr(import_module(MODULE), "address", _address)
    except ImportError:
        return _address


address = _fast_address() if LIBRARY is not None else _address
"""Returns where an array's numbers begin; it must outlive whoever reads them."""


_UNUSED = 2
"""References to a room of which no array is left: the list, and the question itself."""


class _Rooms(threading.local):
    """Memory for large arrays that a thread uses again: new pages from the system cost as much as the products."""

    LEAST, STEP, MOST = 1 << 15, 1 << 14, 1 << 22
    """Numbers of an array that is large, what its room is rounded up to, and numbers of all rooms."""

    def __init__(self) -> None:
        self._rooms: list[Floats] = []

    def array(self, rows: int, width: int) -> Floats:
        """Return an array that holds anything; its memory is used again once nobody has it or a part of it."""
        count = rows * width
        if count < self.LEAST:
            return np.empty((rows, width), np.float32)
        rooms = self._rooms
        unused = sorted(
            (rooms[place].size, place)
            for place in range(len(rooms))
            if sys.getrefcount(rooms[place]) <= _UNUSED
        )
        for size, place in unused:
            if size >= count:
                return rooms[place][:count].reshape(rows, width)
        if unused:  # all are too small: a larger one takes the place of the largest
            del rooms[unused[-1][1]]
        chosen = np.empty(-(-count // self.STEP) * self.STEP, np.float32)
        if sum(each.size for each in rooms) + chosen.size <= self.MOST:
            rooms.append(chosen)
        return chosen[:count].reshape(rows, width)


room = _Rooms().array
"""Returns an array of some rows and features, float32, that holds anything."""


def aligned(count: int, kind: np.dtype[np.generic]) -> NDArray[np.generic]:
    """Return zeros that begin where the kernels want a packed matrix to begin."""
    room = np.zeros(count + _ALIGNMENT, kind)
    skip = -address(room) % _ALIGNMENT // room.itemsize
    return room[skip : skip + count]


def in_groups(matrix: NDArray[np.generic], group: int) -> NDArray[np.generic]:
    """Lay a constant matrix out in panels of rows, in which groups of terms lie together.

    Args:
        matrix: [outputs, terms].
        group: terms that lie together; the last ones are filled up with zeros, and so are the rows of the last panel.

    Returns:
        The numbers, aligned.
    """
    assert LIBRARY is not None  # whoever packs has asked `compiled`
    outputs, terms = matrix.shape
    panel: int = LIBRARY.heedful_dense_panel()
    panels, groups = -(-outputs // panel), -(-terms // group)
    packed = aligned(panels * panel * groups * group, matrix.dtype)
    filled = np.zeros((panels * panel, groups * group), matrix.dtype)
    filled[:outputs, :terms] = matrix
    laid_out = packed.reshape(panels, groups, panel, group)
    laid_out[:] = filled.reshape(panels, panel, groups, group).transpose(0, 2, 1, 3)
    return packed


class Packed:
    """A constant matrix, laid out for the kernel.

    Args:
        matrix: [outputs, terms]: float32, or int8 with scales.
        scales: what each row of whole numbers is multiplied by, [outputs] float32; None for float32.
    """

    def __init__(self, matrix: NDArray[np.generic], scales: Floats | None = None) -> None:
        self.outputs, self.terms = matrix.shape
        self._packed = in_groups(matrix, 1)
        self._scales = None if scales is None else np.ascontiguousarray(scales, np.float32)
        self._address = address(self._packed)
        self._scales_address = None if self._scales is None else address(self._scales)
        self.addresses = (self._address, 0, self._scales_address or 0)

    def apply(self, x: Floats, bias: Floats | None, activation: str) -> Floats:
        """Compute ``activation(x W^T + b)``.

        Args:
            x: [rows, terms], contiguous.
            bias: [outputs], contiguous, or None.
            activation: "linear", "elu" or "relu".

        Returns:
            [rows, outputs]; a row is the same to the last bit whatever the others.

        Raises:
            MemoryError: if there is no working memory.
        """
        assert LIBRARY is not None
        output = room(len(x), self.outputs)
        failed = LIBRARY.heedful_dense(
            *(address(x), self._address, self._scales_address, None if bias is None else address(bias)),
            *(address(output), len(x), self.terms, self.outputs, ACTIVATIONS[activation]),
        )
        if failed:
            raise MemoryError(f"a dense layer has no working memory for {len(x)} rows")
        return output


def additive(
    query: Floats,
    key: Floats,
    value: Floats,
    keep: NDArray[np.bool_] | None,
    band: tuple[int, int, bool],
    scale: float,
) -> Floats:
    """Compute feature-wise additive attention of one text, pair by pair; see `heedful.attention.additive_attention`.

    Args:
        query: [L, D], contiguous, L at least 1; so the next two.
        key: [L, D].
        value: [L, D].
        keep: True where a query may attend to a key, [L, L], contiguous; None for what the band says.
        band: smallest and largest visible offset, and whether a token sees itself.
        scale: the bound of the scores, within `SCALES`.

    Returns:
        [L, D], zero where a query sees nothing.

    Raises:
        MemoryError: if there is no working memory.
    """
    assert LIBRARY is not None
    output = room(*query.shape)
    arrays = (address(query), address(key), address(value), None if keep is None else address(keep))
    low, high, diagonal = band
    if LIBRARY.heedful_additive_of_text(*arrays, *query.shape, low, high, diagonal, scale, address(output)):
        raise MemoryError(f"additive attention has no working memory for {len(query)} tokens")
    return output


def additive_of_texts(
    query: Floats,
    key: Floats,
    value: Floats,
    lengths: Sequence[int],
    band: tuple[int, int, bool],
    scale: float,
) -> Floats:
    """Compute `additive` for several texts whose rows are end to end, under a band.

    Args:
        query: [rows, D], contiguous; so the next two.
        key: [rows, D].
        value: [rows, D].
        lengths: rows of each text.
        band: see `additive`.
        scale: see there.

    Returns:
        [rows, D]; a text's rows are the same to the last bit whatever the other texts.

    Raises:
        MemoryError: if there is no working memory.
    """
    assert LIBRARY is not None
    output, counts = room(*query.shape), np.array(lengths, np.int64)
    arrays = (address(query), address(key), address(value), address(counts))
    low, high, diagonal = band
    sizes = (len(counts), query.shape[1])
    if LIBRARY.heedful_additive_of_texts(*arrays, *sizes, low, high, diagonal, scale, address(output)):
        raise MemoryError(f"additive attention has no working memory for {len(query)} tokens")
    return output


def weighted_sum(value: Floats, score: Floats, lengths: Sequence[int]) -> Floats:
    """Weigh the rows of each text by the softmax of their scores over the text, feature by feature.

    Args:
        value: rows of all texts, [rows, D], contiguous.
        score: likewise.
        lengths: rows of each text.

    Returns:
        [texts, D]; zero for a text without rows.
    """
    assert LIBRARY is not None
    counts = np.array(lengths, np.int64)
    output = room(len(counts), value.shape[1])
    arrays = (address(value), address(score), address(counts))
    LIBRARY.heedful_weighted_sum(*arrays, len(counts), value.shape[1], address(output))
    return output


def mean(value: Floats, lengths: Sequence[int]) -> Floats:
    """Compute the mean of the rows of each text.

    Args:
        value: rows of all texts, [rows, D], contiguous.
        lengths: rows of each text.

    Returns:
        [texts, D]; zero for a text without rows.
    """
    assert LIBRARY is not None
    counts = np.array(lengths, np.int64)
    output = room(len(counts), value.shape[1])
    LIBRARY.heedful_mean(address(value), address(counts), len(counts), value.shape[1], address(output))
    return output


def gated(first: Floats, second: Floats, bias: Floats | None, x: Floats, y: Floats) -> Floats:
    """Compute ``g x + (1 - g) y`` of the gate g, the sigmoid of a sum; all but the bias are [rows, D], contiguous.

    Args:
        first: a term of the sum.
        second: another.
        bias: [D], contiguous, or None.
        x: what an open gate gives.
        y: what a closed one gives.

    Returns:
        [rows, D].
    """
    assert LIBRARY is not None
    output = room(*x.shape)
    arrays = (
        address(first),
        address(second),
        None if bias is None else address(bias),
        address(x),
        address(y),
    )
    LIBRARY.heedful_gated(*arrays, *x.shape, address(output))
    return output


def contiguous(*arrays: Floats) -> list[Floats]:
    """Return arrays as the kernels take them."""
    return [np.ascontiguousarray(array, np.float32) for array in arrays]


Lengths = tuple[int, ...]
"""How many rows each text has."""


class TextRows:
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
    def of(cls, parts: Sequence[Floats]) -> TextRows:
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
