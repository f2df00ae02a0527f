"""L2 covers exactly the listed matrices."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from heedful.models import ModelConfig, Network
from heedful.nn import Dense, l2_factors
from heedful.tasks import build_network

BLOCKS = [
    f"sentence_encoder.encoder.blocks.{block}.{layer}.weight"
    for block in (0, 1)
    for layer in ("hidden", "gate.word", "gate.context")
]
POOLING = ["sentence_encoder.pooling.hidden.weight", "sentence_encoder.pooling.score.weight"]
HEADS = {
    "text": ["head.hidden.weight", "head.output.weight"],
    "pair": ["head.hidden.weight", "head.output.weight"],
    "relatedness": ["head.product.weight", "head.difference.weight", "head.output.weight"],
}


def penalty(module: nn.Module, coefficient: float) -> torch.Tensor:
    """What the optimizer's weight decay is the gradient of."""
    squares = (factor * matrix.square().sum() for matrix, factor in l2_factors(module))
    return 0.5 * coefficient * sum(squares, torch.zeros(()))


def network(task: str) -> Network:
    torch.manual_seed(0)
    network = build_network(ModelConfig(task=task, width=8, hidden=6, outputs=5), torch.randn(12, 8))
    for name, parameter in network.named_parameters():
        if name.endswith("bias"):
            parameter.data.normal_()  # so that counting one would show
    return network


@pytest.mark.parametrize("task", HEADS)
def test_disan_at_initialization_is_the_sum_over_the_listed_matrices(task: str) -> None:
    disan = network(task)
    parameters = dict(disan.named_parameters())
    listed = [*BLOCKS, *POOLING, *HEADS[task]]
    expected = 0.5 * 5e-5 * sum(parameters[name].double().square().sum().item() for name in listed)
    assert penalty(disan.double(), 5e-5).item() == pytest.approx(expected, rel=1e-12)
    chosen = {id(parameter) for parameter, _ in l2_factors(disan)}
    assert {name for name, parameter in parameters.items() if id(parameter) in chosen} == set(listed)
    assert "sentence_encoder.encoder.blocks.0.key.weight" in parameters
    assert "sentence_encoder.encoder.blocks.0.query.weight" in parameters
    assert "sentence_encoder.embedding.weight" in parameters


def test_its_gradient_is_the_coefficient_times_the_matrix() -> None:
    disan = network("text")
    penalty(disan, 0.01).backward()
    head = disan.head
    torch.testing.assert_close(head.hidden.weight.grad, 0.01 * head.hidden.weight)
    assert head.hidden.bias.grad is None
    assert disan.sentence_encoder.embedding.weight.grad is None


def test_a_matrix_covered_twice_counts_twice() -> None:
    layer = Dense(3, 2, l2=2.0)
    assert penalty(layer, 0.1).item() == pytest.approx(0.1 * layer.weight.square().sum().item())


def test_nothing_to_cover_is_zero() -> None:
    assert penalty(nn.Linear(2, 2), 1.0).item() == 0
