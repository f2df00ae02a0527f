"""MS-SAN's pooling against its equation."""

from __future__ import annotations

import torch
from torch.nn import functional

from heedful.nn.pooling import AttentiveMax, NormalizedAttentiveMax


def test_it_has_180600_parameters_at_width_300() -> None:
    assert sum(p.numel() for p in AttentiveMax(300).parameters()) == 180_600


def test_attention_first_then_the_maximum() -> None:
    torch.manual_seed(0)
    pooling = AttentiveMax(4).double()
    states = torch.randn(1, 5, 4).double()
    valid = torch.tensor([[True, True, True, False, False]])
    got = pooling(states, valid, need_weights=True)
    u, net = states[0, :3], pooling.attentive
    hidden = (u @ net.hidden.weight.T + net.hidden.bias).clamp(min=0)
    weights = torch.softmax(hidden @ net.score.weight.T + net.score.bias, dim=0)
    torch.testing.assert_close(got.vector[0, :4], (weights * u).sum(0))
    assert torch.equal(got.vector[0, 4:], u.max(0).values)
    assert got.weights is not None
    assert got.weights.shape == (1, 5, 8)
    torch.testing.assert_close(got.weights[0, :3, :4], weights)


def test_the_normalized_form_has_722400_parameters_at_width_600() -> None:
    assert sum(p.numel() for p in NormalizedAttentiveMax(600).parameters()) == 722_400


def test_the_normalized_form_normalizes_twice_with_one_layer() -> None:
    torch.manual_seed(0)
    pooling = NormalizedAttentiveMax(4).double()
    pooling.norm.weight.data.normal_()
    pooling.norm.bias.data.normal_()
    u, valid = torch.randn(1, 3, 4).double(), torch.ones(1, 3).bool()

    def norm(rows: torch.Tensor) -> torch.Tensor:
        return functional.layer_norm(rows, (4,), pooling.norm.weight, pooling.norm.bias)

    hidden = functional.elu(norm(u @ pooling.hidden.weight.T + pooling.hidden.bias))
    weights = torch.softmax(norm(hidden @ pooling.score.weight.T + pooling.score.bias), dim=1)
    vector = pooling(u, valid).vector
    torch.testing.assert_close(vector, torch.cat([(weights * u).sum(1), u.max(1).values], dim=-1))
