"""A run ends with a temperature fitted on its dev part."""

from __future__ import annotations

from pathlib import Path

import pytest

import tiny
from heedful.evaluation import fit_temperature
from heedful.run import prepare, train
from heedful.run.recipe_files import load_config


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tiny.write_tasks(tmp_path / "data")


def run(folder: Path, task: str, *changes: str):
    config = load_config(folder / f"{task}.toml", ["train.device=cpu", "train.max_steps=2", *changes])
    prepared = prepare(config, folder)
    return train(config, prepared), prepared


def test_a_classifier_is_calibrated_on_dev(folder: Path) -> None:
    result, prepared = run(folder, "text", "train.max_steps=4")
    dev = prepared.datasets["dev"]
    expected = fit_temperature(result.predictor.run(dev)[0], dev.targets)
    assert result.predictor.about.temperature == expected != 1.0
    for report in (result.dev, result.test):
        assert report is not None
        assert report.calibration is not None
        assert report.calibration.temperature == expected
    assert result.dev.calibration.after.nll < result.dev.calibration.before.nll
    assert result.summary()["test"]["calibration"]["after"]["ece"] == result.test.calibration.after.ece
    assert sum(row["count"] for row in result.test.by_length.values()) == result.test.count


def test_nothing_is_fitted_on_the_test_part(folder: Path) -> None:
    result, _ = run(folder, "text", "data.protocol=paper")
    assert result.predictor.about.temperature == 1.0


def test_a_score_has_no_confidence_to_calibrate(folder: Path) -> None:
    result, _ = run(folder, "score")
    assert result.predictor.about.temperature == 1.0
    assert result.dev.calibration is None
    assert result.dev.by_length
