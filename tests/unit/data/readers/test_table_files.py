from __future__ import annotations

import gzip
import json
import lzma
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from heedful.data.readers.reading import FileReading
from heedful.data.readers.table_files import read_table, table_records
from heedful.errors import DataError, MissingExtraError, UsageError

RECORDS = [
    {"id": 1, "review": "Quick, quiet\nand cheap", "stars": "good"},
    {"id": 2, "review": 'It says "no"', "stars": "bad"},
]


def write(folder: Path, form: str) -> Path:
    file = folder / f"reviews.{form}"
    match form:
        case "csv":
            file.write_text('id,review,stars\n1,"Quick, quiet\nand cheap",good\n2,"It says ""no""",bad\n')
        case "tsv":
            file.write_text(
                'id\treview\tstars\n1\t"Quick, quiet\nand cheap"\tgood\n2\t"It says ""no"""\tbad\n'
            )
        case "jsonl":
            file.write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
        case "parquet":
            pyarrow = pytest.importorskip("pyarrow")
            pytest.importorskip("pyarrow.parquet").write_table(pyarrow.Table.from_pylist(RECORDS), file)
    return file


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "parquet"])
def test_four_formats_say_the_same(tmp_path: Path, form: str) -> None:
    corpus = read_table(write(tmp_path, form), text="review", label="stars")
    assert [example.texts[0] for example in corpus.examples] == [record["review"] for record in RECORDS]
    assert [example.target for example in corpus.examples] == ["good", "bad"]
    rows = {"csv": [2, 3], "tsv": [2, 3], "jsonl": [1, 2], "parquet": [1, 2]}  # a header is row 1
    assert [example.row for example in corpus.examples] == rows[form]


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "parquet"])
def test_missing_column_lists_those_there(tmp_path: Path, form: str) -> None:
    with pytest.raises(
        DataError, match="no column 'reviews'; columns: id, review, stars; did you mean 'review'"
    ):
        read_table(write(tmp_path, form), text="reviews", label="stars")


def test_options_that_a_format_does_not_have_are_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(
        pyarrow.Table.from_pylist([{"text": "one", "price": Decimal("1.50")}]), tmp_path / "a.parquet"
    )
    (tmp_path / "a.jsonl").write_text('{"text": "one"}\n')
    (tmp_path / "a.csv").write_text("one;1\n")
    priced = read_table(
        tmp_path / "a.parquet", text="text", score="price", query="SELECT 1", encoding="cp1252"
    )
    assert priced.examples[0].target == 1.5
    read_table(tmp_path / "a.jsonl", text="text", separator=";", quotes=False, header=False)
    for name, option in (
        *(("a.parquet", each) for each in ("--query", "--encoding")),
        *(("a.jsonl", each) for each in ("--separator", "--no-quotes", "--no-header")),
    ):
        assert f"{tmp_path / name}: {option} means nothing for a file of this kind" in caplog.text
    read_table(tmp_path / "a.csv", text="1", separator=";", quotes=False, header=False, encoding="cp1252")
    assert "a.csv" not in caplog.text


def test_a_file_of_another_kind_than_the_training_file_takes_over_what_it_has(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "one"}\n')
    trained = FileReading(separator=";", quotes=False, encoding="cp1252", query="SELECT 1")
    how = FileReading().beside(trained, tmp_path / "a.jsonl")
    assert list(table_records(tmp_path / "a.jsonl", how)) == [(1, {"text": "one"})]
    assert not caplog.text


def test_compressed_tables(tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"text\nhello\n"))
    (tmp_path / "b.jsonl.xz").write_bytes(lzma.compress(b'{"text": "hello"}\n'))
    for name in ("a.csv", "a.csv.gz", "b.jsonl"):
        assert read_table(tmp_path / name, text="text").examples[0].texts == ("hello",)


def test_pairs_scores_and_groups(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b,points,from\nx,y,2.5,web\nx,z,-1,\n")
    corpus = read_table(tmp_path / "a.csv", premise="a", hypothesis="b", score="points", group="from")
    assert [example.texts for example in corpus.examples] == [("x", "y"), ("x", "z")]
    assert [example.target for example in corpus.examples] == [2.5, -1.0]
    assert [example.group for example in corpus.examples] == ["web", ""]


@pytest.mark.parametrize("score", ["two", "nan", "inf"])
def test_bad_score(tmp_path: Path, score: str) -> None:
    (tmp_path / "a.csv").write_text(f"t,s\nx,1\ny,{score}\n")
    with pytest.raises(DataError, match="row 3, field 's': expected a number, got"):
        read_table(tmp_path / "a.csv", text="t", score="s")


@pytest.mark.parametrize("value", ["null", "NaN"])
def test_missing_text(tmp_path: Path, value: str) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"t": "x", "y": "1"}\n' + f'{{"t": {value}, "y": "1"}}\n')
    with pytest.raises(
        DataError, match=r"a\.jsonl: row 2, field 't': value is missing.*; .*--on-missing empty"
    ):
        read_table(file, text="t", label="y")
    assert read_table(file, text="t", label="y", on_missing="skip").skipped == {"no text": 1}
    kept = read_table(file, text="t", label="y", on_missing="empty", keep_empty=True)
    assert [example.texts[0] for example in kept.examples] == ["x", ""]
    assert read_table(file, text="t", label="y", on_missing="empty").skipped == {"no text": 1}


