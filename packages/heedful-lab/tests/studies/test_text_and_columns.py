"""The study of columns beside the text, on a few rows made here."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heedful_lab.studies import text_and_columns
from heedful_lab.studies.text_and_columns import Row, document, genre, main, noisy, origin, planted


def rows(count: int) -> list[Row]:
    """Return texts of two classes."""
    generator = np.random.default_rng(3)
    made = []
    for _ in range(count):
        good = bool(generator.random() < 0.5)
        words = [str(word) for word in generator.choice(["it", "was", "the", "film"], 4)]
        made.append({"text": " ".join([*words, "fine" if good else "poor"]), "label": "pn"[not good]})
    return made


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with lzma.open(path, "wt", encoding="utf-8") as file:
        file.write(text)


def test_a_planted_cause_is_found_and_a_file_is_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_and_columns, "of_set", lambda name, data: (rows(400), rows(100)))
    out = tmp_path / "out.json"
    arguments = [
        "--data",
        str(tmp_path),
        "--parts",
        "planted",
        "--rows",
        "400",
        "--tests",
        "100",
        "--seeds",
        "1",
    ]
    main([*arguments, "--out", str(out)])
    ((key, found),) = json.loads(out.read_text()).items()
    assert key == "planted subj, 400 rows, 100 tests, seed 1"
    assert found["columns kept"]
    assert found["with columns"] > found["text alone"] + 2
    assert found["recovered"]["number, -1 to 1"] > 1.5
    assert found["recovered"]["shop, east to north"] > 0 > found["recovered"]["shop, east to south"]
    assert abs(found["recovered"]["noise, -1 to 1"]) < 1

    def refuse(*_: Any) -> None:
        raise AssertionError("measured again")

    monkeypatch.setattr(text_and_columns, "measures", refuse)
    main([*arguments, "--out", str(out)])


def test_made_columns_are_those_of_their_seed() -> None:
    for made in (planted, noisy):
        one, two = (made(rows(5), np.random.default_rng(0)) for _ in range(2))
        assert one == two
        assert [row["text"] for row in one] == [row["text"] for row in rows(5)]


def test_the_columns_of_data_sets_are_read(tmp_path: Path) -> None:
    pairs = [
        {"gold_label": "neutral", "sentence1": "a", "sentence2": "b", "genre": "fiction", "source": "nyu"},
        {"gold_label": "neutral", "sentence1": "a", "sentence2": "b", "genre": "slate", "source": "ni201"},
        {"gold_label": "neutral", "sentence1": "a", "sentence2": "b", "source": "nyu"},
    ]
    write(tmp_path / "multinli/multinli_1.0_train_part.jsonl.xz", "\n".join(map(json.dumps, pairs)) + "\n")
    assert genre(tmp_path) == [{"premise": "a", "hypothesis": "b", "genre": "fiction", "label": "neutral"}]
    names = ["sentence_A", "sentence_B", "entailment_label", "sentence_A_dataset", "sentence_B_dataset"]
    table = "\t".join(names) + '\nA "dog\tB\tNEUTRAL\tFLICKR\tSEMEVAL\n'
    write(tmp_path / "sick/SICK.txt.xz", table)
    assert [(row["premise"], row["origin"]) for row in origin(tmp_path)] == [('A "dog', "FLICKR SEMEVAL")]
    tree = "# sent_id = email-x-01\n# text = Go home\n1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n"
    write(tmp_path / "ud_english_ewt/en_ewt-ud-train.conllu.xz", tree)
    assert document(tmp_path) == [{"document": "email", "text": "Go home", "label": "VERB"}]
