from __future__ import annotations

import logging

import pytest

from heedful.training.distributed import cut, fabric_type, shard_seed


@pytest.mark.parametrize(("size", "shards"), [(8, 1), (8, 2), (7, 2), (1, 2), (0, 3), (10, 4)])
def test_the_pieces_are_the_rows_in_order_and_differ_by_one_at_most(size: int, shards: int) -> None:
    pieces = cut(range(size), shards)
    assert len(pieces) == shards
    assert [row for piece in pieces for row in piece] == list(range(size))
    assert max(map(len, pieces)) - min(map(len, pieces)) <= 1


def test_seeds_differ_in_every_argument_and_never_change() -> None:
    arguments = [(seed, step, shard) for seed in range(10) for step in range(20) for shard in range(5)]
    seeds = {shard_seed(*each) for each in arguments}
    assert len(seeds) == 1000
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert shard_seed(1, 2, 3) == 3751671686878481423


def test_the_advice_to_lower_the_precision_is_not_passed_on(caplog: pytest.LogCaptureFixture) -> None:
    fabric_type()
    told = logging.getLogger("lightning_fabric.utilities.rank_zero")
    with caplog.at_level(logging.INFO, logger=told.name):
        told.info("You are using a CUDA device ('X') that has Tensor Cores. To properly utilize them, ...")
        told.info("Using 16-bit Automatic Mixed Precision (AMP)")
    assert [record.getMessage() for record in caplog.records] == [
        "Using 16-bit Automatic Mixed Precision (AMP)"
    ]
