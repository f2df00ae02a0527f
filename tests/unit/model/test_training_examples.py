"""Tests of the training examples that a model keeps: their form in a folder, and which are nearest."""

from __future__ import annotations

import numpy as np
import pytest

from heedful.errors import UsageError
from heedful.model.training_examples import WIDTH, KeptExamples, coded, projected, read_kept_examples, unit

DRAWN = np.random.default_rng(0)


def made(count: int = 4, *, texts: bool = True, gold: np.ndarray | None = None) -> KeptExamples:
    codes = coded(DRAWN.normal(size=(count, WIDTH)))
    gold = np.arange(count, dtype=np.int32) % 2 if gold is None else gold
    own = tuple((f"text {number} é\n\ud800",) for number in range(count)) if texts else None
    return KeptExamples(codes, gold, np.arange(1, count + 1), own, 0.5)


def read(kept: KeptExamples, texts: int = 1, outputs: int = 2, **changes: np.ndarray) -> KeptExamples:
    tensors = {**kept.tensors(), **{f"examples.{name}": each for name, each in changes.items()}}
    return read_kept_examples(kept.table(), tensors.__getitem__, texts, outputs)


@pytest.mark.parametrize("count", [0, 1, 5])
@pytest.mark.parametrize("texts", [True, False])
def test_what_was_written_is_read(count: int, texts: bool) -> None:
    kept = made(count, texts=texts)
    again = read(kept)
    assert again.texts == kept.texts
    assert again.network == kept.network
    for name in ("codes", "gold", "rows"):
        np.testing.assert_array_equal(getattr(again, name), getattr(kept, name))


def test_gold_of_labels_and_numbers_is_read() -> None:
    flags = np.array([[1, 0, 1], [0, 0, 0]], np.uint8)
    np.testing.assert_array_equal(read(made(2, gold=flags), outputs=3).gold, flags)
    numbers = np.array([0.5, -3], np.float32)
    np.testing.assert_array_equal(read(made(2, gold=numbers), outputs=1).gold, numbers)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"gold": np.array([0, 1, 2, 0], np.int32)}, "classes from 0 to 2"),
        ({"gold": np.array([0, -1, 0, 0], np.int32)}, "classes from -1 to 1"[:12]),
        ({"gold": np.array([0, np.nan, 0, 0], np.float32)}, "not finite"),
        ({"gold": np.zeros(4, np.int64)}, "do not fit"),
        ({"rows": np.zeros(3, np.int64)}, "do not fit"),
        ({"codes": np.zeros(WIDTH, np.int8)}, "do not fit"),
        ({"codes": np.zeros(4 * WIDTH, np.float32)}, "expected int8"),
        ({"ends": np.array([1, 2, 3, 10**9])}, "do not fit their ends"),
        ({"ends": np.array([9, 2, 3, 4])}, "do not fit their ends"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, np.ndarray], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read(made(), **changes)


@pytest.mark.parametrize(
    "table",
    [
        {},
        {"count": -1, "texts": 1, "network": 0.5},
        {"count": True, "texts": 1, "network": 0.5},
        {"count": 4, "texts": 2, "network": 0.5},
        {"count": 4, "texts": 1, "network": float("nan")},
        {"count": 4, "texts": 1, "network": "much"},
    ],
)
def test_a_table_of_another_kind_is_refused(table: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="examples: "):
        read_kept_examples(table, made().tensors().__getitem__, 1, 2)


def test_the_nearest_come_first_and_the_order_is_that_of_cosines() -> None:
    kept = made(50)
    asked = unit(kept.vectors[[7, 30]] + 0.05 * DRAWN.normal(size=(2, WIDTH)).astype(np.float32))
    places, cosines = kept.nearest(asked, 5)
    np.testing.assert_array_equal(places, np.argsort(-(asked @ kept.vectors.T), axis=1)[:, :5])
    assert places[:, 0].tolist() == [7, 30]
    assert (np.diff(cosines, axis=1) <= 0).all()
    assert kept.nearest(asked, 80)[0].shape == (2, 50)
    assert made(0).nearest(asked, 3)[0].shape == (2, 0)


def test_projections_keep_cosines_and_depend_on_nothing_else() -> None:
    numbers = np.arange(400) * 977 + (1 << 40)
    both = DRAWN.normal(size=(30, 400))
    found = projected([(numbers, row) for row in both])
    exact = unit(both) @ unit(both).T
    assert np.abs(unit(found) @ unit(found).T - exact)[~np.eye(30, dtype=bool)].max() < 0.3
    np.testing.assert_array_equal(projected([(numbers, both[3])])[0], found[3])
    np.testing.assert_allclose(projected([(numbers[::-1], both[3][::-1])])[0], found[3], atol=1e-4)


def test_signs_are_half_of_each_kind_and_independent() -> None:
    apart = [(np.array([700, 701]), np.ones(2)), (np.zeros(0, np.int64), np.zeros(0))]
    dense = np.array([[1.0, -2.0], [0.0, 0.5]], np.float32)
    beside = projected(apart, dense)
    np.testing.assert_array_equal(
        beside[0], projected([(np.array([0, 1, 700, 701]), np.array([1.0, -2.0, 1.0, 1.0]))])[0]
    )
    np.testing.assert_array_equal(beside[1], projected([(np.array([1]), np.array([0.5]))])[0])
    signs = projected([(np.array([number]), np.ones(1)) for number in range(300)])
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert abs(signs.mean()) < 0.02
    assert np.abs(signs @ signs.T / WIDTH)[~np.eye(300, dtype=bool)].max() < 0.35
