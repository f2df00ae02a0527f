from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from heedful.errors import ArtifactError, Interrupted, UsageError
from heedful.storage.manifest import write_manifest
from heedful.storage.model_folder import load_tensors, save_tensors
from heedful.training.loop import fit
from toy_training import (
    AskedAtOnce,
    ToyData,
    ToyNetwork,
    cross_entropy,
    toy_settings,
    train_toy,
    weights_hash,
)

DECAY = 0.6


def seen_at_each_step(decay: float) -> tuple[list[dict[str, Tensor]], ToyNetwork]:
    """Train for six steps; return the weights that each evaluation saw, and the network at the end."""
    network, seen = ToyNetwork(), []

    def evaluate(network: nn.Module) -> dict[str, float]:
        seen.append({name: weight.detach().clone() for name, weight in network.named_parameters()})
        return {"accuracy": float(len(seen) == 4)}  # the fourth is the best

    settings = toy_settings(max_steps=6, evaluate_every=1, weight_average=decay)
    fit(network, ToyData(), cross_entropy, settings, evaluate=evaluate)
    return seen, network


def test_an_evaluation_sees_the_average_and_the_steps_do_not() -> None:
    """The averages follow the formula from the weights of a run without them, so the run itself is the same."""
    plain, _ = seen_at_each_step(0.0)
    averaged, network = seen_at_each_step(DECAY)
    mine = {name: weight.detach().double() for name, weight in ToyNetwork().named_parameters()}
    for step, (weights, found) in enumerate(zip(plain, averaged, strict=True), start=1):
        decay = min(DECAY, (1 + step) / (10 + step))
        for name, weight in weights.items():
            mine[name] = decay * mine[name] + (1 - decay) * weight.double()
            assert torch.allclose(found[name].double(), mine[name], rtol=1e-5, atol=1e-7)
    for name, weight in network.named_parameters():
        assert torch.equal(weight, averaged[3][name])  # the best average is kept
        assert not torch.equal(weight, plain[3][name])


def test_without_an_evaluation_the_last_average_is_kept() -> None:
    averaged, _ = seen_at_each_step(DECAY)
    network = ToyNetwork()
    fit(network, ToyData(), cross_entropy, toy_settings(max_steps=6, weight_average=DECAY))
    assert all(torch.equal(weight, averaged[5][name]) for name, weight in network.named_parameters())


def test_an_interrupted_run_ends_with_the_same_averages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unbroken, _ = train_toy(evaluate_every=5, weight_average=DECAY)
    with monkeypatch.context() as patch:
        patch.setattr("heedful.training.loop.StopRequest", AskedAtOnce)
        for _ in range(7):  # each takes one step; the fifth is evaluated
            with pytest.raises(Interrupted):
                train_toy(tmp_path, evaluate_every=5, weight_average=DECAY, resume=True)
    resumed, result = train_toy(tmp_path, evaluate_every=5, weight_average=DECAY, resume=True)
    assert result.resumed == 7
    assert weights_hash(resumed) == weights_hash(unbroken)
    assert weights_hash(resumed) != weights_hash(train_toy(evaluate_every=5)[0])


def test_another_decay_or_a_checkpoint_without_averages_is_refused(tmp_path: Path) -> None:
    train_toy(tmp_path, epochs=1, weight_average=DECAY)
    with pytest.raises(UsageError, match=r"weight_average: 0\.6 then, 0\.0 now"):
        train_toy(tmp_path, epochs=2, resume=True)
    latest = tmp_path / "checkpoints" / "latest"
    tensors = load_tensors(latest / "state.safetensors")
    assert "average/out.weight" in tensors
    del tensors["average/out.weight"]
    save_tensors(latest / "state.safetensors", tensors)
    write_manifest(latest, ("state.json", "state.safetensors"))
    with pytest.raises(ArtifactError, match=r"average/out\.weight"):
        train_toy(tmp_path, epochs=2, resume=True, weight_average=DECAY)
