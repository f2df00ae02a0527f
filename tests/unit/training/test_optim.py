from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from heedful.nn import Dense
from heedful.training.optim import build_optimizer, sparse_parameters
from heedful.training.train_settings import OptimizerSettings
from toy_training import ToyData, ToyNetwork, cross_entropy

NAMES = ("adadelta", "adam", "adagrad")


def gradients(network: nn.Module) -> None:
    batch = ToyData().collate(range(10))
    cross_entropy(network(batch), batch.targets).mean().backward()


def weights_after(
    settings: OptimizerSettings, penalty: Tensor | None = None, steps: int = 3
) -> dict[str, Tensor]:
    network = ToyNetwork(dropout=0.0)
    optimizers = build_optimizer(network, settings)
    for _ in range(steps):
        optimizers.zero_grad()
        gradients(network)
        if penalty is not None:
            (0.5 * penalty * (network.hidden.weight**2).sum()).backward()
        optimizers.step()
    return {name: parameter.detach().clone() for name, parameter in network.named_parameters()}


@pytest.mark.parametrize("name", NAMES)
def test_weight_decay_is_half_the_squared_norm_of_exactly_the_regularized_matrices(name: str) -> None:
    decayed = weights_after(OptimizerSettings(name, lr=0.1, weight_decay=0.3))
    penalized = weights_after(OptimizerSettings(name, lr=0.1), penalty=torch.tensor(0.3))
    plain = weights_after(OptimizerSettings(name, lr=0.1))
    for key in plain:
        torch.testing.assert_close(decayed[key], penalized[key])
    assert not torch.allclose(decayed["hidden.weight"], plain["hidden.weight"])


@pytest.mark.parametrize("name", NAMES)
def test_a_matrix_covered_twice_decays_twice_as_much(name: str) -> None:
    once, twice = Dense(3, 2, bias=False), Dense(3, 2, bias=False, l2=2.0)
    groups = [
        (group["weight_decay"], [id(p) for p in group["params"]])
        for member in build_optimizer(
            nn.Sequential(once, twice, nn.Linear(2, 2)), OptimizerSettings(name, weight_decay=0.3)
        ).members
        for group in member.param_groups
    ]
    assert [decay for decay, _ in groups] == [0.6, 0.3, 0.0]
    assert [owned for _, owned in groups][:2] == [[id(twice.weight)], [id(once.weight)]]


@pytest.mark.parametrize("name", NAMES)
def test_one_step_moves_only_the_rows_of_the_batch(name: str) -> None:
    network = ToyNetwork()
    before = network.embedding.weight.detach().clone()
    optimizers = build_optimizer(network, OptimizerSettings(name, lr=0.1))
    gradients(network)
    named = set(network.embedding.weight.grad.coalesce().indices()[0].tolist())
    optimizers.step()
    moved = (network.embedding.weight.detach() != before).any(1).nonzero().flatten().tolist()
    assert 0 < len(moved) < len(before)
    assert set(moved) <= named


def test_adagrad_starts_its_accumulators_at_a_tenth() -> None:
    network = ToyNetwork()
    settings = OptimizerSettings("adagrad", lr=0.1)
    before = network.hidden.weight.detach().clone()
    optimizers = build_optimizer(network, settings)
    gradients(network)
    gradient = network.hidden.weight.grad.clone()
    optimizers.step()
    expected = before - 0.1 * gradient / ((0.1 + gradient**2).sqrt() + settings.eps)
    torch.testing.assert_close(network.hidden.weight.detach(), expected)


def test_sparse_parameters_are_the_word_tables() -> None:
    network = nn.Sequential(
        ToyNetwork(), nn.Embedding(3, 2, sparse=True), nn.Embedding(3, 2), nn.Linear(2, 2)
    )
    assert [id(p) for p in sparse_parameters(network)] == [
        id(network[0].embedding.weight),
        id(network[1].weight),
    ]


@pytest.mark.parametrize("name", NAMES)
def test_every_trainable_parameter_has_one_owner_and_frozen_ones_none(name: str) -> None:
    network = ToyNetwork()
    network.out.bias.requires_grad_(False)
    optimizers = build_optimizer(network, OptimizerSettings(name))
    owned = [id(p) for member in optimizers.members for group in member.param_groups for p in group["params"]]
    assert sorted(owned) == sorted(id(p) for p in network.parameters() if p.requires_grad)
    with pytest.raises(KeyError):
        optimizers.state_of(network.out.bias)


@pytest.mark.parametrize("name", NAMES)
def test_a_network_of_tables_only_can_be_trained(name: str) -> None:
    network = nn.Embedding(4, 2, sparse=True)
    optimizers = build_optimizer(network, OptimizerSettings(name, lr=0.1))
    before = network.weight.detach().clone()
    network(torch.tensor([1])).sum().backward()
    optimizers.step()
    assert torch.equal((network.weight.detach() != before).any(1), torch.tensor([False, True, False, False]))


def test_scaled_learning_rates_are_of_the_initial_one() -> None:
    optimizers = build_optimizer(ToyNetwork(), OptimizerSettings("adam", lr=0.2))
    for factor in (0.5, 0.25):
        optimizers.scale_lr(factor)
    assert {group["lr"] for member in optimizers.members for group in member.param_groups} == {0.05}


def test_adam_in_one_pass_equals_adam_to_rounding() -> None:
    network = ToyNetwork(dropout=0.0)
    optimizers = build_optimizer(network, OptimizerSettings("adam", lr=0.01, weight_decay=0.1))
    weight = nn.Parameter(network.hidden.weight.detach().clone())
    plain = torch.optim.Adam([weight], lr=0.01, eps=1e-8, weight_decay=0.1, fused=False)
    for _ in range(5):
        optimizers.zero_grad()
        gradients(network)
        weight.grad = network.hidden.weight.grad.clone()
        optimizers.step()
        plain.step()
    torch.testing.assert_close(network.hidden.weight.detach(), weight.detach(), rtol=0, atol=1e-6)
