"""A transformer as the teacher of an estimator, which fine-tunes it on its own examples."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tiny
from heedful import TextClassifier, TextScorer
from tiny_encoder import write_encoder

SHORT = {
    "train__epochs": 1,
    "train__least_steps": 0,
    "model__width": 8,
    "model__hidden": 8,
    "model__start": "",
}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_encoder(tmp_path_factory.mktemp("transformer") / "encoder")


def test_an_estimator_is_taught_by_a_transformer_that_it_fine_tunes(
    encoder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts, classes = zip(*tiny.texts()[:60], strict=True)
    model = TextClassifier(**SHORT).fit(texts, classes, teacher=str(encoder), baseline=False, progress=True)
    told = capsys.readouterr().err
    assert f"fine-tuning the teacher {encoder}, in SetFit's way" in told
    assert "the teacher also answers up to 20 changed copies" in told
    model.save_pretrained(tmp_path / "saved")
    kept = json.loads((tmp_path / "saved" / "config.json").read_text(encoding="utf-8"))["run"]["distil"]
    assert (kept["teacher"], kept["augment"]) == ([str(encoder)], 20)
    assert model.get_params()["config"] is None, "the settings are those of the constructor again"
    further = [f"a film number {n}" for n in range(20)]
    model.fit(texts, classes, teacher=[encoder], texts=further, folder=tmp_path / "run", baseline=False)
    assert TextClassifier.from_pretrained(tmp_path / "run" / "teacher").predict(texts[:1]).shape == (1,)
    assert model.predictor.about.run["distil"]["augment"] == -1


def test_an_estimator_of_numbers_names_a_transformer_among_its_settings(encoder: Path) -> None:
    texts = [text for text, _ in tiny.texts()[:40]]
    model = TextScorer(**SHORT, distil__teacher=[str(encoder)], distil__augment=0)
    model.fit(texts, [float(len(text) % 7) for text in texts], baseline=False)
    assert model.predict(texts[:2]).shape == (2,)
