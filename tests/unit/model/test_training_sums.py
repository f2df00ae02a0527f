"""Sums over training rows: what a folder keeps of them, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from heedful.errors import UsageError
from heedful.model.training_sums import SUMS, KeptSums, read_kept_sums


def sums(seed=0, rows=40, width=5, outputs=3):
    """Sums of rows that were drawn."""
    generator = np.random.default_rng(seed)
    drawn = generator.normal(size=(rows, width))
    around = drawn - drawn.mean(axis=0)
    return KeptSums(
        (("mean", 2), ("states", width - 2)),
        np.array([20.0, 15.0, 5.0])[:outputs],
        generator.normal(size=(outputs, width)),
        around.T @ around,
        np.array([4, 9, 12], np.int32),
        np.array([0, 2, 4, 8]),
        np.array([1.0, 2.0, 5.0, 1.5]),
        np.arange(4.0),
    )


def read(made, outputs=3, **changed):
    tensors = {**made.tensors(), **{f"{SUMS}.{name}": value for name, value in changed.items()}}

    def tensor(name):
        if name not in tensors:
            raise UsageError(f"tensor {name!r} is missing")
        return tensors[name]

    return read_kept_sums(made.table(), tensor, outputs)


def test_a_folder_gives_back_what_was_kept_with_half_of_the_products():
    made = sums()
    found = read(made)
    assert found.features == made.features
    for name in ("classes", "numbers", "places", "counts", "losses"):
        np.testing.assert_array_equal(getattr(found, name), getattr(made, name))
    np.testing.assert_allclose(found.totals, made.totals, rtol=1e-6)
    np.testing.assert_allclose(found.products, made.products, atol=2e-5 * np.diagonal(made.products).max())
    np.testing.assert_array_equal(found.products, found.products.T)
    assert made.tensors()[f"{SUMS}.together"].nbytes == 2 * 15
    assert all(tensor.ndim == 1 for tensor in made.tensors().values())


def test_a_further_class_has_no_row_and_the_others_keep_theirs():
    wider = sums().with_classes(np.array([2, 0, 3]), 4)
    np.testing.assert_array_equal(wider.classes, [15, 0, 20, 5])
    assert not wider.totals[1].any()
    np.testing.assert_array_equal(wider.places, [2, 3, 4, 11])
    np.testing.assert_array_equal(wider.counts, [1, 2, 5, 1.5])


@pytest.mark.parametrize(
    "changed",
    [
        {"together": np.zeros(7, np.uint8)},
        {"together": np.zeros(30, np.int8)},
        {"classes": np.zeros(2)},
        {"places": np.array([8, 4, 2, 0])},
        {"places": np.array([0, 2, 4, 9])},
        {"counts": np.zeros(3, np.float32)},
        {"numbers": np.array([9, 4, 12], np.int32)},
        {"spreads": np.zeros((5, 1))},
    ],
)
def test_tensors_that_do_not_fit_are_refused(changed):
    with pytest.raises(UsageError, match="sums"):
        read(sums(), **changed)


@pytest.mark.parametrize(
    "table", [{}, {"features": 3}, {"features": [["mean", "2"]]}, {"features": [["mean", 9999]]}]
)
def test_a_table_that_says_something_else_is_refused(table):
    with pytest.raises(UsageError, match="sums"):
        read_kept_sums(table, {}.__getitem__, 3)
