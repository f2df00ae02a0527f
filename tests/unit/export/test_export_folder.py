"""Folders for the runtime in smaller numbers, and the command that writes them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import tiny
from heedful.errors import UsageError
from heedful.models import ModelConfig
from heedful.runtime import kernels, load
from heedful.runtime.weights import Weights
from heedful.storage.manifest import VOCABULARY, WEIGHTS
from heedful.tasks import Predictor, TextSettings, build_network, load_model
from heedful.text.vocabulary import Vocabulary

TEXTS = ["the film was dull", "", "a superb song xyzzy", "film " * 50]
ENCODERS = ("disan", "mtsa", "mssan", "mdman", "bi-lstm", "cnn")


def saved(path: Path, **settings: object) -> Predictor:
    words = ("the", "film", "was", "dull", "a", "superb")
    vocabulary = Vocabulary(words, extra=("song", "meal"))
    config = ModelConfig(**{"width": 48, "hidden": 40, "outputs": 3, **settings})  # type: ignore[arg-type]
    torch.manual_seed(2)
    network = build_network(config, torch.randn(8, 48), torch.randn(2, 48))
    made = Predictor(network, config, vocabulary, ("x", "y", "z"), TextSettings())
    made.save(path)
    return made


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("numbers", ["int8", "float16", "float32"])
def test_a_smaller_folder_answers_nearly_the_same(tmp_path: Path, encoder: str, numbers: str) -> None:
    made = saved(tmp_path / "model", encoder=encoder)
    result = tiny.run("export", tmp_path / "model", f"--{numbers}", tmp_path / "small")
    assert result.code == 0, result.err
    model = load(tmp_path / "small")
    wanted, found = made.logits(TEXTS), model.logits(TEXTS)
    near = {"float32": 2e-6, "float16": 3e-3, "int8": 5e-2}[numbers]
    assert np.abs(wanted - found).max() <= near * max(1, np.abs(wanted).max())
    assert np.abs(wanted - found).max() > 0
    assert (model.logits(TEXTS[:1])[0] == found[0]).all()
    before, after = ((tmp_path / name / WEIGHTS).stat().st_size for name in ("model", "small"))
    assert after < {"float32": 1.2, "float16": 0.65, "int8": 0.45}[numbers] * before


@pytest.mark.parametrize("numbers", ["int8", "float16"])
def test_with_and_without_kernels(tmp_path: Path, numbers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(tmp_path / "model")
    assert tiny.run("export", tmp_path / "model", f"--{numbers}", tmp_path / "small").code == 0
    compiled = load(tmp_path / "small").logits(TEXTS)
    monkeypatch.setattr(kernels, "LIBRARY", None)
    assert np.abs(load(tmp_path / "small").logits(TEXTS) - compiled).max() <= 2e-6 * max(
        1, np.abs(compiled).max()
    )


def test_rows_of_whole_numbers_are_within_half_a_step(tmp_path: Path) -> None:
    made = saved(tmp_path / "model")
    assert tiny.run("export", tmp_path / "model", "--int8", tmp_path / "small").code == 0
    weights = Weights(tmp_path / "small" / WEIGHTS)
    kinds = {name: weights.raw(name).dtype for name in made.network.state_dict()}
    assert {str(kind) for kind in kinds.values()} == {"int8", "float32"}
    for name, tensor in made.network.state_dict().items():
        exact = tensor.float().numpy()
        step = np.abs(exact).max(axis=-1, keepdims=True) / 127 if exact.ndim == 2 else 0
        assert (np.abs(weights.floats(name) - exact) <= 0.501 * step).all()


def test_a_model_that_the_runtime_cannot_run_gets_a_folder_for_heedful(tmp_path: Path) -> None:
    made = saved(tmp_path / "model", encoder="resan")
    result = tiny.run("export", tmp_path / "model", "--int8", tmp_path / "small")
    assert result.code == 0
    assert "for heedful alone" in result.out
    assert "ResanEncoder" in result.out
    with pytest.raises(UsageError, match="the runtime cannot run this model"):
        load(tmp_path / "small")
    model = load_model(tmp_path / "small")
    assert isinstance(model, Predictor)
    wanted, found = made.logits(TEXTS), model.logits(TEXTS)
    assert 0 < np.abs(wanted - found).max() <= 5e-2 * max(1, np.abs(wanted).max())


def test_what_cannot_be_exported_leaves_nothing(tmp_path: Path) -> None:
    saved(tmp_path / "model", encoder="resan")
    result = tiny.run(
        "export", tmp_path / "model", "--int8", tmp_path / "small", "--page", tmp_path / "page.html"
    )
    assert (result.code, result.out) == (2, "")
    assert "ResanEncoder" in result.err
    assert not (tmp_path / "small").exists()
    assert not (tmp_path / "page.html").exists()


def test_mistakes_of_the_command(tmp_path: Path) -> None:
    made = saved(tmp_path / "model")
    (tmp_path / "file").write_text("")
    for arguments, code in (
        ((tmp_path / "model",), 2),
        ((tmp_path / "model", "--int8", tmp_path / "model"), 2),
        ((tmp_path / "nothing", "--int8", tmp_path / "small"), 5),
        ((tmp_path / "model", "--int8", tmp_path / "file"), 6),
    ):
        assert tiny.run("export", *arguments).code == code, arguments
    model = load_model(tmp_path / "model")
    assert isinstance(model, Predictor)
    assert (made.logits(TEXTS) == model.logits(TEXTS)).all()


def test_a_number_that_float16_cannot_hold(tmp_path: Path) -> None:
    made = saved(tmp_path / "model")
    with torch.no_grad():
        made.network.head.output.weight[0, 0] = 1e6  # type: ignore[union-attr, index]
    made.save(tmp_path / "model")
    result = tiny.run("export", tmp_path / "model", "--float16", tmp_path / "small")
    assert result.code == 2
    assert "head.output.weight" in result.err
    assert not (tmp_path / "small").exists()


@pytest.mark.parametrize("numbers", ["int8", "float16", "float32"])
def test_smaller_numbers_come_with_a_compressed_vocabulary(tmp_path: Path, numbers: str) -> None:
    words = Vocabulary(tuple(f"word{n}" for n in range(500)), ("song",), {"songs": "song"})
    config = ModelConfig(width=8, hidden=8, outputs=3)
    network = build_network(config, torch.randn(words.trainable_rows, 8), torch.randn(1, 8))
    made = Predictor(network, config, words, ("x", "y", "z"), TextSettings())
    made.save(tmp_path / "model")
    assert tiny.run("export", tmp_path / "model", f"--{numbers}", tmp_path / "small").code == 0
    plain, small = ((tmp_path / name / VOCABULARY).stat().st_size for name in ("model", "small"))
    assert small == plain if numbers == "float32" else small < plain / 2
    for found in (load(tmp_path / "small").reading.vocabulary, load_model(tmp_path / "small").vocabulary):
        assert found == words
    assert tiny.run("export", tmp_path / "small", "--page", tmp_path / "page.html").code == 0
