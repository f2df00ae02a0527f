"""The kernel of constant matrices, in every instruction set that this processor has."""

from __future__ import annotations

import numpy as np
import pytest

from heedful.runtime import kernels
from heedful.runtime.kernels import Packed

pytestmark = pytest.mark.skipif(not kernels.compiled(), reason="the kernels are not compiled")
SHAPES = [(1, 1, 1), (7, 300, 300), (13, 257, 65), (6, 128, 64), (25, 600, 6), (3, 5, 130)]


def drawn(rows: int, terms: int, outputs: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(rows + terms + outputs)
    shapes = ((rows, terms), (outputs, terms), (outputs,))
    x, matrix, bias = (generator.standard_normal(shape).astype(np.float32) for shape in shapes)
    return x, matrix, bias


@pytest.mark.parametrize("activation", ["linear", "elu", "relu"])
@pytest.mark.parametrize(("rows", "terms", "outputs"), SHAPES)
def test_near_the_exact_product(
    instructions: str, rows: int, terms: int, outputs: int, activation: str
) -> None:
    x, matrix, bias = drawn(rows, terms, outputs)
    exact = x.astype(np.float64) @ matrix.T.astype(np.float64) + bias
    size = np.abs(x).astype(np.float64) @ np.abs(matrix).T.astype(np.float64) + np.abs(bias)
    if activation != "linear":
        exact = np.where(exact > 0, exact, np.expm1(exact) if activation == "elu" else 0)
    found = Packed(matrix).apply(x, bias, activation)
    # a chain of at most 128 terms and as many sums as there are chains; elu adds one rounding of 1
    assert (np.abs(found - exact) <= 2.0**-24 * (size * min(terms, 128) ** 0.5 + 4)).all()


def test_a_row_is_the_same_to_the_last_bit_in_any_company(instructions: str) -> None:
    x, matrix, bias = drawn(64, 300, 300)
    packed = Packed(matrix)
    whole = packed.apply(x, bias, "elu")
    for first in range(64):
        for count in (1, 2, 5, 6, 7, 13):
            rows = packed.apply(np.ascontiguousarray(x[first : first + count]), bias, "elu")
            assert (rows == whole[first : first + count]).all()


@pytest.mark.parametrize(("rows", "terms", "outputs"), SHAPES)
def test_whole_numbers_with_scales(instructions: str, rows: int, terms: int, outputs: int) -> None:
    x, _, bias = drawn(rows, terms, outputs)
    generator = np.random.default_rng(1)
    matrix = generator.integers(-127, 128, (outputs, terms), np.int8)
    scales = generator.uniform(0.001, 0.01, outputs).astype(np.float32)
    whole = Packed(matrix, scales).apply(x, bias, "linear")
    exact = x.astype(np.float64) @ (matrix * scales[:, None].astype(np.float64)).T + bias
    size = np.abs(x).astype(np.float64) @ np.abs(matrix * scales[:, None].astype(np.float64)).T + np.abs(bias)
    assert (np.abs(whole - exact) <= 2.0**-24 * (size * min(terms, 128) ** 0.5 + 4)).all()


def test_no_rows(instructions: str) -> None:
    assert Packed(np.ones((3, 4), np.float32)).apply(np.zeros((0, 4), np.float32), None, "elu").shape == (
        0,
        3,
    )


def test_room_is_used_again_once_nobody_has_a_part_of_it() -> None:
    def address_of_new(rows: int) -> int:
        return kernels.address(kernels.room(rows, 90))

    first = kernels.room(700, 90)
    kept, start = first[3:5], kernels.address(first)
    kept[:] = 7
    del first
    others = [kernels.room(700, 90) for _ in range(3)]
    places = [kernels.address(each) for each in others]
    for other in others:
        other[:] = 0
    assert start not in places
    assert (kept == 7).all()
    del others, other
    again = [address_of_new(650) for _ in range(3)]
    assert again[0] in places
    assert len(set(again)) == 1
    huge = [kernels.room(2000, 1000) for _ in range(9)]  # more than is kept; each has its own memory
    assert len({kernels.address(each) for each in huge}) == len(huge)


def test_where_numbers_begin() -> None:
    arrays = [np.zeros((3, 4)), np.zeros((3, 4), np.float32)[1:, 2:], np.zeros(0, np.int8), np.ones(3, bool)]
    arrays[0].flags.writeable = False
    assert kernels.address is not kernels._address, "the compiled form is there"
    assert [kernels.address(array) for array in arrays] == [kernels._address(array) for array in arrays]
