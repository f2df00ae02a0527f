from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.data.batching import BucketSampler
from heedful.errors import UsageError

LENGTHS = np.random.default_rng(0).poisson([14, 8], (3000, 2))


def padded(lengths: np.ndarray, batches: list[np.ndarray]) -> int:
    return sum(int(np.maximum(lengths[batch], 1).max(axis=0).sum()) * len(batch) for batch in batches)


@given(
    lengths=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=60),
    batch_size=st.none() | st.integers(1, 9),
    max_tokens=st.none() | st.integers(1, 120),
    shuffle=st.booleans(),
    bucketing=st.booleans(),
    grouped=st.booleans(),
    epoch=st.integers(0, 3),
)
@settings(max_examples=100, deadline=None)
def test_every_example_once_and_both_limits_kept(
    lengths, batch_size, max_tokens, shuffle, bucketing, grouped, epoch
) -> None:  # type: ignore[no-untyped-def]
    if batch_size is None and max_tokens is None:
        batch_size = 4
    table = np.array(lengths, dtype=np.int64).reshape(-1, 2)
    sampler = BucketSampler(
        table,
        batch_size=batch_size,
        max_tokens=max_tokens,
        shuffle=shuffle,
        bucketing=bucketing,
        groups=table[:, 0] % 4 if grouped else None,
        pool=2,
    )
    batches = sampler.batches(epoch)
    assert sorted(np.concatenate([[], *batches]).tolist()) == list(range(len(table)))
    for batch in batches:
        assert len(batch) >= 1
        assert batch_size is None or len(batch) <= batch_size
        assert max_tokens is None or len(batch) == 1 or padded(table, [batch]) <= max_tokens


def test_batches_depend_on_seed_and_epoch_alone() -> None:
    def flat(seed: int, epoch: int) -> list[list[int]]:
        sampler = BucketSampler(LENGTHS, batch_size=32, seed=seed)
        sampler.batches(9)
        return [batch.tolist() for batch in sampler.batches(epoch)]

    assert flat(1, 0) == flat(1, 0)
    assert flat(1, 0) != flat(1, 1)
    assert flat(1, 0) != flat(2, 0)


def test_bucketing_saves_padding_and_token_limit_fills_batches() -> None:
    plain = padded(LENGTHS, BucketSampler(LENGTHS, batch_size=32, bucketing=False).batches(0))
    bucketed = padded(LENGTHS, BucketSampler(LENGTHS, batch_size=32).batches(0))
    assert bucketed / LENGTHS.sum() < 1.2 < 1.5 < plain / LENGTHS.sum()
    by_tokens = BucketSampler(LENGTHS, max_tokens=800).batches(0)
    assert padded(LENGTHS, by_tokens) / len(by_tokens) > 0.9 * 800


def test_batches_of_an_epoch_are_in_no_order_of_length() -> None:
    batches = BucketSampler(LENGTHS, batch_size=32).batches(0)
    first = np.array([LENGTHS[batch, 0].mean() for batch in batches])
    assert abs(np.corrcoef(first, np.arange(len(first)))[0, 1]) < 0.4


def test_without_shuffle_the_order_is_fixed() -> None:
    lengths = np.array([3, 1, 2, 1])
    assert [b.tolist() for b in BucketSampler(lengths, batch_size=2, shuffle=False).batches(5)] == [
        [1, 3],
        [2, 0],
    ]
    natural = BucketSampler(lengths, batch_size=3, shuffle=False, bucketing=False)
    assert [b.tolist() for b in natural.batches(1)] == [[0, 1, 2], [3]]


def test_too_long_example_is_a_batch_of_its_own() -> None:
    batches = BucketSampler(np.array([2, 2, 500, 2]), max_tokens=10).batches(0)
    assert sorted(map(sorted, (b.tolist() for b in batches))) == [[0, 1, 3], [2]]


def test_a_pool_grows_with_the_data_and_leaves_less_padding() -> None:
    generator = np.random.default_rng(0)
    many = np.stack([generator.poisson(14, 40_000), generator.poisson(8, 40_000)], axis=1) + 1
    grown, smallest = (BucketSampler(many, batch_size=16, pool=pool).batches(0) for pool in (None, 50))
    real = many.sum()
    assert padded(many, smallest) - real > 1.5 * (padded(many, grown) - real)
    same = (
        BucketSampler(many[:8000], batch_size=16).batches(0),
        BucketSampler(many[:8000], batch_size=16, pool=50),
    )
    assert all(np.array_equal(a, b) for a, b in zip(same[0], same[1].batches(0), strict=True))


@pytest.mark.parametrize("limits", [{}, {"batch_size": 0}, {"max_tokens": 0}, {"batch_size": 1, "pool": 0}])
def test_wrong_limits_are_told(limits: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="at least"):
        BucketSampler(LENGTHS, **limits)


GROUPS = np.random.default_rng(1).permutation(np.arange(3000) // 3)
OF_GROUPS = LENGTHS.copy()
OF_GROUPS[:, 0] = LENGTHS[GROUPS, 0]
"""Lengths of pairs of which three share their first text."""


@pytest.mark.parametrize("bucketing", [True, False])
def test_groups_stay_together(bucketing: bool) -> None:
    sampler = BucketSampler(OF_GROUPS, batch_size=32, groups=GROUPS, bucketing=bucketing)
    batches = sampler.batches(0)
    assert sorted(np.concatenate(batches).tolist()) == list(range(3000))
    assert [len(batch) for batch in batches].count(32) == 3000 // 32
    texts = sum(len(np.unique(GROUPS[batch])) for batch in batches)
    # 1,000 groups, and of a batch no more than two are cut at its ends
    assert texts <= 1000 + len(batches)
    again = BucketSampler(OF_GROUPS, batch_size=32, groups=GROUPS, bucketing=bucketing)
    assert [b.tolist() for b in again.batches(0)] == [b.tolist() for b in batches]
    assert [b.tolist() for b in again.batches(1)] != [b.tolist() for b in batches]


def test_groups_are_met_in_another_company_every_epoch() -> None:
    sampler = BucketSampler(OF_GROUPS, batch_size=32, groups=GROUPS)

    def company(epoch: int) -> set[int]:
        (own,) = [batch for batch in sampler.batches(epoch) if 0 in batch]
        return set(GROUPS[own].tolist())

    assert len(company(0) & company(1)) < 6


def test_a_large_group_comes_in_pieces() -> None:
    sampler = BucketSampler(LENGTHS, batch_size=32, groups=np.zeros(3000, np.int64), bucketing=False)
    halves = BucketSampler(LENGTHS, batch_size=32, groups=np.arange(3000) % 2, bucketing=False)
    assert sorted(np.concatenate(sampler.batches(0)).tolist()) == list(range(3000))
    # pieces of four of either half, mixed: a batch that holds one half alone is as rare as eight equal tosses
    mixed = [len(set((batch % 2).tolist())) for batch in halves.batches(0)]
    assert np.mean(mixed) > 1.9
