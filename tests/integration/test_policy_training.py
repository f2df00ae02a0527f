"""MDMAN through the training loop: phases, who moves, the baseline, exact resume, explanation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from heedful.estimators import PairClassifier, from_pretrained
from heedful.models import ModelConfig
from heedful.nn import LearningPhase, MaskSelector, RunningMean, sampled_decisions
from heedful.nn.losses import cross_entropy
from heedful.nn.policy import with_policy
from heedful.structures import Batch, NetworkOutput, PolicyRecord, Sentences
from heedful.tasks import Predictor, build_network
from heedful.training.loop import fit
from heedful.training.optim import build_optimizer
from heedful.training.run_folder import RunStorage
from heedful.training.state import copy_weights
from heedful.training.train_settings import OptimizerSettings, TrainSettings

ENCODER_STEPS, POLICY_STEPS = 4, 4


class Data:
    """Sixteen random sentences of two classes, in four batches."""

    def __init__(self) -> None:
        generator = torch.Generator().manual_seed(0)
        self.ids = torch.randint(2, 9, (16, 6), generator=generator)
        self.targets = self.ids.eq(3).any(dim=1).long()

    def batches(self, epoch: int) -> list[list[int]]:
        return [list(range(start, start + 4)) for start in range(0, 16, 4)]

    def collate(self, rows: Any) -> Batch:
        ids = self.ids[torch.tensor(list(rows))]
        return Batch((Sentences(ids, ids > 0),), self.targets[torch.tensor(list(rows))], tuple(rows))


def objective(output: NetworkOutput, targets: torch.Tensor) -> torch.Tensor:
    return with_policy(cross_entropy(output.logits, targets), output.policies)


def network(encoder: str = "mdman") -> nn.Module:
    torch.manual_seed(0)
    options = {"encoder_steps": ENCODER_STEPS, "policy_steps": POLICY_STEPS, "baseline_decay": 0.5}
    config = ModelConfig(encoder=encoder, encoder_options=options, width=8, hidden=6)
    return build_network(config, torch.randn(9, 8))


def settings(steps: int, **more: Any) -> TrainSettings:
    optimizer = OptimizerSettings(name="adadelta", lr=0.5, weight_decay=1e-3)
    return TrainSettings(optimizer=optimizer, epochs=0, max_steps=steps, **{"save_seconds": 0.0, **more})


def moved(before: dict[str, torch.Tensor], after: dict[str, torch.Tensor]) -> set[str]:
    """Which parts changed: the policy's selector, the baseline, everything else."""
    found = set()
    for name, old in before.items():
        if not torch.equal(old, after[name]):
            part = (
                "selector"
                if ".selector." in name
                else name.split(".")[-2]
                if ".policy." in name
                else "encoder"
            )
            found.add(part)
    return found


@pytest.mark.parametrize("encoder", ["mdman", "resan"])
def test_each_phase_trains_what_it_should(encoder: str) -> None:
    """L2 is on, so that a frozen part would also show a decay that slips through."""
    weights = []
    for steps in (1, ENCODER_STEPS, ENCODER_STEPS + POLICY_STEPS, ENCODER_STEPS + POLICY_STEPS + 2):
        made = network(encoder)
        fit(made, Data(), objective, settings(steps))
        weights.append(copy_weights(made))
    first, second, third = (moved(weights[i], weights[i + 1]) - {"phase"} for i in range(3))
    assert first == {"encoder", "baseline"}
    assert second == {"selector", "baseline"}
    assert third == {"encoder", "selector", "baseline"}


def test_a_resumed_run_and_two_shards_end_with_the_same_weights(tmp_path: Path) -> None:
    steps = ENCODER_STEPS + POLICY_STEPS + 3
    whole, parts = network(), network()
    fit(whole, Data(), objective, settings(steps, save_steps=1, shards=2))
    for stop in (3, 6, 9, steps):
        parts = network()
        fit(
            parts,
            Data(),
            objective,
            settings(stop, save_steps=1, shards=2),
            keeping=RunStorage(tmp_path / "run", resume=stop > 3),
        )
    for name, tensor in whole.state_dict().items():
        assert torch.equal(parts.state_dict()[name], tensor), name


def test_the_best_weights_come_back_with_their_phase() -> None:
    made = network()
    scores = iter([1.0, 0.5, 0.4])
    fit(
        made,
        Data(),
        objective,
        settings(12, evaluate_every=4),
        evaluate=lambda _: {"accuracy": next(scores)},
    )
    phase = next(part for part in made.modules() if isinstance(part, LearningPhase))
    assert not phase.policy_acts


