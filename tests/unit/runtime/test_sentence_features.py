"""Frozen features of texts: the mean of word vectors, by hand, alone and beside other texts."""

from __future__ import annotations

import numpy as np
import pytest

from heedful.errors import UsageError
from heedful.runtime.sentence_features import JoinedFeatures, MeanOfVectors, SentenceFeatures
from heedful.storage.shared_rows import SharedRows

CODES = np.array([[3, 4], [0, 127], [-127, 0], [5, 0]], np.int8)
SCALE = np.array([1.0, 0.01, 0.01, 0.2], np.float32)
ROWS = SharedRows(("good", "film", "bad", "NASA"), CODES, SCALE)
MEAN = MeanOfVectors(ROWS, "films\tfilm\nbetter\tgood\n")


def test_it_is_the_sum_of_the_vectors_at_unit_length() -> None:
    (found,) = MEAN.of([["good", "film", "unseen"]])
    total = np.array([3.0, 4.0 + 127 * np.float32(0.01)])
    assert found == pytest.approx(total / np.linalg.norm(total), abs=1e-7)
    assert isinstance(MEAN, SentenceFeatures)
    assert MEAN.width == 2


@pytest.mark.parametrize(
    ("word", "row"),
    [("good", 0), ("GOOD", 0), ("Films", 1), ("better", 0), ("film", 1), ("NASA", 3), ("nasa", -1), ("", -1)],
)
def test_a_word_is_looked_up_as_written_then_small_then_by_its_base_form(word: str, row: int) -> None:
    assert MEAN.row_of(word) == row
    assert MEAN.knows(word) == JoinedFeatures((MEAN, MEAN)).knows(word) == (row >= 0)


def test_a_text_without_known_words_is_zero_and_no_text_depends_on_the_others() -> None:
    texts = [["good", "film"], [], ["unseen"], ["good"] * 300, ["bad", "film", "good"]]
    together = MEAN.of(texts)
    assert not together[1:3].any()
    alone = np.concatenate([MEAN.of([text]) for text in texts])
    assert together.tobytes() == alone.tobytes()
    assert MEAN.of([]).shape == (0, 2)


@pytest.mark.english
def test_the_rows_of_a_package_have_their_names() -> None:
    found = MeanOfVectors.packaged("heedful-en")
    assert found.width == 300
    assert found.origin.name == "heedful-en"
    assert len(found.origin.sha256) == len(found.origin.baseforms) == 64
    assert found.row_of("Abandoned") == found.row_of("abandon")
    with pytest.raises(UsageError, match="heedful-xx"):
        MeanOfVectors.packaged("heedful-xx")
