from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from heedful.training.adadelta import Adadelta

ROWS, WIDTH = 12, 3


def sparse_gradient(rows: list[int], values: Tensor) -> Tensor:
    return torch.sparse_coo_tensor(torch.tensor([rows]), values, (ROWS, WIDTH), check_invariants=True)


def test_two_steps_by_hand() -> None:
    """w = 1, gradients 0.5 then -0.25, lr 0.5, rho 0.95, eps 1e-8, worked out step by step."""
    weight = nn.Parameter(torch.tensor([1.0], dtype=torch.float64))
    optimizer = Adadelta([weight], lr=0.5, rho=0.95, eps=1e-8)
    weight.grad = torch.tensor([0.5], dtype=torch.float64)
    optimizer.step()
    s1 = 0.05 * 0.25
    u1 = math.sqrt(1e-8) / math.sqrt(s1 + 1e-8) * 0.5
    assert weight.item() == pytest.approx(1 - 0.5 * u1, abs=1e-15)
    assert weight.item() == pytest.approx(0.99977639329, abs=1e-10)
    weight.grad = torch.tensor([-0.25], dtype=torch.float64)
    optimizer.step()
    s2 = 0.95 * s1 + 0.05 * 0.0625
    u2 = math.sqrt(0.05 * u1**2 + 1e-8) / math.sqrt(s2 + 1e-8) * -0.25
    assert weight.item() == pytest.approx(1 - 0.5 * (u1 + u2), abs=1e-15)


@pytest.mark.parametrize("weight_decay", [0.0, 1e-2])
def test_dense_equals_torch(weight_decay: float) -> None:
    draw = torch.Generator().manual_seed(0)
    start = torch.randn(5, 4, generator=draw)
    ours, theirs = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    mine = Adadelta([ours], weight_decay=weight_decay)
    reference = torch.optim.Adadelta([theirs], lr=0.5, rho=0.95, eps=1e-8, weight_decay=weight_decay)
    for _ in range(10):
        ours.grad = torch.randn(5, 4, generator=draw)
        theirs.grad = ours.grad.clone()
        mine.step()
        reference.step()
    # Ten steps of a dozen roundings each, of updates that are at most as large as the weights.
    torch.testing.assert_close(ours, theirs, rtol=10 * 12 * 2.0**-24, atol=10 * 12 * 2.0**-24)
    assert not torch.equal(ours, start)


def test_rows_by_hand_in_two_steps() -> None:
    """Row 4 is in both batches, once twice; row 7 in the second only; no other row or average moves."""
    draw = torch.Generator().manual_seed(1)
    start = torch.randn(ROWS, WIDTH, generator=draw)
    table = nn.Parameter(start.clone())
    optimizer = Adadelta([table], lr=0.5, rho=0.95, eps=1e-8)
    first, second = torch.randn(2, WIDTH, generator=draw), torch.randn(2, WIDTH, generator=draw)
    table.grad = sparse_gradient([4, 4], first)
    optimizer.step()
    table.grad = sparse_gradient([7, 4], second)
    optimizer.step()

    expected = start.clone()
    expected[4], s, a = by_hand(expected[4], first.sum(0), torch.zeros(WIDTH), torch.zeros(WIDTH))
    expected[4], s, a = by_hand(expected[4], second[1], s, a)
    expected[7], *_ = by_hand(expected[7], second[0], torch.zeros(WIDTH), torch.zeros(WIDTH))
    torch.testing.assert_close(table.detach(), expected, rtol=1e-6, atol=1e-7)
    others = [row for row in range(ROWS) if row not in (4, 7)]
    assert torch.equal(table[others], start[others])
    state = optimizer.state[table]
    torch.testing.assert_close(state["square_avg"][4], s)
    torch.testing.assert_close(state["acc_delta"][4], a)
    assert not state["square_avg"][others].any()
    assert not state["acc_delta"][others].any()


def by_hand(w: Tensor, g: Tensor, s: Tensor, a: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    s = 0.95 * s + 0.05 * g**2
    u = torch.sqrt(a + 1e-8) / torch.sqrt(s + 1e-8) * g
    return w - 0.5 * u, s, 0.95 * a + 0.05 * u**2


def test_rows_equal_a_dense_run_over_those_rows() -> None:
    """Over steps that always name the same rows, the table moves as a dense parameter of only these rows would."""
    draw = torch.Generator().manual_seed(2)
    rows = [1, 5, 6]
    table = nn.Parameter(torch.randn(ROWS, WIDTH, generator=draw))
    small = nn.Parameter(table.detach()[rows].clone())
    optimizer, reference = Adadelta([table]), torch.optim.Adadelta([small], lr=0.5, rho=0.95, eps=1e-8)
    for _ in range(8):
        values = torch.randn(len(rows), WIDTH, generator=draw)
        table.grad, small.grad = sparse_gradient(rows, values), values.clone()
        optimizer.step()
        reference.step()
    torch.testing.assert_close(table.detach()[rows], small.detach(), rtol=1e-6, atol=1e-7)


def test_an_absent_row_keeps_its_averages_where_a_dense_run_decays_them() -> None:
    table, dense = (nn.Parameter(torch.ones(ROWS, WIDTH)) for _ in range(2))
    lazy, eager = Adadelta([table]), Adadelta([dense])
    for row in (2, 3, 2):
        table.grad = sparse_gradient([row], torch.ones(1, WIDTH))
        dense.grad = table.grad.to_dense()
        lazy.step()
        eager.step()
    assert torch.equal(table[3], dense[3])
    assert (lazy.state[table]["square_avg"][2] > eager.state[dense]["square_avg"][2]).all()


def test_gradients_survive_the_step_and_may_name_no_row() -> None:
    table, bias = nn.Parameter(torch.ones(ROWS, WIDTH)), nn.Parameter(torch.zeros(2))
    table.grad = sparse_gradient([], torch.empty(0, WIDTH))
    bias.grad = torch.ones(2)
    assert Adadelta([table, bias]).step(lambda: 3.5) == 3.5
    assert table.grad is not None
    assert table.grad.is_sparse
    assert torch.equal(table.detach(), torch.ones(ROWS, WIDTH))
    assert (bias != 0).all()


def test_rows_refuse_weight_decay() -> None:
    table = nn.Parameter(torch.ones(ROWS, WIDTH))
    table.grad = sparse_gradient([0], torch.ones(1, WIDTH))
    with pytest.raises(RuntimeError, match="weight_decay must be 0"):
        Adadelta([table], weight_decay=0.1).step()
