"""Word vectors of a file as a linear part reads them: which rows are kept, and a model that knows an unseen word."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import tiny
from heedful.tasks.words import lexicon
from heedful.tasks.words.lexicon import mean_of_file
from heedful.text.vectors import WordVectors


def test_frequent_words_and_words_of_training_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexicon, "MOST_ROWS", 1)
    matrix = np.array([[1.0, -0.5], [0, 2], [3, 0], [0, 0]], np.float32)
    vectors = WordVectors(("often", "rare", "base", "never"), matrix)
    found = mean_of_file(vectors, {"bases": "base", "other": "never"}, {"rare", "bases"})
    assert found.rows.words == ("often", "rare", "base")
    assert found.baseforms == "bases\tbase"
    np.testing.assert_allclose(found.rows.matrix, matrix[:3], atol=0.01)
    assert found.of([["Bases"]]).tolist() == [[1, 0]]
    assert not found.origin.name  # the model's folder has the rows itself


@pytest.mark.parametrize("pairs", [False, True])
def test_a_model_knows_a_word_that_only_the_file_has(tmp_path: Path, pairs: bool) -> None:
    words = {"gut": ("prima", "fein", "toll"), "schlecht": ("mies", "schlimm", "arg")}
    lines = [
        f"{word} {-1 if label == 'gut' else 1} {k}" for label in words for k, word in enumerate(words[label])
    ]
    (tmp_path / "vectors.txt").write_text("\n".join(lines), encoding="utf-8")
    with (tmp_path / "a.csv").open("w", newline="", encoding="utf-8") as file:
        columns = ("premise", "hypothesis") if pairs else ("text",)
        rows = [
            (*(f"Der Film war {words[label][k % 2]}" for _ in columns), label)
            for k in range(12)
            for label in words
        ]
        csv.writer(file).writerows([(*columns, "label"), *rows])
    settings = ("--set", f"text.vectors={tmp_path / 'vectors.txt'}", "--set", "model.wide=none")
    run = tmp_path / "run"
    found = tiny.run(
        "train", tmp_path / "a.csv", "--label", "label", *settings, "--no-baseline", "--out", run
    )
    assert found.code == 0, found.err
    for label, unseen in (("gut", "toll"), ("schlecht", "arg")):
        answered = tiny.run("predict", run, *(f"Der Film war {unseen}" for _ in columns)).out
        assert answered.startswith(label)
    wrong = tiny.run(
        "train", tmp_path / "a.csv", "--label", "label", "--set", "text.vectors=no.txt", "--out", "x"
    )
    assert (wrong.code, "no.txt: no such file" in wrong.err) == (3, True)
    assert "Traceback" not in wrong.err
