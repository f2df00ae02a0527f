"""Parameter totals of the published tables, word vectors aside, to the unit."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from heedful.models import ModelConfig
from heedful.tasks import build_network

NLI: dict[str, Any] = {"task": "pair", "outputs": 3}
MTSA_NLI: dict[str, Any] = {**NLI, "encoder": "mtsa", "highway": True}
DISTANCE_NLI: dict[str, Any] = {
    **NLI,
    "encoder": "distance-san",
    "pooling": "attentive-max-norm",
    "matching": "absolute",
    "activation": "relu",
}
MTSA_TEXT: dict[str, Any] = {"encoder": "mtsa", "activation": "relu", "final_bias": False}

SIZES: dict[str, tuple[dict[str, Any], int]] = {
    "MTSA on SNLI": (MTSA_NLI, 2_885_403),
    "MTSA w/o fw&bw masks": ({**MTSA_NLI, "encoder_options": {"masks": ["not_self"]}}, 2_885_403),
    "MTSA w/o token2token": ({**MTSA_NLI, "encoder_options": {"token2token": "none"}}, 2_525_403),
    "MTSA w/o source2token": ({**MTSA_NLI, "encoder_options": {"score_layers": 0}}, 2_524_203),
    "MTSA on SST-5": ({**MTSA_TEXT, "outputs": 5}, 2_165_400),
    "MTSA on TREC": ({**MTSA_TEXT, "outputs": 6}, 2_165_700),
    "MTSA, two classes": ({**MTSA_TEXT, "outputs": 2}, 2_164_500),
    "MTSA w/o proposed modules": (
        {**NLI, "encoder": "embedding", "encoder_options": {"hidden": 600}, "highway": True},
        1_803_603,
    ),
    "Embedding and additive attention": ({**NLI, "encoder": "embedding", "pooling": "additive"}, 451_803),
    "Embedding and source2token": ({**NLI, "encoder": "embedding"}, 541_803),
    "Multi-head": ({**NLI, "encoder": "multi-head"}, 1_982_403),
    "Bi-LSTM": ({**NLI, "encoder": "bi-lstm"}, 2_884_803),
    "Bi-GRU": ({**NLI, "encoder": "bi-gru"}, 2_524_203),
    "Multi-CNN": ({**NLI, "encoder": "cnn", "pooling": "max"}, 1_441_803),
    "Hrchy-CNN": ({**NLI, "encoder": "hierarchical-cnn", "highway": True}, 3_424_203),
    "Bi-BloSA": ({**NLI, "encoder": "bi-blosan"}, 4_148_403),
    # 4.7 million in the paper; the port's classifier has a layer normalization of 600 more.
    "Distance-based SAN": (DISTANCE_NLI, 4_691_643),
}


@pytest.mark.parametrize("name", SIZES)
def test_published_sizes_to_the_unit(name: str) -> None:
    settings, expected = SIZES[name]
    network = build_network(ModelConfig(**settings), torch.zeros(2, 300))
    assert sum(parameter.numel() for parameter in network.parameters()) - 2 * 300 == expected
