"""The study of recipes runs a hundred steps of one and says what it saw."""

from __future__ import annotations

from pathlib import Path

import pytest

import tiny
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


def test_every_packaged_recipe_has_settings() -> None:
    from heedful.run.recipe_files import load_config
    from heedful.storage.installed import recipe_names

    for name in recipe_names():
        config = load_config(name, recipes_checked.settings_of(name))
        if config.data.set in ("snli", "multinli"):
            assert (config.data.train, config.data.train_limit) == ("train-part", recipes_checked.ROWS)
