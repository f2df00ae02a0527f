"""The scale that suits logits best is looked for at once where there are few, with the same result."""

from __future__ import annotations

import numpy as np
import pytest

from heedful.tasks.sentences import fitting_wide
from heedful.tasks.sentences.linear_targets import ClassTargets, FlagTargets, LinearTargets, NumberTargets

DRAW = np.random.default_rng(0)
WEIGHTS = DRAW.random(30)
GOLD: dict[str, LinearTargets] = {
    "classes": ClassTargets.of_classes(DRAW.integers(0, 4, 30), 4, WEIGHTS),
    "labels": FlagTargets(WEIGHTS, (DRAW.random((30, 4)) < 0.3).astype(np.float32)),
    "numbers": NumberTargets(WEIGHTS, DRAW.normal(size=30)),
}


@pytest.mark.parametrize("kind", GOLD)
def test_all_scales_at_once_are_one_after_the_other(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    gold = GOLD[kind]
    logits = DRAW.normal(size=(30, gold.outputs)).astype(np.float32)
    at_once = fitting_wide.scaled_loss(logits, gold)
    monkeypatch.setattr(fitting_wide, "_FEW_LOGITS", 0)
    assert at_once == fitting_wide.scaled_loss(logits, gold) > 0
