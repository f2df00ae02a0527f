"""Printing: JSON that every reader takes, columns for people, tabs for programs."""

from __future__ import annotations

import io
import json
import sys

import pytest

from heedful.cli import output


class Terminal(io.StringIO):
    """A terminal of 40 columns."""

    encoding = "utf-8"  # type: ignore[assignment]

    def isatty(self) -> bool:
        return True


def terminal_for(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    stream = Terminal()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setenv("COLUMNS", "40")
    return stream


def test_json_has_no_nan(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_json({"a": float("nan"), "b": [float("inf"), 1.5], "c": {"d": "é"}})
    printed = capsys.readouterr().out
    assert printed == '{"a": null, "b": [null, 1.5], "c": {"d": "é"}}\n'
    assert json.loads(printed)["b"] == [None, 1.5]


def test_rows_are_tab_separated_off_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_rows(["answer", "text"], [["a\tb", "x\ny"], ["c", "\x1b[31m"]])
    assert capsys.readouterr().out == "a b\tx y\nc\t⟨U+001B⟩[31m\n"


def test_rows_are_aligned_and_cut_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_for(monkeypatch)
    output.print_rows(["row", "answer", "text"], [["1", "yes", "short"], ["10", "電影", "long " * 20]])
    lines = terminal.getvalue().splitlines()
    assert lines[0] == "row  answer  text"
    assert lines[1] == "1    yes     short"
    assert lines[2].startswith("10   電影    long long")
    assert lines[2].endswith("…")
    assert output.terminal_width() == 40


def test_no_rows_print_a_header_only_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_for(monkeypatch)
    output.print_rows(["answer", "prob."], [])
    assert terminal.getvalue() == "answer  prob.\n"


def test_blocks_become_ascii_where_they_must(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="latin-1", errors="backslashreplace")
    monkeypatch.setattr(sys, "stdout", stream)
    output.print_text("█▌▏ … ±é")
    stream.flush()
    assert raw.getvalue().decode("latin-1") == "##  ~ +-é\n"
