"""DiSAN's pooling: its formula, its size, where dropout sits."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from heedful.nn import l2_factors
from heedful.nn.pooling import SourceToToken


@pytest.mark.parametrize("units", [None, 2])
def test_equals_its_formula(units: int | None) -> None:
    torch.manual_seed(0)
    pooling = SourceToToken(6, hidden=units).double()
    assert len(pooling.hidden.weight) == (units or 6)
    for parameter in pooling.parameters():
        parameter.data.normal_()
    u = torch.randn(1, 4, 6).double()
    hidden = functional.elu(u @ pooling.hidden.weight.T + pooling.hidden.bias)
    score = hidden @ pooling.score.weight.T + pooling.score.bias
    expected = (torch.softmax(score, dim=1) * u).sum(dim=1)
    got = pooling(u, torch.ones(1, 4).bool()).vector
    torch.testing.assert_close(got, expected, atol=1e-13, rtol=0)


def test_has_721200_parameters_at_width_600_and_both_matrices_under_l2() -> None:
    pooling = SourceToToken(600)
    assert sum(p.numel() for p in pooling.parameters()) == 721_200
    assert len(l2_factors(pooling)) == 2


def test_dropout_touches_the_scores_and_never_the_states() -> None:
    torch.manual_seed(0)
    pooling = SourceToToken(40, dropout=0.5).train()
    u, valid = torch.randn(1, 5, 40), torch.ones(1, 5).bool()
    first, second = pooling(u, valid, need_weights=True), pooling(u, valid, need_weights=True)
    assert first.weights is not None
    assert second.weights is not None
    assert not torch.equal(first.weights, second.weights)
    torch.testing.assert_close(first.vector, (first.weights * u).sum(dim=1))
