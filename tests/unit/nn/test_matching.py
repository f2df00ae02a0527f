"""The order and sign of the pair features."""

from __future__ import annotations

import torch

from heedful.nn.heads import match_features, matched


def test_order_and_sign_by_hand() -> None:
    first, second = torch.tensor([[1.0, 2.0]]), torch.tensor([[5.0, -3.0]])
    assert match_features(first, second).tolist() == [[1, 2, 5, -3, -4, 5, 5, -6]]


def test_sides_are_told_apart() -> None:
    first, second = torch.randn(2, 3), torch.randn(2, 3)
    assert not torch.equal(match_features(first, second), match_features(second, first))


def test_the_order_changes_nothing_where_it_is_symmetric() -> None:
    first, second = torch.tensor([[1.0, 2.0]]), torch.tensor([[4.0, -3.0]])
    found = match_features(first, second, matching="symmetric")
    assert found.tolist() == [[5, -1, 3, 5, 4, -6]]
    assert torch.equal(found, match_features(second, first, matching="symmetric"))
    assert found.shape[-1] == matched("symmetric", 2)
    assert matched("absolute", 2) == match_features(first, second, matching="absolute").shape[-1]
