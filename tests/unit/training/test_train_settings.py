from __future__ import annotations

import math

import pytest

from heedful.errors import UsageError
from heedful.training.train_settings import OptimizerSettings, TrainSettings


def test_every_mistake_is_reported_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        TrainSettings(epochs=0, direction="up", shards=0, patience=-1)
    message = str(caught.value)
    assert "direction must be one of 'max', 'min'" in message
    assert "shards must be 1 or more; got 0" in message
    assert "patience must be 0 or more; got -1" in message
    assert "epochs and max_steps are both 0" in message


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"name": "sgd"}, "name must be one of 'adadelta', 'adam', 'adagrad'"),
        ({"lr": 0.0}, "lr must be above 0; got 0.0"),
        ({"lr": math.nan}, "lr must be above 0; got nan"),
        ({"rho": 1.0}, "rho must be at least 0 and below 1; got 1.0"),
        ({"weight_decay": -1e-4}, "weight_decay must be 0 or more"),
    ],
)
def test_optimizer_mistakes(change: dict, text: str) -> None:
    with pytest.raises(UsageError, match=text.replace(".", r"\.")):
        OptimizerSettings(**change)


@pytest.mark.parametrize(("epochs", "max_steps", "total"), [(3, 0, 30), (0, 7, 7), (3, 7, 7), (3, 70, 30)])
def test_total_steps_is_the_nearer_limit(epochs: int, max_steps: int, total: int) -> None:
    assert TrainSettings(epochs=epochs, max_steps=max_steps).total_steps(10) == total


def test_of_few_rows_more_epochs_are_read_and_evaluated_as_often() -> None:
    few = TrainSettings(epochs=12, least_steps=400)
    assert (few.total_steps(3), few.evaluation_steps(3)) == (400, 34)
    assert (few.total_steps(50), few.evaluation_steps(50)) == (600, 0)
    assert TrainSettings(epochs=12, least_steps=400, max_steps=7).total_steps(3) == 7
    assert TrainSettings(epochs=12, least_steps=400, evaluate_every=5).evaluation_steps(3) == 5
    assert TrainSettings(epochs=12).evaluation_steps(3) == 0
