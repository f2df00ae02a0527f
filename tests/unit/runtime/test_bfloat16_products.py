"""Products in bfloat16: every form that this processor has, and NumPy, give the same but for the rounding of sums."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from heedful.errors import UsageError
from heedful.runtime import bfloat16_products, kernels
from heedful.runtime.bfloat16_products import FORMS, Bfloat16Packed, rounded, upper_halves

pytestmark = pytest.mark.skipif(not bfloat16_products.compiled(), reason="the kernels are not compiled")
SHAPES = [(1, 1, 1), (7, 300, 300), (17, 257, 65), (33, 30, 64), (45, 129, 6), (3, 5, 130), (2, 1027, 17)]


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> Iterator[str]:
    """Compute in each form that this processor has."""
    before = bfloat16_products.form()
    try:
        bfloat16_products.use_form(request.param)
    except UsageError:
        pytest.skip(f"this processor has no {request.param}")
    yield bfloat16_products.form()
    bfloat16_products.use_form(before)


def drawn(rows: int, terms: int, outputs: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(rows + terms + outputs)
    shapes = ((rows, terms), (outputs, terms), (outputs,))
    x, matrix, bias = (generator.standard_normal(shape).astype(np.float32) for shape in shapes)
    return x, matrix, bias


@pytest.mark.parametrize("activation", ["linear", "elu", "relu"])
@pytest.mark.parametrize(("rows", "terms", "outputs"), SHAPES)
def test_near_the_exact_product_of_rounded_factors(
    form: str, rows: int, terms: int, outputs: int, activation: str
) -> None:
    x, matrix, bias = drawn(rows, terms, outputs)
    a, b = rounded(x).astype(np.float64), rounded(matrix).astype(np.float64)
    exact, size = a @ b.T + bias, np.abs(a) @ np.abs(b).T + np.abs(bias)
    if activation != "linear":
        exact = np.where(exact > 0, exact, np.expm1(np.minimum(exact, 0)) if activation == "elu" else 0)
    found = Bfloat16Packed(matrix).apply(x, bias, activation)
    assert (np.abs(found - exact) <= 2.0**-24 * (2 * size * min(terms, 512) ** 0.5 + 4)).all()


def test_a_row_is_the_same_to_the_last_bit_in_any_company(form: str) -> None:
    x, matrix, bias = drawn(64, 300, 300)
    packed = Bfloat16Packed(matrix)
    whole = packed.apply(x, bias, "elu")
    for first in range(0, 64, 5):
        for count in (1, 2, 7, 16, 17, 33):
            rows = packed.apply(np.ascontiguousarray(x[first : first + count]), bias, "elu")
            assert (rows == whole[first : first + count]).all()


def test_rounds_to_the_nearest_and_to_the_even_one_of_two() -> None:
    given = np.array(
        [1, 1 + 2.0**-9, 1 + 2.0**-8, 1 + 3 * 2.0**-8, -1.0039, 3.4e38, np.inf, np.nan, 0], np.float32
    )
    expected = [1, 1, 1, 1 + 2.0**-6, -1.0, np.inf, np.inf, np.nan, 0]
    assert np.array_equal(rounded(given), np.array(expected, np.float32), equal_nan=True)
    assert upper_halves(np.array([1.0, -2.0], np.float32)).tolist() == [0x3F80, 0xC000]
    signaling = np.array([0x7F800001, 0xFFFFFFFF], np.uint32).view(np.float32)
    assert np.isnan(rounded(signaling)).all()


def test_a_row_that_is_not_finite_gives_nothing_finite_and_spares_the_others(form: str) -> None:
    x, matrix, bias = drawn(20, 61, 70)
    packed = Bfloat16Packed(matrix)
    good = packed.apply(x, bias, "elu")
    x[2, 60] = x[19, 0] = np.nan
    found = packed.apply(x, bias, "elu")
    assert np.isnan(found[[2, 19]]).all()
    assert (np.delete(found, [2, 19], axis=0) == np.delete(good, [2, 19], axis=0)).all()


def test_no_rows_and_an_unknown_form(form: str) -> None:
    assert Bfloat16Packed(np.ones((3, 4), np.float32)).apply(
        np.zeros((0, 4), np.float32), None, "elu"
    ).shape == (0, 3)
    with pytest.raises(UsageError, match="mmx"):
        bfloat16_products.use_form("mmx")


def test_kernels_of_an_older_version_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bfloat16_products, "_LAYER", None)
    assert not bfloat16_products.compiled()
    assert bfloat16_products.form() == "numpy"
    assert kernels.compiled()
