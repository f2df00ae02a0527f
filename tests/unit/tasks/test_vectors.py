"""The task whose answer is a vector: what it refuses, and that its settings are kept."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import tiny
from heedful.errors import UsageError
from heedful.models import ModelConfig
from heedful.tasks import VectorModel, build_network, load_model
from heedful.tasks.schema import About, TextSettings
from heedful.text.vocabulary import Vocabulary

WORDS = ("the", "film", "was", "dull", "money", "back", "praise")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    torch.manual_seed(1)
    config = ModelConfig(task="vector", width=10, outputs=4, dropout=0.0)
    network = build_network(config, torch.randn(len(WORDS) + 2, 10))
    about = About(temperature=0.05)
    VectorModel(network, config, Vocabulary(WORDS, oov="nearest"), (), TextSettings(), about).save(
        tmp_path / "model"
    )
    return tmp_path / "model"


def test_labels_stay_with_another_limit(saved: Path) -> None:
    model = load_model(saved)
    assert isinstance(model, VectorModel)
    named = model.with_labels(["film", "money"])
    assert [answer.label for answer in named.limited(5, "head").answer(["money", "the film"])] == [
        "money",
        "film",
    ]
    with pytest.raises(UsageError, match="--label"):
        model.answer(["money"])
    assert named.about.temperature == 0.05


@pytest.mark.parametrize("command", ["predict", "explain"])
def test_without_labels_the_commands_say_what_to_add(command: str, saved: Path) -> None:
    result = tiny.run(command, saved, "--text", "the film")
    assert result.code == 2
    assert "--label" in result.err
    assert len(result.err.strip().splitlines()) == 1


def test_it_is_not_trained_on_labels(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("text,label\nthe film,a\nmoney back,b\n")
    (tmp_path / "recipe.toml").write_text('[data]\ntrain = "train.csv"\n[model]\ntask = "vector"\n')
    result = tiny.run("train", tmp_path / "recipe.toml", "--data", tmp_path, "--out", tmp_path / "run")
    assert result.code == 2
    assert "model.task='vector'" in result.err
    assert "Traceback" not in result.err
