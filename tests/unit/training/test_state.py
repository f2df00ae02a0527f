from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

from heedful.errors import ArtifactError, UsageError
from heedful.storage.manifest import MANIFEST, write_manifest
from heedful.storage.model_folder import load_tensors, save_tensors
from heedful.training.optim import Optimizers, build_optimizer
from heedful.training.run_folder import RunFolder
from heedful.training.run_state import Best, TrainState
from heedful.training.state import checkpoint_exists, copy_weights, load_state, restore_weights, save_state
from heedful.training.train_settings import OptimizerName, OptimizerSettings
from toy_training import ToyData, ToyNetwork, cross_entropy, toy_settings, train_toy


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
    state.setdefault("best", Best(step=0, metrics={"accuracy": 0.5}))
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
        with pytest.raises(ArtifactError, match=name):
            load_state(tmp_path / "latest", network=network, optimizers=optimizers, settings=toy_settings())
        path.write_bytes(content)


def test_a_checkpoint_is_compared_setting_by_setting(tmp_path: Path) -> None:
    """A list of steps comes back as JSON has it; a setting that is newer than the checkpoint was at its default."""
    network, optimizers = stepped("adadelta")
    settings = toy_settings(schedule="stepwise", milestones=(3, 5), optimizer=OptimizerSettings("adadelta"))
    path = tmp_path / "latest"
    save_state(
        path,
        network=network,
        optimizers=optimizers,
        state=TrainState(),
        best_weights={},
        settings=settings,
    )

    def load(**changes) -> None:
        load_state(path, network=network, optimizers=optimizers, settings=replace(settings, **changes))

    load()
    with pytest.raises(UsageError, match="milestones"):
        load(milestones=(3, 6))
    record = json.loads((path / "state.json").read_text(encoding="utf-8"))
    del record["settings"]["clip_norm"]
    (path / "state.json").write_text(json.dumps(record), encoding="utf-8")
    write_manifest(path, ("state.json", "state.safetensors"))
    load()
    with pytest.raises(UsageError, match="clip_norm"):
        load(clip_norm=3.0)


def test_weights_of_another_network_are_refused() -> None:
    weights = copy_weights(ToyNetwork())
    with pytest.raises(ArtifactError, match=r"weight 'hidden.bias' is \(9,\) there and \(6,\) here"):
        restore_weights(ToyNetwork(), {**weights, "hidden.bias": torch.zeros(9)})
    del weights["out.bias"]
    with pytest.raises(ArtifactError, match=r"weight 'out.bias' is None there"):
        restore_weights(ToyNetwork(), weights)


def test_a_checkpoint_between_two_renames_exists(tmp_path: Path) -> None:
    assert not checkpoint_exists(tmp_path / "none" / "latest")
    assert not checkpoint_exists(tmp_path / "latest")
    (tmp_path / ".tmp-old-latest").mkdir()
    assert not checkpoint_exists(tmp_path / "latest")  # nothing of a checkpoint is in it
    (tmp_path / ".tmp-old-latest" / "state.json").write_text("{}")
    assert checkpoint_exists(tmp_path / "latest")
    assert [path.name for path in tmp_path.iterdir()] == [".tmp-old-latest"]


def test_the_first_reason_to_stop() -> None:
    settings = toy_settings(epochs=2, max_steps=9, patience=3)
    assert TrainState(step=8, epoch=1).stop_reason(settings) is None
    assert TrainState(step=9, epoch=1).stop_reason(settings) == "max_steps"
    assert TrainState(step=9, epoch=2).stop_reason(settings) == "epochs"
    few = replace(settings, least_steps=40, max_steps=0)
    assert TrainState(step=39, epoch=13).stop_reason(few) is None
    assert TrainState(step=40, epoch=13).stop_reason(few) == "epochs"
    assert TrainState(step=40, epoch=1).stop_reason(few) is None
    assert TrainState(best=Best(waited=3)).stop_reason(settings) == "patience"


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("position", 10**9),
        ("step", 10**9),
        ("step", 17),
        ("epoch", 10**9),
        ("epoch", "one"),
        ("position", -1),
        ("best", {}),
        ("best", {"step": 5, "metrics": {}, "waited": 0}),
        ("more", 1),
    ],
)
def test_a_state_that_cannot_be_is_refused_at_once(tmp_path: Path, place: str, value: object) -> None:
    train_toy(tmp_path, epochs=2)
    home = RunFolder(tmp_path).checkpoint
    record = json.loads((home / "state.json").read_text())
    (home / "state.json").write_text(json.dumps({**record, "state": {**record["state"], place: value}}))
    write_manifest(home, ("state.safetensors", "state.json"))
    with pytest.raises(ArtifactError, match=r"^[^\n]*state[^\n]*$"):
        train_toy(tmp_path, resume=True, epochs=4)


@pytest.mark.parametrize("name", ["adadelta", "adam", "adagrad"])
def test_averages_of_another_optimizer_are_refused(tmp_path: Path, name: OptimizerName) -> None:
    network, optimizers = stepped(name)
    save(tmp_path / "state", network, optimizers, name, step=2, steps_per_epoch=5, position=2)
    file = tmp_path / "state" / "state.safetensors"
    saved = load_tensors(file)
    key = next(key for key in saved if key.startswith("optimizer/hidden"))
    for change in (
        {key.rpartition("/")[0] + "/other": saved[key].clone()},
        {key: saved[key].double() * math.nan},
    ):
        save_tensors(file, {**saved, **change})
        write_manifest(tmp_path / "state", ("state.safetensors", "state.json"))
        fresh = ToyNetwork()
        with pytest.raises(ArtifactError, match="optimizer/hidden"):
            load_state(
                tmp_path / "state",
                network=fresh,
                optimizers=build_optimizer(fresh, OptimizerSettings(name)),
                settings=toy_settings(optimizer=OptimizerSettings(name)),
            )


def test_a_run_of_few_rows_takes_its_least_steps_and_goes_on_after_its_end(tmp_path: Path) -> None:
    """It ends long after ``epochs``, and its checkpoint is believed all the same."""
    _, whole = train_toy(tmp_path, epochs=1, least_steps=20, max_steps=0, patience=0)
    _, again = train_toy(tmp_path, resume=True, epochs=1, least_steps=20, max_steps=0, patience=0)
    assert (whole.steps, whole.epochs, again.steps) == (20, 2, 20)
