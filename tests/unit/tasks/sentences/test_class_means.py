"""Tests of the mean directions of very many classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from heedful.tasks.sentences import linear_fits
from heedful.tasks.sentences.class_means import class_means, means_join, too_few_each, without_itself
from heedful.tasks.sentences.cross_validation import PartRows
from heedful.tasks.sentences.linear_fits import weigh
from heedful.tasks.sentences.linear_targets import ClassTargets

if TYPE_CHECKING:
    from heedful.tasks.schema import About
    from heedful.tasks.sentences.linear_fits import LinearFit

DICE = np.random.default_rng(0)
CLASSES = np.repeat(np.arange(40), 3)
ROWS = DICE.normal(size=(40, 8))[CLASSES] + 0.3 * DICE.normal(size=(120, 8))
WEIGHTS = DICE.uniform(0.5, 2.0, size=120)


def kept(about: About, fit: LinearFit, weight: float) -> About:
    """Keep nothing: what is put into a folder is not looked at here."""
    return about


def test_logits_are_lengths_in_the_direction_of_the_mean_of_a_class() -> None:
    fit = class_means(ROWS, CLASSES, 41, WEIGHTS)
    center = np.average(ROWS, axis=0, weights=WEIGHTS)
    own = np.average(ROWS[CLASSES == 7], axis=0, weights=WEIGHTS[CLASSES == 7]) - center
    np.testing.assert_allclose(
        fit.logits(ROWS)[:, 7], (ROWS - center) @ own / np.linalg.norm(own), rtol=0, atol=1e-12
    )
    assert not fit.logits(ROWS)[:, 40].any(), "a class without an example says nothing"
    assert (fit.logits(ROWS).argmax(axis=1) == CLASSES).mean() > 0.9


def test_an_example_is_judged_by_a_mean_without_it() -> None:
    found = without_itself(ROWS, CLASSES, 40, WEIGHTS)
    center = np.average(ROWS, axis=0, weights=WEIGHTS)
    for row in (0, 50, 119):
        others = (CLASSES[row] == CLASSES) & (np.arange(120) != row)
        mean = WEIGHTS[others] @ (ROWS[others] - center)
        expected = (ROWS[row] - center) @ mean / np.linalg.norm(mean)
        assert found[row, CLASSES[row]] == pytest.approx(expected, abs=1e-12)
    whole = class_means(ROWS, CLASSES, 40, WEIGHTS).logits(ROWS)
    others = np.arange(40) != CLASSES[:, None]
    np.testing.assert_allclose(found[others], whole[others], rtol=0, atol=1e-12)
    single = without_itself(ROWS[:4], np.array([0, 0, 1, 2]), 3, np.ones(4))
    assert single[2, 1] == single[3, 2] == 0, "a class of one example has no mean without it"


def test_parts_join_by_held_out_examples_or_by_the_examples_themselves() -> None:
    part = PartRows("vectors", ROWS, (), kept, ROWS[::5])
    held = ClassTargets.of_classes(CLASSES[::5], 40, np.ones(24))
    joining = means_join([part], (CLASSES, WEIGHTS), 40, held)
    assert joining is not None
    assert len(joining.targets) == 24
    assert joining.join(None).weights["vectors"] > 1
    alone = means_join([part], (CLASSES, WEIGHTS), 40, None)
    assert alone is not None
    assert alone.join(None).logits.shape == (120, 40)
    assert means_join([], (CLASSES, WEIGHTS), 40, None) is None


@pytest.mark.parametrize(
    ("rows", "classes", "few"),
    [(999, 200, False), (2_009, 201, True), (2_010, 201, False), (30_000, 10_000, True)],
)
def test_a_network_needs_some_examples_of_each_of_very_many_classes(
    rows: int, classes: int, few: bool
) -> None:
    assert too_few_each(rows, classes) is few


def test_of_very_many_logits_some_examples_tell_the_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    classes = np.tile(CLASSES, 70)
    targets = ClassTargets.of_classes(classes, 40, np.ones(8400))
    logits = np.tile(without_itself(ROWS, CLASSES, 40, WEIGHTS), (70, 1))
    every = weigh([logits], targets)[0]
    monkeypatch.setattr(linear_fits, "_ENOUGH", 8400 * 40 // 7)
    assert weigh([logits], targets)[0] == pytest.approx(every, rel=0.02)
