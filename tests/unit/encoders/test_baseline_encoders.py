"""The multi-head baseline: its signal, its start, its equations in loops, its dropout."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from heedful.encoders import MultiHeadConfig, MultiHeadEncoder
from heedful.errors import UsageError
from heedful.explain.legends import by_caption
from heedful.nn import positional_signal
from heedful.structures import Sentences


def words(length: int) -> Sentences:
    valid = torch.ones(1, length).bool()
    return Sentences(valid.long(), valid)


def encoder(width: int = 4, **settings: Any) -> MultiHeadEncoder:
    torch.manual_seed(0)
    config = MultiHeadConfig(**{"heads": 2, "head_width": 3, "dropout": 0.0, **settings})
    return MultiHeadEncoder(width, config).double().eval()


def test_the_signal_doubles_the_usual_exponent() -> None:
    signal = positional_signal(3, 4, torch.zeros(1).double())
    expected = [
        [math.sin(i), math.cos(i), math.sin(i / 10000 ** (4 / 4)), math.cos(i / 10000 ** (4 / 4))]
        for i in range(3)
    ]
    torch.testing.assert_close(signal, torch.tensor(expected).double(), atol=1e-7, rtol=0)


def test_equals_its_equations_in_loops() -> None:
    made = encoder().requires_grad_(False)
    made.projections.weight.normal_()
    x = torch.randn(3, 4).double()
    shifted = x + positional_signal(3, 4, x)
    expected = torch.zeros(3, 6).double()
    for head in range(2):
        query, key, value = (shifted @ made.projections.weight[part, head] for part in range(3))
        for i in range(3):
            weights = [math.exp(float(query[i] @ key[j]) / math.sqrt(3)) for j in range(3)]
            for j in range(3):
                expected[i, 3 * head : 3 * head + 3] += weights[j] / sum(weights) * value[j]
    torch.testing.assert_close(made(x[None], words(3)).states[0], expected, atol=1e-12, rtol=0)


def test_the_start_has_the_fans_of_the_whole_variable() -> None:
    torch.manual_seed(0)
    weight = MultiHeadEncoder(300).projections.weight
    assert weight.shape == (3, 8, 300, 75)
    limit = math.sqrt(6 / (24 * 375))
    assert limit == pytest.approx(0.0258, abs=5e-5)
    assert 0.999 * limit < weight.abs().max() <= limit
    torch.manual_seed(0)
    wider = MultiHeadEncoder(300, MultiHeadConfig(gain=math.sqrt(24))).projections.weight
    torch.testing.assert_close(wider, math.sqrt(24) * weight, atol=0, rtol=1e-6)


def test_the_order_of_words_matters_through_the_signal() -> None:
    made = encoder()
    x = torch.randn(1, 3, 4).double()
    turned = made(x.flip(1), words(3)).states.flip(1)
    assert (turned - made(x, words(3)).states).abs().max() > 1e-6
    blind = encoder(signal=0.0)
    turned = blind(x.flip(1), words(3)).states.flip(1)
    torch.testing.assert_close(turned, blind(x, words(3)).states, atol=1e-12, rtol=0)


def test_every_projection_of_every_head_draws_its_own_dropout(monkeypatch: pytest.MonkeyPatch) -> None:
    made = encoder(width=50, dropout=0.5, head_width=50).train()
    with torch.no_grad():
        made.projections.weight.copy_(torch.eye(50))
    parts: list[Tensor] = [
        p[0, head, 0] for p in made.projections(torch.ones(1, 1, 50).double()) for head in (0, 1)
    ]
    assert len(parts) == 6
    for index, part in enumerate(parts):
        assert 0.2 < (part == 0).double().mean() < 0.8
        assert not any(torch.equal(part, other) for other in parts[:index])


def test_one_map_a_head() -> None:
    maps = by_caption(encoder()(torch.randn(1, 3, 4).double(), words(3), need_weights=True).maps)
    assert list(maps) == ["head 1", "head 2"]
    assert all(weights.shape == (1, 3, 3) for weights in maps.values())


@pytest.mark.parametrize("settings", [{"heads": 0}, {"head_width": 0}])
def test_nothing_to_attend_with_is_refused(settings: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="1 or more"):
        encoder(**settings)
    with pytest.raises(UsageError, match="gain must be above 0"):
        encoder(gain=0.0)
