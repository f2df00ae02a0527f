from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from heedful.storage.growing_arrays import GrowingArray
from heedful.tasks.sentences import principal_rows, row_blocks
from heedful.tasks.sentences.fitting_wide import FitSetting, Fitter
from heedful.tasks.sentences.linear_targets import ClassTargets
from heedful.tasks.sentences.principal_rows import TurnedRows, in_blocks
from heedful.tasks.sentences.row_blocks import DenseRows

DRAW = np.random.default_rng(0)
ROWS = DRAW.standard_normal((2500, 40)).astype(np.float32)
WEIGHTS, SLOPES = DRAW.standard_normal((40, 3)), DRAW.standard_normal((2500, 3))


def in_file(rows: NDArray[np.float32]) -> DenseRows:
    growing = GrowingArray(np.float32, rows.shape[1], most=0)
    growing.append(rows)
    return DenseRows(growing.finished())


@pytest.mark.parametrize("size", [768, 4096])
def test_products_of_blocks_are_those_of_the_whole(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_blocks, "_DENSE_BLOCK", size)
    rows = in_file(ROWS)
    assert rows.shape == ROWS.shape
    assert rows @ WEIGHTS == pytest.approx(ROWS @ WEIGHTS, rel=1e-12, abs=1e-12)
    assert pytest.approx(ROWS.T @ SLOPES, rel=1e-12, abs=1e-11) == rows.T @ SLOPES
    assert np.array_equal(rows.squares(), (ROWS.astype(np.float64) ** 2).sum(axis=0))
    places = np.array([7, 2499, 7, 0])
    assert np.array_equal(rows[places].array, ROWS[places])
    assert np.array_equal(rows.products(), ROWS.T @ ROWS)


def test_the_order_of_a_sum_does_not_depend_on_the_size_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers of very different size, of which any other order of the sum has another result."""
    values = np.where(np.arange(2500) % 2, 1e16, 1.0)[:, None] * ROWS[:, :2]
    monkeypatch.setattr(row_blocks, "_DENSE_BLOCK", 256)
    squares = np.zeros(2)
    for row in values:
        squares = squares + row**2
    assert np.array_equal(DenseRows(values).squares(), squares)


def test_a_fit_on_rows_in_a_file_is_that_on_rows_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    gold = (ROWS @ WEIGHTS[:, :3]).argmax(axis=1)
    targets = ClassTargets.of_classes(gold, 3, np.ones(len(ROWS)))
    one = Fitter(ROWS, targets).fit(FitSetting(3.0))
    monkeypatch.setattr(row_blocks, "_DENSE_BLOCK", 768)
    other = Fitter(in_file(ROWS), targets).fit(FitSetting(3.0))
    assert other.weights == pytest.approx(one.weights, rel=1e-9, abs=1e-9)
    assert other.logits(in_file(ROWS)) == pytest.approx(one.logits(ROWS), rel=1e-9, abs=1e-9)


def test_some_rows_of_turned_ones_are_turned_alike() -> None:
    places = np.arange(3, 2400, 5)
    turned = TurnedRows.turning(in_file(ROWS))
    some = turned.of_some(places)
    assert isinstance(turned.rows, DenseRows)
    assert isinstance(some.rows, DenseRows)
    assert np.array_equal(some.rows.array, turned.rows.array[places])
    assert some.sizes == pytest.approx((some.rows.array**2).sum(axis=0))


def test_few_or_small_rows_stay_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(in_blocks(ROWS), np.ndarray)
    monkeypatch.setattr(principal_rows, "MOST_BYTES", 1000)
    assert isinstance(in_blocks(ROWS), DenseRows)
    assert isinstance(in_blocks(ROWS[:2000]), np.ndarray), "so few are turned and joined in memory"
