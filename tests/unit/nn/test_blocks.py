"""Dense layers by head, and the way between heads and features."""

from __future__ import annotations

import math

import torch

from heedful.nn import Dense, HeadDense, join_heads, split_heads


def test_every_head_is_a_dense_layer_of_its_own() -> None:
    torch.manual_seed(0)
    layer = HeadDense(3, lambda: Dense(4, 5, activation="elu"))
    shared, each = torch.randn(2, 6, 4), torch.randn(2, 3, 6, 4)
    assert layer(shared).shape == (2, 3, 6, 5)
    for head, dense in enumerate(layer.parts):
        for x, of_head in ((shared, shared), (each, each[:, head])):
            with torch.no_grad():
                assert torch.equal(layer(x)[:, head], dense(of_head))
            torch.testing.assert_close(
                layer(x)[:, head], dense(of_head)
            )  # in training the heads have a kernel


def test_a_head_starts_with_the_fans_of_one_head() -> None:
    torch.manual_seed(0)
    limit = math.sqrt(6 / (40 + 60))
    for dense in HeadDense(4, lambda: Dense(40, 60)).parts:
        assert 0.95 * limit < dense.weight.abs().max() <= limit


def test_heads_are_contiguous_features() -> None:
    x = torch.arange(12.0).reshape(1, 2, 6)
    assert split_heads(x, 3)[0, :, 0].tolist() == [[0, 1], [2, 3], [4, 5]]
    assert torch.equal(join_heads(split_heads(x, 3)), x)
