"""Small models, saved as heedful saves them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from heedful.attention import native
from heedful.models import ModelConfig
from heedful.tasks import Predictor, TextSettings, build_network, task_named
from heedful.text.vocabulary import Vocabulary

WORDS = ("the", "film", "was", "dull", "superb", "a", "story", ".", "is", "it")

Saved = Callable[..., tuple[Predictor, Path]]


def predictor(settings: dict[str, Any], text: dict[str, Any]) -> Predictor:
    vocabulary = Vocabulary(WORDS, extra=("meal", "song"), baseforms={"films": "film"})
    model = ModelConfig(**{"width": 24, "hidden": 16, "outputs": 3, **settings})
    torch.manual_seed(5)
    network = build_network(model, torch.randn(len(WORDS) + 2, 24), torch.randn(2, 24))
    for scale in (buffer for name, buffer in network.named_buffers() if name == "scale"):
        scale.copy_(torch.tensor([1.5, 3.0, -2.0, 7.0]))
    labels = ("no", "some", "yes")[: task_named(model.task).named_outputs(model)]  # type: ignore[attr-defined]
    return task_named(model.task).model_type(network, model, vocabulary, labels, TextSettings(**text))


@pytest.fixture
def saved(tmp_path: Path) -> Saved:
    """Return a function that saves a model with settings of its network and of its text."""

    def save(settings: dict[str, Any] | None = None, **text: Any) -> tuple[Predictor, Path]:
        made = predictor(settings or {}, text)
        path = tmp_path / "model"
        made.save(path)
        return made, path

    return save


@pytest.fixture(params=native.INSTRUCTION_SETS)
def instructions(request: pytest.FixtureRequest) -> Iterator[str]:
    """Compute with each instruction set that this processor has."""
    before = str(native.status()["instruction_set"])
    try:
        native.use_instruction_set(request.param)
    except native.UsageError:
        pytest.skip(f"this processor has no {request.param}")
    yield request.param
    native.use_instruction_set(before)
