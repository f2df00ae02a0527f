"""Products with constant matrices in whole numbers of 8 bits, with and without the kernel.

Each row of an input is turned into whole numbers as it comes, 254 steps from its least number to its greatest. Sums of
whole numbers are exact, so that every form of the kernel, and NumPy, add up to the same.
"""

from __future__ import annotations

import ctypes

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError
from heedful.runtime import kernels
from heedful.runtime.kernels import ACTIVATIONS, Floats, address

FORMS = ("amx", "avx512-vnni", "avx-vnni", "avx512", "avx2", "neon", "portable")
"""Ways to compute, best first; a processor has some of them."""
GROUP = 4
"""Terms that lie together in a packed matrix."""
MOST_TERMS = 1 << 16
"""Terms whose sum 32 bits hold, whatever the numbers."""
MOST = 127
"""An input takes twice as many steps from its least number to its greatest, 0 among them."""
_HALF, _SMALL = np.float32(0.5), np.float32(2.0**-100)
_EXACT = 2**24 // (256 * MOST)
"""Terms that float32 adds up exactly."""

Whole = NDArray[np.int8]
_NUMBER, _ADDRESS = ctypes.c_int64, ctypes.c_void_p
_TWICE = kernels.later_function(
    "heedful_whole_twice",
    ctypes.c_int,
    *(_ADDRESS, _NUMBER, _NUMBER, *(_ADDRESS,) * 4, _NUMBER, ctypes.c_int32),
    *(*(_ADDRESS,) * 5, _NUMBER, ctypes.c_int32),
)


def form() -> str:
    """Name how this machine computes them: one of `FORMS`, or "numpy" without the compiled kernels."""
    if kernels.LIBRARY is None:
        return "numpy"
    name: bytes = kernels.LIBRARY.heedful_whole_form()
    return name.decode()


def use_form(name: str) -> None:
    """Compute in one form from now on, in the whole process; for tests and measurements.

    Args:
        name: one of `FORMS`.

    Raises:
        UsageError: if the kernels are not compiled, or this processor lacks the form.
    """
    if kernels.LIBRARY is None or kernels.LIBRARY.heedful_use_whole_form(name.encode()):
        raise UsageError(f"form: one of {', '.join(FORMS)} that this processor has; got {name!r:.80}")


class WholePacked:
    """A constant matrix of whole numbers, laid out for the kernel.

    Args:
        matrix: [outputs, terms] int8.
        scales: what each row of it is multiplied by, [outputs].

    Attributes:
        outputs: rows of the matrix.
        terms: its columns.
        addresses: of the packed matrix, the sums of its rows and the scales.
    """

    def __init__(self, matrix: Whole, scales: Floats) -> None:
        self.outputs, self.terms = matrix.shape
        self._packed = kernels.in_groups(np.asarray(matrix, np.int8), GROUP)
        self._sums = matrix.sum(axis=1, dtype=np.int32)
        self._scales = np.ascontiguousarray(scales, np.float32)
        self.addresses = (address(self._packed), address(self._sums), address(self._scales))

    def apply(self, x: Floats, bias: Floats | None, activation: str) -> Floats:
        """Compute ``activation(x W^T + b)``.

        Args:
            x: [rows, terms], contiguous.
            bias: [outputs], contiguous, or None.
            activation: "linear", "elu" or "relu".

        Returns:
            [rows, outputs]; a row is the same to the last bit whatever the others, and not finite where its input is
            not.

        Raises:
            MemoryError: if there is no working memory.
        """
        assert kernels.LIBRARY is not None
        output = kernels.room(len(x), self.outputs)
        failed = kernels.LIBRARY.heedful_whole(
            *(address(x), *self.addresses, None if bias is None else address(bias)),
            *(address(output), len(x), self.terms, self.outputs, ACTIVATIONS[activation]),
        )
        if failed:
            raise MemoryError(f"a dense layer has no working memory for {len(x)} rows")
        return output


def twice(
    x: Floats,
    first: tuple[WholePacked, Floats | None, str],
    second: tuple[WholePacked, Floats | None, str],
) -> Floats:
    """Compute a layer and one that reads what it makes, in one pass: what is between them never leaves the cache.

    Args:
        x: [rows, terms], contiguous.
        first: the matrix, bias and activation of a layer, as `WholePacked.apply` takes them.
        second: of the next; its terms are the outputs of the first.

    Returns:
        [rows, outputs of the second], to the last bit as two calls of `apply`.

    Raises:
        MemoryError: if there is no working memory.
    """
    (one, bias, activation), (two, next_bias, next_activation) = first, second
    if _TWICE is None:  # the kernels are of an older version
        return two.apply(one.apply(x, bias, activation), next_bias, next_activation)
    output = kernels.room(len(x), two.outputs)
    failed = _TWICE(
        *(address(x), len(x), one.terms, *one.addresses, None if bias is None else address(bias)),
        *(one.outputs, ACTIVATIONS[activation]),
        *(*two.addresses, None if next_bias is None else address(next_bias), address(output)),
        *(two.outputs, ACTIVATIONS[next_activation]),
    )
    if failed:
        raise MemoryError(f"two dense layers have no working memory for {len(x)} rows")
    return output


def codes_of(x: Floats) -> tuple[Floats, Floats]:
    """Turn rows into whole numbers as the kernel does.

    Args:
        x: [rows, terms].

    Returns:
        The numbers as float32, [rows, terms], and what each row of them is multiplied by, [rows].
    """
    low, high = x.min(axis=1, initial=0), x.max(axis=1, initial=0)  # NaN where a number is
    finite = np.isfinite(low) & np.isfinite(high)
    half = np.where(finite, high, 0) * _HALF - np.where(finite, low, 0) * _HALF
    raised = np.where(half < _SMALL, 1 / _SMALL, np.float32(1))
    size = np.where(finite, high, 0) * _HALF * raised - np.where(finite, low, 0) * _HALF * raised
    rate = np.float32(MOST) / np.where(size > 0, size, np.float32(np.inf))
    codes = np.rint(np.where(finite[:, None], x, 0) * raised[:, None] * rate[:, None])
    return codes, np.where(finite, half / np.float32(MOST), np.float32(np.nan))


def plain_sums(x: Floats, matrix: Whole, scales: Floats) -> Floats:
    """Compute ``x W^T`` in NumPy, to the last bit as the kernel does.

    Args:
        x: [rows, terms].
        matrix: [outputs, terms].
        scales: [outputs].

    Returns:
        [rows, outputs].
    """
    codes, of_row = codes_of(x)
    exact = np.float32 if matrix.shape[1] <= _EXACT else np.float64
    sums = (codes.astype(exact) @ matrix.T.astype(exact)).astype(np.float32)
    made: Floats = sums * scales * of_row[:, None]
    return made
