"""The position-wise network against its equation."""

from __future__ import annotations

import torch

from heedful.nn import FeedForward


def test_it_has_181200_parameters_at_300() -> None:
    assert sum(p.numel() for p in FeedForward(300, 300).parameters()) == 181_200


def test_residual_then_normalization() -> None:
    torch.manual_seed(0)
    net = FeedForward(4, 6).double()
    for parameter in net.parameters():
        parameter.data.normal_()
    x = torch.randn(2, 3, 4).double()
    inner = (x @ net.hidden.weight.T + net.hidden.bias).clamp(min=0) @ net.output.weight.T + net.output.bias
    rows = x + inner
    normal = (rows - rows.mean(-1, keepdim=True)) / (rows.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()
    torch.testing.assert_close(net(x), normal * net.norm.weight + net.norm.bias)


def test_positions_do_not_see_each_other_and_dropout_leaves_the_residual() -> None:
    net = FeedForward(4, 6, dropout=0.9)
    net.output.weight.data.zero_()
    x = torch.randn(1, 3, 4)
    torch.testing.assert_close(net(x), net(x))
    assert torch.equal(net(x)[:, 1:2], net(x[:, 1:2]))
