from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path

import pytest

from heedful.data.readers.text_lines import find_file, numbered_lines
from heedful.errors import DataError, UsageError
from packers import STREAMS, in_zip

TEXT = "ein Reh\nzwei Rehe äsen\n".encode()


@pytest.mark.parametrize("suffix", [*STREAMS, ".zip"])
@pytest.mark.parametrize("asked", ["with suffix", "without suffix"])
def test_compressed_file_reads_like_the_plain_one(tmp_path: Path, suffix: str, asked: str) -> None:
    file = tmp_path / f"a.txt{suffix}"
    file.write_bytes(in_zip(TEXT) if suffix == ".zip" else STREAMS[suffix](TEXT))
    path = file if asked == "with suffix" else tmp_path / "a.txt"
    assert find_file(path) == file
    assert list(numbered_lines(path)) == [(1, "ein Reh"), (2, "zwei Rehe äsen")]


@pytest.mark.parametrize("suffix", STREAMS)
def test_truncated_file_names_itself_and_the_row(tmp_path: Path, suffix: str) -> None:
    lines = "".join(f"row {i} {i * 7919 % 10007}\n" for i in range(60_000)).encode()
    packed = STREAMS[suffix](lines)
    file = tmp_path / f"a.txt{suffix}"
    file.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(DataError, match=rf"a\.txt\{suffix}: row \d+: .*cut short or damaged") as caught:
        list(numbered_lines(file))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("suffix", STREAMS)
def test_file_that_is_not_compressed_at_all(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"a.txt{suffix}"
    file.write_bytes(b"plain text after all\n")
    with pytest.raises(DataError, match=r"row 1: .*cut short or damaged"):
        list(numbered_lines(file))


def test_wrong_encoding_names_row_and_byte(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"fine\ncaf\xe9\n")
    with pytest.raises(DataError, match=r"a\.txt: row 2: byte 0xe9 \(column 4\) is not utf-8; .*latin-1"):
        list(numbered_lines(file))
    assert list(numbered_lines(file, "latin-1"))[1] == (2, "café")


def test_line_ends_and_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"\xef\xbb\xbf" * 2 + b"one\r\ntwo\x85\xe2\x80\xa8half".replace(b"\x85", b"\xc2\x85"))
    assert list(numbered_lines(file)) == [(1, "one"), (2, "two\x85\u2028half")]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
@pytest.mark.parametrize("asked", ["utf-8", "cp1252", "utf-16"])
def test_utf16_with_its_mark_is_read(tmp_path: Path, encoding: str, asked: str) -> None:
    text = "one\r\ntwö 🙂\nthree"
    (tmp_path / "a.txt").write_bytes(text.encode(encoding))
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(text.encode(encoding)))
    for name in ("a.txt", "b.txt"):
        assert list(numbered_lines(tmp_path / name, asked)) == [(1, "one"), (2, "twö 🙂"), (3, "three")]


@pytest.mark.parametrize(
    "raw", [b"\0text,label\na,b\n", b"t\0ext,label\n", b"text,label\0\n", bytes(200), bytes(range(256))]
)
def test_a_zero_byte_is_no_sign_of_utf16(tmp_path: Path, raw: bytes) -> None:
    file = tmp_path / "a.csv"
    file.write_bytes(raw)
    with pytest.raises(DataError, match=f"row 1: byte {raw.index(0) + 1} is zero, which no text has"):
        list(numbered_lines(file))


