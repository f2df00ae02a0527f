"""``.json``: an array of objects, or one object a line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from heedful.data.readers import record_files
from heedful.data.readers.table_files import read_table
from heedful.errors import DataError

TEXTS = ["a", 'quotes " and \\ and ] } ,', "", "naïve ⟨emoji⟩ 🙂", "line\nend", "b" * 500]


def texts(file: Path, **options: str) -> list[str]:
    return [
        example.texts[0] for example in read_table(file, text="text", keep_empty=True, **options).examples
    ]  # type: ignore[arg-type]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("block", [1, 7, 1 << 16])
@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.json.gz"])
def test_an_array_of_records_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, indent: int | None, block: int, name: str
) -> None:
    monkeypatch.setattr(record_files, "_BLOCK", block)
    rows = [{"text": text, "n": -1.5e-9, "ok": [True, None, {"x": float("inf")}]} for text in TEXTS]
    content = ("\ufeff \n" + json.dumps(rows, indent=indent, ensure_ascii=indent is None) + " \n").encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    assert texts(tmp_path / name) == TEXTS


def test_one_object_a_line_is_read_too(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"text": "a"}\n\n{"text": "b"}\n')
    assert texts(tmp_path / "a.json") == ["a", "b"]


def test_another_encoding(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes('[{"text": "café"}]'.encode("latin-1"))
    assert texts(tmp_path / "a.json", encoding="latin-1") == ["café"]
    with pytest.raises(DataError, match=r"a\.json: byte 0xe9 .* is not utf-8"):
        texts(tmp_path / "a.json")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[]", "no usable row"),
        ("[", "expected a JSON object in the array, got 'the end'"),
        ("[1]", "got '1'"),
        ('["a"]', "expected a JSON object in the array"),
        ('[[{"text": "a"}]]', "expected a JSON object in the array"),
        ('[{"text": "a"}', "expected , or ]"),
        ('[{"text": "a"} {"text": "b"}]', "row 1: expected , or ]"),
        ('[{"text": "a"},]', "row 2: expected a JSON object"),
        ('[{"text": "a"}]]', "row 2: text after the closing bracket"),
        ('[{"text": "a"}]\n[{"text": "b"}]', "text after the closing bracket"),
        ('[{"text": "a"}, {"text": tru}]', "row 2: not JSON"),
        ('[{"text": "a"}, {"text": "b', "row 2: not JSON"),
        ('[{"text": "a"}, {"text" "b"}' + " " * 100_000 + "]", "row 2: not JSON (Expecting ':' delimiter)"),
        ('[{"text": ' + "[" * 100_000, "row 1: not JSON"),
        ('[{"text": ' + "1" * 10_000 + "}]", "row 1: not JSON (too deep or too long a number)"),
        ('{\n "text": "a"\n}', "row 1: not JSON"),
    ],
)
def test_what_is_no_array_of_objects_is_refused(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(DataError) as refused:
        texts(tmp_path / "a.json")
    assert said in str(refused.value)