def test_the_baseline_follows_the_reward_by_its_own_rate_under_any_optimizer() -> None:
    for name in ("adadelta", "adam", "adagrad"):
        made = nn.ModuleList([RunningMean(0.75), nn.Linear(2, 1)])
        optimizers = build_optimizer(made, OptimizerSettings(name=name))  # type: ignore[arg-type]
        optimizers.scale_lr(0.1)
        mean = made[0].value
        mean.grad = mean.detach() - 4.0
        made[1].weight.grad = torch.ones(1, 2)
        optimizers.step()
        assert mean.item() == pytest.approx(1.0)
        assert sum(len(g["params"]) for m in optimizers.members for g in m.param_groups) == 3


def test_a_policy_learns_which_tokens_pay() -> None:
    """Reward: minus the share of tokens that are wrongly selected or wrongly left out; words of one kind pay."""
    torch.manual_seed(0)
    selector, mean = MaskSelector(6, activation="elu", shared=True), RunningMean(0.9)
    optimizer = torch.optim.Adam(selector.parameters(), lr=0.02)
    averaging = torch.optim.SGD(mean.parameters(), lr=1 - mean.decay)
    table, valid = torch.randn(8, 6), torch.ones(16, 5).bool()
    rewards = []
    for _ in range(200):
        ids = torch.randint(0, 8, (16, 5))
        chosen = selector(table[ids], valid)
        losses = (chosen.query != (ids < 3)).float().mean(dim=1)
        share = chosen.query.float().mean(dim=1)
        record = PolicyRecord(chosen.log_prob, share, valid, 0.0, mean.value, True, True)
        optimizer.zero_grad()
        averaging.zero_grad()
        with_policy(losses, [record]).mean().backward()
        optimizer.step()
        averaging.step()
        rewards.append(-losses.mean().item())
    assert np.mean(rewards[:10]) < -0.35
    assert np.mean(rewards[-10:]) > -0.1
    assert mean.value.item() == pytest.approx(np.mean(rewards[-10:]), abs=0.05)


def test_a_penalty_alone_teaches_the_policy_to_open_less() -> None:
    shares = []
    for steps in (1, 120):
        torch.manual_seed(0)
        options = {"policy_steps": 1000, "penalty": 5.0, "baseline_decay": 0.9}
        config = ModelConfig(encoder="mdman", encoder_options=options, width=8, hidden=6, dropout=0.0)
        made = build_network(config, torch.randn(9, 8))
        optimizer = OptimizerSettings(name="adam", lr=0.02)
        fit(made, Data(), objective, TrainSettings(optimizer=optimizer, epochs=0, max_steps=steps))
        with torch.no_grad(), sampled_decisions(made):
            torch.manual_seed(0)
            policies = [made(Data().collate(range(16))).policies[0] for _ in range(20)]
        shares.append(torch.stack([policy.share for policy in policies]).mean().item())
    before, after = shares
    assert before > 0.15
    assert after < before / 3


PAIRS = [
    ("A dog sleeps on the mat .", "An animal rests ."),
    ("Birds fly over a lake .", "The birds swim ."),
] * 3
LABELS = ["yes", "no"] * 3


@pytest.mark.parametrize("encoder", ["mdman", "resan"])
def test_from_strings_to_an_explanation_with_the_chosen_pairs(encoder: str, tmp_path: Path) -> None:
    classifier = PairClassifier(
        model__encoder=encoder,
        model__width=8,
        model__hidden=5,
        train__epochs=2,
        train__optimizer__name="adam",
    ).fit(PAIRS, LABELS, dev=(PAIRS, LABELS))
    shown = classifier.explain(PAIRS[0])
    for side in shown.sides:
        assert side.chosen is not None
        assert side.chosen.shape == (len(side.words),) * 2
        assert not side.chosen.diagonal().any()
        assert encoder == "resan" or sum(share.sum() for share in side.fusion.values()) == pytest.approx(
            len(side.words), abs=1e-4
        )
    assert "selector" in shown.notes["chosen"]
    classifier.save_pretrained(tmp_path / "model")
    loaded = from_pretrained(tmp_path / "model")
    assert isinstance(loaded.predictor, Predictor)
    np.testing.assert_array_equal(loaded.predictor.logits(PAIRS), classifier.predictor.logits(PAIRS))
