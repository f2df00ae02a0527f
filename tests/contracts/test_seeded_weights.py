"""Initial weights are a function of the seed alone, and torch's own generator is neither used nor moved."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from heedful.attention.randomness import drawing_from, seeded
from heedful.models import ENCODERS, NETWORKS, POOLINGS, ModelConfig
from heedful.tasks import TASKS, build_network

WIDTH = 24
TASK_OF = dict.fromkeys(NETWORKS, "pair")
PLAIN = [
    ModelConfig(TASK_OF.get(name, "text"), name, width=WIDTH, hidden=8) for name in (*ENCODERS, *NETWORKS)
]
POOLED = [ModelConfig("text", "embedding", pooling=name, width=WIDTH, hidden=8) for name in POOLINGS]  # type: ignore[arg-type]
ASKED = [ModelConfig(name, "bi-lstm", width=WIDTH, hidden=8, outputs=5) for name in TASKS]
MODELS = {f"{one.task} {one.encoder} {one.pooling}": one for one in (*PLAIN, *POOLED, *ASKED)}


def weights(config: ModelConfig, before: int) -> dict[str, Tensor]:
    """Build a network with one seed, after torch's generator was put elsewhere, which must stay there."""
    torch.manual_seed(before)
    there = torch.get_rng_state()
    with drawing_from(seeded(3)):
        network = build_network(config, torch.ones(9, WIDTH))
    assert torch.equal(torch.get_rng_state(), there), "something was drawn from torch's generator"
    return network.state_dict()


@pytest.mark.parametrize("name", MODELS)
def test_initial_weights_are_a_function_of_the_seed(name: str) -> None:
    first, second = weights(MODELS[name], 0), weights(MODELS[name], 1)
    assert first.keys() == second.keys()
    assert [key for key in first if not torch.equal(first[key], second[key])] == []
