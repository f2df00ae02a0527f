"""Own data in any script, with markup, with rows that are too long."""

from __future__ import annotations

import json
import random
from pathlib import Path

from heedful import TextClassifier, from_pretrained
from heedful.storage.model_folder import MODEL_FILES, write_json, write_manifest
from tiny import run, write_csv

GOOD, BAD, FILLER = "好喜愛美", "壞討厭醜", "我你的電影書這那是很"
SMALL = {"model__width": 16, "model__hidden": 16, "train__epochs": 8, "train__optimizer__lr": 0.02}


def chinese(count: int) -> list[tuple[str, str]]:
    """Return sentences without spaces in which one character tells the class."""
    draw = random.Random(3)
    rows = []
    for number in range(count):
        characters = [*draw.choices(FILLER, k=6), draw.choice((BAD, GOOD)[number % 2])]
        draw.shuffle(characters)
        rows.append(("".join(characters) + "。", ("bad", "good")[number % 2]))
    return rows


def test_chinese_is_learned_by_default_and_the_choice_is_saved(tmp_path: Path) -> None:
    rows = chinese(160)
    model = TextClassifier(**SMALL).fit([text for text, _ in rows[:120]], [label for _, label in rows[:120]])
    assert model.score([text for text, _ in rows[120:]], [label for _, label in rows[120:]]) > 0.9
    model.save_pretrained(tmp_path / "m")
    assert json.loads((tmp_path / "m" / "config.json").read_text())["text"]["tokenizer"] == "unicode"
    again = from_pretrained(tmp_path / "m")
    assert again.answer(["我很喜愛這電影"])[0].tokens == (7,)
    assert list(again.predict([rows[0][0]])) == list(model.predict([rows[0][0]]))


def test_a_folder_of_before_loads_and_keeps_tags(tmp_path: Path) -> None:
    rows = chinese(60)
    texts, labels = [text for text, _ in rows], [label for _, label in rows]
    model = TextClassifier(**{**SMALL, "train__epochs": 1}, text__tokenizer="treebank").fit(texts, labels)
    model.save_pretrained(tmp_path / "m")
    config = json.loads((tmp_path / "m" / "config.json").read_text())
    del config["text"]["markup"]
    write_json(tmp_path / "m" / "config.json", config)
    write_manifest(tmp_path / "m", MODEL_FILES)
    old = from_pretrained(tmp_path / "m")
    assert old.predictor.text == model.predictor.text
    assert list(old.predict(texts)) == list(model.predict(texts))


def test_a_row_that_is_too_long_is_cut_and_counted(tmp_path: Path) -> None:
    words = ("lovely", "dull")
    rows = [(f"a {words[k % 2]} <b>film</b> {k % 7}", "pn"[k % 2]) for k in range(80)]
    write_csv(tmp_path / "t.csv", [*rows, ("lovely " * 900, "p")], ["text", "label"])
    given = {**SMALL, "text__markup": "token", "train__epochs": 1}
    small = [f"{name.replace('__', '.')}={value}" for name, value in given.items()]
    sets = [f"data.train={tmp_path / 't.csv'}", *small]
    arguments = [part for value in sets for part in ("--set", value)]
    found = run("train", "my-texts", *arguments, "--out", tmp_path / "run")
    assert found.code == 0, found.err
    assert "500 tokens removed" in found.out + found.err
    assert 'text.tokenizer = "treebank"' in found.out + found.err
    config = json.loads((tmp_path / "run" / "model" / "config.json").read_text())
    assert (config["text"]["markup"], config["text"]["truncate"]) == ("token", "head")
    vocabulary = json.loads((tmp_path / "run" / "model" / "vocabulary.json").read_text())
    assert "<tag>" in vocabulary["trainable"]
