from __future__ import annotations

import json
from pathlib import Path

import pytest

from heedful.data.readers.nli import read_multinli, read_snli
from heedful.errors import DataError

TXT_HEADER = [
    "gold_label",
    "sentence1_binary_parse",
    "sentence2_binary_parse",
    "sentence1_parse",
    "sentence2_parse",
    "sentence1",
    "sentence2",
    "captionID",
    "pairID",
    "label1",
    "label2",
    "label3",
    "label4",
    "label5",
]


def snli_row(label: str = "entailment", **changes: object) -> dict[str, object]:
    row: dict[str, object] = {
        "annotator_labels": [label],
        "captionID": "7.jpg#1",
        "gold_label": label,
        "pairID": "7.jpg#1r1e",
        "sentence1": "An owl doesn't sleep.",
        "sentence1_binary_parse": "( ( An owl ) ( ( does n't ) ( sleep . ) ) )",
        "sentence1_parse": "(ROOT (S (NP (DT An) (NN owl)) (VP (VBZ does) (RB n't) (VP (VB sleep))) (. .)))",
        "sentence2": "A bird is awake",
        "sentence2_binary_parse": "( ( A bird ) ( is awake ) )",
        "sentence2_parse": "(ROOT (S (NP (DT A) (NN bird)) (VP (VBZ is) (ADJP (JJ awake)))))",
    }
    return {**row, **changes}


def write_jsonl(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_snli_jsonl(tmp_path: Path) -> None:
    rows = [
        snli_row(),
        snli_row("-"),
        snli_row("neutral", sentence1_binary_parse="", sentence2_binary_parse=""),
    ]
    corpus = read_snli(write_jsonl(tmp_path / "snli.jsonl", rows))
    assert corpus.skipped == {"no gold label": 1}
    first, last = corpus.examples
    assert first.texts == ("An owl doesn't sleep.", "A bird is awake")
    assert first.words == (("An", "owl", "does", "n't", "sleep", "."), ("A", "bird", "is", "awake"))
    assert (first.target, first.row) == ("entailment", 1)
    assert (last.target, last.row, last.words) == ("neutral", 3, ())


def test_snli_without_parse(tmp_path: Path) -> None:
    file = write_jsonl(tmp_path / "snli.jsonl", [snli_row(sentence2_binary_parse="")])
    assert read_snli(file).examples[0].words[1] is None
    assert read_snli(file, use_parse=False).examples[0].words == ()


def test_snli_txt_equals_jsonl(tmp_path: Path) -> None:
    rows = [snli_row(), snli_row("-"), snli_row("contradiction")]
    lines = [TXT_HEADER, *([str(row.get(name, "")) for name in TXT_HEADER] for row in rows)]
    (tmp_path / "snli.txt").write_text("".join("\t".join(cells) + "\n" for cells in lines))
    from_txt = read_snli(tmp_path / "snli.txt")
    from_json = read_snli(write_jsonl(tmp_path / "snli.jsonl", rows))
    assert from_txt.skipped == from_json.skipped
    for one, other in zip(from_txt.examples, from_json.examples, strict=True):
        assert (one.texts, one.words, one.target) == (other.texts, other.words, other.target)
        assert one.row == other.row + 1  # the header


def test_snli_txt_row_of_another_width(tmp_path: Path) -> None:
    (tmp_path / "snli.txt").write_text("\t".join(TXT_HEADER) + "\nneutral\tonly two\n")
    with pytest.raises(DataError, match=r"snli\.txt: row 2: expected 14 fields .* got 2"):
        read_snli(tmp_path / "snli.txt")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"gold_label": "neutrl"},
            "row 1, field 'gold_label': unknown label 'neutrl'; did you mean 'neutral'",
        ),
        ({"sentence2": None}, "row 1, field 'sentence2': expected text, got None"),
    ],
)
def test_bad_rows(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_snli(write_jsonl(tmp_path / "a.jsonl", [snli_row(**changes)]))


def test_missing_field_lists_those_present(tmp_path: Path) -> None:
    file = write_jsonl(tmp_path / "a.jsonl", [{"gold_label": "neutral", "sentence_1": "x", "sentence2": "y"}])
    with pytest.raises(
        DataError, match="no column 'sentence1'; columns: gold_label, sentence_1, sentence2; did you"
    ):
        read_snli(file)


def test_pair_without_text_is_counted(tmp_path: Path) -> None:
    file = write_jsonl(tmp_path / "a.jsonl", [snli_row(), snli_row(sentence2=" ", sentence2_binary_parse="")])
    assert read_snli(file).skipped == {"no text": 1}
    assert len(read_snli(file, keep_empty=True).examples) == 2


def test_only_rows_without_gold(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no usable row \(skipped: 2 with no gold label"):
        read_snli(write_jsonl(tmp_path / "a.jsonl", [snli_row("-"), snli_row("-")]))


def test_multinli_genre_annotator_and_tokenized(tmp_path: Path) -> None:
    pair = {"sentence1": "Maps , too , age .", "sentence2": "Maps age."}
    rows: list[dict[str, object]] = [
        {"gold_label": "entailment", "genre": "travel", "tokenised": True, **pair},
        {"annotator_label": "neutral", **pair},
        {"gold_label": "-", **pair},
    ]
    corpus = read_multinli(write_jsonl(tmp_path / "a.jsonl", rows))
    first, second = corpus.examples
    assert (first.group, second.group) == ("travel", "")
    assert first.words == (("Maps", ",", "too", ",", "age", "."), ("Maps", "age."))
    assert (second.target, second.words) == ("neutral", ())
    assert corpus.skipped == {"no gold label": 1}


@pytest.mark.parametrize("line", ["{broken", '["a", "list"]', "[" * 100_000, "9" * 10_000])
def test_not_a_json_object(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.jsonl").write_text(f"{json.dumps(snli_row())}\n{line}\n")
    with pytest.raises(DataError, match=r"a\.jsonl: row 2: .*expected one"):
        read_snli(tmp_path / "a.jsonl")


@pytest.mark.data
@pytest.mark.parametrize(
    ("file", "rows", "skipped"),
    [
        ("snli_1.0_dev.jsonl", 9_842, 158),
        ("snli_1.0_test.jsonl", 9_824, 176),
        ("snli_1.0_train_first9999.txt", 9_987, 12),
        ("snli_1.0_train_part.jsonl", 102_511, 0),
    ],
)
def test_real_snli(data_dir: Path, file: str, rows: int, skipped: int) -> None:
    corpus = read_snli(data_dir / "snli" / file)
    assert len(corpus.examples) == rows
    assert corpus.skipped["no gold label"] == skipped
    assert sum(corpus.skipped.values()) == skipped
    with_words = sum(all(example.words) and len(example.words) == 2 for example in corpus.examples)
    assert with_words == (0 if "train_part" in file else rows)


@pytest.mark.data
@pytest.mark.parametrize(
    ("file", "rows", "grouped", "tokenized"),
    [
        ("multinli_1.0_dev_matched.jsonl", 9_815, 0, 0),
        ("multinli_1.0_dev_mismatched_one_annotator.jsonl", 9_832, 0, 0),
        ("multinli_1.0_train_part.jsonl", 71_354, 34_243, 17_212),
    ],
)
def test_real_multinli(data_dir: Path, file: str, rows: int, grouped: int, tokenized: int) -> None:
    corpus = read_multinli(data_dir / "multinli" / file)
    assert (len(corpus.examples), sum(corpus.skipped.values())) == (rows, 0)
    assert sum(example.group != "" for example in corpus.examples) == grouped
    assert sum(example.words != () for example in corpus.examples) == tokenized
