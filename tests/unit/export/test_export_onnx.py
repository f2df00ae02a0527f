"""The command that writes ONNX files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import tiny
from heedful.export import onnx_check
from heedful.export.onnx_inputs import padded_rows
from heedful.models import ModelConfig
from heedful.runtime import load
from heedful.tasks import Predictor, TagsModel, TextSettings, build_network
from heedful.text.tokenize import tokenizer
from heedful.text.unknown_words import NgramRule
from heedful.text.vocabulary import Vocabulary
from onnx_sessions import open_session

onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")
pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
TEXTS = ["The film was dull", "", "a superb song xyzzy", "film " * 50]


def saved(path: Path, **settings: Any) -> Predictor:
    vocabulary = Vocabulary(("the", "film", "was", "dull", "a", "superb"), extra=("song", "meal"))
    config = ModelConfig(**{"width": 20, "hidden": 10, "outputs": 3, **settings})
    torch.manual_seed(2)
    network = build_network(config, torch.randn(8, 20), torch.randn(2, 20))
    made = Predictor(network, config, vocabulary, ("x", "y", "z"), TextSettings())
    made.save(path)
    return made


def test_a_stranger_can_predict_from_the_file_alone(tmp_path: Path) -> None:
    """Words, labels and temperature come from the metadata; nothing of heedful but the tokenizer is used."""
    made = saved(tmp_path / "model")
    result = tiny.run("export", tmp_path / "model", "--onnx", tmp_path / "model.onnx", "--check")
    assert result.code == 0, result.err
    assert "64 random batches" in result.out
    session = open_session(tmp_path / "model.onnx")
    about = session.get_modelmeta().custom_metadata_map
    words = json.loads(about["vocabulary"])
    rows = {word: row for row, word in enumerate([*words["trainable"], *words["extra"]], start=2)}
    cut = tokenizer(about["tokenizer"]).words
    column = [[rows.get(word.lower(), 1) for word in cut(text)] for text in TEXTS]
    ids = np.zeros((len(column), max(map(len, column))), np.int64)
    for row, each in enumerate(column):
        ids[row, : len(each)] = each
    shares, vectors = session.run(["probabilities", "vector"], {"ids": ids})
    labels = json.loads(about["labels"])
    for row, answer in zip(shares, made.answer(TEXTS), strict=True):
        assert labels[int(row.argmax())] == answer.label
        assert row.tolist() == pytest.approx(list(answer.probabilities.values()), abs=1e-5)
    assert np.abs(vectors - load(tmp_path / "model").encode(TEXTS)).max() <= 1e-5


@pytest.mark.parametrize("encoder", ["disan", "bi-lstm", "mtsa"])
def test_tags_of_words(tmp_path: Path, encoder: str) -> None:
    """A row of logits for each word, and those of padding are nobody's."""
    config = ModelConfig(task="tags", width=20, hidden=12, outputs=3, encoder=encoder)
    torch.manual_seed(2)
    network = build_network(config, torch.randn(6, 20))
    words = Vocabulary(("the", "film", "was", "dull"))
    TagsModel(network, config, words, ("A", "B", "O"), TextSettings()).save(tmp_path / "model")
    result = tiny.run("export", tmp_path / "model", "--onnx", tmp_path / "model.onnx", "--check")
    assert result.code == 0, result.err
    session = open_session(tmp_path / "model.onnx")
    logits, tags = session.run(["logits", "tags"], {"ids": np.array([[2, 3, 0, 0], [1, 4, 5, 2]])})
    assert tags.shape == (2, 4)
    model = load(tmp_path / "model")
    assert np.abs(logits[0, :2] - model.logits(["the film"])).max() <= 1e-5
    assert np.abs(logits[1] - model.logits(["xyzzy was dull the"])).max() <= 1e-5


