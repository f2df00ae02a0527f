"""MS-SAN's pooling against its equation."""

from __future__ import annotations

import torch

from heedful.pooling import AttentiveMax


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
