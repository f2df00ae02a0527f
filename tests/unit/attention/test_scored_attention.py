"""Soft alignment: by hand, against the reference, gradients, padding, nothing to align with."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from heedful.attention import Alignment, scored_attention, soft_align
from heedful.attention.precomputed_scores import soft_align_reference
from heedful.errors import UsageError

FIELDS = ("first", "second", "first_to_second", "second_to_first")


def rows(lengths: tuple[int, ...], width: int) -> Tensor:
    return torch.arange(width) < torch.tensor(lengths)[:, None]


def inputs(seed: int = 0) -> tuple[Tensor, ...]:
    """Three pairs, one with an empty first and one with an empty second sentence."""
    torch.manual_seed(seed)
    sizes = ((3, 4, 5), (3, 6, 5), (3, 4, 2), (3, 6, 3))
    tensors = [torch.randn(size, dtype=torch.float64) for size in sizes]
    return (*tensors, rows((4, 0, 2), 4), rows((5, 6, 0), 6))


def assert_same(one: Alignment, two: Alignment, tolerance: float = 1e-12) -> None:
    for name in FIELDS:
        torch.testing.assert_close(getattr(one, name), getattr(two, name), atol=tolerance, rtol=0)


def test_two_words_and_three_by_hand() -> None:
    a_key = torch.tensor([[[1.0, 0.0], [0.0, 2.0]]], dtype=torch.float64)
    b_key = torch.tensor([[[math.log(2), 0.0], [0.0, math.log(2)], [0.0, 0.0]]], dtype=torch.float64)
    a = torch.tensor([[[10.0], [20.0]]], dtype=torch.float64)
    b = torch.tensor([[[1.0], [2.0], [4.0]]], dtype=torch.float64)
    everyone = (torch.ones(1, 2).bool(), torch.ones(1, 3).bool())
    # exp(e) is [[2, 1, 1], [1, 4, 1]].
    got = soft_align(a_key, b_key, a, b, *everyone)
    by_row = [[2 / 4, 1 / 4, 1 / 4], [1 / 6, 4 / 6, 1 / 6]]
    by_column = [[2 / 3, 1 / 5, 1 / 2], [1 / 3, 4 / 5, 1 / 2]]
    torch.testing.assert_close(
        got.first_to_second[0], torch.tensor(by_row, dtype=torch.float64), atol=1e-12, rtol=0
    )
    torch.testing.assert_close(
        got.second_to_first[0], torch.tensor(by_column, dtype=torch.float64), atol=1e-12, rtol=0
    )
    assert got.first[0, :, 0].tolist() == pytest.approx([2.0, 13 / 6], abs=1e-12)
    assert got.second[0, :, 0].tolist() == pytest.approx([40 / 3, 18.0, 15.0], abs=1e-12)


def test_the_batched_form_equals_the_reference() -> None:
    assert_same(soft_align(*inputs()), soft_align_reference(*inputs()))


def test_gradients_equal_those_of_the_reference_and_of_differences() -> None:
    *tensors, first_valid, second_valid = inputs()
    tensors = [tensor.requires_grad_() for tensor in tensors]

    def run(*values: Tensor) -> tuple[Tensor, ...]:
        found = soft_align(*values, first_valid, second_valid)  # type: ignore[arg-type]
        return tuple(getattr(found, name) for name in FIELDS)

    assert torch.autograd.gradcheck(run, tensors)
    found, wanted = (
        torch.autograd.grad(
            sum(getattr(form(*tensors, first_valid, second_valid), name).square().sum() for name in FIELDS),
            tensors,
        )
        for form in (soft_align, soft_align_reference)
    )
    for one, two in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, two, atol=1e-12, rtol=0)


def test_padding_may_hold_anything_and_gets_nothing() -> None:
    *tensors, first_valid, second_valid = inputs()
    valids = (first_valid, second_valid, first_valid, second_valid)
    dirty = [
        tensor.masked_fill(~valid[..., None], torch.nan).requires_grad_()
        for tensor, valid in zip(tensors, valids, strict=True)
    ]
    got = soft_align(*dirty, first_valid, second_valid)
    assert_same(got, soft_align(*inputs()), tolerance=0)
    assert not got.first[~first_valid].any()
    assert not got.second[~second_valid].any()
    sum(getattr(got, name).sum() for name in FIELDS).backward()  # type: ignore[union-attr]
    for tensor, valid in zip(dirty, valids, strict=True):
        assert tensor.grad is not None
        assert not tensor.grad[~valid].any()


def test_where_one_sentence_is_empty_everything_is_exactly_zero() -> None:
    got = soft_align(*inputs())
    assert got.first[0].any()
    for row in (1, 2):
        assert not any(getattr(got, name)[row].any() for name in FIELDS)


def test_scores_far_apart_do_not_overflow() -> None:
    first_key, second_key, *rest = inputs()
    got = soft_align(first_key * 300, second_key * 300, *rest)
    assert all(getattr(got, name).isfinite().all() for name in FIELDS)


def test_a_query_without_a_visible_key_is_zero() -> None:
    keep = torch.tensor([[[True, False], [False, False]]])
    score, value = torch.zeros(1, 2, 2), torch.tensor([[[3.0], [torch.nan]]])
    output, weights = scored_attention(score, value, keep)
    assert output.tolist() == [[[3.0], [0.0]]]
    assert weights.tolist() == [[[1.0, 0.0], [0.0, 0.0]]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: (t[0][:, :3], *t[1:]), "first_key must be"),
        (lambda t: (*t[:3], t[3][:, :2], *t[4:]), "second_key must be"),
        (lambda t: (t[0][..., :2], *t[1:]), "must agree in B and C"),
        (lambda t: (*t[:4], t[4].long(), t[5]), "first_valid must be booleans"),
        (lambda t: (*t[:5], t[5][:2]), "second_valid must be booleans"),
    ],
)
def test_shapes_that_do_not_fit_are_named(change: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        soft_align(*change(inputs()))  # type: ignore[operator]


def test_scored_attention_names_shapes_that_do_not_fit() -> None:
    with pytest.raises(UsageError, match="score and keep"):
        scored_attention(torch.zeros(1, 2, 2), torch.zeros(1, 3, 1), torch.ones(1, 2, 2).bool())
