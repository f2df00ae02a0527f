from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from heedful.checkpoint import MANIFEST
from heedful.errors import ArtefactError
from heedful.training.early_stopping import Best
from heedful.training.optim import Optimizers, build_optimizer
from heedful.training.settings import OptimizerName, OptimizerSettings
from heedful.training.state import (
    TrainState,
    checkpoint_exists,
    copy_weights,
    load_state,
    restore_weights,
    save_state,
)
from toy_training import ToyData, ToyNetwork, cross_entropy, toy_settings


def stepped(name: OptimizerName) -> tuple[ToyNetwork, Optimizers]:
    network = ToyNetwork()
    optimizers = build_optimizer(network, OptimizerSettings(name))
    batch = ToyData().collate(range(8))
    for _ in range(2):
        optimizers.zero_grad()
        cross_entropy(network(batch), batch.targets).mean().backward()
        optimizers.step()
    return network, optimizers


def save(path: Path, network: nn.Module, optimizers: Optimizers, name: OptimizerName, **state) -> None:
    settings = toy_settings(optimizer=OptimizerSettings(name))
    weights = copy_weights(ToyNetwork())
    save_state(
        path,
        state=TrainState(**state),
        network=network,
        optimizers=optimizers,
        best_weights=weights,
        settings=settings,
    )


@pytest.mark.parametrize("name", ["adadelta", "adam", "adagrad"])
def test_everything_comes_back_to_the_bit(tmp_path: Path, name: OptimizerName) -> None:
    network, optimizers = stepped(name)
    fields = {
        "step": 7,
        "epoch": 1,
        "position": 2,
        "steps_per_epoch": 5,
        "seconds": 1.5,
        "loss_sum": 0.1 + 0.2,
    }
    best = Best(step=5, metrics={"accuracy": 1 / 3}, waited=1)
    save(tmp_path / "latest", network, optimizers, name, **fields, best=best)

    settings = toy_settings(optimizer=OptimizerSettings(name))
    other = ToyNetwork()
    fresh = build_optimizer(other, settings.optimizer)
    state, best_weights = load_state(tmp_path / "latest", network=other, optimizers=fresh, settings=settings)
    assert state == TrainState(**fields, best=best)
    for key, weight in copy_weights(ToyNetwork()).items():
        assert torch.equal(best_weights[key], weight)
    for mine, theirs in zip(other.parameters(), network.parameters(), strict=True):
        assert torch.equal(mine, theirs)
        saved, loaded = optimizers.state_of(theirs), fresh.state_of(mine)
        assert saved.keys() == loaded.keys()
        assert len(saved) >= 2
        for key, value in saved.items():
            assert type(value) is type(loaded[key])
            assert torch.equal(torch.as_tensor(value), torch.as_tensor(loaded[key]))


def test_an_altered_checkpoint_is_refused(tmp_path: Path) -> None:
    network, optimizers = stepped("adadelta")
    save(tmp_path / "latest", network, optimizers, "adadelta")
    files = sorted(path.name for path in (tmp_path / "latest").iterdir())
    assert files == [MANIFEST, "state.json", "state.safetensors"]
    for name in files:
        path = tmp_path / "latest" / name
        content = path.read_bytes()
        path.write_bytes(content[:-3] + bytes([content[-3] ^ 1]) + content[-2:])
        with pytest.raises(ArtefactError, match=name):
            load_state(tmp_path / "latest", network=network, optimizers=optimizers, settings=toy_settings())
        path.write_bytes(content)


def test_weights_of_another_network_are_refused() -> None:
    weights = copy_weights(ToyNetwork())
    with pytest.raises(ArtefactError, match=r"weight 'hidden.bias' is \(9,\) there and \(6,\) here"):
        restore_weights(ToyNetwork(), {**weights, "hidden.bias": torch.zeros(9)})
    del weights["out.bias"]
    with pytest.raises(ArtefactError, match=r"weight 'out.bias' is None there"):
        restore_weights(ToyNetwork(), weights)


def test_a_checkpoint_between_two_renames_exists(tmp_path: Path) -> None:
    assert not checkpoint_exists(tmp_path / "none" / "latest")
    assert not checkpoint_exists(tmp_path / "latest")
    (tmp_path / ".tmp-old-latest").mkdir()
    (tmp_path / ".tmp-new-latest-x").mkdir()
    assert checkpoint_exists(tmp_path / "latest")
    assert [path.name for path in tmp_path.iterdir()] == ["latest"]


def test_the_first_reason_to_stop() -> None:
    settings = toy_settings(epochs=2, max_steps=9, patience=3)
    assert TrainState(step=8, epoch=1).stop_reason(settings) is None
    assert TrainState(step=9, epoch=1).stop_reason(settings) == "max_steps"
    assert TrainState(step=9, epoch=2).stop_reason(settings) == "epochs"
    assert TrainState(best=Best(waited=3)).stop_reason(settings) == "patience"
