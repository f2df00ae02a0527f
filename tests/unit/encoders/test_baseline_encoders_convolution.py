"""The convolutional encoders: which windows a state comes from, the gated layers, mistakes."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from heedful.encoders import CnnConfig, CnnEncoder, HierarchicalCnnConfig, HierarchicalCnnEncoder
from heedful.errors import UsageError
from heedful.nn.pooling import MaxPooling
from heedful.structures import Sentences


def words(length: int, padded: int = 0) -> Sentences:
    valid = torch.arange(length + padded)[None] < length
    return Sentences(valid.long(), valid)


def test_a_state_holds_the_windows_that_begin_with_its_word() -> None:
    torch.manual_seed(0)
    encoder = CnnEncoder(3, CnnConfig(sizes=(1, 2), filters=4, dropout=0.0)).double().requires_grad_(False)
    x = torch.randn(1, 3, 3).double()
    one, two = encoder.windows
    states = encoder(x, words(3)).states[0]
    for word in range(3):
        torch.testing.assert_close(states[word, :4], (one.weight[:, :, 0] @ x[0, word] + one.bias).relu())
        pair = two.weight[:, :, 0] @ x[0, word] + two.bias
        if word < 2:
            pair = pair + two.weight[:, :, 1] @ x[0, word + 1]
        torch.testing.assert_close(states[word, 4:], pair.relu())


def test_the_maximum_does_not_depend_on_padding() -> None:
    torch.manual_seed(0)
    encoder, pooling = CnnEncoder(3, CnnConfig(filters=4)).eval(), MaxPooling(12)
    x = torch.randn(1, 9, 3)
    alone = pooling(encoder(x[:, :2], words(2)).states, words(2).valid).vector
    padded = pooling(encoder(x, words(2, 7)).states, words(2, 7).valid).vector
    torch.testing.assert_close(alone, padded)
    assert alone.any()


def test_gated_layers_with_the_residual_from_the_second_on() -> None:
    torch.manual_seed(0)
    encoder = HierarchicalCnnEncoder(3, HierarchicalCnnConfig(layers=2, size=3, dropout=0.0)).double()
    x = torch.randn(1, 4, 3).double()

    def layer(number: int, x: torch.Tensor) -> torch.Tensor:
        value, gate = encoder.layers[number](x).relu().split(3, dim=-1)
        return value * gate.sigmoid()

    first = layer(0, x)
    torch.testing.assert_close(encoder(x, words(4)).states, layer(1, first) + first)


@pytest.mark.parametrize(
    ("make", "settings"),
    [
        (lambda s: CnnEncoder(3, CnnConfig(**s)), {"sizes": ()}),
        (lambda s: CnnEncoder(3, CnnConfig(**s)), {"sizes": (3, 0)}),
        (lambda s: CnnEncoder(3, CnnConfig(**s)), {"filters": 0}),
        (lambda s: HierarchicalCnnEncoder(3, HierarchicalCnnConfig(**s)), {"size": 4}),
        (lambda s: HierarchicalCnnEncoder(3, HierarchicalCnnConfig(**s)), {"layers": 0}),
    ],
)
def test_impossible_windows_are_refused(make: Any, settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="1 or more"):
        make(settings)