def test_utf16_without_its_mark_is_named(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    for encoding in ("utf-16-le", "utf-16-be"):
        file.write_bytes("κείμενο,label\nα,b\n".encode(encoding))
        with pytest.raises(DataError, match=f"UTF-16 without its mark; .*--encoding {encoding}"):
            list(numbered_lines(file))
        file.write_bytes("one\ntwo\n".encode(encoding))
        with pytest.raises(DataError, match=f"UTF-16 without its mark; .*--encoding {encoding}"):
            list(numbered_lines(file))
        assert list(numbered_lines(file, encoding)) == [(1, "one"), (2, "two")]


@pytest.mark.parametrize(
    ("raw", "asked", "said"),
    [
        (
            "one\n".encode("utf-16") + b"\0",
            "utf-8",
            "is UTF-16 and ends within a character: it was cut short",
        ),
        ("one\n".encode("utf-16") + b"\x3d\xd8", "utf-8", "is UTF-16 and ends within a character"),
        (
            "one\n".encode("utf-16") + b"\0\xdc\n\0",
            "utf-8",
            "byte 11 begins no character of UTF-16, in which",
        ),
        ("a\n".encode("utf-32") + b"\0\0\x11\0a\0\0\0", "utf-8", "byte 13 begins no character of UTF-32"),
        (("x" * 200_000).encode("utf-16") + b"\0\xdc\n\0", "utf-8", "byte 400,003 begins no character"),
        (
            "one\n".encode("utf-16-le"),
            "utf-16",
            "has no mark of UTF-16 at its beginning; pass --encoding utf-16-le",
        ),
    ],
)
def test_where_a_file_is_not_of_its_encoding(tmp_path: Path, raw: bytes, asked: str, said: str) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(raw)
    with pytest.raises(DataError, match=rf"a\.txt: {said}"):
        list(numbered_lines(file, asked))


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (gzip.compress(b"text,label\n"), r"is compressed; give it a name that ends in \.gz"),
        (lzma.compress(b"text,label\n"), r"is compressed; give it a name that ends in \.xz"),
        (bz2.compress(b"text,label\n"), r"is compressed; give it a name that ends in \.bz2"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:aa\n", "is a pointer of Git LFS"),
        (b"<!DOCTYPE html>\n<html>\n", "is a web page; download the file"),
        (b'\xef\xbb\xbf<html lang="en">\n<p>a,b\n', "is a web page; download the file"),
        (b"<!doctype html><html><body><p>a,b</p></body></html>", "is a web page; download the file"),
        (b'<?xml version="1.0"?><!-- kept --> <html><p>a</p></html>\n', "is a web page; download the file"),
    ],
)
def test_what_only_bears_the_name_of_a_text_is_named(tmp_path: Path, raw: bytes, said: str) -> None:
    file = tmp_path / "a.csv"
    file.write_bytes(raw)
    with pytest.raises(DataError, match=rf"a\.csv: {said}"):
        list(numbered_lines(file))


def test_a_text_may_be_a_page(tmp_path: Path) -> None:
    for name, line in (("a.txt", "<html><p>a</p></html>"), ("a.tsv", "<html><p>a</p></html>\tspam")):
        (tmp_path / name).write_text(f"{line}\n", encoding="utf-8")
        assert list(numbered_lines(tmp_path / name)) == [(1, line)]


def test_empty_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"")
    (tmp_path / "b.txt.xz").write_bytes(lzma.compress(b""))
    for name in ("a.txt", "b.txt"):
        with pytest.raises(DataError, match="is empty; at least one row"):
            list(numbered_lines(tmp_path / name))


def test_missing_file_gives_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "train.tsv").write_text("x\n")
    with pytest.raises(DataError, match=r"no such file; did you mean 'train\.tsv'"):
        find_file(tmp_path / "trian.tsv")
    with pytest.raises(DataError, match=r"pairs\.csv: no such file \(nor one with \.xz"):
        find_file(tmp_path / "pairs.csv")
    with pytest.raises(DataError, match="no such folder"):
        find_file(tmp_path / "nowhere" / "train.tsv")
    with pytest.raises(DataError, match="is a folder"):
        find_file(tmp_path)


def test_unknown_encoding(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="encoding 'utf-9' is not known"):
        list(numbered_lines(tmp_path / "a.txt", "utf-9"))


@pytest.mark.parametrize("content", [b"one\rtwo\rthree\r", b"one\rtwo", b"x" * 5_000 + b"\r" + b"y" * 5_000])
def test_line_ends_of_old_macs_are_refused_in_few_words(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(DataError, match="carriage return alone, as on old Macs") as refused:
        list(numbered_lines(tmp_path / "a.txt"))
    assert len(str(refused.value)) < len(str(tmp_path)) + 200


def test_a_carriage_return_within_a_line_is_a_character(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\rtwo\nthree\r\n")
    assert list(numbered_lines(tmp_path / "a.txt")) == [(1, "one\rtwo"), (2, "three")]
