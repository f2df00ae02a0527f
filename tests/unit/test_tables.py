"""Tables in Markdown, in columns and in HTML."""

from __future__ import annotations

from heedful.tables import aligned_table, figure, markdown_table, table_html

ROWS = [("a", "1"), ("b|c", "22")]


def test_markdown_sets_columns_and_escapes_what_would_end_a_cell() -> None:
    assert markdown_table(("name", "n"), ROWS, right=[1]) == [
        "| name | n |",
        "| --- | ---: |",
        "| a | 1 |",
        "| b\\|c | 22 |",
    ]


def test_columns_are_as_wide_as_their_widest_cell_and_lines_end_without_blanks() -> None:
    assert aligned_table([("name", "n"), *ROWS], right=[1]) == ["name   n", "a      1", "b|c   22"]
    assert aligned_table([("a", ""), ("bc", "d")], gap=" ") == ["a", "bc d"]
    assert aligned_table([]) == []


def test_html_shows_cells_as_plain_text() -> None:
    assert table_html(["<"], [["&"]]) == (
        "<table><thead><tr><th>&lt;</th></tr></thead><tbody><tr><td><bdi>&amp;</bdi></td></tr></tbody></table>"
    )


def test_a_small_figure_keeps_digits() -> None:
    shown = [figure(value) for value in (0.0, 0.12345, -2.0, 0.0001, 2.5e-5, -1.23456e-14)]
    assert shown == ["0.0000", "0.1235", "-2.0000", "0.0001", "2.5e-05", "-1.23e-14"]


def test_a_large_figure_has_no_digits_that_say_nothing() -> None:
    shown = [figure(value) for value in (999_999.0, 1_234_567.891, -2.5e11, 1.0621662829874582e17)]
    assert shown == ["999999.0000", "1234568", "-250000000000", "1.06217e+17"]
