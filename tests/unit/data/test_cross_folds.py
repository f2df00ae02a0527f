"""Folds for cross-validation: even in every class, equal texts together, the same everywhere."""

from __future__ import annotations

import numpy as np
import pytest

from heedful.data.cross_folds import cross_folds


def test_every_class_is_spread_and_a_class_of_three_is_in_three_folds() -> None:
    strata = np.array([0] * 47 + [1] * 20 + [2] * 3)
    folds = cross_folds(strata, list(range(70)), 5, seed=1)
    assert np.bincount(folds).tolist() == [14] * 5
    for kind in (0, 1):
        counts = np.bincount(folds[strata == kind], minlength=5)
        assert np.ptp(counts) <= 1
    assert len(set(folds[strata == 2])) == 3


def test_equal_texts_share_a_fold() -> None:
    texts = [f"text {number % 17}" for number in range(100)]
    strata = np.arange(100) % 3
    folds = cross_folds(strata, texts, 5, seed=0)
    assert all(
        len({fold for fold, each in zip(folds, texts, strict=True) if each == text}) == 1 for text in texts
    )
    assert len(set(folds)) == 5


def test_copies_share_a_fold() -> None:
    """Case, punctuation, spaces and the order of a pair do not count, in strings and in words."""
    ways = (
        lambda k: [f"text {k} fine", f"TEXT {k} , fine !", f"  text {k}   Fine."],
        lambda k: [(("text", f"{k}", "."),), (("Text", f"{k}", "!", "!"),), (("text", f"{k}"),)],
        lambda k: [(f"a {k}", f"b {k}"), (f"B {k}.", f"A {k}"), (f"A {k}", f"b, {k}")],
    )
    for way in ways:
        texts = [copy for k in range(20) for copy in way(k)]
        folds = cross_folds(np.arange(60) % 2, texts, 5, seed=0).reshape(20, 3)
        assert (folds == folds[:, :1]).all()
        assert len(np.unique(folds)) == 5
    assert len(set(cross_folds(np.zeros(40, int), [""] * 40, 5, seed=0))) == 5


def test_changed_copies_share_a_fold_and_what_all_texts_have_is_no_copy() -> None:
    """Of ten words one is exchanged; what stands in every text says nothing, and neither do words of a template."""
    words = [f"w{number}" for number in range(400)]
    texts = [
        " ".join(
            words[copy + 40 + k] if place == copy else words[(7 * k + place) % 40 * 10 + k % 10]
            for place in range(10)
        )
        for k in range(40)
        for copy in range(3)
    ]
    folds = cross_folds(np.arange(120) % 2, texts, 5, seed=0)
    assert (folds.reshape(40, 3) == folds[::3, None]).all()
    assert len(np.unique(folds)) == 5
    notice = "nobody but the person to whom this was sent may read it , and it is to be deleted otherwise . "
    alone = [f"{notice} {first} {second}" for first in words[:10] for second in words[10:14]]
    for apart in (alone, [f"the {first} was {second} ." for first in words[:10] for second in words[10:14]]):
        counts = np.bincount(cross_folds(np.arange(40) % 2, apart, 5, seed=0), minlength=5)
        assert counts.tolist() == [8] * 5
    pattern = [f"one two three four five six seven {word}" for word in words[:10]] + words[20:30]
    assert len(set(cross_folds(np.zeros(20, int), pattern, 5, seed=0)[:10])) == 5


def test_the_seed_decides_and_few_texts_make_few_folds() -> None:
    strata, texts = np.zeros(40, int), list(range(40))
    assert np.array_equal(cross_folds(strata, texts, 5, 3), cross_folds(strata, texts, 5, 3))
    assert not np.array_equal(cross_folds(strata, texts, 5, 3), cross_folds(strata, texts, 5, 4))
    assert sorted(set(cross_folds(np.zeros(2, int), ["a", "b"], 5, 0))) == [0, 1]
    assert cross_folds(np.zeros(0, int), [], 5, 0).tolist() == []


def test_a_rare_word_that_short_texts_share_makes_them_no_copies() -> None:
    """Every text has a word of twelve and some of four that are everywhere: a fold must not have all texts of one."""
    moods, fillers = [f"mood{number}" for number in range(12)], ["box", "car", "house", "phone"]
    texts = [f"{moods[k % 12]} {fillers[k % 4]} {fillers[(k // 12 + 1) % 4]}" for k in range(96)]
    folds = cross_folds(np.arange(96) % 2, texts, 5, seed=0)
    for mood in range(12):
        assert len(set(folds[mood::12])) > 1


@pytest.mark.parametrize("text", ["😍☕🏠", "今天天气很好", "!?!"])
def test_a_text_without_spaces_and_its_words_have_the_same_folds(text: str) -> None:
    texts = [f"{text[k % len(text) :]}{text[: k % 2]}" for k in range(40)]
    words = [(tuple(each),) for each in texts]
    kinds = np.arange(40) % 2
    assert np.array_equal(cross_folds(kinds, texts, 5, 0), cross_folds(kinds, words, 5, 0))
