"""What a model knows of its training texts is checked when it is read."""

from __future__ import annotations

import numpy as np
import pytest

from heedful.errors import UsageError
from heedful.runtime.training_texts import Familiar, words_of


@pytest.mark.parametrize("words", [[2, 1], [1, 1], [1, 2, 1, 2]])
def test_numbers_of_words_that_do_not_rise_are_refused(words: list[int]) -> None:
    with pytest.raises(UsageError, match="do not rise"):
        Familiar(np.array(words, np.uint32), np.zeros((0, 0), np.float32), None)


def test_words_are_known_whatever_their_case() -> None:
    known = Familiar(words_of([[["Film", "dull"]]]), np.zeros((0, 0), np.float32), None)
    assert known.new_words([["DULL", "film", "rook"]]) == ["rook"]
    assert known.of([[["film", "rook"]], [[]]]).tolist() == [[0.0, 0.5], [0.0, 1.0]]
