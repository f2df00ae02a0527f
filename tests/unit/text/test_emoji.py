from __future__ import annotations

import pytest

from heedful.text.emoji import PICTOGRAPH, split_emoji

regex = pytest.importorskip("regex")

WHOLE = (
    *(
        "😀",
        "👍🏽",
        "👩\u200d👩\u200d👧",
        "🏳\u200d🌈",
        "❤\u200d🔥",
        "🇩🇪",
        "1\u20e3",
        "#\u20e3",
        "☎",
        "©",
        "🧑🏿\u200d🚀",
    ),
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
)


@pytest.mark.parametrize("emoji", WHOLE)
def test_an_emoji_is_cut_out_whole(emoji: str) -> None:
    assert split_emoji(f"a{emoji}b{emoji}{emoji}") == ["a", emoji, "b", emoji, "", emoji, ""]


def test_text_and_digits_are_none() -> None:
    for text in ("", "abc 12#*", "中文", "a\u0301", "→", "…"):
        assert split_emoji(text) == [text]


def test_half_a_flag_and_a_lone_skin_tone_are_words_too() -> None:
    assert split_emoji("🇩🇪🇫x🏽") == ["", "🇩🇪", "", "🇫", "x", "🏽", ""]


def test_every_pictograph_of_unicode_is_one() -> None:
    own = regex.compile(f"[{PICTOGRAPH}]")
    for character in regex.findall(r"\p{Extended_Pictographic}", "".join(map(chr, range(0x80, 0x20000)))):
        assert own.match(character), hex(ord(character))
