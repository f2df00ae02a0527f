from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import sick_release
from heedful.data.readers.nli import read_sick
from heedful.errors import DataError, UsageError


def write(path: Path, rows: list[tuple[str, str, str]]) -> Path:
    body = [
        [str(i), "A cat naps", "A pet rests", label, score, "", "", "", "", "FLICKR", "FLICKR", split]
        for i, (label, score, split) in enumerate(rows, start=1)
    ]
    path.write_bytes(
        "".join("\t".join(cells) + "\r\n" for cells in [sick_release.COLUMNS, *body]).encode("ascii")
    )
    return path


ROWS = [("NEUTRAL", "4.5", "TRAIN"), ("ENTAILMENT", "5", "TRIAL"), ("CONTRADICTION", "1.25", "TEST")]


def test_scores_and_splits(tmp_path: Path) -> None:
    corpus = read_sick(write(tmp_path / "SICK.txt", ROWS), split="TRIAL")
    assert [example.target for example in corpus.examples] == [5.0]
    assert corpus.examples[0].row == 3
    assert corpus.examples[0].texts == ("A cat naps", "A pet rests")
    assert corpus.skipped == {"another split": 2}


def test_labels_are_the_names_of_the_other_sets(tmp_path: Path) -> None:
    corpus = read_sick(write(tmp_path / "SICK.txt", ROWS), task="entailment")
    assert [example.target for example in corpus.examples] == ["neutral", "entailment", "contradiction"]


@pytest.mark.parametrize("split", [None, "TRAIN", "TEST"])
def test_a_row_of_an_unknown_split_is_never_lost(tmp_path: Path, split: str | None) -> None:
    file = write(tmp_path / "SICK.txt", [*ROWS, ("NEUTRAL", "3", "TRIAN")])
    if split is None:  # the column plays no part
        assert len(read_sick(file).examples) == 4
        return
    with pytest.raises(DataError, match="row 5, field 'SemEval_set': unknown split 'TRIAN'"):
        read_sick(file, split=split)


@pytest.mark.parametrize("score", ["5.01", "0.9", "nan", "high", ""])
def test_bad_score(tmp_path: Path, score: str) -> None:
    file = write(tmp_path / "SICK.txt", [("NEUTRAL", score, "TRAIN")])
    with pytest.raises(DataError, match="row 2, field 'relatedness_score': expected a number from 1 to 5"):
        read_sick(file)


def test_bad_options(tmp_path: Path) -> None:
    file = write(tmp_path / "SICK.txt", ROWS)
    with pytest.raises(UsageError, match="split 'TRIALS' is unknown; did you mean 'TRIAL'"):
        read_sick(file, split="TRIALS")
    with pytest.raises(UsageError, match="task 'score' is unknown"):
        read_sick(file, task="score")  # type: ignore[arg-type]


@pytest.mark.data
@pytest.mark.parametrize(
    ("split", "labels"),
    [
        ("TRAIN", {"neutral": 2_524, "entailment": 1_274, "contradiction": 641}),
        ("TRIAL", {"neutral": 281, "entailment": 143, "contradiction": 71}),
        ("TEST", {"neutral": 2_790, "entailment": 1_404, "contradiction": 712}),
    ],
)
def test_real_sick(data_dir: Path, split: str, labels: dict[str, int]) -> None:
    file = data_dir / "sick" / "SICK.txt"
    pairs = read_sick(file, task="entailment", split=split)
    assert Counter(example.target for example in pairs.examples) == labels
    scored = read_sick(file, split=split)
    assert len(scored.examples) == sum(labels.values())
    assert all(1.0 <= float(example.target or 0) <= 5.0 for example in scored.examples)
