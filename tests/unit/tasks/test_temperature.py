"""The temperature of confidences: it is kept, it changes no answer, and what shows a confidence shows the same."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from heedful.errors import ArtifactError, UsageError
from heedful.models import ModelConfig
from heedful.storage.manifest import MODEL_FILES, write_json, write_manifest
from heedful.storage.model_folder import CONFIG
from heedful.tasks import About, Predictor, TextSettings, build_network, load_model
from heedful.text.vocabulary import Vocabulary

TEXTS = ["film", "dull film", "superb .", ""]


def predictor(temperature: float) -> Predictor:
    vocabulary = Vocabulary(("film", "dull", "superb", "."))
    model = ModelConfig(task="text", width=8, hidden=8, outputs=3)
    torch.manual_seed(4)
    network = build_network(model, torch.randn(6, 8) * torch.tensor([0, 0, 1, 1, 1, 1])[:, None])
    about = About(temperature=temperature)
    return Predictor(network, model, vocabulary, ("a", "b", "c"), TextSettings(), about)


def test_a_higher_temperature_makes_answers_less_sure_and_changes_none() -> None:
    plain, softer = predictor(1.0), predictor(4.0)
    logits = plain.logits(TEXTS).astype(np.float64)
    expected = np.exp(logits / 4) / np.exp(logits / 4).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(softer.probabilities(softer.logits(TEXTS)), expected, rtol=1e-12)
    first, second = plain.answer(TEXTS), softer.answer(TEXTS)
    assert [answer.label for answer in first] == [answer.label for answer in second]
    sureness = [[max(answer.probabilities.values()) for answer in found[:3]] for found in (first, second)]
    assert all(sure > less for sure, less in zip(*sureness, strict=True))


def test_an_explanation_shows_the_confidence_of_the_answer() -> None:
    model = predictor(4.0)
    answer, explanation = model.answer(["dull film"])[0], model.explain("dull film")
    assert explanation.probabilities == pytest.approx(tuple(answer.probabilities.values()))


def test_it_is_kept_in_the_folder_and_through_other_limits(tmp_path: Path) -> None:
    predictor(2.5).save(tmp_path / "model")
    loaded = load_model(tmp_path / "model").limited(3, "head")
    assert loaded.about.temperature == 2.5
    assert loaded.answer(TEXTS) == predictor(2.5).answer(TEXTS)


def _rewrite(folder: Path, change: dict[str, object]) -> None:
    config = json.loads((folder / CONFIG).read_text())
    del config["temperature"]
    write_json(folder / CONFIG, {**config, **change})
    write_manifest(folder, MODEL_FILES)


def test_an_older_folder_has_none(tmp_path: Path) -> None:
    predictor(2.5).save(tmp_path / "model")
    _rewrite(tmp_path / "model", {})
    assert load_model(tmp_path / "model").about.temperature == 1.0


@pytest.mark.parametrize("wrong", [0.0, -1.0, "hot", None])
def test_a_temperature_that_is_none_is_refused(tmp_path: Path, wrong: object) -> None:
    predictor(2.5).save(tmp_path / "model")
    _rewrite(tmp_path / "model", {"temperature": wrong})
    with pytest.raises(ArtifactError, match="temperature"):
        load_model(tmp_path / "model")
    with pytest.raises(UsageError, match="above 0"):
        replace(About(), temperature=wrong)
