"""Products with constant matrices whose factors are rounded to bfloat16, with and without the kernel.

Every processor rounds alike, so that answers depend on it no more than those in float32 do: products of such numbers
are exact, and sums in float32 differ in their last bits. Processors with AMX or AVX-512 BF16 multiply them at several
times the rate of float32; the others gain the memory.
"""

from __future__ import annotations

import ctypes

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError
from heedful.runtime import kernels
from heedful.runtime.kernels import ACTIVATIONS, Floats, address

FORMS = ("amx", "avx512-bf16", "float32")
"""Ways to compute, best first; a processor has some of them."""
_GROUP = 2
"""Terms that lie together in a packed matrix."""


_NUMBER, _ADDRESS = ctypes.c_int64, ctypes.c_void_p
_LAYER = kernels.later_function(
    "heedful_bfloat16", ctypes.c_int, *(_ADDRESS,) * 4, *(_NUMBER,) * 3, ctypes.c_int32
)
_FORM = kernels.later_function("heedful_bfloat16_form", ctypes.c_char_p)
_USE_FORM = kernels.later_function("heedful_use_bfloat16_form", ctypes.c_int, ctypes.c_char_p)


def compiled() -> bool:
    """Return whether the kernel is there."""
    return kernels.LIBRARY is not None and _LAYER is not None


def form() -> str:
    """Name how this machine computes them: one of `FORMS`, or "numpy" without the compiled kernels."""
    name = _FORM() if compiled() and _FORM is not None else b"numpy"
    return name.decode() if isinstance(name, bytes) else "numpy"


def use_form(name: str) -> None:
    """Compute in one form from now on, in the whole process; for tests and measurements.

    Args:
        name: one of `FORMS`.

    Raises:
        UsageError: if the kernels are not compiled, or this processor lacks the form.
    """
    if not compiled() or _USE_FORM is None or _USE_FORM(name.encode()):
        raise UsageError(f"form: one of {', '.join(FORMS)} that this processor has; got {name!r:.80}")


def upper_halves(x: Floats) -> NDArray[np.uint16]:
    """Round to bfloat16, to the even one of two; NaN stays NaN.

    Args:
        x: any shape.

    Returns:
        The upper halves of the float32s.
    """
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    near = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    return (np.where(np.isnan(x), bits | np.uint32(0x400000), near) >> np.uint32(16)).astype(np.uint16)


def rounded(x: Floats) -> Floats:
    """Round to bfloat16.

    Args:
        x: any shape.

    Returns:
        The rounded numbers as float32.
    """
    return (upper_halves(x).astype(np.uint32) << np.uint32(16)).view(np.float32)


class Bfloat16Packed:
    """A constant matrix in bfloat16, laid out for the kernel.

    Args:
        matrix: [outputs, terms]; it is rounded.
    """

    def __init__(self, matrix: Floats) -> None:
        self.outputs, self.terms = matrix.shape
        self._packed = kernels.in_groups(upper_halves(matrix), _GROUP)
        self._address = address(self._packed)
        self.addresses = (self._address, 0, 0)

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
        assert _LAYER is not None
        output = kernels.room(len(x), self.outputs)
        failed = _LAYER(
            *(address(x), self._address, None if bias is None else address(bias), address(output)),
            *(len(x), self.terms, self.outputs, ACTIVATIONS[activation]),
        )
        if failed:
            raise MemoryError(f"a dense layer has no working memory for {len(x)} rows")
        return output
