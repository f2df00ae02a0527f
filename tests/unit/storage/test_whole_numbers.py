"""Matrices in 8 bits: what comes back, and a folder of them that every command reads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import heedful
import tiny
from heedful.errors import ArtifactError, UsageError
from heedful.storage.manifest import MODEL_FILES, SCALE, WEIGHTS, write_manifest
from heedful.storage.model_folder import load_model_folder, load_tensors, restored, rounded, save_tensors

TEXTS, LABELS = zip(*tiny.texts()[:80], strict=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "model"
    heedful.TextClassifier(model__width=16, model__hidden=16, train__epochs=2).fit(
        TEXTS, LABELS
    ).save_pretrained(path)
    assert tiny.run("export", path, "--int8", path.with_name("small")).code == 0
    return path


def test_every_row_comes_back_within_half_a_step() -> None:
    state = {"matrix": torch.randn(7, 5) * torch.logspace(-3, 3, 7)[:, None], "bias": torch.randn(5)}
    state["matrix"][2] = 0
    found = restored(rounded(state))
    assert found.keys() == state.keys()
    assert (found["bias"] == state["bias"]).all()
    step = state["matrix"].abs().amax(1, keepdim=True) / 127
    assert ((found["matrix"] - state["matrix"]).abs() <= 0.501 * step).all()
    assert (found["matrix"][2] == 0).all()


def test_what_is_not_rounded_stays() -> None:
    state = {
        "real": torch.randn(3, 2),
        "ids": torch.ones(3, 2, dtype=torch.int8),
        "wide.numbers": torch.arange(3),
    }
    assert restored(state) == state


@pytest.mark.parametrize("scale", [torch.ones(2), torch.ones(3, 1), torch.ones(3, dtype=torch.int32)])
def test_scales_that_are_not_one_a_row(scale: torch.Tensor) -> None:
    with pytest.raises(UsageError, match="one a row"):
        restored({"matrix": torch.ones(3, 2, dtype=torch.int8), "matrix" + SCALE: scale})


def test_torch_and_the_runtime_read_the_same_folder(folder: Path) -> None:
    small = folder.with_name("small")
    exact, found = heedful.from_pretrained(folder), heedful.from_pretrained(small)
    wanted = heedful.runtime.load(small)
    probabilities = wanted.probabilities(wanted.logits(TEXTS))
    assert np.abs(found.predict_proba(TEXTS) - probabilities).max() < 1e-5
    assert 0 < np.abs(found.predict_proba(TEXTS) - exact.predict_proba(TEXTS)).max() < 0.1
    assert TEXTS[0].split()[0] in found.explain(TEXTS[0]).to_text()


def test_a_folder_in_8_bits_is_saved_and_exported_again(folder: Path, tmp_path: Path) -> None:
    small = folder.with_name("small")
    model = heedful.from_pretrained(small)
    model.save_pretrained(tmp_path / "again")
    assert all(x.dtype != torch.int8 for x in load_tensors(tmp_path / "again" / WEIGHTS).values())
    assert tiny.run("export", small, "--int8", tmp_path / "smaller").code == 0
    again = heedful.from_pretrained(tmp_path / "smaller")
    assert np.abs(again.predict_proba(TEXTS) - model.predict_proba(TEXTS)).max() < 1e-3


def test_a_folder_with_wrong_scales_is_refused(folder: Path, tmp_path: Path) -> None:
    assert tiny.run("export", folder, "--int8", tmp_path / "small").code == 0
    tensors = load_tensors(tmp_path / "small" / WEIGHTS)
    name = next(name for name in tensors if name.endswith(SCALE))
    save_tensors(tmp_path / "small" / WEIGHTS, {**tensors, name: tensors[name][1:]})
    write_manifest(tmp_path / "small", MODEL_FILES)
    with pytest.raises(ArtifactError, match="one a row"):
        load_model_folder(tmp_path / "small")
