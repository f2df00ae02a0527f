"""A network goes on: its weights, words and classes stay, and new words and classes get rows of their own."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch
from tests.tiny import run, texts, write_csv

import heedful
from heedful.errors import UsageError
from heedful.opening import open_model
from heedful.storage.manifest import manifest_checksum
from heedful.tasks import load_model

SMALL: dict[str, Any] = {
    "text__vectors": "",
    "model__sentence": "none",
    "model__encoder": "embedding",
    "model__width": 16,
    "model__hidden": 16,
    "model__dropout": 0.0,
    "train__least_steps": 60,
    "train__optimizer__lr": 0.02,
    "threads": 1,
}
NEW = [
    (f"Completely blue {noun} .", "color") for noun in ("door", "car", "roof", "boat", "bird", "hat", "cup")
]
PLAIN = ("--no-baseline", "--quiet")


def columns(rows: Any) -> tuple[list[str], list[str]]:
    return [text for text, _ in rows], [label for _, label in rows]


def right(model: Any, rows: Any) -> float:
    asked, gold = columns(rows)
    return float(np.mean(np.asarray(model.predict(asked)) == gold))


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The folder of a model with a network, which keeps a fifth of its rows."""
    folder = tmp_path_factory.mktemp("first") / "model"
    model = heedful.TextClassifier(
        **SMALL, data__few_rows=0, keep_examples="texts", data__keep_share=0.2
    ).partial_fit(*columns(texts()[:60]))
    assert model.predictor_.model.encoder == "embedding"
    model.save_pretrained(folder)
    return folder


def again(folder: Any, **more: Any) -> heedful.TextClassifier:
    found = heedful.TextClassifier.from_pretrained(folder)
    return found.set_params(**more) if more else found


def test_new_rows_words_and_a_class_are_learned_and_old_ones_stay(first: Any) -> None:
    before = manifest_checksum(first)
    model = again(first)
    old = model.predictor_
    model.partial_fit(*columns([*texts()[60:80], *NEW]))
    new = model.predictor_
    assert manifest_checksum(first) == before
    assert model.classes_.tolist() == ["color", "neg", "pos"]
    assert set(old.vocabulary.trainable) | {"door", "roof"} <= set(new.vocabulary.trainable)
    assert right(model, texts()[100:200]) >= right(again(first), texts()[100:200]) - 0.05
    assert model.predict(["Completely blue boat ."]).tolist() == ["color"]
    assert len(new.about.examples) > len(old.about.examples)
    assert new.about.metrics["training_rows"] > old.about.metrics["training_rows"]
    assert "its network was trained on, with its own answers beside the new labels" in new.about.card


def test_weights_begin_where_they_were(first: Any) -> None:
    """With next to no learning rate a network that goes on answers as before."""
    model = again(first, train__optimizer__lr=1e-12, model__wide="none")
    old, asked = model.predictor_, [text for text, _ in texts()[100:130]]
    was = old.network.state_dict()
    model.partial_fit(*columns([*texts()[60:80], ("unheard words here", "neg")]))
    now = model.predictor_.network.state_dict()
    for name, values in was.items():
        if not name.endswith(("embedding.weight", "embedding.frozen")):
            torch.testing.assert_close(now[name], values, atol=1e-6, rtol=1e-6)
    for word in old.vocabulary.trainable:
        place, then = model.predictor_.vocabulary.id(word), old.vocabulary.id(word)
        name = next(each for each in now if each.endswith("embedding.weight"))
        torch.testing.assert_close(now[name][place], was[name][then], atol=1e-6, rtol=1e-6)
    assert (model.predict(asked) == again(first).predict(asked)).mean() > 0.9


@pytest.mark.english  # without word vectors there are no features of whole texts, and no sums
def test_a_new_class_moves_the_last_layer_alone_where_sums_learn_it_too() -> None:
    english = {**SMALL, "text__vectors": "auto", "model__sentence": "mean", "model__width": 300}
    english["train__least_steps"] = 20
    model = heedful.TextClassifier(**english, data__few_rows=0).partial_fit(*columns(texts()[:60]))
    was = model.predictor_.network.state_dict()
    model.partial_fit(*columns([*texts()[60:80], *NEW]))
    now = model.predictor_.network.state_dict()
    same = [name for name in was if was[name].shape == now[name].shape and not name.startswith("head.output")]
    assert len(same) > 2
    assert all(torch.equal(now[name], was[name]) for name in same)
    assert not torch.equal(now["head.output.bias"][1:], was["head.output.bias"])  # sorted: color, neg, pos
    assert right(model, texts()[100:160]) > 0.8
    assert model.predict(["Completely blue boat ."]).tolist() == ["color"]
    note = model.predictor_.joined_note
    assert re.findall(r"weight ([0-9.]+)", note) == ["0.5", "0.5"]


def test_it_is_the_same_in_both_engines_and_from_a_folder(first: Any, tmp_path: Any) -> None:
    model = again(first).partial_fit(*columns([*texts()[60:70], *NEW]))
    model.save_pretrained(tmp_path / "on")
    asked = [text for text, _ in texts()[100:120]]
    one, other = (open_model(tmp_path / "on", engine).logits(asked) for engine in ("runtime", "torch"))
    np.testing.assert_allclose(one, other, atol=1e-4)


def test_few_rows_and_a_single_new_class_are_enough(first: Any) -> None:
    model = again(first).partial_fit(["a stone", "two stones"], ["stone", "stone"])
    assert model.classes_.tolist() == ["neg", "pos", "stone"]
    assert right(model, texts()[100:160]) > 0.8
    model.partial_fit(["a fine film"], ["pos"])
    assert model.classes_.tolist() == ["neg", "pos", "stone"]


def test_commands_go_on_and_resume_and_refuse_in_one_line(tmp_path: Any) -> None:
    table = write_csv(tmp_path / "first.csv", texts()[:60], ("text", "label"))
    sets = [f"--set={name.replace('__', '.')}={value}" for name, value in SMALL.items() if name != "threads"]
    made = run("train", table, "--out", tmp_path / "first", *sets, "--set=data.few_rows=0", *PLAIN)
    assert made.code == 0, made.err
    new = write_csv(tmp_path / "new.csv", [*texts()[60:80], *NEW], ("text", "label"))
    on = ("train", new, "--from", tmp_path / "first")
    assert run(*on, "--out", tmp_path / "whole", *PLAIN).code == 0
    assert load_model(tmp_path / "whole").labels == ("color", "neg", "pos")
    assert load_model(tmp_path / "whole").model.encoder == "embedding"
    other = run(*on, "--out", tmp_path / "other", "--set=model.hidden=9", *PLAIN)
    assert "model.hidden=9" in other.err.splitlines()[-1]
    renamed = write_csv(
        tmp_path / "renamed.csv", [("a fine film", "Pos"), ("a dull one", "neg")], ("text", "label")
    )
    wrong = run("train", renamed, "--from", tmp_path / "first", "--out", tmp_path / "wrong", *PLAIN)
    assert "'Pos'" in wrong.err.splitlines()[-1]
    for each in (other, wrong):
        assert each.code == 2
        assert "Traceback" not in each.err


def test_a_pretrained_encoder_is_refused(first: Any) -> None:
    from dataclasses import replace

    from heedful.run.learning_on import of_model

    model = load_model(first)
    model.model = replace(model.model, pretrained=replace(model.model.pretrained, name="some-encoder"))
    with pytest.raises(UsageError, match="has a pretrained encoder"):
        of_model(model, "runs/mine")
