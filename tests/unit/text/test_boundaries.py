from __future__ import annotations

import importlib.util
import itertools
import random
import unicodedata

import pytest

from heedful.text import boundaries
from heedful.text.boundaries import unicode_words

TEXTS = {
    "don't": ["don't"],
    "o’clock,": ["o’clock", ","],
    "3.14,5a": ["3.14,5a"],
    "3.,": ["3", ".", ","],
    "e.g.": ["e.g", "."],
    "well-known": ["well", "-", "known"],
    "snake_case_": ["snake_case_"],
    "(yes)!!": ["(", "yes", ")", "!", "!"],
    "我喜歡電影。": ["我", "喜", "歡", "電", "影", "。"],
    "東京タワーへ": ["東", "京", "タワー", "へ"],
    "한국어를": ["한국어를"],
    "สวัสดี": ["ส", "วั", "ส", "ดี"],
    "ខ្មែរ": ["ខ្", "មែ", "រ"],
    "Привет,мир": ["Привет", ",", "мир"],
    "العربية": ["العربية"],
    'צה"ל': ['צה"ל'],
    "हिन्दी": ["हिन्दी"],
    "cafe\u0301s": ["cafe\u0301s"],
    "👩‍👩‍👧x": ["👩‍👩‍👧", "x"],
    "👍🏽👍": ["👍🏽", "👍"],
    "🇩🇪🇫🇷": ["🇩🇪", "🇫🇷"],
    "\u0301": ["\u0301"],
    "": [],
}


@pytest.mark.parametrize(("text", "words"), TEXTS.items())
def test_words_of_many_scripts(text: str, words: list[str]) -> None:
    assert list(unicode_words(text)) == words


SAMPLE = (
    "aZéß09'\".,:;_-@\u00b7\u2019\u200d\u00ad\u0301\u05d0\u05d1\u0661\u30a2\u30fc\u3042\u4e2d\u0e01\u0e31\u1780\u17d2"
    "\U0001f1e6\U0001f468\U0001f3fd\u2764\ufe0f$%\u0627\u0915\u094d\uac00\u1100\u2460"
)


NAMES = {
    "ALetter": "A",
    "Hebrew_Letter": "H",
    "Numeric": "N",
    "Katakana": "K",
    "ExtendNumLet": "U",
    "MidLetter": "L",
    "MidNumLet": "M",
    "MidNum": "C",
    "Single_Quote": "Q",
    "Double_Quote": "D",
    "Extend": "X",
    "Format": "X",
    "ZWJ": "J",
    "Regional_Indicator": "R",
}
without_regex = pytest.mark.skipif(
    importlib.util.find_spec("regex") is None, reason="needs the package regex"
)


def classes_of_unicode():
    """Return the function that gives the class of a character by the data of the package regex."""
    import regex

    kinds = [(regex.compile(rf"\p{{Word_Break={name}}}"), kind) for name, kind in NAMES.items()]
    kinds.append((regex.compile(r"\p{Extended_Pictographic}"), "P"))

    def class_of(character: str) -> str:
        return next((kind for rule, kind in kinds if rule.match(character)), "O")

    return class_of


def breaks(classes: str) -> list[int]:
    """Return the word boundaries inside a text by its characters' classes, rule by rule as UAX 29 states them."""
    found = []
    for place in range(1, len(classes)):
        after = classes[place]
        if classes[place - 1] == "J" and after == "P":  # WB3c
            continue
        if after in "XJ":  # WB4
            continue
        bare = [(k, c) for k, c in enumerate(classes) if c not in "XJ" or k == 0]
        before = [c for k, c in bare if k < place]
        behind = [c for k, c in bare if k > place]
        last, last_but_one = before[-1], before[-2] if len(before) > 1 else ""
        following = behind[0] if behind else ""
        joins = (
            (last in "AH" and after in "AH"),  # WB5
            (last in "AH" and after in "LMQ" and following != "" and following in "AH"),  # WB6
            (last_but_one != "" and last_but_one in "AH" and last in "LMQ" and after in "AH"),  # WB7
            (last == "H" and after == "Q"),  # WB7a
            (last == "H" and after == "D" and following == "H"),  # WB7b
            (last_but_one == "H" and last == "D" and after == "H"),  # WB7c
            (last in "NAH" and after == "N"),  # WB8, WB9
            (last == "N" and after in "AH"),  # WB10
            (last_but_one == "N" and last in "CMQ" and after == "N"),  # WB11
            (last == "N" and after in "CMQ" and following == "N"),  # WB12
            (last == after == "K"),  # WB13
            (last in "AHNKU" and after == "U"),  # WB13a
            (last == "U" and after in "AHNK"),  # WB13b
            (
                last == after == "R" and len("".join(before)) - len("".join(before).rstrip("R")) & 1
            ),  # WB15, WB16
        )
        if not any(joins):
            found.append(place)
    return found


@without_regex
def test_boundaries_follow_the_rules() -> None:
    class_of = {character: classes_of_unicode()(character) for character in SAMPLE}
    draw = random.Random(0)
    for _ in range(5_000):
        text = "".join(draw.choices(SAMPLE, k=draw.randint(1, 7)))
        places = [0, *breaks("".join(class_of[c] for c in text)), len(text)]
        expected = [text[a:b] for a, b in itertools.pairwise(places)]
        assert list(unicode_words(text)) == expected, ascii(text)


@without_regex
def test_nearly_every_character_has_the_class_that_unicode_gives_it() -> None:
    """Python and regex have data of different versions of Unicode, so that a few characters differ."""
    class_of, wrong, seen = classes_of_unicode(), [], 0
    wide = ((0x3400, 0xA000), (0xAC00, 0xD7A4), (0x17000, 0x18D00), (0x20000, 0x32000))
    for number in range(0x21, 0x32000):
        if number % 97 and any(first <= number < end for first, end in wide):
            continue
        character = chr(number)
        if unicodedata.category(character) in ("Cn", "Cs", "Co", "Cc") or character.isspace():
            continue
        seen += 1
        expected, given = class_of(character), boundaries.class_of(character)
        if expected != given and {expected, given} != {"O", "P"}:  # a pictograph differs after a joiner alone
            wrong.append((hex(number), expected, given))
    assert seen > 20_000
    assert len(wrong) < 100, wrong


def test_no_character_is_lost() -> None:
    draw = random.Random(1)
    for _ in range(5_000):
        numbers = [draw.randrange(33, draw.choice([0x250, 0x3100, 0x11000, 0x20000])) for _ in range(8)]
        text = "".join(map(chr, numbers))
        assert "".join(unicode_words(text)) == text


@pytest.mark.parametrize(
    "text", ["a" * 200_000, "a'" * 100_000, "_a" * 100_000, "א'" * 100_000, "\u200d" * 200_000]
)
def test_a_long_piece_takes_no_longer_than_its_length_asks(text: str) -> None:
    assert "".join(unicode_words(text)) == text
