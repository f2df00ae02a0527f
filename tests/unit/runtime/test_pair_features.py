"""Features of pairs: by hand, and in a symmetric task the same in both orders."""

from __future__ import annotations

import numpy as np
import pytest

from heedful.errors import UsageError
from heedful.runtime.pair_features import OVERLAP, ExampleFeatures, overlap
from heedful.runtime.sentence_features import JoinedFeatures, MeanOfVectors
from heedful.runtime.word_alignment import ALIGNED, aligned
from heedful.storage.shared_rows import SharedRows

CODES = np.array([[3, 4], [0, 127], [-127, 0]], np.int8)
MEAN = MeanOfVectors(SharedRows(("good", "film", "bad"), CODES, np.full(3, 0.1, np.float32)))
FIRST, SECOND = ["The", "good", "film"], ["the", "bad", "film", "bad"]


def test_overlap_by_hand() -> None:
    found = overlap(FIRST, SECOND)
    grams = ({"<th", "the", "he>", "<go", "goo", "ood", "od>", "<fi", "fil", "ilm", "lm>"},
             {"<th", "the", "he>", "<ba", "bad", "ad>", "<fi", "fil", "ilm", "lm>"})  # fmt: skip
    both = len(grams[0] & grams[1]) / len(grams[0] | grams[1])
    assert found == pytest.approx([2 / 4, 2 / 3, 2 / 3, 0.0, both, 0.0, np.log(4 / 5)])
    assert overlap([], []).tolist() == [0, 0, 0, 0, 0, 1, 0]


def test_a_text_has_the_features_of_its_text() -> None:
    features = ExampleFeatures(MEAN)
    assert (features.width, features.sides) == (2, 1)
    assert features.of([[FIRST], [[]]]).tobytes() == MEAN.of([FIRST, []]).tobytes()


def test_a_pair_in_order() -> None:
    features = ExampleFeatures(MEAN, "ordered")
    (row,) = features.of([[FIRST, SECOND]])
    u, v = MEAN.of([FIRST, SECOND]).astype(np.float64)
    cosine = u @ v / np.linalg.norm(u) / np.linalg.norm(v)
    compared = 0.3 * np.concatenate([u, v, abs(u - v), np.sqrt(2) * u * v])
    alike = aligned(FIRST, SECOND, MEAN.vectors)
    wanted = [*compared, cosine, cosine**2, cosine**3, *overlap(FIRST, SECOND), *alike.ravel()]
    assert len(row) == features.width == 8 + 3 + OVERLAP + ALIGNED
    assert row == pytest.approx(wanted, abs=1e-6)


def test_the_order_changes_nothing_in_a_symmetric_task() -> None:
    features = ExampleFeatures(MEAN, "symmetric")
    pairs = [[FIRST, SECOND], [[], SECOND], [FIRST, FIRST], [[], []]]
    there, back = features.of(pairs), features.of([pair[::-1] for pair in pairs])
    assert there.shape == (4, features.width)
    assert there.tobytes() == back.tobytes()
    ordered = ExampleFeatures(MEAN, "ordered")
    assert ordered.of(pairs[:1]).tobytes() != ordered.of([pairs[0][::-1]]).tobytes()


def test_each_block_has_a_cosine_of_its_own() -> None:
    twice = ExampleFeatures(JoinedFeatures((MEAN, MEAN)), "symmetric")
    (row,), (once,) = twice.of([[FIRST, SECOND]]), ExampleFeatures(MEAN, "symmetric").of([[FIRST, SECOND]])
    assert twice.width == 2 * 4 + 2 * 3 + OVERLAP + ALIGNED
    np.testing.assert_array_equal(row[8:14], np.tile(once[4:7], 2))
    np.testing.assert_array_equal(row[14:], once[7:])


def test_an_unknown_pairing_is_refused() -> None:
    with pytest.raises(UsageError, match="ordred"):
        ExampleFeatures(MEAN, "ordred")  # type: ignore[arg-type]
