"""What the fuzzer of the trials found, kept: each was another exception than a refusal, or rows lost in silence."""

from __future__ import annotations

import io
import lzma
from pathlib import Path

import pytest

from heedful.data.parses import read_conllu
from heedful.data.readers.role_files import read_role_spans
from heedful.data.readers.table_files import read_table
from heedful.errors import DataError
from heedful.text.vectors import read_vectors


@pytest.mark.parametrize("digits", [20, 5_000])
def test_numbers_of_words_that_are_too_long(tmp_path: Path, digits: int) -> None:
    (tmp_path / "a.conllu").write_text(f"1\ta\t_\t_\t_\t_\t{'1' * digits}\tdep\t_\t_\n")
    with pytest.raises(DataError, match=r"row 1, field HEAD: expected a whole number or _, got '1{20}"):
        list(read_conllu(tmp_path / "a.conllu"))
    (tmp_path / "b.conllu").write_text("1\ta" + "\t_" * 8 + f"\tgo\t_\tA:1-{'1' * digits}\n")
    with pytest.raises(DataError, match="expected ROLE:FIRST-LAST"):
        read_role_spans(tmp_path / "b.conllu")
    (tmp_path / "v.txt").write_text(f"{'1' * digits} 2\nword 1 2\n")
    with pytest.raises(DataError, match="expected 1 numbers after the word, got 2"):
        read_vectors(tmp_path / "v.txt")


def parquet(columns: dict[str, list[str]]) -> bytes:
    pyarrow = pytest.importorskip("pyarrow")
    made = io.BytesIO()
    table = pyarrow.table(list(columns.values()), names=list(columns))
    pytest.importorskip("pyarrow.parquet").write_table(
        table, made, compression="none", use_dictionary=False, write_statistics=False, store_schema=False
    )
    return made.getvalue()


def test_text_or_names_in_parquet_that_are_no_utf8(tmp_path: Path) -> None:
    content = parquet({"text": ["naïve"]})
    for name, old in (("value", "naïve".encode()), ("name", b"text")):
        (tmp_path / f"{name}.parquet").write_bytes(content.replace(old, old[:-1] + b"\xff"))
        with pytest.raises(DataError, match=rf"{name}\.parquet: row 1: not a readable Parquet file"):
            read_table(tmp_path / f"{name}.parquet", text="text")


def test_a_column_of_parquet_named_twice(tmp_path: Path) -> None:
    content = parquet({"text": ["first"], "more": ["second"]})
    (tmp_path / "a.parquet").write_bytes(content.replace(b"more", b"text"))
    with pytest.raises(DataError, match=r"no column 'text'; columns: text \(column 1\), text \(column 2\)"):
        read_table(tmp_path / "a.parquet", text="text")


def test_a_second_stream_of_xz_whose_header_is_damaged(tmp_path: Path) -> None:
    first, second = lzma.compress(b"text\na\n"), lzma.compress(b"b\n")
    (tmp_path / "a.csv.xz").write_bytes(first + second[:2] + b"?" + second[3:])
    with pytest.raises(DataError, match=r"row \d: the compressed file is cut short or damaged"):
        read_table(tmp_path / "a.csv.xz", text="text")
