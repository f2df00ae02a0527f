"""What the model before answers is learned beside the gold."""

from __future__ import annotations

import numpy as np
import torch

from heedful.nn.losses import cross_entropy
from heedful.structures import Batch, NetworkOutput
from heedful.tasks.sentences.previous_network import SHARE, Recalled


class Rows:
    """Batches of three examples."""

    def batches(self, epoch: int) -> list[list[int]]:
        return [[0, 1], [2]]

    def collate(self, rows: list[int]) -> Batch:
        return Batch((), torch.tensor([0, 2, 1])[list(rows)], tuple(rows))


def test_the_answers_stand_behind_the_class_and_cost_nothing_where_they_are_given_again() -> None:
    logits = np.random.default_rng(0).normal(size=(3, 3)).astype(np.float32)
    recalled = Recalled.of(logits, ("b", "c"), ("a", "b", "c"))
    assert recalled.columns.tolist() == [1, 2]
    batch = recalled.beside(Rows()).collate([1, 2])
    assert batch.targets is not None
    np.testing.assert_allclose(batch.targets[:, 1:], logits[[1, 2]][:, [1, 2]])
    assert batch.targets[:, 0].tolist() == [2, 1]
    same = torch.from_numpy(logits[[1, 2]])
    gold = cross_entropy(same, torch.tensor([2, 1]), 0.0, None)
    found = recalled.loss(NetworkOutput(same, ()), batch.targets, smoothing=0.0, weights=None)
    torch.testing.assert_close(found, (1 - SHARE) * gold)
    moved = same + torch.tensor([[0.0, 3.0, 0.0], [0.0, 0.0, 3.0]])
    further = recalled.loss(NetworkOutput(moved, ()), batch.targets, smoothing=0.0, weights=None)
    own = cross_entropy(moved, torch.tensor([2, 1]), 0.0, None)
    assert (further > (1 - SHARE) * own + 0.1).all()


def test_an_example_of_a_new_class_learns_its_gold_alone() -> None:
    logits = np.random.default_rng(1).normal(size=(3, 3)).astype(np.float32)
    recalled = Recalled.of(logits, ("b", "c"), ("a", "b", "c"))
    batch = recalled.beside(Rows()).collate([0])
    other = torch.randn(1, 3)
    assert batch.targets is not None
    found = recalled.loss(NetworkOutput(other, ()), batch.targets, smoothing=0.0, weights=None)
    torch.testing.assert_close(found, cross_entropy(other, torch.tensor([0]), 0.0, None))
