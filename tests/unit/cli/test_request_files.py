"""Requests in files: a text of the command line is read without the readers of tables, and a file with them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from heedful.cli.option_groups import Requests
from heedful.cli.request_files import is_table
from heedful.cli.request_options import RequestOptions
from heedful.cli.requests import gather, stream
from heedful.data.readers.reading import FileReading
from heedful.errors import DataError, UsageError
from waiting import PATIENCE

PROGRAM = """
import sys
import heedful.cli.explain
from heedful.cli.option_groups import Requests
from heedful.cli.request_options import RequestOptions
from heedful.cli.requests import gather
from heedful.data.readers.reading import FileReading

asked = Requests((), None, None, (), None, FileReading(), ("a warm day, is it not?", "e.g.")).of(is_pair=False)
corpus = gather(RequestOptions(asked.texts, (None, None), None, FileReading(), False))
assert [example.texts for example in corpus.examples] == [("a warm day, is it not?",), ("e.g.",)]
idle = ["data.readers.table_files", "data.readers.record_files", "data.tokens", "structures", "cli.request_files"]
sys.exit(" ".join(name for name in idle if f"heedful.{name}" in sys.modules) or 0)
"""


def _named(*words: str) -> Requests:
    return Requests((), None, None, (), None, FileReading(), words)


def test_a_text_of_the_command_line_imports_no_reader_of_files() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr


def test_an_argument_that_names_a_file_is_read_as_one(tmp_path: Path) -> None:
    table = tmp_path / "my texts.csv"
    table.write_text("text\nwarm\n")
    named = _named(str(table))
    assert named.input_file == table
    assert not named.words
    assert is_table(table, FileReading())
    found = gather(RequestOptions((), (None, None), table, FileReading(), False))
    assert [example.texts for example in found.examples] == [("warm",)]


@pytest.mark.parametrize("again", ["text\nwarm\n", "text\nwarm\ncold\nmild\n", "text\nwine\nbeer\n"])
def test_a_file_that_changes_between_its_two_readings_is_refused(tmp_path: Path, again: str) -> None:
    table = tmp_path / "texts.csv"
    table.write_text("text\nwarm\ncold\n")
    options = RequestOptions((), (None, None), table, FileReading(), False)
    blocks = stream(options, lambda _: os.utime(table.write_text(again) and table, ns=(0, 1)))
    with pytest.raises(DataError, match=r"texts\.csv: was changed while it was read"):
        list(blocks)
    assert [len(block.examples) for block in stream(options, lambda _: None)] == [again.count("\n") - 1]


@pytest.mark.parametrize(
    "text", ["", ".", "e.g.", "3.5 stars", "no such file.csv", "x" * 5_000, "a\0b", "caf\udce9"]
)
def test_a_text_that_is_no_file_stays_a_text(text: str) -> None:
    assert _named(text).words == (text,)


def test_a_misspelt_name_of_a_file_is_no_text() -> None:
    with pytest.raises(UsageError, match=r"revews\.csv: no such file"):
        _named("revews.csv")
