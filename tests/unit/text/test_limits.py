"""What is unpacked, how long a line is and how much is held: limits that a variable of the shell sets."""

from __future__ import annotations

from pathlib import Path

import pytest

from heedful.data.readers.role_files import read_role_spans
from heedful.data.readers.table_files import read_table
from heedful.errors import DataError, UsageError
from heedful.text.limits import LINE, ROWS, UNPACKED
from heedful.text.text_files import find_file
from heedful.text.vectors import read_vectors
from packers import PACKERS


@pytest.mark.parametrize("suffix", PACKERS)
def test_what_a_file_unpacks_to_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    file = tmp_path / f"a.csv{suffix}"
    file.write_bytes(PACKERS[suffix](b"text\n" + b"a word\n" * 3_000))
    monkeypatch.setenv("HEEDFUL_MAX_UNPACKED", "20k")
    with pytest.raises(
        DataError, match=r"a\.csv\S+: .* more than 20,480 bytes; .*HEEDFUL_MAX_UNPACKED higher"
    ):
        read_table(file, text="text")
    monkeypatch.setenv("HEEDFUL_MAX_UNPACKED", "1 MB")
    assert len(read_table(file, text="text").examples) == 3_000


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b"text\nshort\n" + b"a" * 3_000 + b"\n"),
        ("a.csv", b'text\nshort\n"' + b"a\n" * 1_500 + b'"\n'),
        ("a.tsv", b"text\nshort\n" + b"a" * 3_000 + b"\n"),
        ("a.jsonl", b'{"text": "a"}\n{"text": "' + b"a" * 3_000 + b'"}\n'),
        ("a.json", b'[{"text": "a"}, {"text": "' + b"a" * 3_000 + b'"}]'),
    ],
    ids=["line", "quoted field", "tsv", "jsonl", "json"],
)
def test_the_length_of_a_record_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    monkeypatch.setenv("HEEDFUL_MAX_LINE", "2K")
    with pytest.raises(DataError, match=r"row [23]: .* more than 2,048 bytes; .*HEEDFUL_MAX_LINE higher"):
        read_table(tmp_path / name, text="text")
    monkeypatch.setenv("HEEDFUL_MAX_LINE", "4K")
    assert len(read_table(tmp_path / name, text="text").examples) == 2


def test_the_length_of_a_sentence_of_many_lines_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [f"{i}\tw" + "\t_" * 8 + "\t_\t_\t_" for i in range(1, 300)]
    (tmp_path / "a.conllu").write_text("\n".join(lines) + "\n")
    monkeypatch.setenv("HEEDFUL_MAX_LINE", "2K")
    with pytest.raises(DataError, match=r"row 1: a sentence has more than .*HEEDFUL_MAX_LINE"):
        read_role_spans(tmp_path / "a.conllu")


def test_the_length_of_a_vector_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "v.txt").write_text("a" + " 1" * 2_000 + "\n")
    monkeypatch.setenv("HEEDFUL_MAX_LINE", "2K")
    with pytest.raises(DataError, match=r"row 1: a line has more than .*HEEDFUL_MAX_LINE"):
        read_vectors(tmp_path / "v.txt")


def test_the_rows_that_are_held_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").write_text("text\n" + "a\n" * 5)
    monkeypatch.setenv("HEEDFUL_MAX_ROWS", "4")
    with pytest.raises(DataError, match=r"a\.csv: row 6: .* more than 4 rows; .*HEEDFUL_MAX_ROWS higher"):
        read_table(tmp_path / "a.csv", text="text")
    monkeypatch.setenv("HEEDFUL_MAX_ROWS", "5")
    assert len(read_table(tmp_path / "a.csv", text="text").examples) == 5


def test_parquet_is_limited_by_what_it_unpacks_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"text": ["the same words " * 1_000] * 2_000})
    parquet.write_table(table, tmp_path / "a.parquet", compression="zstd")
    assert (tmp_path / "a.parquet").stat().st_size < 100_000
    monkeypatch.setenv("HEEDFUL_MAX_UNPACKED", "20M")
    with pytest.raises(DataError, match=r"a\.parquet: .*HEEDFUL_MAX_UNPACKED higher"):
        read_table(tmp_path / "a.parquet", text="text")


@pytest.mark.parametrize("given", ["lots", "-1", "0", "1.5G", "8GG", "9" * 40])
def test_a_limit_that_is_no_number_is_refused(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    for limit in (UNPACKED, LINE, ROWS):
        monkeypatch.setenv(limit.variable, given)
        with pytest.raises(UsageError, match=limit.variable):
            limit.value()
        monkeypatch.setenv(limit.variable, "")
        assert limit.value() == limit.usual


@pytest.mark.parametrize("name", [".", "/"])
def test_a_folder_without_a_name_is_no_file(name: str) -> None:
    with pytest.raises(DataError, match="is a folder, a file was expected"):
        find_file(name)


def test_an_empty_path_is_no_file() -> None:
    with pytest.raises(UsageError, match="the file is empty; give a path"):
        find_file("")
