"""A chain of tags: the fast form equals the reference, and both equal the sum over all sequences."""

from __future__ import annotations

import itertools
import math

import pytest
import torch

from heedful.attention.crf import (
    Chain,
    crf_expected,
    crf_log_partition,
    crf_path_score,
    edge_counts,
)
from heedful.errors import UsageError

LENGTHS = (3, 1, 4, 0)
VALID = torch.arange(4) < torch.tensor(LENGTHS)[:, None]


def drawn(seed: int = 0, tags: int = 3, *, forbids: bool = False) -> tuple[torch.Tensor, Chain]:
    """Return scores of four sentences and a chain, in double precision."""
    g = torch.Generator().manual_seed(seed)
    scores, follows, first, last = (
        torch.randn(*shape, generator=g, dtype=torch.float64)
        for shape in ((4, 4, tags), (tags, tags), (tags,), (tags,))
    )
    if forbids:
        follows[2, 0], first[2] = -math.inf, -math.inf
    return scores, Chain(follows, first, last)


def every_path(scores: torch.Tensor, chain: Chain, row: int) -> dict[tuple[int, ...], float]:
    """Return the score of every sequence of one sentence, added up by hand."""
    found = {}
    for path in itertools.product(range(scores.shape[2]), repeat=LENGTHS[row]):
        total = sum(float(scores[row, place, tag]) for place, tag in enumerate(path))
        total += sum(float(chain.follows[b, a]) for a, b in itertools.pairwise(path))
        found[path] = total + (float(chain.first[path[0]] + chain.last[path[-1]]) if path else 0.0)
    return found


@pytest.mark.parametrize("forbids", [False, True])
def test_the_sum_and_the_counts_are_those_of_all_sequences(forbids: bool) -> None:
    scores, chain = drawn(forbids=forbids)
    expected = crf_expected(scores, VALID, chain)
    follows = torch.zeros(3, 3, dtype=torch.float64)
    for row in range(len(LENGTHS)):
        paths = every_path(scores, chain, row)
        log_sum = math.log(sum(map(math.exp, paths.values())))
        assert float(expected.log_partition[row]) == pytest.approx(log_sum)
        marginals = torch.zeros(4, 3, dtype=torch.float64)
        for path, score in paths.items():
            share = math.exp(score - log_sum)
            for place, tag in enumerate(path):
                marginals[place, tag] += share
            for before, tag in itertools.pairwise(path):
                follows[tag, before] += share
        torch.testing.assert_close(expected.marginals[row], marginals)
    torch.testing.assert_close(expected.follows, follows)


def test_the_fast_form_and_its_gradients_equal_the_reference() -> None:
    scores, chain = drawn(1, forbids=True)
    inputs = [scores, *chain]
    found = []
    for impl in ("reference", "torch"):
        own = [each.clone().requires_grad_() for each in inputs]
        total = crf_log_partition(own[0], VALID, Chain(*own[1:]), impl=impl)
        shares = torch.tensor([0.5, 2.0, -1.0, 3.0], dtype=torch.float64)
        (total * shares).sum().backward()
        found.append([total.detach(), *(each.grad for each in own)])
    for first, second in zip(*found, strict=True):
        torch.testing.assert_close(first, second)


def test_gradcheck_of_first_and_second_order() -> None:
    scores, chain = drawn(2, tags=2)
    inputs = [each.requires_grad_() for each in (scores, *chain)]

    def total(x: torch.Tensor, *parts: torch.Tensor) -> torch.Tensor:
        return crf_log_partition(x, VALID, Chain(*parts))

    assert torch.autograd.gradcheck(total, inputs, check_batched_grad=True)
    assert torch.autograd.gradgradcheck(total, inputs)


def test_the_score_of_a_path_is_what_it_adds_up_to() -> None:
    scores, chain = drawn(3)
    tags = torch.tensor([[0, 2, 1, 1], [2, 0, 0, 0], [1, 1, 0, 2], [0, 0, 0, 0]])
    found = crf_path_score(scores, VALID, chain, tags)
    for row, length in enumerate(LENGTHS):
        wanted = every_path(scores, chain, row)[tuple(tags[row, :length].tolist())]
        assert float(found[row]) == pytest.approx(wanted)


def test_shares_weigh_the_counts_of_each_sentence() -> None:
    scores, chain = drawn(4)
    alone = [crf_expected(scores[[k]], VALID[[k]], chain) for k in range(4)]
    shares = torch.tensor([1.0, 0.0, 2.0, 1.0], dtype=torch.float64)
    together = crf_expected(scores, VALID, chain, shares)
    torch.testing.assert_close(
        together.follows, sum(float(share) * each.follows for share, each in zip(shares, alone, strict=True))
    )
    begin, end = edge_counts(together.marginals, VALID)
    assert float(begin.sum()) == pytest.approx(3.0)
    assert float(end.sum()) == pytest.approx(3.0)


def test_large_scores_stay_finite_and_forbidden_tags_impossible() -> None:
    scores, chain = drawn(5, forbids=True)
    scores[..., 2] += 2_000.0
    expected = crf_expected(scores, VALID, chain)
    assert torch.isfinite(expected.log_partition).all()
    assert torch.isfinite(expected.follows).all()
    assert float(expected.marginals[1, 0, 2]) == 0.0


def test_what_does_not_fit_is_refused() -> None:
    scores, chain = drawn()
    with pytest.raises(UsageError, match="chain must be"):
        crf_log_partition(scores, VALID, Chain(chain.follows[:2], chain.first, chain.last))
    with pytest.raises(UsageError, match=r"scores must be \[B, L, Y\]"):
        crf_log_partition(scores[0], VALID, chain)
