from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from heedful.tasks.words.lexicon import Pretrained
from heedful.text.vectors import WordVectors
from heedful.text.vocabulary import Vocabulary

VECTORS = WordVectors(("dog", "cat", "unseen"), np.ones((3, 2), np.float32))
WORDS = Vocabulary.build(Counter({"dog": 3, "cat": 1, "dogs": 2, "xyz": 1}))


@pytest.mark.parametrize(
    ("baseforms", "said"),
    [
        (None, "train: 2 of 4 words have a word vector"),
        (
            {"dogs": "dog", "xyz": "none", "cat": "dog"},
            "train: 3 of 4 words have a word vector, 1 of them by their base form",
        ),
    ],
)
def test_it_is_said_how_many_words_have_a_vector(baseforms: dict[str, str] | None, said: str) -> None:
    assert Pretrained(VECTORS, baseforms).found(WORDS) == (said,)


def test_nothing_is_said_without_vectors() -> None:
    assert Pretrained().found(WORDS) == ()
    assert Pretrained(VECTORS).found(Vocabulary.build(Counter())) == ()
