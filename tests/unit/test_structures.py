"""The records: frozen, and copied whole to a device."""

from __future__ import annotations

import dataclasses
import inspect
import subprocess
import sys

import pytest
import torch

from heedful import structures
from heedful.structures import Batch, Sentences
from waiting import PATIENCE

IDS = torch.tensor([[2, 0]])
SENTENCES = Sentences(IDS, IDS > 0, torch.zeros(1, 2, 2, dtype=torch.int16))
RECORDS = [
    value
    for value in vars(structures).values()
    if inspect.isclass(value) and value.__module__ == structures.__name__
]


@pytest.mark.parametrize("record", RECORDS, ids=[r.__name__ for r in RECORDS])
def test_every_record_is_a_frozen_dataclass(record: type) -> None:
    assert dataclasses.is_dataclass(record)
    assert record.__dataclass_params__.frozen  # type: ignore[attr-defined]


def test_the_number_of_records() -> None:
    assert len(RECORDS) >= 6


def test_a_batch_moves_with_all_it_holds() -> None:
    batch = Batch((SENTENCES, Sentences(IDS, IDS > 0)), torch.tensor([1]), rows=(17,))
    moved = batch.to("meta")
    assert {tensor.device.type for tensor in (moved.targets, moved.sides[0].ids)} == {"meta"}  # type: ignore[union-attr]
    assert moved.sides[0].valid.device.type == "meta"
    assert moved.sides[0].tree_distance is not None
    assert moved.sides[0].tree_distance.device.type == "meta"
    assert moved.sides[1].tree_distance is None
    assert moved.rows == (17,)
    assert batch.sides[0].ids.device.type == "cpu"


def test_a_batch_without_gold_moves_too() -> None:
    assert Batch((SENTENCES,)).to("cpu").targets is None


def test_the_records_do_not_load_torch() -> None:
    code = "import sys, heedful.structures; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=PATIENCE, check=False).returncode == 0
