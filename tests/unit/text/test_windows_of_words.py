"""Windows of words: each word is taken once, and they are those that the encoders of long texts read."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from heedful.models.networks import windowed_states
from heedful.structures import ContextStates, Sentences
from heedful.text.windows import windows_of


@given(st.integers(0, 300), st.integers(1, 60))
def test_every_word_is_taken_from_one_window_that_holds_it(length: int, size: int) -> None:
    windows = windows_of(length, size)
    taken = [place for window in windows for place in range(window.first, window.last)]
    assert taken == list(range(length))
    for window in windows:
        assert window.start <= window.first <= window.last <= window.end <= length
        assert window.end - window.start <= size
    assert len(windows) == 1 or length > size


class _Places:
    """An encoder whose states are the window of each word: the same number for all words of a row."""

    def __call__(self, x: torch.Tensor, sentences: Sentences) -> ContextStates:
        return ContextStates(x[:, :1].expand_as(x).clone())


@given(st.integers(1, 120), st.integers(1, 40))
def test_they_are_the_windows_of_long_texts(length: int, size: int) -> None:
    x = torch.arange(float(length))[None, :, None]
    sentences = Sentences(torch.zeros(1, length, dtype=torch.int64), torch.ones(1, length, dtype=torch.bool))
    found = windowed_states(_Places(), x, sentences, size).states[0, :, 0].tolist()  # type: ignore[arg-type]
    expected = [window.start for window in windows_of(length, size) for _ in range(window.first, window.last)]
    assert found == expected
