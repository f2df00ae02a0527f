"""Of a network that goes on and of the parts beside it none is left out."""

from __future__ import annotations

import numpy as np
import pytest

from heedful.tasks.sentences.linear_targets import ClassTargets
from heedful.tasks.sentences.part_weights import LIMITS, FittedPart, Halved, Steady

GOLD = np.array([0, 1, 2, 1])


@pytest.mark.parametrize("wrong", ["network", "part"])
def test_one_that_is_wrong_stays_with_the_least_weight(wrong: str) -> None:
    right, other = 3 * np.eye(3)[GOLD], 3 * np.eye(3)[(GOLD + 1) % 3]
    network, own = (other, right) if wrong == "network" else (right, other)
    joining = Steady(
        ClassTargets.of_classes(GOLD, 3, np.ones(4)), (FittedPart("words", own, lambda a, _: a),)
    )
    found = joining.join(network)
    least, most = (found.network, found.weights["words"])[:: 1 if wrong == "network" else -1]
    assert least == pytest.approx(LIMITS[0])
    assert most > 0.5
    np.testing.assert_allclose(found.logits, found.network * network + found.weights["words"] * own)


def test_both_count_alike_where_nothing_chooses() -> None:
    part = FittedPart("sums", np.ones((4, 3)), lambda a, _: a)
    found = Halved(ClassTargets.of_classes(GOLD, 3, np.ones(4)), (part,)).join(np.zeros((4, 3)))
    assert (found.network, found.weights) == (0.5, {"sums": 0.5})
