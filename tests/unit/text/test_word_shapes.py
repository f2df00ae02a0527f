"""What a linear model reads of a word: itself, its ends, its shape, and those of its neighbors."""

from __future__ import annotations

import pytest

from heedful.errors import UsageError
from heedful.text.vocabulary import MASK
from heedful.text.word_shapes import WordShapes, shape_of

WORDS = ("In", "2019", "Paris", "slept")


@pytest.mark.parametrize(
    ("word", "shape"),
    [("Paris", "Xx"), ("24-Hour", "d-Xx"), ("NASA", "X"), ("it's", "x'x"), ("3.14", "d.d"), ("", "")],
)
def test_the_shape_of_a_word(word: str, shape: str) -> None:
    assert shape_of(word) == shape


def test_a_long_shape_is_cut() -> None:
    assert len(shape_of("a-" * 100)) == 40


def test_the_features_say_what_the_numbers_stand_for() -> None:
    rule = WordShapes(affixes=3)
    numbers = rule.numbers(WORDS)
    assert len(numbers) == len(WORDS)
    for place, own in enumerate(numbers):
        found = list(rule.features(WORDS, place))
        assert [feature.number for feature in found] == own.tolist()
        assert all(0 <= feature.number < 2**31 for feature in found)
    said = {feature.text: (feature.start, feature.end) for feature in rule.features(WORDS, 2)}
    assert said["0 written Paris"] == said["0 is paris"] == said["0 shape Xx"] == (2, 3)
    assert said["0 begins par"] == said["0 ends ris"] == (2, 3)
    assert said["-1 shape d"] == said["-1 is 2019"] == (1, 2)
    assert said["1 ends pt"] == (3, 4)
    assert said["-1..0 2019 paris"] == (1, 3)
    assert said["-1..1 shapes d Xx x"] == (1, 4)
    assert "0 begins pari" not in said


def test_a_number_is_the_same_on_every_machine() -> None:
    (only,) = WordShapes(affixes=0, reach=0).numbers(["Ab"])
    assert only.tolist() == [852966959, 199148015, 520356812]


def test_a_masked_word_has_part_in_no_feature() -> None:
    rule = WordShapes()
    masked = {feature.text for feature in rule.features(("In", MASK, "Paris"), 2)}
    assert not any(MASK in text or text.startswith(("-1 ", "-1..")) for text in masked)
    assert not [f for f in rule.features((MASK,), 0) if (f.start, f.end) == (0, 1)]


@pytest.mark.parametrize("setting", [{"affixes": 17}, {"reach": -1}, {"reach": 1.0}])
def test_what_is_out_of_range_is_refused(setting: dict[str, int]) -> None:
    with pytest.raises(UsageError, match=f"{next(iter(setting))} must be from 0 to 16"):
        WordShapes(**setting)
