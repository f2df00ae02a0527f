"""The most telling hostile model folders; ``tests/trials`` has them all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from heedful.errors import ArtifactError
from heedful.models import ModelConfig
from heedful.storage.manifest import MANIFEST, MODEL_FILES, write_manifest
from heedful.storage.model_folder import CONFIG, LABELS, VOCABULARY, WEIGHTS
from heedful.tasks import Predictor, TextSettings, build_network, load_model
from heedful.text.vocabulary import Vocabulary
from tiny import run

TABLE = "sentence_encoder.embedding.weight"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    words = Vocabulary(("film", "dull", "superb", "."))
    model = ModelConfig(width=8, hidden=8, outputs=2)
    network = build_network(model, torch.randn(6, 8))
    Predictor(network, model, words, ("good", "bad"), TextSettings()).save(tmp_path / "model")
    return tmp_path / "model"


def change(folder: Path, file: str, edit: Callable[[Any], Any]) -> None:
    content = edit(json.loads((folder / file).read_text()))
    (folder / file).write_text(json.dumps(content))
    write_manifest(folder, MODEL_FILES)


def table(name: str, **values: Any) -> Callable[[Any], Any]:
    return lambda config: {**config, name: {**config[name], **values}}


@pytest.mark.parametrize(
    ("file", "edit", "named"),
    [
        (CONFIG, table("model", hidden=10**9), WEIGHTS),
        (CONFIG, table("model", hidden=10**30), "model.hidden"),
        (CONFIG, table("model", encoder="transformer", encoder_options={"layers": 10**9}), "layers"),
        (CONFIG, table("model", task=["text"]), "model.task"),
        (CONFIG, table("model", encoder_options=[1]), "model.encoder_options"),
        (CONFIG, table("text", max_tokens=10**30), "text.max_tokens"),
        (CONFIG, table("text", eval_size=0), "eval_size"),
        (CONFIG, table("text", tokenizer=3), "text.tokenizer"),
        (CONFIG, table("text", parser="nothing"), "text.parser"),
        (CONFIG, lambda config: {**config, "model": 3}, "model"),
        (CONFIG, lambda config: {"text": {}, "run": {}}, "model: missing"),
        (CONFIG, lambda config: {**config, "temperature": 1e-320}, "temperature"),
        (CONFIG, lambda config: {**config, "run": {"data": []}}, "run.data"),
        (LABELS, lambda labels: ["good", "good"], LABELS),
        (LABELS, lambda labels: ["good"], LABELS),
        (VOCABULARY, lambda words: {**words, "oov": "hash", "buckets": 10**12}, "frozen"),
        (VOCABULARY, lambda words: {**words, "trainable": [*words["trainable"], "more"]}, TABLE),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    folder: Path, file: str, edit: Callable[[Any], Any], named: str
) -> None:
    change(folder, file, edit)
    with pytest.raises(ArtifactError) as caught:
        load_model(folder)
    assert file in str(caught.value)
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["int32", "float8_e4m3fn", "complex64"])
def test_weights_of_another_kind_are_refused(folder: Path, kind: str) -> None:
    state = load_file(folder / WEIGHTS)
    try:
        save_file({**state, TABLE: state[TABLE].to(getattr(torch, kind))}, folder / WEIGHTS)
    except KeyError:
        pytest.skip(f"this safetensors writes no {kind}, as 0.5 no complex numbers")
    write_manifest(folder, MODEL_FILES)
    with pytest.raises(ArtifactError, match=f"{TABLE!r}.*{kind}.*float32"):
        load_model(folder)


def test_real_numbers_of_another_precision_are_read(folder: Path) -> None:
    expected = load_model(folder).answer(["superb film"])
    state = load_file(folder / WEIGHTS)
    save_file({name: tensor.double() for name, tensor in state.items()}, folder / WEIGHTS)
    write_manifest(folder, MODEL_FILES)
    assert load_model(folder).answer(["superb film"]) == expected


def test_a_prediction_that_is_no_number_is_refused(folder: Path, tmp_path: Path) -> None:
    state = load_file(folder / WEIGHTS)
    huge = {n: torch.full_like(t, 3e38) if t.dtype == torch.float32 else t for n, t in state.items()}
    save_file(huge, folder / WEIGHTS)
    write_manifest(folder, MODEL_FILES)
    for verb in ("predict", "encode", "explain"):
        ended = run(verb, folder, "--text", "superb film")
        assert ended.code == 5, (verb, ended)
        assert "not finite" in ended.err.splitlines()[-1], verb
    gold = tmp_path / "gold.csv"
    gold.write_text("text,label\nsuperb film,good\ndull film,bad\n", encoding="utf-8")
    evaluated = run("evaluate", folder, gold)
    assert evaluated.code == 5, evaluated
    assert "not finite" in evaluated.err.splitlines()[-1]
    for door, name in (
        ("--int8", "small"),
        ("--float32", "same"),
        ("--page", "p.html"),
        ("--onnx", "m.onnx"),
    ):
        ended = run("export", folder, door, tmp_path / name)
        assert ended.code == 5, (door, ended)
        assert "not finite" in ended.err.splitlines()[-1], door
        assert not (tmp_path / name).exists()


def test_one_number_that_is_too_large_is_refused_at_every_door(folder: Path, tmp_path: Path) -> None:
    state = load_file(folder / WEIGHTS)
    name = next(name for name, tensor in state.items() if tensor.dtype == torch.float32)
    state[name].view(-1)[0] = -2e30
    save_file(state, folder / WEIGHTS)
    write_manifest(folder, MODEL_FILES)
    for words in (("predict", folder, "film"), ("export", folder, "--int8", tmp_path / "small")):
        ended = run(*words)
        assert ended.code == 5
        assert f"{name!r} holds values that are not finite, or above 1e30" in ended.err


@pytest.mark.parametrize("version", [True, 1.0])
def test_a_version_is_a_whole_number(folder: Path, version: object) -> None:
    manifest = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(json.dumps({**manifest, "format_version": version}, indent=1) + "\n")
    with pytest.raises(ArtifactError, match="format_version"):
        load_model(folder)


def test_a_temperature_may_be_a_whole_number(folder: Path) -> None:
    change(folder, CONFIG, lambda config: {**config, "temperature": 2})
    assert load_model(folder).about.temperature == 2.0
