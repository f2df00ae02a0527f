"""The Transformer's encoder and MTSA in its place: equations in loops, sizes, places of the norm, refusals."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from heedful.encoders import (
    MtsaTransformerConfig,
    MtsaTransformerEncoder,
    TransformerConfig,
    TransformerEncoder,
)
from heedful.encoders.transformer import DotProductHeads, TensorizedSelfAttention
from heedful.errors import UsageError
from heedful.nn import PostNorm, PreNorm, positional_signal
from heedful.structures import Sentences


def words(length: int) -> Sentences:
    valid = torch.ones(1, length).bool()
    return Sentences(valid.long(), valid)


def linear(dense: Any, x: Tensor) -> Tensor:
    bias = 0 if dense.bias is None else dense.bias
    return dense.weight @ x + bias


def test_the_signal_is_that_of_the_transformer() -> None:
    signal = positional_signal(2, 4, torch.zeros(1).double(), start=3, exponent=1.0)
    expected = [
        [math.sin(i), math.cos(i), math.sin(i / 10000 ** (2 / 4)), math.cos(i / 10000 ** (2 / 4))]
        for i in (3, 4)
    ]
    torch.testing.assert_close(signal, torch.tensor(expected, dtype=torch.float64), atol=1e-12, rtol=0)


@pytest.mark.parametrize("kind", ["dot", "tensorized"])
def test_the_attention_equals_its_equations_in_loops(kind: str) -> None:
    torch.manual_seed(0)
    x = torch.randn(3, 4).double()
    if kind == "dot":
        layer: Any = DotProductHeads(4, TransformerConfig(heads=2))
    else:
        layer = TensorizedSelfAttention(4, MtsaTransformerConfig(heads=2, score_start=5.0))
        assert all((part.bias == 5.0).all() for part in layer.score.parts)
    layer = layer.double().eval().requires_grad_(False)
    joined = torch.zeros(3, 4).double()
    for head in range(2):
        part = slice(2 * head, 2 * head + 2)
        query, key, value = (
            [linear(dense, row)[part] for row in x] for dense in (layer.query, layer.key, layer.value)
        )
        for i in range(3):
            weight = [torch.exp(query[i] @ k / math.sqrt(2)).expand(2) for k in key]
            if kind == "tensorized":
                score = [linear(layer.score.parts[head], v) / math.sqrt(2) for v in value]
                weight = [w / (1 + torch.exp(-z)) for w, z in zip(weight, score, strict=True)]
            total = weight[0] + weight[1] + weight[2]
            joined[i, part] = sum(w * v for w, v in zip(weight, value, strict=True)) / total
    expected = torch.stack([linear(layer.output, row) for row in joined])
    found, _ = layer(x[None], words(3))
    torch.testing.assert_close(found[0], expected, atol=1e-12, rtol=0)


def test_mtsa_has_the_published_number_of_parameters_more() -> None:
    """Shen et al. report 61.38 and 61.58 million."""
    sizes = [
        sum(parameter.numel() for parameter in made.parameters())
        for made in (TransformerEncoder(512), MtsaTransformerEncoder(512))
    ]
    assert sizes[1] - sizes[0] == 6 * 8 * (64 * 64 + 64) == 199_680


def test_both_start_alike_and_differ_in_the_attention_alone() -> None:
    one, other = TransformerEncoder(16), MtsaTransformerEncoder(16)
    extra = {name for name, _ in other.named_parameters()} - {name for name, _ in one.named_parameters()}
    assert all(".score." in name for name in extra)
    assert len(extra) == 6 * 8 * 2


def test_where_the_norm_stands() -> None:
    x, change = torch.randn(5, 8), torch.randn(5, 8)
    pre, post = PreNorm(8, 0.0), PostNorm(8, 0.0)
    assert torch.equal(pre.after(x, change), x + change)
    assert torch.equal(post.before(x), x)
    for normalized in (pre.before(x), post.after(x, change)):
        torch.testing.assert_close(normalized.mean(-1), torch.zeros(5), atol=1e-6, rtol=0)
        torch.testing.assert_close(normalized.std(-1, correction=0), torch.ones(5), atol=1e-4, rtol=0)


def test_dropout_is_drawn_in_training_alone() -> None:
    encoder = TransformerEncoder(8, TransformerConfig(layers=1, heads=2, dropout=0.5))
    x = torch.randn(1, 4, 8)
    assert not torch.equal(encoder(x, words(4)).states, encoder(x, words(4)).states)
    encoder.eval()
    assert torch.equal(encoder(x, words(4)).states, encoder(x, words(4)).states)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"layers": 0}, "layers must be 1"),
        ({"heads": 3}, "heads=3 must divide"),
        ({"norm": "mid"}, "norm must be one of"),
    ],
)
def test_refusals(settings: dict[str, Any], message: str) -> None:
    for encoder, config in (
        (TransformerEncoder, TransformerConfig),
        (MtsaTransformerEncoder, MtsaTransformerConfig),
    ):
        with pytest.raises(UsageError, match=message):
            encoder(8, config(**settings))
