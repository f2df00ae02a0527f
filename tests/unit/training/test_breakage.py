"""Signs that a training breaks its network are found, reported once and kept in the log; looking changes no weight."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from heedful.nn.dense import Dense
from heedful.nn.policy import LearningPhase
from heedful.training import breakage
from heedful.training.breakage import BreakageWatch, of_attention, of_sizes, sample
from heedful.training.health import Examination, LayerInputs, examine
from heedful.training.loop import fit
from heedful.training.progress import Silent
from heedful.training.run_folder import RunStorage
from heedful.training.train_settings import OptimizerSettings
from toy_training import (
    ToyData,
    ToyNetwork,
    accuracy_on,
    cross_entropy,
    toy_settings,
    train_toy,
    weights_hash,
)

FAST = OptimizerSettings(name="adam", lr=30.0)


class Wide(ToyNetwork):
    """The toy network with a hidden layer of many ReLU units, which a rate that is too high kills."""

    def __init__(self) -> None:
        super().__init__(dropout=0.0)
        torch.manual_seed(8)
        self.hidden = Dense(8, 60, activation="relu")
        self.out = Dense(60, 2, l2=False)


class Heard(Silent):
    """Keeps the signs it hears of."""

    def __init__(self) -> None:
        self.signs: list[str] = []

    def sign(self, sentence: str) -> None:
        """Keep it."""
        self.signs.append(sentence)


def train_wide(folder: Path | None = None, *, resume: bool = False, heard: Heard | None = None, **changes):
    network, data = Wide(), ToyData(200, 8)
    settings = toy_settings(**{"optimizer": FAST, "epochs": 2, **changes})
    keeping = None if folder is None else RunStorage(folder, resume)
    result = fit(
        network, data, cross_entropy, settings, evaluate=accuracy_on(data), keeping=keeping, reporter=heard
    )
    return network, result


def test_a_rate_that_kills_a_layer_is_reported_with_its_remedy() -> None:
    heard = Heard()
    _, result = train_wide(heard=heard)
    assert any(
        "relu units of hidden fire for none" in sign and "train.optimizer.lr" in sign for sign in heard.signs
    )
    assert tuple(heard.signs) == result.signs
    assert result.dead["hidden"] >= breakage.DEAD


def test_the_remedy_is_none_that_the_settings_have_already() -> None:
    network = Wide()
    with torch.no_grad():
        network.hidden.bias.fill_(-100.0)
    data = ToyData(200, 8)
    for steps, proposed in ((0, True), (breakage.RISE, False)):
        watch = BreakageWatch(network, toy_settings(optimizer=FAST, warmup_steps=steps))
        signs = [sign.sentence for sign in watch.look(200, sample(data.batches(0), data.collate))]
        (dead,) = [each for each in signs if "fire for none" in each]
        assert ("train.warmup_steps=" in dead) == proposed
        assert "Lower train.optimizer.lr to a third" in dead


def test_a_sound_training_gives_no_sign() -> None:
    _, result = train_wide(optimizer=OptimizerSettings(name="adam", lr=0.01))
    assert result.signs == ()
    assert result.dead["hidden"] < breakage.DEAD


def test_each_sign_is_reported_once_and_not_again_after_a_resumption(tmp_path: Path) -> None:
    _, first = train_wide(tmp_path / "run", max_steps=40, epochs=0)
    assert first.signs
    assert len(set(first.signs)) == len(first.signs)
    heard = Heard()
    _, second = train_wide(tmp_path / "run", resume=True, heard=heard, max_steps=40, epochs=0)
    assert second.signs == first.signs
    assert heard.signs == []


def test_looking_changes_no_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = train_toy(epochs=4)[0]
    monkeypatch.setattr(BreakageWatch, "due", lambda self, step, evaluation: False)
    assert weights_hash(looked) == weights_hash(train_toy(epochs=4)[0])


def test_a_step_that_is_too_long_for_a_layer_is_seen_before_its_units_are_dead() -> None:
    network, data = Wide(), ToyData(64, 8)
    settings = toy_settings(optimizer=OptimizerSettings(name="adam", lr=0.5))
    signs = BreakageWatch(network, settings).look(1, sample(data.batches(0), data.collate))
    assert any(sign.name == "step hidden" for sign in signs)
    slow = replace(settings, optimizer=OptimizerSettings(name="adam", lr=0.001))
    assert BreakageWatch(network, slow).look(1, sample(data.batches(0), data.collate)) == []
    assert (
        BreakageWatch(network, replace(settings, warmup_steps=100)).look(
            1, sample(data.batches(0), data.collate)
        )
        == []
    )


def test_word_vectors_of_another_length_are_seen() -> None:
    network, data = Wide(), ToyData(64, 8)
    with torch.no_grad():
        network.embedding.weight[30:] *= 20
    signs = BreakageWatch(network, toy_settings()).look(1, sample(data.batches(0), data.collate))
    assert [sign.name for sign in signs] == ["word vectors"]
    assert "text.random=uniform" in signs[0].sentence


def test_a_matrix_that_the_loss_does_not_reach_is_named() -> None:
    network, data = Wide(), ToyData(64, 8)
    network.unused = nn.Linear(4, 4)
    batch = data.collate(np.arange(8))
    cross_entropy(network(batch), batch.targets).mean().backward()
    signs = BreakageWatch(network, toy_settings()).look(200, sample(data.batches(0), data.collate))
    assert [sign.name for sign in signs] == ["gradients"]
    assert "unused.weight" in signs[0].sentence


def test_a_step_on_short_texts_or_in_a_first_phase_reaches_no_attention_and_is_no_sign() -> None:
    network, data = Wide(), ToyData(64, 8)
    network.unused = nn.Linear(4, 4)
    looked = sample(data.batches(0), data.collate)
    short = SimpleNamespace(sides=[SimpleNamespace(valid=torch.tensor([[True, True], [True, False]]))])
    long = SimpleNamespace(sides=[SimpleNamespace(valid=torch.ones(2, 3, dtype=torch.bool))])
    assert BreakageWatch(network, toy_settings()).look(200, looked, last=short) == []
    assert [sign.name for sign in BreakageWatch(network, toy_settings()).look(200, looked, last=long)] == [
        "gradients"
    ]
    network.phase = LearningPhase(300, 100)
    assert BreakageWatch(network, toy_settings()).look(200, looked) == []
    network.phase.begin_step(400)
    assert [sign.name for sign in BreakageWatch(network, toy_settings()).look(401, looked)] == ["gradients"]


def test_a_head_that_is_fitted_when_the_training_has_ended_is_no_sign() -> None:
    network, data = Wide(), ToyData(64, 8)
    network.head = nn.Linear(4, 4)
    batch = data.collate(np.arange(8))
    cross_entropy(network(batch), batch.targets).mean().backward()
    looked = sample(data.batches(0), data.collate)
    assert [sign.name for sign in BreakageWatch(network, toy_settings()).look(200, looked)] == ["gradients"]
    assert BreakageWatch(network, toy_settings(contrast=True)).look(200, looked) == []


def test_a_dev_figure_that_falls_far_is_reported_once() -> None:
    watch = BreakageWatch(Wide(), toy_settings())
    assert watch.judge(10, {"accuracy": 0.6}, {}) == []
    assert watch.judge(20, {"accuracy": 0.75}, {"accuracy": 0.8}) == []
    (sign,) = watch.judge(30, {"accuracy": 0.61}, {"accuracy": 0.77})
    assert "0.7700 to 0.6100" in sign.sentence
    assert watch.judge(40, {"accuracy": 0.5}, {"accuracy": 0.77}) == []


def test_what_is_read_for_it_has_a_bound() -> None:
    data = ToyData(2000, 8)
    chosen = sample(data.batches(0), data.collate)
    assert sum(len(batch.rows) for batch in chosen) <= breakage.MOST_TEXTS
    (joined,) = sample(data.batches(0), data.collate, texts=20)
    first = np.concatenate(data.batches(0)[:3])[:20]
    assert list(joined.rows) == list(first)
    assert len(chosen) == 1  # 16 batches of 8 texts, joined
    wide = ToyData(400, 150)
    assert [len(batch.rows) for batch in sample(wide.batches(0), wide.collate, texts=256)] == [150, 106]
    long = ToyData(64, 64)
    assert len(sample(long.batches(0), long.collate)) == 1


def test_attention_without_a_choice_is_reported() -> None:
    assert list(of_attention({"forward": 0.4, "pooling": 1.2}, 100)) == []
    (sign,) = of_attention({"forward": 0.01, "pooling": 0.0, "backward": 0.2}, 1_200)
    assert "the same weight (forward, pooling) after 1,200 steps" in sign.sentence
    assert "model.pooling=mean" in sign.sentence


def test_values_of_another_size_are_reported() -> None:
    network, data = Wide(), ToyData(64, 8)
    network.more = nn.Sequential(Dense(60, 60), Dense(60, 60))
    kept = sample(data.batches(0), data.collate)
    assert list(of_sizes(examine(network, kept))) == []
    layers = {
        name: LayerInputs(1.0, spread)
        for name, spread in {"a": 0.3, "b": 0.2, "c": 0.5, "d": 40.0, "e": 0.001}.items()
    }
    large, small = of_sizes(Examination(inputs=layers))
    assert large.sentence.startswith("The values of d are 133 times as large as those of the other layers")
    assert small.sentence.startswith("The values of e are 300 times as small")


def test_inputs_that_are_all_alike_are_said_to_be() -> None:
    inputs = {name: LayerInputs(1.0, spread) for name, spread in {"a": 0.3, "b": 0.2, "c": 0.0}.items()}
    (sign,) = of_sizes(Examination(inputs=inputs))
    assert sign.sentence.startswith(
        "The values of c are the same for all examples, as if no word were known. "
    )
