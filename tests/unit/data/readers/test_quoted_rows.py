"""Quotation marks that open in one row and close in another swallow no row without a word."""

from __future__ import annotations

import csv
import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from heedful.data.readers.quoted_rows import quoted_rows
from heedful.data.readers.table_files import read_table
from heedful.errors import DataError


def rows(folder: Path, name: str, content: str, **options: bool) -> list[tuple[str, object]]:
    (folder / name).write_text(content)
    corpus = read_table(folder / name, text="text", label="label", **options)  # type: ignore[arg-type]
    return [(example.texts[0], example.target) for example in corpus.examples]


SWALLOWING = [
    ("a.tsv", 'text\tlabel\n"I like it\tpos\nbad\tneg\nso"\tneg\n'),
    ("a.tsv", 'text\tlabel\nfine\tpos\n"He left, 5 ft\tneg\n6"\tpos\n'),
    ("a.csv", 'text,label\n"I like it,pos\nbad,neg\nso",neg\n'),
    ("a.csv", 'text;label\n"I like it;pos\nbad;neg\nso";neg\n'),
    ("a.csv", 'id,text,label\n1,"open,pos\n2,bad,neg\n3,so",neg\n'),
]


@pytest.mark.parametrize(("name", "content"), SWALLOWING)
def test_swallowed_rows_are_refused_and_read_without_quotes(tmp_path: Path, name: str, content: str) -> None:
    with pytest.raises(
        DataError, match=r"row \d: a quotation mark opens here and closes in line \d.*--no-quotes"
    ):
        rows(tmp_path, name, content)
    assert len(rows(tmp_path, name, content, quotes=False)) == len(content.splitlines()) - 1


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", 'text,label\n"Dear all,\nthanks, bye",pos\n"one\ntwo\nthree",neg\n'),
        ("a.tsv", 'text\tlabel\n"one\ntwo"\tpos\n"He said ""no""\nand left"\tneg\n'),
        ("a.csv", 'id,text,label\n1,"a, b\nc, d\n",pos\n2,x,neg\n'),
        ("a.csv", 'text,label\n"run(a=1,\n    b=2,\n)",code\n"x",prose\n'),
    ],
)
def test_texts_of_several_lines_are_texts(
    tmp_path: Path, name: str, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert len(rows(tmp_path, name, content)) == 2
    assert not caplog.records


def test_what_could_be_either_is_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert rows(tmp_path, "a.csv", 'text,label\n"Hello, Bob\nSee you",pos\nx,neg\n') == [
            ("Hello, Bob\nSee you", "pos"),
            ("x", "neg"),
        ]
    assert "1 rows have several lines in quotation marks" in caplog.text
    caplog.clear()
    (tmp_path / "b.tsv").write_text('text\n"open\nbad\nso"\n')
    with caplog.at_level(logging.WARNING):
        assert len(read_table(tmp_path / "b.tsv", text="text").examples) == 1
    assert "1 rows have several lines in quotation marks" in caplog.text


def test_after_many_texts_of_several_lines_one_that_could_be_rows_is_a_text(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    several = "text,label\n" + '"one\ntwo\nthree",pos\n' * 10
    with caplog.at_level(logging.WARNING):
        assert rows(tmp_path, "a.csv", several + '"x=a,b\ny=c",neg\n')[-1] == ("x=a,b\ny=c", "neg")
    assert "1 rows have several lines in quotation marks" in caplog.text


def test_a_row_is_counted_as_a_spreadsheet_counts_it(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('text,label\n"one\ntwo",pos\nthree,neg\n')
    corpus = read_table(tmp_path / "a.csv", text="text", label="label")
    assert [example.row for example in corpus.examples] == [2, 3]
    (tmp_path / "a.csv").write_text('text,label\n"one\ntwo",pos\nthree\n')
    with pytest.raises(DataError, match=r"row 3 \(line 4\): expected 2 fields as in the header, got 1"):
        read_table(tmp_path / "a.csv", text="text", label="label")


def long_rows(count: int = 3) -> Iterator[tuple[int, list[str]]]:
    lines = [(number, f'"{"word " * 40_000}",x') for number in range(1, count + 1)]
    return quoted_rows(iter(lines), Path("long.csv"), ",")


def test_an_unfinished_reader_does_not_shorten_the_fields_of_another() -> None:
    before, first, second = csv.field_size_limit(), long_rows(), long_rows()
    next(first)
    next(second)
    del first  # which closes it
    assert len(list(second)) == 2
    assert csv.field_size_limit() == before


def test_readers_in_several_threads_take_long_fields() -> None:
    before = csv.field_size_limit()
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: len(list(long_rows(10))), range(8))) == [10] * 8
    assert csv.field_size_limit() == before
