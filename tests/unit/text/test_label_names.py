from __future__ import annotations

import pytest

from heedful.model.decisions.named_labels import name_as_text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("card_arrival", "card arrival"),
        ("AddToPlaylist", "Add To Playlist"),
        ("sci.space", "sci space"),
        ("USBDevice lost", "USB Device lost"),
        ("refund-not_showing/up", "refund not showing up"),
        ("__", ""),
        ("4 stars", "4 stars"),
    ],
)
def test_a_name_is_read_as_words(name: str, text: str) -> None:
    assert name_as_text(name) == text
