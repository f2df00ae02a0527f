"""The pool of texts as files have it: any encoding that is read, each text once, none that is empty."""

from __future__ import annotations

from pathlib import Path

import pytest

from heedful.cli.label import _reader
from heedful.data.readers.reading import FileReading
from heedful.errors import DataError
from heedful.labeling.pool import FOUND, Pool, WatchedPool

LONG = "word " * 5_000


@pytest.mark.parametrize(
    ("name", "data", "texts"),
    [
        ("a.csv", "\ufefftext,id\nfirst,1\nsecond,2\n".encode(), ["first", "second"]),
        ("a.csv", "text,id\nä,1\nb,2\n".encode("utf-16"), ["ä", "b"]),
        ("a.txt", "ä eins\nb zwei\n".encode("utf-16"), ["ä eins", "b zwei"]),
        ("a.csv", b"text;id\r\na;1\r\nb;2\r\n", ["a", "b"]),
        ("a.csv", b"text,id\na,1\na,2\nA,3\n ,4\n,5\na,6\n", ["a", "A"]),
        ("a.csv", f"text\n{LONG}\n<b>x</b> & y\n".encode(), [LONG.strip(), "<b>x</b> & y"]),
        ("a.csv", "text\nשלום עולם\n👩‍👩‍👧 👍🏽\n".encode(), ["שלום עולם", "👩‍👩‍👧 👍🏽"]),
        ("a.jsonl", b'{"text": "a"}\n{"text": ""}\n{"text": "line\\nbreak"}\n', ["a", "line\nbreak"]),
    ],
)
def test_every_text_stands_once(name: str, data: bytes, texts: list[str], tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_bytes(data)
    pool = Pool(_reader(file, False, FileReading())())
    assert [each[0].strip() for each in pool.texts] == texts
    assert sorted(pool.order) == list(range(len(texts)))
    assert pool.order == Pool(_reader(file, False, FileReading())()).order


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty"),
        (b"text\n", "no usable row"),
        (b"text,id\n ,1\n", "holds no text to label"),
        (b"review\ngood\n", "no column 'text'; columns: review"),
        (b"text\nna\xefve\n", "name its encoding"),
        (b'text\n"never closed\n', "close the quotation marks"),
        (b'{"text": "a"}\n{"text": "\\ud800"}\n', r"row 2: the text .* half of a character"),
    ],
)
def test_what_is_no_pool_is_said_in_one_line(data: bytes, said: str, tmp_path: Path) -> None:
    file = tmp_path / f"pool.{'jsonl' if data.startswith(b'{') else 'csv'}"
    file.write_bytes(data)
    with pytest.raises(DataError, match=said) as raised:
        Pool(_reader(file, False, FileReading())())
    assert "\n" not in str(raised.value)


def test_a_search_finds_all_words_anywhere(tmp_path: Path) -> None:
    file = tmp_path / "pool.csv"
    rows = [f"the parcel {k} came Late" for k in range(FOUND + 5)]
    file.write_text("\n".join(["text", *rows, "a late <b>", "ΣΊΣΥΦΟΣ"]), encoding="utf-8")
    pool = Pool(_reader(file, False, FileReading())())
    places, count = pool.search("late  PARCEL")
    assert (len(places), count) == (FOUND, FOUND + 5)
    assert pool.search('"late <b>"') == ([FOUND + 5], 1)
    assert pool.search("σίσυφος")[1] == 1
    assert pool.search("  ") == ([], 0)


def test_a_pool_that_changes_is_read_again_and_a_broken_one_is_not(tmp_path: Path) -> None:
    file, said = tmp_path / "pool.csv", list[str]()
    file.write_text("text\na\nb\n", encoding="utf-8")
    watched = WatchedPool(file, _reader(file, False, FileReading()), said.append)
    assert not watched.follow()
    file.write_text("text\nb\nc\nd\n", encoding="utf-8")
    assert watched.follow()
    assert said[-1].endswith("2 texts are new, 1 are gone")
    file.write_text("text\n", encoding="utf-8")
    assert not watched.follow()
    assert "cannot be read, so the texts stay as they were" in said[-1]
    file.unlink()
    assert not watched.follow()
    assert len(watched.pool) == 3