def test_empty_cell_is_a_row_without_text(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("t,y\nx,1\n,1\n")
    assert read_table(tmp_path / "a.csv", text="t", label="y").skipped == {"no text": 1}
    assert len(read_table(tmp_path / "a.csv", text="t", label="y", keep_empty=True).examples) == 2


def test_missing_label(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("t,y\nx,1\nz,\n")
    with pytest.raises(DataError, match="row 3, field 'y': value is missing"):
        read_table(tmp_path / "a.csv", text="t", label="y")
    assert read_table(tmp_path / "a.csv", text="t", label="y", on_missing="skip").skipped == {"no label": 1}


def test_labels_become_text_once(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"t": "x", "y": 1}\n{"t": "z", "y": 0}\n')
    assert [example.target for example in read_table(tmp_path / "a.jsonl", text="t", label="y").examples] == [
        "1",
        "0",
    ]


def test_mixed_label_types_are_told_with_counts(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"t": "x", "y": 1}\n{"t": "x", "y": "1"}\n{"t": "x", "y": "0"}\n')
    message = (
        r"a\.jsonl: field 'y': labels of mixed types: 1 int \(first in row 1\), 2 str \(first in row 2\)"
    )
    with pytest.raises(DataError, match=message):
        read_table(tmp_path / "a.jsonl", text="t", label="y")


def test_unknown_label(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("t,y\nx,god\n")
    with pytest.raises(DataError, match="row 2, field 'y': unknown label 'god'; did you mean 'good'"):
        read_table(tmp_path / "a.csv", text="t", label="y", labels=("good", "bad"))


def test_text_that_is_a_number_or_a_label_that_is_a_list(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"t": 5, "y": [1]}\n')
    with pytest.raises(DataError, match="row 1, field 't': expected text, got int 5"):
        read_table(tmp_path / "a.jsonl", text="t")
    (tmp_path / "b.jsonl").write_text('{"t": "x", "y": [1]}\n')
    with pytest.raises(DataError, match="row 1, field 'y': expected a label, got a list"):
        read_table(tmp_path / "b.jsonl", text="t", label="y")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("t,y\nx\n", "row 2: expected 2 fields as in the header, got 1"),
        ("t,y\nx,1,2\n", "row 2: expected 2 fields as in the header, got 3"),
        ('t,y\nx,1\n"open,1\nz,0\n', "row 3: .*close the quotation marks"),
        ('t,y\n"a" b,1\n', "row 2: .*close the quotation marks"),
        ("t,t\nx,1\n", r"no column 't'; columns: t \(column 1\), t \(column 2\)"),
        ("t,y\n", "no usable row"),
        ("", "is empty; at least one row"),
    ],
)
def test_broken_csv(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "a.csv").write_text(content)
    with pytest.raises(DataError, match=message):
        read_table(tmp_path / "a.csv", text="t", label="y")


def test_unquoted_tsv(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text('t\ty\n"Hm" he said\t1\n\n')
    with pytest.raises(DataError, match=r"row 2: .*close the quotation marks, or .*--no-quotes"):
        read_table(tmp_path / "a.tsv", text="t", label="y")
    corpus = read_table(tmp_path / "a.tsv", text="t", label="y", quotes=False)
    assert [example.texts[0] for example in corpus.examples] == ['"Hm" he said']


def test_very_long_field(tmp_path: Path) -> None:
    text = "word " * 100_000
    (tmp_path / "a.csv").write_text(f"t\n{text}\n")
    assert read_table(tmp_path / "a.csv", text="t").examples[0].texts == (text,)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"premise": "a"},
        {"text": "a", "premise": "b", "hypothesis": "c"},
        {"text": "a", "label": "b", "score": "c"},
        {"text": "a", "on_missing": "drop"},
    ],
)
def test_contradicting_arguments(tmp_path: Path, arguments: dict[str, str]) -> None:
    (tmp_path / "a.csv").write_text("a,b,c\nx,y,1\n")
    with pytest.raises(UsageError):
        read_table(tmp_path / "a.csv", **arguments)  # type: ignore[arg-type]


def test_unknown_format(tmp_path: Path) -> None:
    (tmp_path / "a.dat").write_text("x")
    with pytest.raises(UsageError, match="cannot tell the format"):
        read_table(tmp_path / "a.dat", text="t")


def test_damaged_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    file = write(tmp_path, "parquet")
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(DataError, match=r"reviews\.parquet: row 1: not a readable Parquet file"):
        read_table(file, text="review")


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'heedful\[parquet\]'"):
        read_table(tmp_path / "a.parquet", text="t")


def test_a_field_that_programs_leave_out_where_it_is_null_is_missing(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(
        '{"label": "x"}\n{"text": "a b", "label": "x"}\n{"text": "c d"}\n{"text": "e", "label": "y"}\n'
    )
    with pytest.raises(DataError, match="row 1, field 'text': value is missing"):
        read_table(file, text="text", label="label")
    with pytest.raises(DataError, match="row 3, field 'label': value is missing"):
        read_table(file, text="text", label="label", on_missing="empty", keep_empty=True)
    corpus = read_table(file, text="text", label="label", on_missing="skip")
    assert [example.row for example in corpus.examples] == [2, 4]
    assert corpus.skipped == {"no text": 1, "no label": 1}
    with pytest.raises(DataError, match="row 1: no column 'body'; columns: label"):
        read_table(file, text="body", label="label", on_missing="skip")


def test_a_message_holds_no_whole_value(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps({"text": ["a"] * 10_000}))
    with pytest.raises(DataError, match="expected text, got list") as error:
        read_table(file, text="text")
    assert len(str(error.value)) < 500
