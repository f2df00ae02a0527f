"""One function chooses the engine of a model, and says what is missing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

import whole_models
from heedful.errors import ArtifactError, MissingExtraError, UsageError
from heedful.models import ModelConfig
from heedful.opening import open_model
from heedful.tasks import TextSettings, build_network, task_named
from heedful.text.vocabulary import Vocabulary


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return whole_models.whole(tmp_path / "model", "text", "disan", parts=())


@pytest.fixture
def for_torch_alone(tmp_path: Path) -> Path:
    torch.manual_seed(2)
    config = ModelConfig(encoder="resan", width=8, hidden=8, outputs=2)
    network = build_network(config, torch.randn(6, 8))
    model = task_named("text").model_type(  # type: ignore[attr-defined]
        network, config, Vocabulary(("a", "b", "c", "d")), ("no", "yes"), TextSettings()
    )
    model.save(tmp_path / "resan")
    return tmp_path / "resan"


def test_the_runtime_goes_first_unless_more_is_needed(folder: Path, for_torch_alone: Path) -> None:
    named = {
        "plain": open_model(folder),
        "vectors": open_model(folder, needs=["vectors", "look"]),
        "gradients": open_model(folder, needs=["gradients"]),
        "int8": open_model(folder, precision="int8"),
        "asked": open_model(folder, "torch"),
        "no steps": open_model(for_torch_alone),
    }
    assert {name: model.engine.name for name, model in named.items()} == {
        "plain": "runtime",
        "vectors": "runtime",
        "gradients": "torch",
        "int8": "torch",
        "asked": "torch",
        "no steps": "torch",
    }
    with pytest.raises(UsageError, match="the runtime cannot run this model"):
        open_model(for_torch_alone, "runtime")


def test_limits_are_those_of_either_engine(folder: Path) -> None:
    for engine in ("runtime", "torch"):
        model = open_model(folder, engine, max_tokens=2, truncate="error")  # type: ignore[arg-type]
        assert (model.reading.max_tokens, model.reading.refuses_long) == (2, True)
        with pytest.raises(UsageError, match="max_tokens must be a whole number of 1 or more; got 0"):
            open_model(folder, engine, max_tokens=0)  # type: ignore[arg-type]


def test_without_torch_a_damaged_folder_is_said_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match="pip install torch"):
        open_model(folder, needs=["gradients"])
    (folder / "labels.json").write_text("[]", encoding="utf-8")
    with pytest.raises(ArtifactError, match=r"labels\.json"):
        open_model(folder, needs=["gradients"])
    with pytest.raises(ArtifactError, match=r"labels\.json"):
        open_model(folder)  # torch is not asked what the runtime knows: that a file is damaged