def test_only_plain_operators_of_the_stated_opset(tmp_path: Path) -> None:
    saved(tmp_path / "model", task="pair", encoder="mtsa")
    assert tiny.run("export", tmp_path / "model", "--onnx", tmp_path / "model.onnx").code == 0
    model = onnx.load(tmp_path / "model.onnx")
    assert [(each.domain, each.version) for each in model.opset_import] == [("", 18)]
    assert not model.functions
    assert [each.name for each in model.graph.input] == ["first_ids", "second_ids"]
    assert all(
        not dim.HasField("dim_value") for each in model.graph.input for dim in each.type.tensor_type.shape.dim
    )


def test_a_file_that_differs_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from heedful.export import onnx_rows

    saved(tmp_path / "model")
    emit = onnx_rows.EMITTERS["mix"]
    monkeypatch.setitem(onnx_rows.EMITTERS, "mix", lambda graph, step, g, x, y: emit(graph, step, g, y, x))
    (tmp_path / "model.onnx").write_text("the old one")
    result = tiny.run("export", tmp_path / "model", "--onnx", tmp_path / "model.onnx", "--check")
    assert (result.code, result.out) == (1, "")
    assert (tmp_path / "model.onnx").read_text() == "the old one"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            {"encoder": "mssan", "encoder_options": {"positions": "relative", "heads": ["none"] * 4}},
            "model.encoder_options.positions",
        ),
        ({"encoder": "resan"}, "model.encoder"),
        ({"encoder": "disan", "encoder_options": {"masks": ["parent"]}}, "parent"),
    ],
)
def test_what_cannot_be_exported_is_named(tmp_path: Path, settings: dict[str, Any], said: str) -> None:
    saved(tmp_path / "model", **settings)
    result = tiny.run("export", tmp_path / "model", "--onnx", tmp_path / "model.onnx")
    assert (result.code, result.out) == (2, "")
    assert said in result.err
    assert not (tmp_path / "model.onnx").exists()


def test_the_batches_hold_what_is_promised() -> None:
    generator = np.random.default_rng(0)
    lengths = [
        onnx_check.lengths_of(generator, number, 2, 400).flatten().tolist()
        for number in range(onnx_check.BATCHES)
    ]
    assert sum(0 in each for each in lengths) >= 16
    assert sum(400 in each for each in lengths) >= 4


def test_mistakes_of_the_command(tmp_path: Path) -> None:
    saved(tmp_path / "model")
    assert tiny.run("export", tmp_path / "model", "--check", "--int8", tmp_path / "small").code == 2
    assert not (tmp_path / "small").exists()
    assert (
        tiny.run("export", tmp_path / "model", "--onnx", tmp_path / "model" / "labels.json" / "x.onnx").code
        == 6
    )


def test_ngrams_are_an_input(tmp_path: Path) -> None:
    vocabulary = Vocabulary(("film", "dull"), ngrams=NgramRule(rows=50))
    config = ModelConfig(width=20, hidden=8, outputs=2)
    network = build_network(config, torch.randn(4, 20), ngrams=torch.randn(50, 20))
    Predictor(network, config, vocabulary, ("a", "b"), TextSettings()).save(tmp_path / "model")
    result = tiny.run("export", tmp_path / "model", "--onnx", tmp_path / "model.onnx", "--check")
    assert (result.code, (tmp_path / "model.onnx").exists()) == (0, True), result.err
    session = open_session(tmp_path / "model.onnx")
    assert [each.name for each in session.get_inputs()] == ["ids", "ngrams"]
    assert [each.name for each in session.get_outputs()] == ["logits", "vector", "probabilities"]
    rows = [vocabulary.rows_of_ngrams(word).tolist() for word in ("film", "xyzzy")]
    (logits,) = session.run(["logits"], {"ids": np.array([[2, 1]]), "ngrams": padded_rows([rows])})
    assert np.abs(logits - load(tmp_path / "model").logits(["film xyzzy"])).max() <= 1e-5
