"""Repeated runs: mean, spread, what is done is not done again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tiny
from heedful.errors import ArtefactError, OutputError, UsageError
from heedful.studies import Study, run_study


def summary(accuracy: float) -> dict:
    figures = {"metrics": {"accuracy": accuracy}}
    return {"varied": "train.seed=1", "dev": figures, "test": figures, "best_step": 3, "seconds": 30.0}


def test_mean_and_standard_deviation() -> None:
    study = Study([summary(0.8), summary(0.9)], "as said")
    mean, deviation = study.spread()["accuracy"]
    assert mean == pytest.approx(0.85)
    assert deviation == pytest.approx(0.0707107, abs=1e-6)
    assert "mean of 2" in study.render()
    assert "accuracy 0.8500 ± 0.0707" in study.render()
    assert study.render().endswith("protocol: as said")


def test_one_run_has_no_spread() -> None:
    assert Study([summary(0.8)], "").spread()["accuracy"] == (0.8, 0.0)


def test_seeds_are_kept_and_not_repeated(tmp_path: Path) -> None:
    folder = tiny.write_tasks(tmp_path / "data")
    said: list[str] = []

    def study(*changes: str, seeds: tuple[int, ...] = (1, 2)) -> Study:
        overrides = ["train.max_steps=1", "train.device=cpu", *changes]
        out = tmp_path / "study"
        return run_study(
            str(folder / "text.toml"), out, folder, seeds=seeds, overrides=overrides, say=said.append
        )

    first = study()
    assert [run["varied"] for run in first.runs] == ["train.seed=1", "train.seed=2"]
    assert "(with the run's seed)" in first.protocol
    assert said == ["train.seed=1 ...", "train.seed=2 ..."]
    again = study(seeds=(1, 2, 3))
    assert again.runs[:2] == json.loads(json.dumps(first.runs))
    assert said[2:] == ["train.seed=1: already done", "train.seed=2: already done", "train.seed=3 ..."]
    kept = json.loads((tmp_path / "study" / "train.seed=1.json").read_text())
    assert (
        len(kept["answers"]["gold"]) == len(kept["answers"]["predicted"]) == kept["summary"]["test"]["count"]
    )
    assert kept["summary"]["epoch_seconds"] > 0
    assert kept["machine"]["torch"]
    assert kept["data"]
    del kept["settings"]["train"]["patience"]  # as if the setting was added after the run was kept
    (tmp_path / "study" / "train.seed=1.json").write_text(json.dumps(kept))
    assert study(seeds=(1,)).runs == first.runs[:1]
    with pytest.raises(UsageError, match=r"train\.seed=1\.json: made with other settings"):
        study("model.hidden=8")


def test_a_study_needs_seeds_or_folds_and_a_test_part(tmp_path: Path) -> None:
    folder = tiny.write_tasks(tmp_path / "data")
    recipe = str(folder / "text.toml")
    for wrong in ({}, {"seeds": [1], "folds": 2}):
        with pytest.raises(UsageError, match="give either --seeds or --folds"):
            run_study(recipe, tmp_path / "study", folder, **wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="a study needs a test part"):
        run_study(recipe, tmp_path / "study", folder, seeds=[1], overrides=["data.test=''"])


def test_what_stands_in_the_way_is_told_before_training(tmp_path: Path) -> None:
    folder = tiny.write_tasks(tmp_path / "data")
    recipe, say = str(folder / "text.toml"), pytest.fail
    with pytest.raises(OutputError, match=r"text\.csv is a file, not a folder"):
        run_study(recipe, folder / "text.csv", folder, seeds=[1], say=say)
    (tmp_path / "study").mkdir()
    for broken in ("{", "[]", "{}"):
        (tmp_path / "study" / "train.seed=1.json").write_text(broken)
        with pytest.raises(
            ArtefactError, match=r"train\.seed=1\.json: expected a run that heedful study kept"
        ):
            run_study(recipe, tmp_path / "study", folder, seeds=[1], say=say)
