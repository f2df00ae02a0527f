from __future__ import annotations

import random
from itertools import product

import pytest

from heedful.text import unknown_words
from heedful.text.unknown_words import SHORTEST, Nearest, one_edit
from heedful.text.vocabulary import UNKNOWN, Vocabulary

WORDS = ("lovely", "film", "films", "file", "dreary", "cat", "a1b2", "naïve")


@pytest.mark.parametrize(
    ("unknown", "known"),
    [
        ("lovly", "lovely"),
        ("loveely", "lovely"),
        ("loveny", "lovely"),
        ("lovley", "lovely"),
        ("ovely", "lovely"),
        ("flim", "film"),
        ("filn", "film"),
        ("filem", "film"),
        ("filmz", "film"),
        ("naive", "naïve"),
        ("louely", "lovely"),
        ("lvoley", ""),
        ("caat", ""),
        ("ctas", ""),
        ("a1b3", ""),
        ("zzzz", ""),
        ("", ""),
    ],
)
def test_the_most_frequent_word_one_edit_away_is_found(unknown: str, known: str) -> None:
    assert Nearest(WORDS).word(unknown) == known


@pytest.mark.parametrize("unprepared", [0, 100, 1_000])
def test_the_index_and_the_forms_find_what_a_look_at_every_word_finds(
    unprepared: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unknown_words, "UNPREPARED", unprepared)
    monkeypatch.setattr(unknown_words, "UNSORTED", unprepared // 2)
    draw = random.Random(0)
    words = list(dict.fromkeys("".join(draw.choices("abc", k=draw.randint(3, 6))) for _ in range(150)))
    rows = {word: place + 2 for place, word in enumerate([*words, "aaaaaaaaab", "abcab"])}
    nearest, of_rows = Nearest(words), Nearest(words, rows)
    for letters in product("abc", repeat=5):
        word = "".join(letters)
        near = (known for known in words if len(known) >= SHORTEST and one_edit(word, known))
        assert nearest.word(word) == of_rows.word(word) == next(near, "")


def test_edits_are_symmetric_and_no_word_is_its_own() -> None:
    words = ["".join(letters) for n in (1, 2, 3) for letters in product("ab", repeat=n)]
    for first, second in product(words, words):
        assert one_edit(first, second) == one_edit(second, first)
        assert not (first == second and one_edit(first, second))
    assert one_edit("ab", "ba")
    assert not one_edit("abc", "cba")
    assert not one_edit("abcd", "badc")


def test_a_vocabulary_reads_a_typo_as_its_nearest_word_and_still_says_that_it_is_unknown() -> None:
    built = Vocabulary.build({"Lovely": 3, "film": 2}, oov="nearest")
    assert built.id("LOVLEY") == built.id("lovely")
    assert not built.knows("lovley")
    assert built.id("other") == UNKNOWN
    again = Vocabulary.from_json(built.to_json())
    assert again == built
    assert again.ids(["flim", "other"]).tolist() == [built.id("film"), UNKNOWN]


def test_a_few_words_are_looked_up_without_preparation() -> None:
    built = Vocabulary.build({"lovely": 3, "film": 2}, oov="nearest", pretrained=["loveliest"])
    assert built.ids(["lovley", "filn", "loveliesd"]).tolist() == [
        built.id("lovely"),
        built.id("film"),
        UNKNOWN,
    ]
    assert not {"_sorted", "_index"} & vars(built._nearest).keys()
    assert Nearest(()).word("lovely") == ""
