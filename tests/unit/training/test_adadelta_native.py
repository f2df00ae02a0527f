"""The compiled Adadelta step equals the plain one to the bit."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import instruction_sets
from heedful.attention import native
from heedful.training import adadelta
from heedful.training.adadelta import Adadelta, obstacle

compiled = pytest.mark.skipif(native.LIBRARY is None, reason="the kernels are not compiled")
SHAPES = ((1,), (7,), (16,), (300,), (33, 5), (130, 257), (), (0,), (2, 3, 4))


@pytest.fixture
def settings_restored() -> Iterator[None]:
    threads, instruction_set = torch.get_num_threads(), str(native.status()["instruction_set"])
    yield
    torch.set_num_threads(threads)
    native.use_instruction_set(instruction_set)


def draw(generator: torch.Generator, *shape: int) -> Tensor:
    """Gradients from 1e-9 to 10, some of them exactly zero."""
    values = torch.randn(shape, generator=generator) * 10 ** (10 * torch.rand(shape, generator=generator) - 9)
    return values * (torch.rand(shape, generator=generator) > 0.05)


def rows_of(table: Tensor, rows: list[int], generator: torch.Generator) -> Tensor:
    values = draw(generator, len(rows), *table.shape[1:])
    return torch.sparse_coo_tensor(torch.tensor([rows]), values, table.shape, check_invariants=True)


def trained(fused: bool, steps: int = 6) -> list[Tensor]:
    """All weights and averages after some steps over dense parameters and two tables."""
    generator = torch.Generator().manual_seed(0)
    dense = [nn.Parameter(torch.randn(shape, generator=generator)) for shape in SHAPES]
    tables = [nn.Parameter(torch.randn(shape, generator=generator)) for shape in ((90, 300), (40, 3, 2))]
    groups = [{"params": dense, "weight_decay": 5e-5}, {"params": tables, "weight_decay": 0.0}]
    optimizer = Adadelta(groups, fused=fused)
    for _ in range(steps):
        for parameter in dense:
            parameter.grad = draw(generator, *parameter.shape)
        for table in tables:
            rows = torch.randint(len(table), (70,), generator=generator).tolist()
            table.grad = rows_of(table, rows, generator)
        optimizer.step()
    states = [optimizer.state[parameter] for parameter in (*dense, *tables)]
    return [*dense, *tables, *(average for state in states for average in state.values())]


@compiled
@pytest.mark.usefixtures("settings_restored")
def test_every_instruction_set_and_number_of_threads_equals_plain_torch() -> None:
    expected, tested = trained(fused=False), 0
    for name, threads in itertools.product(filter(instruction_sets.use, native.INSTRUCTION_SETS), (1, 2, 3)):
        native.use_instruction_set(name)
        torch.set_num_threads(threads)
        made = trained(fused=True)
        assert len(made) == len(expected) == 3 * (len(SHAPES) + 2)
        for ours, theirs in zip(made, expected, strict=True):
            assert torch.equal(ours, theirs), (name, threads, ours.shape)
        tested += 1
    assert tested >= 3


@compiled
def test_the_kernel_is_what_serves_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(update: object) -> None:
        raise AssertionError("plain torch was used")

    monkeypatch.setattr(adadelta, "update_reference", refuse)
    weight = nn.Parameter(torch.ones(3))
    weight.grad = torch.ones(3)
    Adadelta([weight]).step()
    with pytest.raises(AssertionError, match="plain torch"):
        Adadelta([weight], fused=False).step()


def test_gradients_and_weights_with_gaps() -> None:
    made = []
    for fused in (True, False):
        generator = torch.Generator().manual_seed(1)
        weights = [
            nn.Parameter(torch.randn(6, 5, generator=generator)),
            nn.Parameter(torch.randn(5, 6, generator=generator).t()),
            nn.Parameter(torch.randn(6, 5, generator=generator, dtype=torch.float64)),
        ]
        for weight in weights:
            weight.grad = torch.randn(5, 6, generator=generator, dtype=weight.dtype).t()
        optimizer = Adadelta(weights, fused=fused)
        numbers = [optimizer.param_groups[0][name] for name in ("rho", "eps", "lr", "weight_decay")]
        assert any(obstacle(optimizer._update(weight, *numbers)) for weight in weights)
        optimizer.step()
        made.append(weights)
    for ours, theirs in zip(*made, strict=True):
        assert torch.equal(ours, theirs)


def test_the_square_root_of_the_plain_path_is_the_nearest_float32() -> None:
    x = torch.rand(10_000, generator=torch.Generator().manual_seed(0)) * 1e-6
    exact = np.sqrt(x.double().numpy()).astype(np.float32)
    assert np.array_equal(adadelta._square_root_(x.clone()).numpy(), exact)


def test_a_backward_pass_through_the_old_weights_is_refused() -> None:
    weight = nn.Parameter(torch.ones(3))
    loss = (weight * weight).sum()
    loss.backward(retain_graph=True)
    Adadelta([weight]).step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_not_a_number_comes_through() -> None:
    weight = nn.Parameter(torch.ones(20))
    weight.grad = torch.ones(20)
    weight.grad[3] = torch.nan
    Adadelta([weight]).step()
    assert weight.isnan().nonzero().flatten().tolist() == [3]
