"""The study of recipes runs a hundred steps of one and says what it saw."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import tiny
from heedful.data import catalog
from heedful.data.examples import Corpus, Example
from heedful_lab.studies import recipes_checked


def test_what_is_seen_of_a_recipe_is_written_as_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny.write_tasks(tmp_path)
    monkeypatch.setattr(recipes_checked, "MARKS", (1, 3))
    fine = recipes_checked.check(str(folder / "text.toml"), folder)
    fast = recipes_checked.check(
        str(folder / "text.toml"), folder, ["train.optimizer.lr=1000", "model.activation=relu"]
    )
    assert list(fine["dead"]) == [1, 3]
    assert fine["dead"][3] < fast["dead"][3]
    assert fine["unreached"] == 0
    assert fast["signs"]
    lines = recipes_checked.table([fine, fast]).splitlines()
    assert len(lines) == 4
    assert f"{fast['dead'][3]:.0%}" in lines[3]


def test_recipes_of_labels_columns_and_numbers_have_a_table_made_of_a_known_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = Corpus([Example(("Who ?",), "HUM:ind"), Example(("Where , then ?",), "LOC:city")])
    monkeypatch.setattr(catalog, "load", lambda *_: questions)
    for name in ("my-labels", "my-label-columns"):
        assert recipes_checked.made_rows(name, tmp_path, tmp_path) == [f"data.train={tmp_path / 'rows.csv'}"]
        with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as opened:
            rows = list(csv.DictReader(opened))
        assert [row["label"] for row in rows] == ["HUM,HUM:ind", "LOC,LOC:city"]
        assert [(row["text"], row["topic"], row["mood"]) for row in rows] == [
            ("Who ?", "HUM", "HUM:ind"),
            ("Where , then ?", "LOC", "LOC:city"),
        ]
    assert recipes_checked.made_rows("my-texts", tmp_path, tmp_path) == []


def test_every_packaged_recipe_has_settings() -> None:
    from heedful.run.recipe_files import load_config
    from heedful.storage.installed import recipe_names

    for name in recipe_names():
        config = load_config(name, recipes_checked.settings_of(name))
        if config.data.set in ("snli", "multinli"):
            assert (config.data.train, config.data.train_limit) == ("train-part", recipes_checked.ROWS)
