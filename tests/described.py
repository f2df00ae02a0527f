"""Networks that have a description, with weights far from zero, and texts for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from heedful.data.batching import padded
from heedful.data.examples import Ragged
from heedful.export import describe
from heedful.models import ENCODERS, POOLINGS, ModelConfig, Network
from heedful.runtime.program import Program
from heedful.runtime.settings import MISSING
from heedful.runtime.weights import Weights
from heedful.storage.model_folder import save_tensors
from heedful.structures import Batch, Sentences
from heedful.tasks import build_network

WIDTH, ROWS, FROZEN = 24, 40, 9
LENGTHS = (5, 1, 0, 12, 90)
NOT_YET = {
    "bi-blosan",
    "deep-att",
    "distance-san",
    "mtsa-deep-att",
    "resan",
}
"""Encoders without a description; one that gets it must leave this list."""

VARIANTS: dict[str, list[dict[str, Any]]] = {
    "disan": [
        {"masks": ["forward & window(2)", "backward | window(1)", "everything"], "scale": 1.0},
        {"masks": ["not_self", "causal"], "scale": 20.0},
        {"score": "general", "masks": ["forward"]},
    ],
    "mdman": [
        {"attentions": ["self"], "one_action": True},
        {"attentions": ["dot"], "dynamic": False},
        {"dot_score": "feature", "shared_hidden": True},
        {"encoder_steps": 3},
    ],
    "mtsa-stacked": [{"layers": 2, "hidden": 16, "heads": 4, "activation": "elu", "token2token": "sigmoid"}],
    "mtsa-transformer": [
        {"layers": 2, "heads": 4, "norm": "post", "masks": ["forward", "backward"]},
        {"layers": 1, "norm": "post", "masks": ["causal"], "source2token": "exp", "score_from": "input"},
    ],
    "multi-head": [{"heads": 2, "head_width": 5}, {"signal": 0.0}],
    "transformer": [{"layers": 2, "heads": 3, "hidden": 10, "norm": "post"}],
    "intra-sentence": [{"hidden": 5, "distance": 2}],
    "mssan": [
        {"heads": ["none", "word", "dependency"], "alpha": 0.7},
        {"encoders": 2, "layers": 2, "hidden": 10, "without_parse": "none"},
        {"positions": "relative", "reach": 2},
        {"positions": "transformer-xl", "heads": ["none"] * 3},
    ],
    "bi-gru": [{"hidden": 5, "layers": 2}],
    "bi-lstm": [{"hidden": 5, "layers": 3}],
    "cnn": [{"sizes": [1, 2], "filters": 30, "activation": "elu"}],
    "embedding": [{"hidden": 30}],
    "hierarchical-cnn": [{"layers": 2, "size": 3, "activation": "elu"}],
    "mtsa": [
        {"heads": 4, "head_width": 5, "token2token": "exp", "score_layers": 1},
        {"masks": ["not_self"], "token2token": "none", "attend_from": "input"},
        {"score_layers": 0, "activation": "relu"},
        {"gate": False, "self_visible": True},
        {"source2token": "sigmoid", "masks": ["causal"]},
    ],
    "mtsa-paper": [
        {"heads": 4, "head_width": 6, "token2token": "exp", "score_from": "input", "output": "activated"},
        {"source2token": "sigmoid"},
    ],
}
MODELS = {
    **{f"text of {name}": {"encoder": name} for name in ENCODERS if name not in NOT_YET},
    **{
        f"{name} with {options}": {"encoder": name, "encoder_options": options}
        for name, several in VARIANTS.items()
        for options in several
    },
    **{f"pooling {name}": {"encoder": "embedding", "pooling": name} for name in POOLINGS},
    "pair": {"task": "pair", "highway": True, "encoder": "disan"},
    "pair, absolute": {"task": "pair", "matching": "absolute", "final_bias": False, "encoder": "embedding"},
    "pair, symmetric": {"task": "pair", "matching": "symmetric", "encoder": "embedding"},
    "relatedness": {"task": "relatedness", "encoder": "mtsa", "activation": "relu"},
    "number": {"task": "number", "outputs": 1, "encoder": "embedding"},
    "pair-number": {"task": "pair-number", "outputs": 1, "matching": "absolute", "encoder": "cnn"},
    "labels": {"task": "labels", "highway": True, "encoder": "embedding"},
    "vector": {"task": "vector", "encoder": "disan"},
    "vector of a pooling": {"task": "vector", "outputs": 7, "encoder": "embedding", "pooling": "mean"},
    "aligned": {"task": "pair", "encoder": "decomposable", "train_embedding": False},
    "aligned, intra": {
        "task": "relatedness",
        "encoder": "decomposable",
        "encoder_options": {"intra": True, "projected": 7, "deviation": 0.3},
    },
    "words not trained": {"encoder": "disan", "train_embedding": False},
}


def built(settings: dict[str, Any]) -> Network:
    """Return a network with weights that are far from a trained one's zeros."""
    torch.manual_seed(3)
    network = build_network(
        ModelConfig(**{"width": WIDTH, "hidden": 20, "outputs": 3, **settings}),
        torch.randn(ROWS, WIDTH),
        torch.randn(FROZEN, WIDTH),
    )
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter) * 0.1)
        for scale in (buffer for name, buffer in network.named_buffers() if name == "scale"):
            scale.copy_(torch.tensor([1.5, 3.0, -2.0, 7.0]))
    return network.eval()


def program_of(network: Network, folder: Path) -> Program:
    save_tensors(folder / "weights.safetensors", network.state_dict())
    description = describe(network)
    assert MISSING not in description, description
    return Program(description, Weights(folder / "weights.safetensors"), (ROWS, FROZEN, 0))


def texts(sides: int) -> list[list[np.ndarray]]:
    """Return the ids of examples, with a text that is empty and one that is long."""
    generator = np.random.default_rng(1)
    return [
        [generator.integers(1, ROWS + FROZEN, n + 3 * s * (n > 0)) for s in range(sides)] for n in LENGTHS
    ]


def batch_of(examples: list[list[np.ndarray]]) -> Batch:
    columns = []
    for column in zip(*examples, strict=True):
        offsets = np.cumsum([0, *map(len, column)])
        ids, valid = padded(Ragged(np.concatenate(column), offsets), np.arange(len(column)))
        columns.append(Sentences(torch.from_numpy(ids), torch.from_numpy(valid)))
    return Batch(tuple(columns))
