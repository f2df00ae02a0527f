"""Word vectors that a package keeps for several models: exact, checked, and the same with torch and without."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

import tiny
from heedful.errors import ArtifactError, DataError, UsageError
from heedful.export.describe import describe
from heedful.export.folder import export_folder
from heedful.models import ModelConfig
from heedful.runtime import load
from heedful.storage import shared_rows
from heedful.storage.manifest import CONFIG, MODEL_FILES, VOCABULARY, WEIGHTS, write_manifest
from heedful.storage.model_folder import load_model_folder, load_tensors
from heedful.storage.shared_rows import BASEFORMS, ROWS, SHARED, packaged_rows, read_rows, write_rows
from heedful.tasks import Predictor, TextSettings, build_network, load_model
from heedful.text.vectors import read_vectors, vector_format
from heedful.text.vocabulary import Vocabulary

NAME = "some-words"
WORDS = ("meal", "song", "naïve", "zebra")
EXTRA = ("naïve", "song", "zebra")
FORMS = {"songs": "song", "zebras": "zebra"}
"""What the words of the model have of the base forms."""
TEXTS = ["the film was dull", "naïve songs", "", "zebras xyzzy"]


def matrix(width: int = 48) -> np.ndarray:
    values = np.random.default_rng(5).integers(-100, 100, (len(WORDS), width)) * 0.003
    values[0, 0] = 128 * 0.003
    return values.astype(np.float32)


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write rows and let an installed package name them."""
    folder = tmp_path / "rows"
    folder.mkdir()
    write_rows(folder / ROWS, WORDS, matrix(), 0.003)
    (folder / BASEFORMS).write_text("songs\tsong\nmeals\tmeal\nfilm\tsong\nzebras\tzebra\n")
    monkeypatch.setattr(shared_rows, "packaged_rows", lambda name: folder if name == NAME else None)
    monkeypatch.setattr("heedful.export.folder.packaged_rows", shared_rows.packaged_rows)
    return folder


@pytest.fixture
def model(tmp_path: Path, rows: Path) -> Path:
    """Save a model with the rows at length 5, and export it without them."""
    frozen = matrix()[[WORDS.index(word) for word in EXTRA]]
    frozen *= 5 / np.linalg.norm(frozen, axis=1, keepdims=True)
    vocabulary = Vocabulary(("the", "film", "was", "dull", "a"), extra=EXTRA, baseforms=FORMS)
    config = ModelConfig(width=48, hidden=40, outputs=3)
    torch.manual_seed(2)
    network = build_network(config, torch.randn(7, 48), torch.from_numpy(frozen))
    Predictor(network, config, vocabulary, ("x", "y", "z"), TextSettings()).save(tmp_path / "whole")
    content = load_model_folder(tmp_path / "whole")
    export_folder(content, describe(network), tmp_path / "small", "int8", shared=NAME)
    return tmp_path / "small"


def test_multiples_of_the_step_are_kept_exactly(rows: Path) -> None:
    found = read_rows(rows / ROWS)
    assert found.words == WORDS
    assert np.abs(found.matrix - matrix())[1:].max() < 1e-6
    assert np.abs(found.matrix - matrix())[0].max() <= 0.0016
    codes, scale = found.of_length(EXTRA, 5.0)
    assert np.allclose(np.linalg.norm(codes * scale[:, None], axis=1), 5.0, atol=1e-4)


def test_they_are_read_as_word_vectors(rows: Path) -> None:
    assert vector_format(rows / ROWS) == "packed"
    found = read_vectors(rows / ROWS, ["song", "zebra", "other"])
    assert found.words == ("song", "zebra")
    assert np.abs(found.matrix - matrix()[[1, 3]]).max() < 1e-6


def test_the_folder_holds_no_frozen_rows_and_answers_as_the_whole(model: Path) -> None:
    assert not any("frozen" in name for name in load_tensors(model / WEIGHTS))
    assert json.loads((model / VOCABULARY).read_text())["baseforms"] == {}
    assert load_model_folder(model).vocabulary["baseforms"] == FORMS
    whole, small = load_model(model.with_name("whole")), load_model(model)
    assert isinstance(whole, Predictor)
    assert isinstance(small, Predictor)
    assert np.abs(whole.logits(TEXTS) - small.logits(TEXTS)).max() < 0.1
    assert np.abs(load(model).logits(TEXTS) - small.logits(TEXTS)).max() < 1e-3
    small.save(model.with_name("complete"))
    assert SHARED not in json.loads((model.with_name("complete") / CONFIG).read_text())


