"""Nothing that a user's file says is obeyed by a terminal, whichever way it goes out."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import pty
import sys

import click
import pytest

import tiny
from heedful.cli import info, output
from heedful.cli.output import LONGEST_MESSAGE, VisibleStream, drawn_on, exact, message, outlet
from heedful.errors import DataError, ExitCode

EVIL = "a\x1b]0;title\x07b\x1b[31mc\u202ed\x9bA\x7f\u2028e\ud800"
OBEYED = set("\x1b\x07\u202e\x9b\x7f\u2028\ud800\r")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def says(monkeypatch: pytest.MonkeyPatch, callback) -> tiny.Result:
    monkeypatch.setattr(info, "command", click.Command("info", callback=callback))
    monkeypatch.delenv("HEEDFUL_DEBUG", raising=False)
    return tiny.run("info")


def log() -> None:
    assert logging.lastResort  # what a process without handlers uses; pytest has its own
    logging.lastResort.handle(logging.makeLogRecord({"msg": EVIL, "levelno": logging.WARNING}))


WAYS = {
    "echo": lambda: click.echo(EVIL),
    "note": lambda: click.echo(EVIL, err=True),
    "print": lambda: sys.stdout.write(EVIL + "\n") and None,
    "lines": lambda: sys.stderr.writelines([EVIL, "\n"]),
    "log": log,
    "table": lambda: output.print_rows(["a", EVIL], [["b", EVIL]]),
    "text": lambda: output.print_text(EVIL),
}


@pytest.mark.parametrize("way", WAYS)
def test_controls_are_shown_whatever_writes_them(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    result = says(monkeypatch, WAYS[way])
    assert result.code == 0, result.err
    assert not OBEYED & set(result.out + result.err)
    assert "⟨U+001B⟩]0;title⟨U+0007⟩" in result.out + result.err


@pytest.mark.parametrize("kind", [DataError, RuntimeError, click.UsageError])
def test_an_error_is_one_visible_line(monkeypatch: pytest.MonkeyPatch, kind: type[Exception]) -> None:
    def fail() -> None:
        raise kind(f"x.csv: row 1: {EVIL}\nsecond\r\nthird")

    result = says(monkeypatch, fail)
    assert result.code != 0
    assert result.err.count("\n") == 1
    assert not OBEYED & set(result.err)
    assert "⟨U+202E⟩" in result.err
    assert "second third" in result.err


def test_a_message_has_an_end_and_keeps_both_its_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise DataError("x.csv: row 1: " + "word " * 10_000 + "do this")

    result = says(monkeypatch, fail)
    assert result.err.startswith("heedful: x.csv: row 1: word")
    assert result.err.endswith("do this\n")
    assert len(result.err) < LONGEST_MESSAGE + 50
    assert message("x" * LONGEST_MESSAGE) == "x" * LONGEST_MESSAGE
    assert message("2 mistakes:\n  a: b\n  c: d\ne") == "2 mistakes:\n  a: b\n  c: d e"


@pytest.mark.parametrize(
    "error",
    [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried"), MemoryError("x")],
)
def test_no_memory_has_its_own_code(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail() -> None:
        raise error

    result = says(monkeypatch, fail)
    assert (result.code, result.err.count("\n")) == (ExitCode.OUT_OF_MEMORY, 1)
    assert result.err.startswith("heedful: out of memory; ")


def test_json_keeps_its_values_and_shows_no_control(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"text": EVIL + "\x00\t\n naïve\u00a0🙂\u200d", EVIL: 1}
    output.print_json(value)
    printed = capsys.readouterr().out
    assert json.loads(printed) == value
    assert not OBEYED & set(printed)
    assert "naïve\u00a0🙂\u200d" in printed


def test_what_is_drawn_and_what_is_data_go_past_it() -> None:
    pipe, terminal = io.StringIO(), Terminal()
    assert exact(VisibleStream(pipe)) is drawn_on(VisibleStream(pipe)) is pipe
    assert isinstance(exact(VisibleStream(terminal)), VisibleStream)
    assert drawn_on(VisibleStream(terminal)) is drawn_on(terminal) is terminal


def test_the_streams_are_put_back() -> None:
    before = sys.stdout, sys.stderr
    with contextlib.suppress(KeyError), outlet():
        assert isinstance(sys.stdout, VisibleStream)
        assert not hasattr(sys.stdout, "buffer")
        raise KeyError
    assert (sys.stdout, sys.stderr) == before


def test_a_line_of_the_log_is_shown_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is read for its columns, for training and for rivals is complained of once."""
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    with outlet():
        log = logging.lastResort
        assert log
        for line in ("a.csv: two rows", "a.csv: three rows", "a.csv: two rows"):
            log.handle(logging.makeLogRecord({"msg": line, "levelno": logging.WARNING}))
    assert written.getvalue().splitlines() == ["a.csv: two rows", "a.csv: three rows"]
    assert not log.filters


def test_what_is_said_to_a_terminal_that_was_closed_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = pty.openpty()
    with open(theirs, "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        with outlet():
            click.echo("before", err=True)
            assert os.read(ours, 100) == b"before\r\n"
            os.close(ours)
            for text in ("after", "and again"):
                click.echo(text, err=True)
                print(text, file=drawn_on(sys.stderr), flush=True)
        stream.write("to nowhere")
