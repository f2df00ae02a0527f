"""Distance-based self-attention: sizes, the formula in loops, mistakes."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from heedful.encoders import DistanceSanConfig, DistanceSanEncoder
from heedful.errors import UsageError
from heedful.explain.legends import by_caption
from heedful.structures import Sentences


def test_sizes_to_the_unit() -> None:
    assert sum(p.numel() for p in DistanceSanEncoder(300).parameters()) == 2 * 1_264_020


def build(**options: object) -> DistanceSanEncoder:
    torch.manual_seed(0)
    encoder = DistanceSanEncoder(6, DistanceSanConfig(**{"dropout": 0.0, "heads": 2, **options})).double()  # type: ignore[arg-type]
    for parameter in encoder.parameters():
        parameter.data.normal_(std=0.7)
    return encoder.eval()


@torch.no_grad()
def by_loops(encoder: DistanceSanEncoder, x: Tensor, alpha: float) -> Tensor:
    (block,) = encoder.blocks

    def norm(rows: Tensor, layer: torch.nn.LayerNorm) -> Tensor:
        return functional.layer_norm(rows, rows.shape[-1:], layer.weight, layer.bias)

    context = torch.zeros_like(x)
    for head in range(2):
        own = slice(3 * head, 3 * head + 3)
        q, k, v = (norm(x @ p.weight[own].T, block.head_norm) for p in (block.query, block.key, block.value))
        for i in range(1, len(x)):
            weights = [math.exp(float(q[i] @ k[j]) / math.sqrt(6) - alpha * (i - j)) for j in range(i)]
            for j in range(i):
                context[i, own] += weights[j] / sum(weights) * v[j]
    looked = norm(context @ block.output.weight.T + block.output.bias, block.output_norm)
    gate = block.gate
    word, looked = norm(x @ gate.word.weight.T, gate.norm), norm(looked @ gate.context.weight.T, gate.norm)
    f = torch.sigmoid(word + looked + gate.bias)
    return block.feed_forward(norm(f * word + (1 - f) * looked, gate.norm))


@pytest.mark.parametrize("impl", ["reference", "torch"])
def test_a_forward_block_one_number_at_a_time(impl: str) -> None:
    encoder = build(masks=("forward",), alpha=0.8, impl=impl)
    x, valid = torch.randn(5, 6).double(), torch.ones(1, 5).bool()
    states = encoder(x[None], Sentences(valid.long(), valid)).states[0]
    torch.testing.assert_close(states, by_loops(encoder, x, 0.8), atol=1e-12, rtol=0)


def test_maps_hold_one_weight_a_head() -> None:
    valid = torch.ones(1, 4).bool()
    told = build()(torch.randn(1, 4, 6).double(), Sentences(valid.long(), valid), need_weights=True)
    assert {name: tuple(w.shape) for name, w in by_caption(told.maps).items()} == dict.fromkeys(
        ("forward", "backward"), (1, 4, 4, 2)
    )
    assert list(by_caption(told.gates)) == ["forward", "backward"]


def test_heads_that_do_not_divide_the_width_are_rounded_up() -> None:
    encoder = build(heads=4)
    assert encoder.blocks[0].query.weight.shape == (8, 6)
    assert encoder.width_out == 12


@pytest.mark.parametrize("option", [{"heads": 0}, {"hidden": -1}, {"alpha": -0.1}])
def test_numbers_out_of_range_are_named(option: dict[str, float]) -> None:
    (name,) = option
    with pytest.raises(UsageError, match=f"{name} must be"):
        build(**option)
