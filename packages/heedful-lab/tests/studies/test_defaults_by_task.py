"""Every task by its defaults: which rows train and judge, what is measured of ours and of the others, and going on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heedful.data.examples import Corpus, Example, WordTags
from heedful.run.recipe_files import load_config
from heedful_lab.studies import defaults_by_task as study

WORDS = {"++": ("fine", "lovely", "warm"), "--": ("dull", "grim", "dreary")}
ROWS = [(f"a {word} film {n}", mood) for n in range(20) for mood, words in WORDS.items() for word in words]
PLAIN = ["text.vectors=", "model.sentence=none", "data.few_rows=1000"]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every data set hold a few texts, pairs or sentences."""

    def load(name: str, split: str, folder: Path) -> Corpus:
        rows = ROWS[:90] if split == "train" else ROWS[90:]
        if name == "tags":
            return Corpus(
                [
                    Example((text,), WordTags(("O", mood, "O", "O")), (tuple(text.split()),))
                    for text, mood in rows
                ]
            )
        return Corpus([Example((text,), mood, (tuple(f"{text} ?".split()),)) for text, mood in rows])

    monkeypatch.setattr(study.catalog, "load", load)
    monkeypatch.setattr(study.catalog, "splits", lambda name: ("train", "test"))


@pytest.mark.usefixtures("few")
def test_rows_are_drawn_and_others_judge() -> None:
    cell = study.Cell("set", "my-texts", "accuracy", 30, change=str.upper)
    config = load_config("my-texts", ['data.train="a.csv"'])
    parts = study.source_of(cell, config, Path(), 0).load()
    assert {name: len(part.examples) for name, part in parts.items()} == {"train": 30, "test": 30}
    assert parts["test"].examples[0].texts == (f"{ROWS[90][0]} ?".upper(),)  # the words of the set, changed
    judged = study.source_of(cell, config, Path(), 0, judge=20).load()
    own = {each.texts[0].upper() for each in judged["train"].examples}
    assert len(judged["test"].examples) == 20
    assert own.isdisjoint(each.texts[0] for each in judged["test"].examples)
    assert own != {
        each.texts[0].upper()
        for each in study.source_of(cell, config, Path(), 1, 20).load()["train"].examples
    }


@pytest.mark.usefixtures("few")
def test_ours_and_the_others_have_the_metric_of_the_cell() -> None:
    found = study.measure(study.Cell("set", "my-texts", "accuracy", 60), Path(), 0, settings=PLAIN)
    assert found["Heedful"] == found["TF-IDF (words 1-2) + logistic regression"] == 1.0
    assert found["ahead of the best rival"] == 0.0
    tags = study.measure(
        study.Cell("tags", "my-tags", "accuracy", 60), Path(), 0, settings=["data.few_rows=300"]
    )
    assert tags["Heedful"] == tags[study.CRF] == 1.0
    assert tags["best rival"] == study.CRF
    alone = study.measure(
        study.Cell("set", "my-texts", "accuracy", 60), Path(), 0, alone=True, settings=PLAIN
    )
    assert (alone["best rival"], alone["ahead of the best rival"]) == ("", None)


def test_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = list[str]()
    monkeypatch.setattr(study, "measure", lambda cell, *_, **__: asked.append(cell.set) or {"Heedful": 0.5})
    out = tmp_path / "cells.json"
    command = ["--data", str(tmp_path), "--out", str(out), "--cells", "WNUT17", "Banking77"]
    study.main(command)
    study.main([*command, "--judge", "5"])
    study.main(command)
    assert asked == ["wnut17", "banking77"] * 2
    assert list(json.loads(out.read_text(encoding="utf-8"))) == [
        "WNUT17, seed 0", "Banking77, seed 0", "WNUT17, seed 0, 5 rows judge", "Banking77, seed 0, 5 rows judge",
    ]  # fmt: skip
    assert capsys.readouterr().out.count("\n") == 6
