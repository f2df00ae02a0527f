"""A saved folder, read without torch: the same answers, and the same refusals."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import whole_models
from heedful.errors import ArtifactError, DataError, HeedfulError, UsageError
from heedful.model.decisions import KINDS
from heedful.models import ModelConfig
from heedful.runtime import load
from heedful.storage.manifest import (
    CONFIG,
    LABELS,
    MANIFEST,
    MODEL_FILES,
    VOCABULARY,
    WEIGHTS,
    write_json,
    write_manifest,
)
from heedful.storage.model_folder import load_tensors, save_tensors
from heedful.tasks import Predictor, SentenceModel, TextSettings, build_network, load_model
from heedful.text.unknown_words import NgramRule
from heedful.text.vocabulary import Vocabulary

TEXTS = ["The film was dull .", "", "Superb films, a song!", "xyzzy", "it is " * 60]
PAIRS = list(zip(TEXTS, reversed(TEXTS), strict=True))
TOLERANCE = 2e-6


def of_task(task: str, **settings: Any) -> dict[str, Any]:
    return {"task": task, **settings, **({"outputs": 1} if task.endswith("number") else {})}


@pytest.mark.parametrize("task", [task for task in KINDS if task not in ("tags", "vector")])
@pytest.mark.parametrize("encoder", ["disan", "mtsa", "mssan", "bi-lstm", "cnn", "embedding"])
def test_the_answers_are_heedfuls(saved: Any, task: str, encoder: str) -> None:
    made, path = saved(of_task(task, encoder=encoder))
    made.about = replace(made.about, temperature=1.7)
    made.save(path)
    requests = PAIRS if made.is_pair else TEXTS
    model = load(path)
    for wanted, found in zip(made.answer(requests), model.predict(requests), strict=True):
        mine, theirs = wanted.as_dict(), found.as_dict()
        assert type(wanted) is type(found)
        for name in {"probabilities", "score"} & set(mine):
            assert mine.pop(name) == pytest.approx(theirs.pop(name), abs=TOLERANCE)
        assert mine == theirs
        assert wanted.remarks == found.remarks
    assert np.abs(made.logits(requests) - model.logits(requests)).max() <= TOLERANCE
    assert np.abs(made.encode(TEXTS) - model.encode(TEXTS)).max() <= TOLERANCE


@pytest.mark.parametrize("encoder", ["disan", "mtsa", "mssan", "bi-lstm", "cnn"])
def test_company_changes_no_bit(saved: Any, encoder: str) -> None:
    model = load(saved({"task": "pair", "encoder": encoder})[1])
    together = model.logits(PAIRS * 3)
    for row, pair in enumerate(PAIRS):
        assert (model.logits([pair])[0] == together[row]).all()
        assert (together[row] == together[row + 2 * len(PAIRS)]).all()
    assert (model.encode(TEXTS)[::-1] == model.encode(TEXTS[::-1])).all()


def test_a_text_that_is_too_long(saved: Any) -> None:
    made, path = saved(max_tokens=4)
    model = load(path)
    for ask in (made.answer, lambda texts: list(model.predict(texts))):
        with pytest.raises(DataError, match=r"row 2, text: 5 tokens, at most max_tokens = 4"):
            ask(["film", "a b c d e"])
    cut = next(model.limited(truncate="head").predict(["a b c d e"]))
    assert (cut.tokens, cut.truncated) == ((4,), True)
    with pytest.raises(UsageError):
        model.limited(max_tokens=0)


@pytest.mark.parametrize("value", [1.5, float("nan"), "2", True, [2], None, -1])
def test_numbers_that_are_none_are_refused(saved: Any, value: Any) -> None:
    model = load(saved(of_task("text"))[1])
    for change in (model.threaded, model.remembering, lambda each: model.limited(each or 0)):
        with pytest.raises(UsageError, match=r"must be a whole number (of [01] or more|from 1 to 1024); got"):
            change(value)
    if not isinstance(value, str):
        with pytest.raises(
            UsageError, match=r"^tree: expected what separates the levels of a class, such as /; got"
        ):
            model.in_tree(value)


def test_ends_of_ranges(saved: Any) -> None:
    model = load(saved(of_task("text"))[1])
    texts = ["a good film", "film", "bad"] * 50
    wanted = list(model.predict(texts))
    for changed in (model.threaded(1_024), model.remembering(10**30), model.limited(10**9)):
        assert list(changed.predict(texts)) == wanted
    with pytest.raises(UsageError, match=r"^threads must be a whole number from 1 to 1024; got 1025$"):
        model.threaded(1_025)


@pytest.mark.parametrize("request_", [None, 3, ["a"], ("a", "b", "c"), "ab"])
def test_what_is_no_pair_is_refused(saved: Any, request_: object) -> None:
    made, path = saved({"task": "pair"})
    for ask in (made.answer, lambda requests: list(load(path).predict(requests))):
        with pytest.raises(DataError, match="request 2"):
            ask([("a", "b"), request_])
    with pytest.raises(UsageError):
        list(load(path).predict("one text"))  # type: ignore[arg-type]


def _altered(path: Path, name: str, change: Callable[[Any], Any]) -> None:
    """Change a JSON file of a folder, with a manifest that agrees."""
    write_json(path / name, change(json.loads((path / name).read_text())))
    write_manifest(path, MODEL_FILES)


def _set(*keys: str | int, to: Any) -> Callable[[Any], Any]:
    def change(value: Any) -> Any:
        inner = value
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = to
        return value

    return change


def _cut(path: Path) -> None:
    (path / WEIGHTS).write_bytes((path / WEIGHTS).read_bytes()[:-1])


def _without_manifest(path: Path) -> None:
    (path / "manifest.json").unlink()


def _not_finite(path: Path) -> None:
    state = load_tensors(path / WEIGHTS)
    state["head.output.bias"][1] = torch.nan
    save_tensors(path / WEIGHTS, state)
    write_manifest(path, MODEL_FILES)


@pytest.mark.parametrize(
    "damage",
    [
        _cut,
        _without_manifest,
        _not_finite,
        lambda path: (path / LABELS).write_text("[]"),
        lambda path: (path / VOCABULARY).unlink(),
        lambda path: write_json(path / MANIFEST, {"format_version": 7, "files": {}}),
        lambda path: _altered(path, LABELS, lambda labels: [1, 2, 3]),
        lambda path: _altered(path, VOCABULARY, _set("buckets", to=3)),
    ],
)
def test_a_damaged_folder_gets_heedfuls_own_words(saved: Any, damage: Callable[[Path], None]) -> None:
    _, path = saved()
    damage(path)
    with pytest.raises(HeedfulError) as theirs:
        load_model(path)
    with pytest.raises(HeedfulError) as ours:
        load(path)
    assert (str(ours.value), ours.value.exit_code) == (str(theirs.value), theirs.value.exit_code)


def _whole_numbers(path: Path) -> None:
    state = load_tensors(path / WEIGHTS)
    name = "sentence_encoder.embedding.weight"
    save_tensors(path / WEIGHTS, {**state, name: state[name].to(torch.int32)})
    write_manifest(path, MODEL_FILES)


@pytest.mark.parametrize(
    "damage",
    [
        _whole_numbers,
        lambda path: _altered(path, CONFIG, _set("text", "tokenizer", to=["treebank"])),
        lambda path: _altered(path, CONFIG, _set("model", "outputs", to=4)),
        lambda path: _altered(path, CONFIG, lambda config: {**config, "model": None}),
        lambda path: _altered(path, CONFIG, lambda config: {k: config[k] for k in config if k != "run"}),
    ],
)
def test_what_a_folder_says_is_checked_before_it_is_believed(
    saved: Any, damage: Callable[[Path], None]
) -> None:
    _, path = saved()
    damage(path)
    with pytest.raises(ArtifactError):
        load(path)


def test_no_folder_at_all(tmp_path: Path) -> None:
    for missing in (tmp_path / "nothing", tmp_path):
        with pytest.raises(ArtifactError):
            load(missing)


STEP = ("network", "read", 0)
HOSTILE: dict[str, Callable[[Any], Any]] = {
    "another format": _set("network", "format", to=2),
    "three texts": _set("network", "texts", to=3),
    "no steps": _set("network", "read", to=None),
    "a step that is none": _set(*STEP, to=7),
    "an unknown operator": _set(*STEP, "do", to="exec"),
    "a value that is not there": _set(*STEP, "of", to=["v99"]),
    "values that are no list": _set(*STEP, "of", to="words"),
    "too many values": _set(*STEP, "of", to=["words", "words"]),
    "a tensor that is not there": _set(*STEP, "weights", "weight", to="no such tensor"),
    "a tensor of another shape": _set(*STEP, "weights", "bias", to="sentence_encoder.embedding.weight"),
    "a matrix of another width": _set(*STEP, "weights", "weight", to="head.hidden.weight"),
    "an unknown activation": _set(*STEP, "activation", to="swish"),
    "a wide value": _set(*STEP, to={"do": "concat", "of": ["words"] * 10_000, "to": "v1"}),
    "a mask that is none": _set("network", "read", 4, "mask", to={"band": [0, "x", True]}),
    "a scale that is none": _set("network", "read", 4, "scale", to=-1),
    "a scale of text": _set("network", "read", 4, "scale", to="5"),
    "words that are none": _set("network", "words", to=[]),
    "words of another table": _set("network", "words", "trained", to="sentence_encoder.embedding.frozen"),
    "no logits": _set("network", "logits", to="v1000"),
    "temperature": _set("temperature", to=0.0),
    "tokenizer": _set("text", "tokenizer", to="none"),
    "a task whose name is none": _set("model", "task", to="../divination"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_description_that_is_wrong_is_refused(saved: Any, name: str) -> None:
    _, path = saved()
    assert json.loads((path / CONFIG).read_text())["network"]["read"][4]["do"] == "additive"
    _altered(path, CONFIG, HOSTILE[name])
    with pytest.raises(ArtifactError) as refused:
        load(path)
    assert str(path) in str(refused.value)


@pytest.mark.parametrize(
    "change",
    [
        _set("model", "task", to="divination"),  # of another package, perhaps
        _set("network", to={}),
        _set("network", to={"missing": "model.encoder='resan' is not described"}),
        _set("text", "parser", to="builtin"),
        _set("model", "task", to="roles"),
    ],
)
def test_what_the_runtime_cannot_do_it_says(saved: Any, change: Callable[[Any], Any]) -> None:
    _, path = saved()
    _altered(path, CONFIG, change)
    with pytest.raises(UsageError):
        load(path)


def test_a_table_of_vectors_is_read_by_rows(saved: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """No look-up may bring a whole table into memory."""
    from heedful.runtime.weights import Weights

    _, path = saved()
    model, asked = load(path), []
    monkeypatch.setattr(Weights, "floats", lambda self, name: asked.append(name))
    model.encode(["film meal"])
    assert asked == []


def test_half_precision_and_bfloat16(saved: Any) -> None:
    made, path = saved()
    for kind in (torch.float16, torch.bfloat16, torch.float64):
        state = {name: tensor.to(kind) for name, tensor in made.network.state_dict().items()}
        save_tensors(path / WEIGHTS, state)
        write_manifest(path, MODEL_FILES)
        wanted = load_model(path)
        assert isinstance(wanted, SentenceModel)
        assert np.abs(load(path).logits(TEXTS) - wanted.logits(TEXTS)).max() <= TOLERANCE


def test_a_shared_bucket_of_unknown_words(tmp_path: Path) -> None:
    vocabulary = Vocabulary(("film",), extra=("song",), oov="hash", buckets=4)
    model = ModelConfig(width=20, hidden=8, outputs=2, encoder="embedding")
    network = build_network(model, torch.randn(3, 20), torch.randn(5, 20))
    made = Predictor(network, model, vocabulary, ("a", "b"), TextSettings())
    made.save(tmp_path / "model")
    texts = ["film xyzzy song plugh", "Zork"]
    assert np.abs(load(tmp_path / "model").logits(texts) - made.logits(texts)).max() <= TOLERANCE


def with_ngrams(path: Path, *, unknown_alone: bool = False) -> Predictor:
    rule = NgramRule(rows=50, hashes=2, unknown_alone=unknown_alone)
    vocabulary = Vocabulary(("film", "dull"), extra=("song",), ngrams=rule)
    model = ModelConfig(width=20, hidden=8, outputs=2)
    network = build_network(model, torch.randn(4, 20), torch.randn(1, 20), torch.randn(50, 20))
    made = Predictor(network, model, vocabulary, ("a", "b"), TextSettings(markup="token"))
    made.save(path)
    return made


@pytest.mark.parametrize("unknown_alone", [False, True])
def test_ngrams_of_words_and_of_unknown_words(unknown_alone: bool, tmp_path: Path) -> None:
    """Two unknown words have the same id and different vectors."""
    made = with_ngrams(tmp_path / "model", unknown_alone=unknown_alone)
    texts = ["film xyzzy song", "film plugh song", "xyzzy", "plugh", "", "dull <b>films</b>"]
    model = load(tmp_path / "model")
    assert np.abs(model.logits(texts) - made.logits(texts)).max() <= TOLERANCE
    assert np.abs(model.encode(texts) - made.encode(texts)).max() <= TOLERANCE
    assert (model.logits(["xyzzy"]) != model.logits(["plugh"])).any()


def test_a_description_without_its_ngrams_is_refused(tmp_path: Path) -> None:
    with_ngrams(tmp_path / "model")

    def change(config: Any) -> Any:
        del config["network"]["words"]["ngrams"]
        return config

    _altered(tmp_path / "model", CONFIG, change)
    with pytest.raises(ArtifactError):
        load(tmp_path / "model")


def test_another_process_opens_the_folder_of_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the limits, the threads and the tree that this one has; weights are not copied."""
    monkeypatch.setitem(whole_models.LABELS, "text", ("a/b", "a/c", "d"))
    path = whole_models.whole(tmp_path / "model", "text", "none")
    model = load(path).limited(3, "head").threaded(2).in_tree("/")
    kept = pickle.dumps(model)
    assert len(kept) < 2_000
    again = pickle.loads(kept)
    assert again.threads == 2
    asked = [*TEXTS, "one two three four"]
    answers = list(model.predict(asked))
    assert list(again.predict(asked)) == list(copy.deepcopy(model).predict(asked)) == answers
    assert answers[-1].truncated
    tags = load(whole_models.tagger(tmp_path / "tagger", "none"))
    assert list(pickle.loads(pickle.dumps(tags)).predict(TEXTS)) == list(tags.predict(TEXTS))
    changed = type(model)(model.reading, model.program, model.decision, model.parts)
    with pytest.raises(UsageError, match="load the folder in each process"):
        pickle.dumps(changed)
