"""Examples that are counted have the figures of examples that are kept, and intervals of the same distribution."""

from __future__ import annotations

from collections import Counter
from functools import reduce
from operator import add

import numpy as np
import pytest

from heedful.evaluation import bootstrap_interval, calibration, evaluate_classes
from heedful.evaluation.calibration import calibration_sums
from heedful.evaluation.statistics import STATISTICS, resampled, resampled_counts
from heedful.evaluation.streaming_reports import ExampleKind, count_cells, evaluate_cells

LABELS, NAMES = ("no", "perhaps", "yes"), ("", "film", "song")
N, PARTS = 4_000, 7


@pytest.fixture(scope="module")
def examples() -> dict[str, np.ndarray]:
    random = np.random.default_rng(3)
    gold = random.choice(3, N, p=[0.7, 0.25, 0.05])
    logits = (random.normal(size=(N, 3)) + 1.2 * np.eye(3)[gold]).astype(np.float32)
    groups, lengths = random.choice(3, N).astype(np.int32), random.geometric(0.04, (N, 2))
    return {"gold": gold, "logits": logits, "groups": groups, "lengths": lengths}


def _cells(part: dict[str, np.ndarray]) -> Counter[ExampleKind]:
    return count_cells(part["gold"], part["logits"].argmax(axis=1), part["groups"], NAMES, part["lengths"])


def _parts(examples: dict[str, np.ndarray]) -> list[dict[str, np.ndarray]]:
    rows = np.array_split(np.arange(N), PARTS)
    return [{name: values[own] for name, values in examples.items()} for own in rows]


def test_counted_examples_have_the_same_figures(examples) -> None:
    gold, logits = examples["gold"], examples["logits"]
    kept = evaluate_classes(
        gold,
        logits.argmax(axis=1),
        LABELS,
        groups=[NAMES[number] for number in examples["groups"]],
        lengths=examples["lengths"],
        calibration=calibration(logits, gold, 1.3),
    )
    parts = _parts(examples)
    sums = reduce(add, [calibration_sums(part["logits"], part["gold"], 1.3) for part in parts])
    cells = reduce(add, map(_cells, parts))
    counted = evaluate_cells(cells, LABELS, calibration=sums.calibration())
    assert len(kept.by_group) == 3
    assert len(kept.by_length) == 10
    for name in ("count", "metrics", "by_group", "per_class", "confusion", "by_length"):
        assert getattr(counted, name) == getattr(kept, name), name  # to the last bit
    assert counted.intervals["accuracy"] == kept.intervals["accuracy"]
    assert counted.calibration is not None
    assert kept.calibration is not None
    for one, other in ((kept.calibration.before, counted.calibration.before),
                       (kept.calibration.after, counted.calibration.after)):  # fmt: skip
        assert other.ece == pytest.approx(one.ece, rel=1e-12)
        assert other.nll == pytest.approx(one.nll, rel=1e-12)
        assert [(part.count, part.accuracy) for part in one.bins] == [
            (part.count, part.accuracy) for part in other.bins
        ]


def test_one_group_is_no_breakdown(examples) -> None:
    part = {**examples, "groups": np.ones(N, np.int32)}
    assert evaluate_cells(_cells(part), LABELS).by_group == {}
    assert ExampleKind(0, 0, "film", 0) in _cells(part)


def test_both_ways_to_resample_have_one_distribution(examples) -> None:
    """The mean, the spread and both ends of 20,000 resamples, against the errors of so many draws."""
    gold, predicted, many = examples["gold"], examples["logits"].argmax(axis=1), 20_000
    kinds, times = np.unique(np.stack([gold, predicted]), axis=1, return_counts=True)
    statistic = STATISTICS["macro_f1"]
    (drawn,) = resampled(statistic, gold, [predicted], many, 0)
    counted = resampled_counts(statistic, *kinds, times, many, 1)
    spread = drawn.std()
    assert abs(counted.mean() - drawn.mean()) < 4 * spread * np.sqrt(2 / many)
    assert abs(counted.std() / spread - 1) < 4 / np.sqrt(many)
    for share in (0.025, 0.975):  # an end of a normal distribution is known to 2.7 spreads / √draws
        gap = np.quantile(counted, share) - np.quantile(drawn, share)
        assert abs(gap) < 4 * 2.7 * spread * np.sqrt(2 / many), share


def test_counts_of_kinds_that_are_the_same_are_added() -> None:
    twice = bootstrap_interval("macro_f1", [0, 0, 1], [0, 0, 0], times=[30, 30, 40])
    once = bootstrap_interval("macro_f1", [0, 1], [0, 0], times=[60, 40])
    assert twice == once


def test_all_examples_of_one_kind() -> None:
    report = evaluate_cells({ExampleKind(1, 1, "", 3): 70_000}, LABELS)
    assert report.metrics == {"accuracy": 1.0, "macro_f1": 1.0}
    assert (report.intervals["macro_f1"].low, report.intervals["macro_f1"].high) == (1.0, 1.0)
    assert report.by_length == {"16-20": {"accuracy": 1.0, "macro_f1": 1.0, "count": 70_000}}
