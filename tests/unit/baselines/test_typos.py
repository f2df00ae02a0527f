"""The mistakes that every system is measured with: one edit a word, a tenth of the words, the same for all."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from heedful.baselines.measure import mistyped, with_typos
from heedful.baselines.splits import Split

WORDS = " ".join(f"{a}{b}{c}" for a in "abcdefgh" for b in "ijklmnop" for c in "qrstuvwxyz")


def edits(a: str, b: str) -> int:
    """Distance in insertions, deletions, replacements and exchanges of neighbors (optimal string alignment)."""
    d = np.zeros((len(a) + 1, len(b) + 1), int)
    d[:, 0], d[0] = np.arange(len(a) + 1), np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + (a[i - 1] != b[j - 1]))
            if i > 1 and j > 1 and (a[i - 1], a[i - 2]) == (b[j - 2], b[j - 1]):
                d[i, j] = min(d[i, j], d[i - 2, j - 2] + 1)
    return int(d[-1, -1])


def test_a_tenth_of_the_words_get_one_edit() -> None:
    before, after = WORDS.split(" "), with_typos(WORDS).split(" ")
    assert len(before) == len(after)
    distances = [edits(a, b) for a, b in zip(before, after, strict=True)]
    assert max(distances) == 1
    assert 0.06 < np.mean(distances) < 0.13


@given(st.text(max_size=60))
def test_the_same_text_gets_the_same_typos_and_its_seams_stay(text: str) -> None:
    assert with_typos(text, seed=3) == with_typos(text, seed=3)
    assert with_typos(text, share=0.0) == text
    everywhere = with_typos(text, share=1.0)
    assert [c for c in everywhere if not c.isalnum()] == [c for c in text if not c.isalnum()]


def test_seeds_differ_and_gold_and_single_letters_stay() -> None:
    assert with_typos(WORDS, seed=1) != with_typos(WORDS, seed=2)
    assert with_typos("a 12 !", share=1.0) == "a 12 !"
    split = Split([(WORDS, "plain words")], np.array([1]))
    assert mistyped(split).texts[0] == (with_typos(WORDS), with_typos("plain words"))
    assert mistyped(split).gold is split.gold
