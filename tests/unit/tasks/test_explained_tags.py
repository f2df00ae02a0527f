"""What the words of a text contribute to the tag of one of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from heedful.errors import UsageError
from heedful.explain.explainer import explain
from heedful.explain.methods import MethodChoice
from heedful.models import ModelConfig
from heedful.runtime import load
from heedful.tasks import TagsModel, TextSettings, build_network, task_named
from heedful.text.vocabulary import Vocabulary

WORDS = ("she", "saw", "a", "river", "bank", ".")
TEXT = "she saw a river bank ."


def tagger() -> TagsModel:
    config = ModelConfig(task="tags", encoder="disan", width=10, hidden=10, outputs=3)
    torch.manual_seed(6)
    network = build_network(config, torch.randn(len(WORDS) + 2, 10))
    return task_named("tags").model_type(network, config, Vocabulary(WORDS), ("N", "O", "V"), TextSettings())


def log_odds(share: float) -> float:
    return float(np.log(share / (1 - share)))


@pytest.mark.parametrize("method", ["gradient", "integrated", "occlusion", "shapley"])
def test_a_tag_is_explained_by_the_other_words(method: str) -> None:
    model = tagger()
    (answer,) = model.answer([TEXT])
    found = model.explain(TEXT, method=method, word="river")
    said = found.attribution
    assert said is not None
    assert said.of == f"the log-odds of “{answer.tags[3]} for river”"
    assert said.whole == pytest.approx(log_odds(answer.probabilities[3]), abs=1e-5)
    assert said.gap == pytest.approx(0, abs=1e-9)
    assert [(each.word, each.tag) for each in found.tags] == list(zip(WORDS, answer.tags, strict=True))
    assert said.largest > 1e-4
    if method in ("occlusion", "shapley"):
        assert said.values[0][3] == 0
    assert found.faithfulness is not None
    assert "river" not in found.faithfulness.removed
    assert found.faithfulness.before == pytest.approx(answer.probabilities[3], abs=1e-6)


def test_leaving_a_word_out_is_tagging_the_text_without_it() -> None:
    model = tagger()
    (whole,) = model.answer([TEXT])
    said = model.explain(TEXT, method="occlusion", word=4).attribution
    assert said is not None
    for place, word in enumerate(WORDS):
        if place == 3:
            continue
        (without,) = model.answer([" ".join(each for each in WORDS if each != word)])
        kept = without.words.index("river")
        if without.tags[kept] == whole.tags[3]:
            fall = log_odds(whole.probabilities[3]) - log_odds(without.probabilities[kept])
            assert said.values[0][place] == pytest.approx(fall, abs=1e-5)


def test_by_default_it_is_the_least_certain_tag_and_everything_adds_up() -> None:
    model = tagger()
    (answer,) = model.answer([TEXT])
    said = model.explain(TEXT).attribution
    assert said is not None
    assert said.whole == pytest.approx(log_odds(min(answer.probabilities)), abs=1e-5)
    assert said.start + said.total == pytest.approx(said.whole, abs=1e-9)
    other = next(tag for tag in model.labels if tag != answer.tags[1])
    asked = model.explain(TEXT, word="saw", why=other).attribution
    assert asked is not None
    assert asked.label == f"{other} for saw"
    with pytest.raises(UsageError, match="there is no class 'X'"):
        model.explain(TEXT, why="X")


@pytest.mark.parametrize("method", ["gradient", "integrated", "occlusion"])
def test_another_tag_is_explained_by_each_method(method: str) -> None:
    model = tagger()
    (answer,) = model.answer([TEXT])
    own = model.explain(TEXT, method=method, word="river").attribution
    other = next(tag for tag in model.labels if tag != answer.tags[3])
    asked = model.explain(TEXT, method=method, word="river", why=other).attribution
    assert own is not None
    assert asked is not None
    assert asked.whole != pytest.approx(own.whole, abs=1e-3), "the number is that of the other tag"
    row = model.logits([TEXT])[3].astype(np.float64)
    share = np.exp(row - row.max())[model.labels.index(other)] / np.exp(row - row.max()).sum()
    assert asked.whole == pytest.approx(log_odds(share), abs=1e-5)


@pytest.mark.parametrize("word", [0, 7, "lake", "", "²"])
def test_a_word_that_is_not_there_is_refused(word: int | str) -> None:
    with pytest.raises(UsageError, match="expected a word of the text, or its number from 1 to 6"):
        tagger().explain(TEXT, method="occlusion", word=word)


def test_attention_has_no_weights_of_words() -> None:
    with pytest.raises(UsageError, match="no attention weights of words"):
        tagger().explain(TEXT, method="attention")


@pytest.mark.parametrize("method", ["occlusion", "shapley"])
def test_without_torch_it_is_the_same(method: str, tmp_path: Path) -> None:
    model = tagger()
    model.save(tmp_path / "model")
    for word in (None, "river", 2):
        found = explain(load(tmp_path / "model"), TEXT, MethodChoice(method), word)
        theirs = model.explain(TEXT, method=method, word=word)
        assert found.attribution is not None
        assert theirs.attribution is not None
        assert found.attribution.of == theirs.attribution.of
        assert found.attribution.values[0] == pytest.approx(theirs.attribution.values[0], abs=2e-6)
        assert found.faithfulness is not None
        assert found.faithfulness.random == pytest.approx(theirs.faithfulness.random, abs=2e-6)
