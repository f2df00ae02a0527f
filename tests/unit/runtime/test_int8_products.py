"""Dense layers in whole numbers, in every form that this processor has; test_whole_memory.py has the sanitizers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from heedful.errors import UsageError
from heedful.runtime import int8_products, kernels
from heedful.runtime.int8_products import FORMS, WholePacked, codes_of, plain_sums, twice

SHAPES = [
    (1, 1, 1),
    (7, 300, 300),
    (13, 257, 65),
    (6, 128, 64),
    (49, 600, 6),
    (3, 5, 130),
    (2, 1027, 17),
    (64, 33, 73),
]


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> Iterator[str]:
    """Compute in each form that this processor has."""
    before = int8_products.form()
    try:
        int8_products.use_form(request.param)
    except UsageError:
        pytest.skip(f"this processor has no {request.param}")
    yield int8_products.form()
    int8_products.use_form(before)


def drawn(rows: int, terms: int, outputs: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(rows + terms + outputs)
    x = generator.standard_normal((rows, terms)).astype(np.float32)
    matrix = generator.integers(-128, 128, (outputs, terms), np.int8)
    scales = generator.uniform(0.001, 0.01, outputs).astype(np.float32)
    return x, matrix, scales, generator.standard_normal(outputs).astype(np.float32)


@pytest.mark.parametrize(("rows", "terms", "outputs"), SHAPES)
def test_equal_to_numpy_to_the_last_bit(form: str, rows: int, terms: int, outputs: int) -> None:
    x, matrix, scales, bias = drawn(rows, terms, outputs)
    expected = plain_sums(x, matrix, scales)
    packed = WholePacked(matrix, scales)
    assert (packed.apply(x, None, "linear") == expected).all()
    assert (packed.apply(x, bias, "linear") == expected + bias).all()
    assert (packed.apply(x, bias, "relu") == np.maximum(expected + bias, 0)).all()


def test_every_form_has_the_same_elu(form: str) -> None:
    x, matrix, scales, bias = drawn(13, 257, 65)
    found = WholePacked(matrix, scales).apply(x, bias * 30, "elu")
    int8_products.use_form("portable")
    assert (found == WholePacked(matrix, scales).apply(x, bias * 30, "elu")).all()
    y = (plain_sums(x, matrix, scales) + bias * 30).astype(np.float64)
    assert np.abs(found - np.where(y > 0, y, np.expm1(np.minimum(y, 0)))).max() < 2e-7


@pytest.mark.parametrize(("rows", "terms", "outputs"), SHAPES)
def test_near_the_exact_product(form: str, rows: int, terms: int, outputs: int) -> None:
    x, matrix, scales, _ = drawn(rows, terms, outputs)
    weights = matrix * scales[:, None].astype(np.float64)
    error = np.abs(WholePacked(matrix, scales).apply(x, None, "linear") - x.astype(np.float64) @ weights.T)
    # half a step of each input, and the rounding of floats
    step = (x.max(axis=1, keepdims=True, initial=0) - x.min(axis=1, keepdims=True, initial=0)) / 254
    assert (error <= step * (np.abs(weights).sum(axis=1) * (0.5 + 1e-4))).all()


def test_a_row_is_the_same_to_the_last_bit_in_any_company(form: str) -> None:
    x, matrix, scales, bias = drawn(64, 300, 300)
    packed = WholePacked(matrix, scales)
    whole = packed.apply(x, bias, "elu")
    for first in range(0, 64, 3):
        for count in (1, 2, 5, 6, 7, 13):
            rows = packed.apply(np.ascontiguousarray(x[first : first + count]), bias, "elu")
            assert (rows == whole[first : first + count]).all()


def test_zeros_and_numbers_at_both_ends_of_the_range(form: str) -> None:
    x, matrix, scales, bias = drawn(6, 130, 70)
    x[1] = 0
    x[2] *= np.float32(1e-40)
    x[3] *= np.float32(1e37)
    x[4] = np.where(x[4] > 0, np.float32(3e38), np.float32(-3e38))
    packed = WholePacked(matrix, scales)
    with np.errstate(all="ignore"):
        assert np.array_equal(packed.apply(x, None, "linear"), plain_sums(x, matrix, scales))
    assert (packed.apply(x, bias, "linear")[1] == bias).all()


@pytest.mark.parametrize("activation", ["linear", "elu", "relu"])
def test_a_row_that_is_not_finite_gives_nothing_finite_and_spares_the_others(
    form: str, activation: str
) -> None:
    x, matrix, scales, bias = drawn(7, 61, 70)
    packed = WholePacked(matrix, scales)
    good = packed.apply(x, bias, activation)
    x[2, 60], x[5, 0], x[6, 30] = np.nan, -np.inf, np.inf
    found = packed.apply(x, bias, activation)
    assert not np.isfinite(found[[2, 5, 6]]).any()
    assert (found[[0, 1, 3, 4]] == good[[0, 1, 3, 4]]).all()
    assert not np.isfinite(plain_sums(x, matrix, scales)[[2, 5, 6]]).any()


@pytest.mark.parametrize("rows", [0, 1, 7, 96, 97, 250])
@pytest.mark.parametrize(("terms", "between", "outputs"), [(300, 257, 65), (3, 130, 5)])
def test_two_layers_in_one_pass_are_those_of_two_calls(
    form: str, rows: int, terms: int, between: int, outputs: int
) -> None:
    x, matrix, scales, bias = drawn(rows, terms, between)
    _, after, after_scales, after_bias = drawn(rows + 1, between, outputs)
    if rows > 3:
        x[1], x[2, 0], x[3] = 0, np.nan, np.float32(3e38)
    one, two = WholePacked(matrix, scales), WholePacked(after, after_scales)
    for activation, last, given in (("elu", "linear", None), ("relu", "elu", after_bias)):
        apart = two.apply(one.apply(x, bias, activation), given, last)
        assert np.array_equal(twice(x, (one, bias, activation), (two, given, last)), apart, equal_nan=True)


def test_no_rows(form: str) -> None:
    x, matrix, scales, bias = drawn(0, 4, 3)
    assert WholePacked(matrix, scales).apply(x, bias, "elu").shape == (0, 3)
    assert plain_sums(x, matrix, scales).shape == (0, 3)


def test_codes_fill_their_range() -> None:
    rows = [[1.0, -1.0, 0.01], [0.0, 0.0, 0.0], [4.0, 1.0, 0.0], [-2.0, -1.0, 1.0]]
    codes, of_row = codes_of(np.array(rows, np.float32))
    assert codes.tolist() == [[127, -127, 1], [0, 0, 0], [254, 64, 0], [-169, -85, 85]]
    assert of_row.tolist() == [np.float32(size) / np.float32(127) for size in (1, 0, 2, 1.5)]


def test_an_unknown_form() -> None:
    with pytest.raises(UsageError, match="mmx"):
        int8_products.use_form("mmx")
    assert int8_products.form() in (*FORMS, "numpy")


pytestmark = pytest.mark.skipif(not kernels.compiled(), reason="the kernels are not compiled")
