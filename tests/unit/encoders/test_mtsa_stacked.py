"""MTSA in a stack: what a layer computes, its depth and its widths."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from heedful.encoders import MtsaStackedConfig, MtsaStackedEncoder
from heedful.errors import UsageError
from heedful.explain.legends import by_caption
from heedful.structures import Sentences

WORDS = Sentences(torch.ones(1, 4).long(), torch.ones(1, 4).bool())


def stack(width: int = 8, **settings: object) -> MtsaStackedEncoder:
    torch.manual_seed(0)
    return MtsaStackedEncoder(width, MtsaStackedConfig(**settings)).double().eval()  # type: ignore[arg-type]


def test_a_layer_adds_and_normalizes_twice() -> None:
    encoder = stack(layers=1)
    layer = encoder.layers[0]
    x = torch.randn(1, 4, 8).double()
    dense = functional.relu(x @ layer.dense.weight.T + layer.dense.bias)
    first = functional.layer_norm(x + dense, (8,), eps=1e-6)
    second = functional.layer_norm(first + layer.attention(first, WORDS).states, (8,), eps=1e-6)
    torch.testing.assert_close(encoder(x, WORDS).states, second, atol=1e-12, rtol=0)


def test_the_default_is_ten_layers_of_eight_heads_four_a_direction() -> None:
    encoder = stack()
    assert len(encoder.layers) == 10
    maps = by_caption(encoder(torch.randn(1, 4, 8).double(), WORDS, need_weights=True).maps)
    assert len(maps) == 80
    assert sum(name.startswith("layer 3 forward") for name in maps) == 4
    assert encoder.config.token2token == "exp"


def test_a_first_layer_that_changes_the_width_has_nothing_to_add_to() -> None:
    encoder = stack(width=6, hidden=8, layers=2)
    x = torch.randn(1, 4, 6).double()
    layer = encoder.layers[0]
    first = functional.layer_norm(layer.dense(x), (8,), eps=1e-6)
    second = functional.layer_norm(first + layer.attention(first, WORDS).states, (8,), eps=1e-6)
    torch.testing.assert_close(layer(x, WORDS, need_weights=False).states, second, atol=1e-12, rtol=0)
    assert encoder(x, WORDS).states.shape == (1, 4, 8)


def test_dropout_sits_on_dense_inputs_attention_and_residuals() -> None:
    encoder = stack(layers=1, dropout=0.0, attention_dropout=0.0, residual_dropout=0.5).train()
    x = torch.randn(1, 4, 8).double()
    assert not torch.equal(encoder(x, WORDS).states, encoder(x, WORDS).states)
    still = stack(layers=1, dropout=0.0, attention_dropout=0.0, residual_dropout=0.0).train()
    assert torch.equal(still(x, WORDS).states, still(x, WORDS).states)


@pytest.mark.parametrize(
    ("settings", "message"), [({"heads": 3}, "must divide"), ({"layers": 0}, "1 or more")]
)
def test_impossible_shapes_are_refused(settings: dict[str, int], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        stack(**settings)
