from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.data.examples import Corpus, Example
from heedful.data.folds import copies, folds, shared_with_training, shuffled, split_dev, together
from heedful.errors import UsageError


def examples(counts: dict[str, int]) -> list[Example]:
    targets = [target for target, count in counts.items() for _ in range(count)]
    return [Example((f"text {row}",), target, row=row) for row, target in enumerate(targets, start=1)]


@given(st.integers(2, 400), st.integers(2, 12), st.integers(0, 1_000))
def test_each_example_is_held_out_once(count: int, n: int, seed: int) -> None:
    if count < n:
        count = n
    parts = folds(count, seed, n)
    assert len(parts) == n
    assert sorted(place for fold in parts for place in fold.test) == list(range(count))
    for fold in parts:
        assert sorted(fold.train + fold.test) == list(range(count))
    assert [len(fold.test) for fold in parts] == [(i + 1) * count // n - i * count // n for i in range(n)]


def test_the_seed_decides() -> None:
    assert shuffled(50, 3) == shuffled(50, 3)
    assert shuffled(50, 3) != shuffled(50, 4)
    assert shuffled(6, 1) == [0, 3, 5, 4, 2, 1]


def test_folds_are_cut_from_the_shuffled_order() -> None:
    parts = folds(6, seed=1, n=3)
    assert [fold.test for fold in parts] == [[0, 3], [5, 4], [2, 1]]
    assert parts[1].train == [0, 3, 2, 1]


def test_too_few_examples() -> None:
    with pytest.raises(UsageError, match="cannot cut 5 examples into 10 folds"):
        folds(5, 0)


def test_stratified_dev_part_keeps_the_shares() -> None:
    data = examples({"a": 600, "b": 300, "c": 100})
    train, dev = split_dev(data, 0.1, seed=1)
    assert Counter(example.target for example in dev) == {"a": 60, "b": 30, "c": 10}
    assert len(train) == 900
    assert [example.row for example in dev] == sorted(example.row for example in dev)
    assert {example.row for example in train}.isdisjoint(example.row for example in dev)
    assert split_dev(data, 0.1, seed=1) == (train, dev)
    assert split_dev(data, 0.1, seed=2)[1] != dev


def test_unstratified_dev_part_has_the_size() -> None:
    data = examples({"a": 55, "b": 45})
    assert len(split_dev(data, 0.2, seed=1, stratified=False)[1]) == 20
    scored = [Example((str(row),), float(row), row=row) for row in range(40)]
    assert len(split_dev(scored, 0.25, seed=1)[1]) == 10


@pytest.mark.parametrize(("classes", "rows"), [(1_000, 5), (200, 2), (4, 3), (50, 4)])
def test_classes_too_small_for_a_share_of_their_own_share_one(classes: int, rows: int) -> None:
    data = examples({f"class {k}": rows for k in range(classes)})
    train, dev = split_dev(data, 0.1, seed=1)
    assert len(dev) == round(0.1 * classes * rows)
    assert {example.target for example in train} == {example.target for example in data}


def test_classes_of_one_row_are_never_held_out() -> None:
    data = examples({"a": 30, **{f"rare {k}": 1 for k in range(10)}})
    train, dev = split_dev(data, 0.2, seed=1)
    assert {example.target for example in dev} == {"a"}
    assert len(train) + len(dev) == 40
    with pytest.raises(UsageError, match=r"fraction 0\.1 of 10 examples leaves one split empty"):
        split_dev(examples({f"rare {k}": 1 for k in range(10)}), 0.1, seed=1)


def copied(count: int, times: int) -> list[Example]:
    return [
        Example(
            (f"{'Text' if k % 2 else 'text'} number {k % count}!" + "!" * (k % 3),), "ab"[k % 2], row=k + 1
        )
        for k in range(count * times)
    ]


@pytest.mark.parametrize(("count", "times"), [(40, 5), (200, 2), (3, 30)])
def test_copies_of_a_text_stay_on_one_side(count: int, times: int) -> None:
    data = copied(count, times)
    train, dev = split_dev(data, 0.2, seed=3)
    assert dev
    assert set(copies(train)).isdisjoint(copies(dev))
    assert len(dev) <= max(0.2 * len(data), times)


def test_a_pair_in_the_other_order_is_a_copy() -> None:
    first, second = Example(("A b", "c")), Example(("c!", "a B"))
    assert copies([first, second])[0] == copies([first, second])[1]


def test_copies_move_to_the_fold_of_the_first() -> None:
    assert together(np.array([0, 1, 2, 1, 0]), ["a", "b", "a", "c", "b"]).tolist() == [0, 1, 0, 1, 1]


@pytest.mark.parametrize("fraction", [0.0, 1.0, -0.1, 0.001])
def test_fraction_that_leaves_nothing(fraction: float) -> None:
    with pytest.raises(UsageError, match="fraction"):
        split_dev(examples({"a": 20}), fraction, seed=0)


def test_texts_of_another_part_that_are_training_texts_are_counted() -> None:
    train = Corpus(examples({"a": 5, "b": 5}))
    test = Corpus([*examples({"a": 2}), Example(("another text",), "a")])
    assert shared_with_training({"train": train, "dev": Corpus([]), "test": test}) == [
        "test: 2 of its 3 texts are training texts too, so its figures are too good; 'heedful data check' shows them"
    ]
    assert shared_with_training({"train": train, "dev": Corpus([Example(("new",), "a")])}) == []
