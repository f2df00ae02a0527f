from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from encoded_texts import encode_texts
from heedful.data.batching import collate
from heedful.data.encoding import EncodedDataset, EncodeReport
from heedful.data.examples import Ragged
from heedful.text.vocabulary import Vocabulary


def ragged(rows: list[list[int]]) -> Ragged:
    offsets = np.cumsum([0, *map(len, rows)])
    return Ragged(np.array([n for row in rows for n in row], np.int32), offsets)


def dataset(*sides: list[list[int]], targets: np.ndarray | None = None) -> EncodedDataset:
    count = len(sides[0])
    return EncodedDataset(
        sides=tuple(ragged(side) for side in sides),
        targets=targets,
        rows=np.arange(10, 10 + count),
        groups=np.zeros(count, np.int32),
        group_names=("",),
        labels=(),
        report=EncodeReport(count),
    )


def test_pads_each_side_to_its_own_longest_text() -> None:
    batch = collate(
        dataset([[5, 6, 7], [], [8]], [[2], [3, 4], []], targets=np.array([1, 0, 2])), np.array([2, 1, 0])
    )
    first, second = batch.sides
    assert first.ids.tolist() == [[8, 0, 0], [0, 0, 0], [5, 6, 7]]
    assert first.valid.tolist() == [[True, False, False], [False, False, False], [True, True, True]]
    assert second.ids.tolist() == [[0, 0], [3, 4], [2, 0]]
    assert first.ids.dtype == torch.int64
    assert first.valid.dtype == torch.bool
    assert batch.targets is not None
    assert batch.targets.tolist() == [2, 0, 1]
    assert batch.rows == (12, 11, 10)


def test_scores_and_missing_gold() -> None:
    scores = collate(dataset([[1]], targets=np.array([2.5], np.float32)), np.array([0]))
    assert scores.targets is not None
    assert scores.targets.dtype == torch.float32
    assert collate(dataset([[1]]), np.array([0])).targets is None


def test_length_is_at_least_one() -> None:
    batch = collate(dataset([[], []], [[], []]), np.array([0, 1]))
    assert [tuple(side.ids.shape) for side in batch.sides] == [(2, 1), (2, 1)]
    assert not any(side.valid.any() for side in batch.sides)


def test_unknown_words_are_valid() -> None:
    batch = collate(encode_texts(["nothing known", ""], Vocabulary.build({})), np.array([0, 1]))
    assert batch.sides[0].valid.tolist() == [[True, True], [False, False]]
    assert batch.sides[0].ids.tolist() == [[1, 1], [0, 0]]


def test_batch_does_not_share_memory_with_the_data_set() -> None:
    data = dataset([[1, 2]], targets=np.array([1]))
    batch = collate(data, np.array([0]))
    batch.sides[0].ids.zero_()
    assert batch.targets is not None
    batch.targets.zero_()
    assert data.sides[0].values.tolist() == [1, 2]
    assert data.targets is not None
    assert data.targets.tolist() == [1]


def test_goes_to_a_device() -> None:
    batch = collate(dataset([[1]], targets=np.array([0])), np.array([0]), device="meta")
    assert batch.sides[0].ids.device.type == "meta"
    assert batch.targets is not None
    assert batch.targets.device.type == "meta"


@given(rows=st.lists(st.lists(st.integers(1, 99), max_size=9), min_size=1, max_size=9), data=st.data())
@settings(max_examples=200, deadline=None)
def test_equals_padding_by_hand(rows: list[list[int]], data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, max_size=6))
    side = collate(dataset(rows), np.array(chosen)).sides[0]
    longest = max(1, *(len(rows[n]) for n in chosen)) if len(chosen) > 1 else max(1, len(rows[chosen[0]]))
    assert side.ids.tolist() == [rows[n] + [0] * (longest - len(rows[n])) for n in chosen]
    assert side.valid.sum(1).tolist() == [len(rows[n]) for n in chosen]


@pytest.mark.parametrize("indices", [[0], [1, 0]])
def test_plain_lists_of_positions_will_do(indices: list[int]) -> None:
    assert len(collate(dataset([[1], [2]]), indices).rows) == len(indices)  # type: ignore[arg-type]
