"""How the words of two texts are aligned: by hand, in both orders, and without vectors."""

from __future__ import annotations

import numpy as np
import pytest

from heedful.runtime.word_alignment import MOST_WORDS, aligned, grams

VECTORS = {"cat": [3.0, 4.0], "dog": [4.0, 3.0], "sits": [0.0, 1.0]}


def vectors(words: list[str]) -> np.ndarray:
    return np.array([VECTORS.get(word, [0.0, 0.0]) for word in words]).reshape(-1, 2)


def test_by_hand() -> None:
    found = aligned(["The", "cat", "sits", "."], ["the", "dog"], vectors)
    cat, sits = 24 / 25, 3 / 5  # the most similar word of each is the dog
    assert found[0] == pytest.approx([(1 + cat + sits) / 3, (1 + cat) / 2])
    assert found[1] == pytest.approx([sits, cat])
    assert found[2] == pytest.approx([(5 * cat + 1 * sits) / 6, cat])


def test_a_word_without_a_vector_is_compared_by_its_characters() -> None:
    found = aligned(["running"], ["runner"], vectors)
    one, other = grams("running"), grams("runner")
    assert found[0] == pytest.approx([len(one & other) / len(one | other)] * 2)
    assert 0 < found[0, 0] < 1
    assert found[2].tolist() == [0, 0]


def test_the_order_exchanges_the_columns_to_the_last_bit() -> None:
    one, other = ["A", "cat", "sits", "Xyz"], ["dog", "cat", "here", "!"]
    assert aligned(one, other, vectors)[:, ::-1].tobytes() == aligned(other, one, vectors).tobytes()


@pytest.mark.parametrize("empty", [[], ["!", "..."]])
def test_a_text_without_words_has_zeros(empty: list[str]) -> None:
    assert not aligned(empty, ["cat"], vectors).any()


def test_words_behind_the_first_ones_are_not_read() -> None:
    many = ["dog"] * MOST_WORDS
    np.testing.assert_array_equal(aligned([*many, "cat"], ["cat"], vectors), aligned(many, ["cat"], vectors))
