"""What every pooling keeps to. A new entry of POOLINGS joins by itself; a pooling class without an entry fails."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import heedful.nn
import subclasses
from heedful.models import POOLINGS, ModelConfig
from heedful.nn.pooling import Pooling

WIDTH = 12
LENGTHS = (5, 1, 0, 7)
PADDED = 9
TOLERANCE = 2e-6

WITHOUT_EFFECT = {
    "attentive-max": {"attentive.score.bias": "as of source2token, of which it is a part"},
    "multi-dimensional": {
        "attention.scores.score.bias": "the same amount for every token, which the softmax over tokens removes"
    },
    "source2token": {"score.bias": "the same amount for every token, which the softmax over tokens removes"},
}
"""Parameters that cannot change the vector, by name of the pooling: parameter name to reason."""


member = pytest.mark.parametrize("name", POOLINGS)


def build(name: str, seed: int = 0) -> Pooling:
    torch.manual_seed(seed)
    return POOLINGS[name](WIDTH, ModelConfig(pooling=name)).eval()  # type: ignore[arg-type]


def valid_of(lengths: tuple[int, ...], width: int) -> Tensor:
    return torch.arange(width) < torch.tensor(lengths)[:, None]


def batch() -> tuple[Tensor, Tensor]:
    torch.manual_seed(1)
    valid = valid_of(LENGTHS, PADDED)
    return torch.randn(len(LENGTHS), PADDED, WIDTH).masked_fill(~valid[..., None], 0), valid


def gradients(pooling: Pooling, states: Tensor, valid: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
    pooling.zero_grad()
    states = states.clone().requires_grad_()
    vector = pooling(states, valid).vector
    generator = torch.Generator().manual_seed(5)
    (vector * torch.randn(vector.shape, generator=generator).to(vector.dtype)).sum().backward()
    assert states.grad is not None
    return states.grad, {n: p.grad for n, p in pooling.named_parameters() if p.grad is not None}


def test_no_pooling_escapes() -> None:
    found = subclasses.concrete(Pooling, heedful.nn)
    assert found == {type(build(name)) for name in POOLINGS}
    assert len(found) >= 3
    assert set(WITHOUT_EFFECT) <= set(POOLINGS)


@member
def test_declared_width_and_exact_zero_without_words(name: str) -> None:
    pooling = build(name)
    states, valid = batch()
    vector = pooling(states, valid).vector
    assert pooling.width_in == WIDTH
    assert vector.shape == (len(LENGTHS), pooling.width_out)
    assert vector.isfinite().all()
    assert [bool(row.any()) for row in vector] == [length > 0 for length in LENGTHS]


@member
def test_padding_neighbors_and_order_change_nothing(name: str) -> None:
    pooling = build(name)
    states, valid = batch()
    together = pooling(states, valid).vector
    for row, length in enumerate(LENGTHS):
        width = max(length, 1)
        alone = pooling(states[row : row + 1, :width], valid_of((length,), width)).vector[0]
        torch.testing.assert_close(alone, together[row], atol=TOLERANCE, rtol=0)
    order = [3, 1, 0, 2]
    turned = pooling(states[order], valid[order]).vector
    torch.testing.assert_close(turned, together[order], atol=TOLERANCE, rtol=0)


@member
def test_padding_may_hold_anything_and_gets_no_gradient(name: str) -> None:
    pooling = build(name)
    states, valid = batch()
    dirty = states.masked_fill(~valid[..., None], torch.nan)
    assert torch.equal(pooling(dirty, valid).vector, pooling(states, valid).vector)
    clean_states, clean = gradients(pooling, states, valid)
    dirty_states, found = gradients(pooling, dirty, valid)
    assert torch.equal(dirty_states, clean_states)
    assert not dirty_states[~valid].any()
    for parameter, gradient in clean.items():
        assert torch.equal(found[parameter], gradient), parameter


@member
def test_the_vector_of_one_word_is_that_word(name: str) -> None:
    pooling = build(name)
    states = torch.randn(1, 1, WIDTH)
    vector = pooling(states, valid_of((1,), 1)).vector
    for part in vector.split(WIDTH, dim=1):  # a pooling of several kinds sets their vectors side by side
        torch.testing.assert_close(part, states[:, 0], atol=0, rtol=1e-6)


@member
def test_no_texts_and_no_columns(name: str) -> None:
    pooling = build(name)
    for rows, columns in ((0, 3), (2, 0), (0, 0)):
        states = torch.ones(rows, columns, WIDTH, requires_grad=True)
        told = pooling(states, states[..., 0] > 0, need_weights=True)
        assert told.vector.shape == (rows, pooling.width_out)
        assert not told.vector.any()
        told.vector.sum().backward()


@member
@pytest.mark.parametrize("width", [1, 4])
def test_a_batch_without_words_is_zero_with_zero_gradients(name: str, width: int) -> None:
    pooling = build(name)
    states, valid = torch.randn(2, width, WIDTH), valid_of((0, 0), width)
    told = pooling(states, valid, need_weights=True)
    assert not told.vector.any()
    assert told.weights is not None
    assert not told.weights.any()
    on_states, on_parameters = gradients(pooling, states, valid)
    assert not on_states.any()
    assert not any(gradient.any() for gradient in on_parameters.values())


@member
def test_every_parameter_and_every_word_counts(name: str) -> None:
    pooling = build(name).double()
    states, valid = batch()
    _, found = gradients(pooling, states.double(), valid)
    idle = WITHOUT_EFFECT.get(name, {})
    assert {n for n, _ in pooling.named_parameters()} == set(found)
    assert set(idle) <= set(found)
    for parameter, gradient in found.items():
        largest = gradient.abs().max()
        assert largest <= 1e-12 if parameter in idle else largest > 1e-6, parameter
    for row, column in valid.nonzero().tolist():
        other = states.double()
        other[row, column] += 10
        assert not torch.equal(pooling(other, valid).vector[row], pooling(states.double(), valid).vector[row])


@member
def test_weights_change_nothing_add_up_and_give_the_vector(name: str) -> None:
    pooling = build(name).double()
    states, valid = batch()
    states = states.double()
    plain, told = pooling(states, valid), pooling(states, valid, need_weights=True)
    assert plain.weights is None
    assert torch.equal(plain.vector, told.vector)
    assert told.weights is not None
    assert told.weights.shape[:2] == states.shape[:2]
    assert (told.weights >= 0).all()
    assert not told.weights[~valid].any()
    total = told.weights.sum(dim=1)
    assert (((total - 1).abs() <= 1e-12) | (total == 0)).all()
    if pooling.width_out == WIDTH:
        torch.testing.assert_close((told.weights * states).sum(dim=1), told.vector, atol=1e-12, rtol=0)


@member
def test_saved_weights_give_the_same_vector(name: str) -> None:
    first, second = build(name, seed=0), build(name, seed=1)
    second.load_state_dict(first.state_dict())
    states, valid = batch()
    assert torch.equal(first(states, valid).vector, second(states, valid).vector)


@member
def test_bfloat16_is_as_good_as_its_arithmetic_allows(
    name: str, in_bfloat16: Callable[..., Tensor], hold_bfloat16: Callable[..., None]
) -> None:
    pooling = build(name).bfloat16()
    states, valid = batch()
    states = states.bfloat16()
    if name == "max":  # it computes nothing, so there is nothing to round
        assert torch.equal(pooling(states, valid).vector.float(), pooling(states.float(), valid).vector)
        return
    got = in_bfloat16(pooling, states, lambda pooling, states: pooling(states, valid).vector)
    hold_bfloat16(got, lambda dtype: pooling.to(dtype)(states.to(dtype), valid).vector)
