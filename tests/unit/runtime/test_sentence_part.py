"""A sentence part beside a network: kept in a folder, added with torch and without, and what is wrong with it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import tiny
from heedful.errors import ArtifactError, UsageError
from heedful.explain.explainer import explain
from heedful.models import ModelConfig
from heedful.runtime import load
from heedful.runtime.model_parts import NO_PARTS
from heedful.runtime.pair_features import ExampleFeatures
from heedful.runtime.sentence_features import MeanOfVectors
from heedful.runtime.sentence_part import SentencePart
from heedful.storage.manifest import CONFIG, MODEL_FILES, write_manifest
from heedful.storage.shared_rows import SharedRows
from heedful.tasks import TextSettings, build_network, load_model, task_named
from heedful.text.vocabulary import Vocabulary

WORDS = ("the", "film", "was", "dull", "fine", "plot")
OWN = MeanOfVectors(
    SharedRows(WORDS[1:], np.arange(-10, 10, dtype=np.int8).reshape(5, 4), np.full(5, 0.1, np.float32)),
    "films\tfilm\n",
)
TEXTS = ["The films was dull", "", "unseen", "a fine plot " * 20]
LABELS = {"text": ("a", "b", "c"), "pair": ("a", "b", "c"), "labels": ("a", "b", "c"), "relatedness": (), "number": (),
          "pair-number": ()}  # fmt: skip


def part_of(task: str, texts: MeanOfVectors = OWN, outputs: int = 3) -> SentencePart:
    pairing = {"pair": "ordered", "relatedness": "symmetric", "pair-number": "symmetric"}.get(task, "none")
    features = ExampleFeatures(texts, pairing)  # type: ignore[arg-type]
    weights = np.random.default_rng(5).standard_normal((features.width, outputs)).astype(np.float32)
    return SentencePart(features, weights, np.arange(outputs, dtype=np.float32), 0.7)


def saved(path: Path, task: str = "text", texts: MeanOfVectors = OWN) -> Path:
    outputs = 1 if "number" in task else 3
    config = ModelConfig(task=task, width=8, hidden=6, outputs=outputs, encoder="embedding")
    torch.manual_seed(3)
    network = build_network(config, torch.randn(8, 8), torch.randn(0, 8))
    made = task_named(task).model_type(network, config, Vocabulary(WORDS), LABELS[task], TextSettings())
    made.about = replace(made.about, sentence=part_of(task, texts, outputs))
    made.text = replace(made.text, keeps_words=True)
    made.save(path)
    return path


def requests_of(task: str) -> list[Any]:
    if task in ("text", "labels", "number"):
        return TEXTS
    return [(one, other) for one in TEXTS for other in TEXTS]


def test_logits_by_hand() -> None:
    part = part_of("text")
    assert part.outputs == 3
    found = part.of_words([[["films", "dull"]], [[]]])
    x = OWN.of([["films", "dull"]])[0].astype(np.float64)
    assert found[0] == pytest.approx(0.7 * (x @ part.weights + part.bias), abs=1e-6)
    assert found[1] == pytest.approx(0.7 * part.bias, abs=1e-7)
    assert part.weighing(0.0).of_words([[["dull"]]]).tolist() == [[0, 0, 0]]


@pytest.mark.parametrize("task", LABELS)
def test_it_is_added_with_torch_and_without_and_survives_a_folder(task: str, tmp_path: Path) -> None:
    path = saved(tmp_path / "model", task)
    slow, fast = load_model(path), load(path)
    requests = requests_of(task)
    wanted, found = slow.logits(requests), fast.logits(requests)
    assert np.abs(wanted - found).max() <= 1e-5
    bare = type(fast)(fast.reading, fast.program, fast.decision, NO_PARTS, fast.threads, fast.metrics)
    assert np.abs(found - bare.logits(requests)).max() > 0.1
    slow.save(tmp_path / "again")
    assert (tmp_path / "again" / "weights.safetensors").read_bytes() == (
        path / "weights.safetensors"
    ).read_bytes()
    assert load_model(tmp_path / "again").logits(requests).tobytes() == wanted.tobytes()


@pytest.mark.english
def test_rows_of_a_package_are_left_to_it_or_kept(tmp_path: Path) -> None:
    packaged = MeanOfVectors.packaged("heedful-en")
    path = saved(tmp_path / "model", texts=packaged)
    config = json.loads((path / CONFIG).read_text())
    assert config["sentence"]["texts"]["sha256"] == packaged.origin.sha256
    assert (path / "weights.safetensors").stat().st_size < 10_000
    made = load_model(path)
    wanted = load(path).logits(TEXTS)
    made.complete().save(tmp_path / "complete")
    whole = load(tmp_path / "complete")
    assert (tmp_path / "complete" / "weights.safetensors").stat().st_size > 10_000_000
    assert whole.logits(TEXTS).tobytes() == wanted.tobytes()


@pytest.mark.parametrize("numbers", ["--int8", "--float16", "--float32"])
def test_smaller_numbers_leave_the_part_as_it_is(numbers: str, tmp_path: Path) -> None:
    path = saved(tmp_path / "model")
    assert tiny.run("export", path, numbers, tmp_path / "small").code == 0
    small, large = load(tmp_path / "small").parts.sentence, load(path).parts.sentence
    assert small is not None
    assert large is not None
    assert small.of_words([[["films", "dull"]]]).tobytes() == large.of_words([[["films", "dull"]]]).tobytes()
    assert load_model(tmp_path / "small").answer(TEXTS)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"weight": "much"}, "sentence"),
        ({"weight": -1.0}, "weight"),
        ({"pairing": "symmetric"}, "do not fit"),
        ({"pairing": "none of these"}, "pairing"),
        ({"texts": {"kind": "median"}}, "mean"),
        ({"texts": {"kind": "mean", "name": "heedful-xx", "sha256": "1", "baseforms": "2"}}, "heedful-xx"),
        pytest.param(
            {"texts": {"kind": "mean", "name": "heedful-en", "sha256": "1", "baseforms": "2"}},
            "version",
            marks=pytest.mark.english,
        ),
        ({"further": 1}, "sentence"),
    ],
)
def test_what_is_wrong_in_a_folder_is_named_in_a_line(
    change: dict[str, Any], said: str, tmp_path: Path
) -> None:
    path = saved(tmp_path / "model")
    config = json.loads((path / CONFIG).read_text())
    config["sentence"] |= change
    (path / CONFIG).write_text(json.dumps(config))
    write_manifest(path, MODEL_FILES)
    for read in (load, load_model):
        with pytest.raises(ArtifactError, match=said) as caught:
            read(path)
        assert "\n" not in str(caught.value)


def test_numbers_that_do_not_fit_are_refused() -> None:
    part = part_of("text")
    for change, said in (
        ({"weights": part.weights[:-1]}, "do not fit"),
        ({"bias": np.array([0, np.nan, 0], np.float32)}, "finite"),
        ({"weight": np.inf}, "weight"),
    ):
        with pytest.raises(UsageError, match=said):
            replace(part, **change)  # type: ignore[arg-type]


def test_a_model_with_a_part_refuses_texts_that_were_encoded_without_words(tmp_path: Path) -> None:
    made = load_model(saved(tmp_path / "model"))
    made.text = replace(made.text, keeps_words=False)
    with pytest.raises(UsageError, match="sentence part"):
        made.answer(TEXTS)


def test_a_word_that_the_part_has_a_vector_of_is_known_with_torch_and_without(tmp_path: Path) -> None:
    rows = SharedRows(("epic",), np.array([[50, -3, 7, 9]], np.int8), np.ones(1, np.float32))
    path = saved(tmp_path / "model", texts=MeanOfVectors(rows))
    text = "the Epic film bored zzz"
    slow, fast = load_model(path), load(path)
    assert [answer.unknown for answer in (*slow.answer([text]), *fast.predict([text]))] == [2, 2]
    for explanation in (slow.explain(text), explain(fast, text)):
        assert explanation.sides[0].unknown == (False, False, False, True, True)
