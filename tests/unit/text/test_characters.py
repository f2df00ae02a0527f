from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from heedful.text.characters import cells, pad, shorten, visible


def test_controls_overrides_and_surrogates_are_shown():
    assert visible("a\x1b[31mb") == "a⟨U+001B⟩[31mb"
    assert visible("\u202eevil") == "⟨U+202E⟩evil"
    assert visible("\ud800") == "⟨U+D800⟩"
    assert visible("a\tb\r\nc") == "a b c"
    assert visible("a\tb\r\nc", one_line=False) == "a\tb\nc"
    assert visible("👩‍🚀 שלום") == "👩‍🚀 שלום"


def test_width_is_counted_in_terminal_cells():
    assert cells("abc") == 3
    assert cells("日本") == 4
    assert cells("e\u0301") == 1
    assert shorten("international", 6) == "inter…"
    assert pad("日本", 6) == "日本  "


@given(st.text(st.characters(), max_size=40), st.integers(1, 20))
def test_any_text_becomes_printable_and_fits(text, width):
    shown = visible(text)
    shown.encode("utf-8")
    assert "\x1b" not in shown
    assert "\n" not in shown
    assert cells(pad(shown, width)) == width
