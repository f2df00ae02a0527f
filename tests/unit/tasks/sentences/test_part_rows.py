from __future__ import annotations

import numpy as np
import pytest

from heedful.runtime.pair_features import ExampleFeatures
from heedful.runtime.sentence_features import MeanOfVectors
from heedful.storage.shared_rows import SharedRows
from heedful.tasks.sentences.part_rows import rows_of_names

WORDS = ("card", "arrival", "refund", "2")
FEATURES = ExampleFeatures(MeanOfVectors(SharedRows(WORDS, np.eye(4, dtype=np.int8), np.ones(4, np.float32))))


def test_names_of_classes_are_read_as_texts() -> None:
    rows = rows_of_names(("card_arrival", "Refund"), FEATURES)
    assert rows == pytest.approx(np.array([[0.5**0.5, 0.5**0.5, 0, 0], [0, 0, 1, 0]]))


@pytest.mark.parametrize("labels", [(), ("refund", "xqzt"), ("refund", "2"), ("refund", "_")])
def test_names_are_not_read_where_one_says_nothing(labels: tuple[str, ...]) -> None:
    assert rows_of_names(labels, FEATURES) is None


def test_names_are_not_read_of_pairs() -> None:
    assert rows_of_names(("refund", "card"), ExampleFeatures(FEATURES.texts, "symmetric")) is None
