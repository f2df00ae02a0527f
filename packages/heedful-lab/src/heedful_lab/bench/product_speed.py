"""Matrix products of the runtime in each kind of number, beside the most that the processor gives in it."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from heedful.runtime import bfloat16_products, int8_products, kernels
from heedful.runtime.bfloat16_products import Bfloat16Packed
from heedful.runtime.int8_products import WholePacked
from heedful.runtime.kernels import Packed

SIZES = ((640, 300, 300), (640, 600, 600), (10, 300, 300), (10, 600, 600))
"""Rows, inputs and outputs of the products."""
_ROUNDS = 20_000
"""Of the loop that keeps the processor busy, some milliseconds."""


@dataclass(frozen=True)
class Product:
    """One product in one kind of number.

    Attributes:
        numbers: "float32", "bfloat16" or "int8".
        form: how this machine computes them.
        size: rows x inputs x outputs.
        speed: thousand million products and sums a second, the best of the turns; inputs are turned into the numbers.
        share: of the most that the processor gave in a loop on numbers in its nearest cache, in the same turns.
    """

    numbers: str
    form: str
    size: str
    speed: float
    share: float


def product_speeds(turns: int) -> Iterator[Product]:
    """Time products; the kinds of numbers alternate, so that other work on the machine falls on all of them.

    Args:
        turns: measurements of each.

    Yields:
        The figures, by the processor's time; none where the kernels are not compiled or are of an older version.
    """
    number = ctypes.c_int64
    busy = {
        numbers: kernels.later_function(name, number, number)
        for numbers, name in (
            ("float32", "heedful_busy"),
            ("bfloat16", "heedful_busy_in_bfloat16"),
            ("int8", "heedful_busy_in_whole_numbers"),
        )
    }
    if not all(busy.values()):
        return
    forms = {"float32": instructions(), "bfloat16": bfloat16_products.form(), "int8": int8_products.form()}
    generator = np.random.default_rng(0)
    for rows, terms, outputs in SIZES:
        x, matrix = (
            generator.standard_normal(shape).astype(np.float32) for shape in ((rows, terms), (outputs, terms))
        )
        whole = generator.integers(-127, 128, (outputs, terms), np.int8)
        packed: dict[str, Packed | Bfloat16Packed | WholePacked] = {
            "float32": Packed(matrix),
            "bfloat16": Bfloat16Packed(matrix),
            "int8": WholePacked(whole, np.ones(outputs, np.float32)),
        }
        best, most = dict.fromkeys(packed, 0.0), dict.fromkeys(packed, 0.0)
        for _ in range(turns):
            for numbers, layer in packed.items():
                loop = busy[numbers]
                assert loop is not None  # asked above
                done, taken = _timed(loop, _ROUNDS)
                assert isinstance(done, int)  # by its type of ctypes
                most[numbers] = max(most[numbers], done / taken)
                _, taken = _timed(layer.apply, x, None, "linear")
                best[numbers] = max(best[numbers], 2 * rows * terms * outputs / taken)
        for numbers, speed in best.items():
            size = f"{rows} x {terms} x {outputs}"
            yield Product(numbers, forms[numbers], size, speed / 1e9, speed / most[numbers])


def instructions() -> str:
    """Name the instruction set that products in float32 are computed with."""
    function = kernels.later_function("heedful_instruction_set", ctypes.c_char_p)
    name = b"numpy" if function is None else function()
    return name.decode() if isinstance(name, bytes) else "numpy"


def _timed(call: Callable[..., object], *given: object) -> tuple[object, float]:
    """Return what a call returns, and its processor time in seconds."""
    start = time.process_time_ns()
    found = call(*given)
    return found, max(time.process_time_ns() - start, 1) / 1e9
