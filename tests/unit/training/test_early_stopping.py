from __future__ import annotations

import math

import pytest

from heedful.errors import UsageError
from heedful.training.run_state import JOINED_LOSS, MEAN_COST, Best
from heedful.training.train_settings import Direction


def run(values: list[float], direction: Direction) -> tuple[Best, list[bool]]:
    best = Best()
    return best, [best.update({"m": v}, i, metric="m", direction=direction) for i, v in enumerate(values)]


@pytest.mark.parametrize(
    ("direction", "values", "step", "waited"),
    [
        ("max", [1.0, 3.0, 2.0, 3.0], 1, 2),
        ("min", [3.0, 1.0, 2.0, 1.0], 1, 2),
        ("max", [math.nan, -1.0, math.inf], 1, 1),
        ("min", [math.nan, math.nan], -1, 2),
    ],
)
def test_the_first_of_the_best_stays(
    direction: Direction, values: list[float], step: int, waited: int
) -> None:
    best, improved = run(values, direction)
    assert (best.step, best.waited) == (step, waited)
    assert improved[step] if step >= 0 else not any(improved)


def test_beside_linear_parts_the_loss_of_all_selects_in_place_of_the_accuracy() -> None:
    told = [(0.9, 0.5), (0.95, 0.4), (0.9, 0.3), (0.92, 0.31)]

    def best(metric: str) -> Best:
        found = Best()
        for step, (value, loss) in enumerate(told):
            found.update({metric: value, JOINED_LOSS: loss}, step, metric=metric, direction="max")
        return found

    assert (best("accuracy").step, best("accuracy").waited) == (2, 1)
    assert best("accuracy").metrics["accuracy"] == 0.9
    assert best("macro_f1").step == 1  # whoever names another metric selects by it
    older = Best(0, {"accuracy": 0.9})  # of a checkpoint that has no such loss
    assert older.update({"accuracy": 0.91, JOINED_LOSS: 1.0}, 1, metric="accuracy", direction="max")


@pytest.mark.parametrize(("metric", "step"), [("accuracy", 2), ("micro_f1", 2), ("macro_f1", 1)])
def test_where_errors_have_costs_their_mean_selects_in_place_of_a_count_of_errors(
    metric: str, step: int
) -> None:
    best = Best()
    for number, (value, cost) in enumerate([(0.9, 4.0), (0.95, 5.0), (0.8, 2.0), (0.9, 3.0)]):
        best.update({metric: value, MEAN_COST: cost}, number, metric=metric, direction="max")
    assert best.step == step


def test_a_metric_that_was_not_measured_names_the_nearest() -> None:
    with pytest.raises(
        UsageError, match="metric 'acuracy' is not among the measured ones; did you mean 'accuracy'"
    ):
        Best().update({"accuracy": 1.0}, 0, metric="acuracy", direction="max")