def test_without_the_package_the_message_says_what_to_install(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_rows, "packaged_rows", lambda name: None)
    for read in (load, load_model):
        with pytest.raises(
            ArtifactError, match=r"the package some-words, which is not installed. Install it"
        ):
            read(model)
    result = tiny.run("predict", model, "--text", "a song")
    assert (result.code, result.out) == (5, "")


@pytest.mark.parametrize("file", [ROWS, BASEFORMS])
def test_other_rows_are_refused(model: Path, rows: Path, file: str) -> None:
    (rows / file).write_bytes((rows / file).read_bytes() + b"\n")
    for read in (load, load_model):
        with pytest.raises(ArtifactError, match="SHA-256"):
            read(model)


@pytest.mark.parametrize(
    "table",
    [None, [], {"rows": NAME}, {"rows": NAME, "sha256": "0", "baseforms": "", "tensor": "x", "length": -1.0}],
)
def test_a_damaged_record_is_refused(model: Path, table: object) -> None:
    config = json.loads((model / CONFIG).read_text())
    (model / CONFIG).write_text(json.dumps({**config, SHARED: table}))
    write_manifest(model, MODEL_FILES)
    for read in (load, load_model):
        with pytest.raises(ArtifactError, match="shared: expected rows, sha256, baseforms, tensor, length"):
            read(model)


def test_a_word_that_the_rows_lack_is_named(rows: Path) -> None:
    with pytest.raises(UsageError, match="no word 'other'"):
        read_rows(rows / ROWS).of_length(["song", "other"], 5.0)


def test_rows_of_another_model_are_not_left_out(tmp_path: Path, rows: Path) -> None:
    vocabulary, config = Vocabulary(("the",), extra=EXTRA), ModelConfig(width=48, hidden=40, outputs=2)
    network = build_network(config, torch.randn(3, 48), torch.randn(3, 48))
    Predictor(network, config, vocabulary, ("x", "y"), TextSettings()).save(tmp_path / "other")
    with pytest.raises(UsageError, match="are not the rows of 'some-words'"):
        export_folder(load_model_folder(tmp_path / "other"), {}, tmp_path / "out", "int8", shared=NAME)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "changed",
    [
        {"codes": None},
        {"codes": np.zeros((2, 2), np.float32)},
        {"codes": np.zeros(2, np.int8)},
        {"scale": np.ones(3, np.float32)},
        {"scale": np.full(2, np.nan, np.float32)},
        {"words": np.frombuffer(b"a", np.uint8)},
        {"words": np.frombuffer(b"a\na", np.uint8)},
        {"words": np.frombuffer(b"a\n\xff", np.uint8)},
        {"further": np.zeros(2, np.int8)},
    ],
)
def test_a_file_that_is_something_else_is_refused(tmp_path: Path, changed: dict[str, Any]) -> None:
    good = {
        "codes": np.ones((2, 2), np.int8),
        "scale": np.ones(2, np.float32),
        "words": np.frombuffer(b"a\nb", np.uint8),
    }
    save_file(good, tmp_path / "good")
    assert read_vectors(tmp_path / "good").words == ("a", "b")
    save_file({name: x for name, x in {**good, **changed}.items() if x is not None}, tmp_path / "file")
    with pytest.raises(DataError, match="file"):
        read_vectors(tmp_path / "file")


@pytest.mark.parametrize("damage", [lambda file: file.unlink(), lambda file: file.write_bytes(b"a\tb\n")])
def test_a_file_that_the_package_says_otherwise_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: Callable[[Path], object]
) -> None:
    for name in (ROWS, BASEFORMS):
        (tmp_path / name).write_bytes(b"a\tb\nc\td\n")
    write_manifest(tmp_path, (ROWS, BASEFORMS))
    monkeypatch.setattr(shared_rows, "installed_folder", lambda *_: tmp_path)
    monkeypatch.setattr("heedful.storage.manifest.in_package", lambda folder: folder == tmp_path)
    damage(tmp_path / BASEFORMS)
    with pytest.raises(ArtifactError, match=r"baseforms\.tsv: .* belongs to an installed package"):
        packaged_rows(NAME)


def test_a_name_that_no_package_has(monkeypatch: pytest.MonkeyPatch) -> None:
    assert packaged_rows("nobody-has-this") is None
    monkeypatch.setattr("heedful.storage.installed.entry_points", list)
    assert packaged_rows("heedful-en") is None
