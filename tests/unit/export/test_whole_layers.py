"""Which layers of an int8 folder are computed in whole numbers, and what the runtime answers with them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

import tiny
from heedful.errors import UsageError
from heedful.export.whole_layers import HALF_HEADING, HEADING
from heedful.models import ModelConfig
from heedful.runtime import int8_products, kernels, load, operators, step_chains, steps
from heedful.storage.manifest import CARD, CONFIG
from heedful.tasks import Predictor, TextSettings, build_network
from heedful.text.vocabulary import Vocabulary

TEXTS = ["the film was dull", "", "a superb song xyzzy", "film " * 50, "was the meal a song"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Export a model whose layers are wide enough."""
    vocabulary = Vocabulary(("the", "film", "was", "dull", "a", "superb"), extra=("song", "meal"))
    config = ModelConfig(width=140, hidden=150, outputs=3)
    torch.manual_seed(2)
    network = build_network(config, torch.randn(8, 140), torch.randn(2, 140))
    Predictor(network, config, vocabulary, ("x", "y", "z"), TextSettings()).save(tmp_path / "model")
    assert tiny.run("export", tmp_path / "model", "--int8", tmp_path / "small").code == 0
    return tmp_path / "small"


def test_layers_of_words_and_of_the_answer_stay_in_floats(folder: Path) -> None:
    network = json.loads((folder / CONFIG).read_text())["network"]
    dense = [step for step in network["read"] if step["do"] == "dense"]
    assert [step["of"] for step in dense if not step.get("whole")] == [["words"], ["words"]]
    assert not any("whole" in step for step in network["answer"])
    assert not any("whole" in step for step in network["read"] if step["do"] != "dense")
    card = (folder / CARD).read_text()
    assert f"{sum('whole' in step for step in dense)} of" in card.partition(HEADING)[2]


def test_exported_twice_the_card_says_it_once(folder: Path) -> None:
    assert tiny.run("export", folder, "--int8", folder.with_name("again")).code == 0
    cards = [(each / CARD).read_text() for each in (folder, folder.with_name("again"))]
    assert cards[0].count(HEADING) == 1
    assert cards[0] == cards[1]


def test_answers_are_near_those_in_floats_and_no_text_depends_on_others(folder: Path) -> None:
    plain = load(folder.with_name("model")).logits(TEXTS)
    model = load(folder)
    found = model.logits(TEXTS)
    assert 0 < np.abs(found - plain).max() < 0.02 * np.abs(plain).max()
    for text, row in zip(TEXTS, found, strict=True):
        assert (load(folder).logits([text])[0] == row).all()
    assert (model.threaded(2).logits(TEXTS * 40) == np.tile(found, (40, 1))).all()


def test_every_form_and_numpy_answer_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found, before = load(folder).logits(TEXTS), int8_products.form()
    for form in int8_products.FORMS if kernels.compiled() else ():
        try:
            int8_products.use_form(form)
        except UsageError:
            continue
        assert (load(folder).logits(TEXTS) == found).all()
        int8_products.use_form(before)
    monkeypatch.setattr(kernels, "LIBRARY", None)
    # What feeds a layer differs in its last bits, which may move a number by one step of 254.
    assert np.abs(load(folder).logits(TEXTS) - found).max() < 2e-3 * np.abs(found).max()


def test_a_folder_of_16_bits_is_computed_in_bfloat16_and_one_of_32_no_more(folder: Path) -> None:
    half, full = folder.with_name("half"), folder.with_name("full")
    assert tiny.run("export", folder.with_name("model"), "--float16", half).code == 0
    assert tiny.run("export", half, "--float32", full).code == 0
    steps = [json.loads((each / CONFIG).read_text())["network"]["read"] for each in (folder, half, full)]
    assert [step.get("whole") for step in steps[0]] == [step.get("bfloat16") for step in steps[1]]
    assert any(step.get("bfloat16") for step in steps[1])
    assert not any(
        "bfloat16" in step or "whole" in step for step in (*steps[2], *(s for s in steps[1] if "whole" in s))
    )
    cards = [(each / CARD).read_text() for each in (half, full)]
    assert [card.count(HALF_HEADING) for card in cards] == [1, 0]
    plain, found = load(folder.with_name("model")).logits(TEXTS), load(half).logits(TEXTS)
    assert 0 < np.abs(found - plain).max() < 0.02 * np.abs(plain).max()
    for text, row in zip(TEXTS, found, strict=True):
        assert (load(half).logits([text])[0] == row).all()


@pytest.mark.skipif(not kernels.compiled(), reason="the kernels are not compiled")
def test_a_layer_that_only_the_next_one_reads_is_computed_with_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = list[int]()

    def counted(*given: object) -> object:
        calls.append(len(given))
        return int8_products.twice(*given)

    chained = load(folder).logits(TEXTS)
    monkeypatch.setattr(step_chains, "_CHAIN", None)
    monkeypatch.setattr(steps, "twice", counted)
    found = load(folder).logits(TEXTS)
    assert calls
    assert (chained == found).all()
    monkeypatch.setattr(operators, "_twice", lambda *given: None)
    calls.clear()
    assert (load(folder).logits(TEXTS) == found).all()
    assert not calls
