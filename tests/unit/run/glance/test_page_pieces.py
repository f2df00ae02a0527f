"""Pieces of the page of a whole model: what is long is folded away, and nothing is left out."""

from __future__ import annotations

import pytest

from heedful.data.examples import Example
from heedful.run.glance.page_pieces import cards_of, table_of, words_of


@pytest.mark.parametrize(("count", "folded"), [(3, 0), (12, 0), (13, 1), (40, 28)])
def test_many_cards_are_folded_away(count: int, folded: int) -> None:
    page = cards_of([f"<i>{k}</i>" for k in range(count)])
    assert page.count("<i>") == count
    assert (f"<summary>{folded:,} more</summary>" in page) == (folded > 0)


@pytest.mark.parametrize(("count", "folded"), [(1, 0), (25, 0), (30, 5)])
def test_long_tables_are_folded_away(count: int, folded: int) -> None:
    page = table_of(("name", "rows"), [(f"n{k}", "1") for k in range(count)], [k == 26 for k in range(count)])
    assert page.count("<td>") == count
    assert (f"<summary>{folded:,} more</summary>" in page) == (folded > 0)
    assert page.count('class="weak"') == (count > 26)


def test_a_marked_word_is_shown_with_what_is_around_it() -> None:
    words = tuple(f"<w{k}>" for k in range(80))
    shown = words_of(Example((" ".join(words),), words=(words,)), 40)
    assert "<mark>&lt;w40&gt;</mark>" in shown
    assert shown.count("…") == 2
    assert "&lt;w14&gt;" not in shown
