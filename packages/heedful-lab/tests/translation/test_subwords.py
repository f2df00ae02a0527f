"""Subwords: every piece knows its place in the text as it was given, composed or not."""

from __future__ import annotations

import unicodedata

import pytest

from heedful_lab.translation.subwords import Subwords

pytest.importorskip("tokenizers")

LEARNED = ["the café is nice", "naïve café noir", "가각 간"] * 3


def shown(text: str) -> list[str]:
    """Return what the pieces show of a text, those aside that hold a part of a character only."""
    (pieces,) = Subwords.learn(LEARNED, 320).encode([text])
    assert all(end <= start for (_, end), (start, _) in zip(pieces.spans, pieces.spans[1:], strict=False))
    return [text[start:end] for start, end in pieces.spans if end > start]


@pytest.mark.parametrize("text", ["a café noir", "naïve", "가각 간 x", "éé", "x q̃ q̣̃ y", "ো k"])
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_no_character_is_lost_whatever_its_form(text: str, form: str) -> None:
    text = unicodedata.normalize(form, text)
    assert "".join(shown(text)) == "".join(text.split())


def test_the_last_mark_of_a_word_belongs_to_its_last_piece() -> None:
    assert shown("cafe\u0301 noir")[-2].endswith("e\u0301")
    assert shown("cafe\u0301")[-1].endswith("e\u0301")
    assert shown("\u1112\u1161\u11ab") == ["\u1112\u1161\u11ab"]  # three letters that are one syllable


def test_a_composed_text_has_the_pieces_of_a_decomposed_one() -> None:
    words = Subwords.learn(LEARNED, 320)
    composed, decomposed = words.encode(["caf\u00e9 noir", "cafe\u0301 noir"])
    assert composed.ids == decomposed.ids
