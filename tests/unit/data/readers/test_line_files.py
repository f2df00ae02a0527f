"""TREC and the ``.all`` files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from heedful.data.readers.line_files import (
    EMOTIONS,
    SUBJECTIVITY,
    read_label_text,
    read_numbered_labels,
    read_trec,
)
from heedful.errors import DataError, UsageError


def test_trec(tmp_path: Path) -> None:
    (tmp_path / "a.label").write_bytes(
        "LOC:city Where is Málaga ?\nNUM:dist How far is it ?\n".encode("latin-1")
    )
    coarse = read_trec(tmp_path / "a.label")
    assert [example.target for example in coarse.examples] == ["LOC", "NUM"]
    assert coarse.examples[0].texts == ("Where is Málaga ?",)
    assert coarse.examples[0].words == (("Where", "is", "Málaga", "?"),)
    fine = read_trec(tmp_path / "a.label", label="fine")
    assert [example.target for example in fine.examples] == ["LOC:city", "NUM:dist"]


@pytest.mark.parametrize("line", ["LOC Where ?", ":city Where ?", "LOC: Where ?", "Where is it ?"])
def test_trec_without_label(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.label").write_text(f"NUM:dist How far ?\n{line}\n")
    with pytest.raises(DataError, match="row 2, field 'label': expected COARSE:fine"):
        read_trec(tmp_path / "a.label")


def test_trec_unknown_kind_of_label(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean 'coarse'"):
        read_trec(tmp_path / "a.label", label="coarsely")  # type: ignore[arg-type]


def test_rows_without_text_are_counted_or_kept(tmp_path: Path) -> None:
    (tmp_path / "a.all").write_bytes(b"0 too heavy\n1 \n1\n1 just right\n")
    corpus = read_label_text(tmp_path / "a.all")
    assert corpus.skipped == {"no text": 2}
    assert [(example.target, example.row) for example in corpus.examples] == [
        ("negative", 1),
        ("positive", 4),
    ]
    kept = read_label_text(tmp_path / "a.all", keep_empty=True)
    assert [example.texts[0] for example in kept.examples] == ["too heavy", "", "", "just right"]
    assert not kept.skipped


def test_encodings(tmp_path: Path) -> None:
    (tmp_path / "a.all").write_bytes(b"0 a \x93clich\xe9\x94\n")
    with pytest.raises(DataError, match=r"row 1: byte 0x93 \(column 5\) is not ascii"):
        read_label_text(tmp_path / "a.all", encoding="ascii")
    corpus = read_label_text(tmp_path / "a.all", encoding="cp1252", names=SUBJECTIVITY)
    assert corpus.examples[0].words == (("a", "“cliché”"),)
    assert corpus.examples[0].target == "subjective"


def test_unknown_label(tmp_path: Path) -> None:
    (tmp_path / "a.all").write_text("0 fine\n2 odd\n")
    with pytest.raises(DataError, match="row 2, field 'label': unknown label '2'; valid: 0, 1"):
        read_label_text(tmp_path / "a.all")


@pytest.mark.data
def test_real_trec(data_dir: Path) -> None:
    train = read_trec(data_dir / "trec" / "train_5500.label")
    counts = {"ABBR": 86, "DESC": 1_162, "ENTY": 1_250, "HUM": 1_223, "LOC": 835, "NUM": 896}
    assert Counter(example.target for example in train.examples) == counts
    assert max(len(example.words[0] or ()) for example in train.examples) == 37
    test = read_trec(data_dir / "trec" / "TREC_10.label", label="fine")
    assert len(test.examples) == 500
    assert len({example.target for example in test.examples}) == 42
    assert len({example.target for example in read_trec(train.source or "", label="fine").examples}) == 50


@pytest.mark.data
@pytest.mark.parametrize(
    ("file", "encoding", "counts", "without_text"),
    [
        ("cr/custrev.all", "ascii", (1_368, 2_406), [769, 1_368, 3_691]),
        ("mpqa/mpqa.all", "ascii", (7_294, 3_311), [6_415, 7_294]),
        ("subj/subj.all", "cp1252", (5_000, 5_000), []),
    ],
)
def test_real_label_text(
    data_dir: Path, file: str, encoding: str, counts: tuple[int, int], without_text: list[int]
) -> None:
    corpus = read_label_text(data_dir / file, encoding=encoding, keep_empty=True)
    found = Counter(example.target for example in corpus.examples)
    assert (found["negative"], found["positive"]) == counts
    assert [example.row for example in corpus.examples if not example.texts[0]] == without_text
    assert read_label_text(data_dir / file, encoding=encoding).skipped["no text"] == len(without_text)


def test_texts_and_the_numbers_of_their_classes(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("so happy 😀\nso &amp; so\n", encoding="utf-8")
    (tmp_path / "labels.txt").write_text("1\n0\n")
    corpus = read_numbered_labels(tmp_path / "text.txt", numbers="labels.txt", names=EMOTIONS)
    assert [(example.texts[0], example.target) for example in corpus.examples] == [
        ("so happy 😀", "joy"),
        ("so &amp; so", "anger"),
    ]


@pytest.mark.parametrize(
    ("numbers", "problem"),
    [
        ("1\n", r"text\.txt: row 2: labels\.txt ends before it; line n of both is one example"),
        ("1\n0\n1\n", r"labels\.txt: row 3: text\.txt ends before it"),
        ("1\n4\n", "row 2, field 'label': unknown label '4'"),
    ],
)
def test_numbers_that_do_not_fit_the_texts(tmp_path: Path, numbers: str, problem: str) -> None:
    (tmp_path / "text.txt").write_text("a text\nanother\n")
    (tmp_path / "labels.txt").write_text(numbers)
    with pytest.raises(DataError, match=problem):
        read_numbered_labels(tmp_path / "text.txt", numbers="labels.txt", names=EMOTIONS)
