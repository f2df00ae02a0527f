"""Where a run stands: its steps and times, the best evaluation so far, and what ends it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from heedful.errors import check_known
from heedful.training.progress import Cost
from heedful.training.train_settings import Direction, TrainSettings

StopReason = Literal["epochs", "max_steps", "patience", "no network"]
JOINED_LOSS = "joined_loss"
"""The mean loss of a network together with the linear parts that stand beside it, as it would be delivered."""
MEAN_COST = "cost"
"""What the wrong answers to an example cost on average, where a task measures that."""
_OF_ANSWERS = ("accuracy", "micro_f1")
"""Metrics of answers by which the recipes for own data select, and which count all errors alike."""


@dataclass
class Best:
    """The best evaluation so far.

    Attributes:
        step: step of the best evaluation; -1 while there is none.
        metrics: its metrics.
        waited: evaluations since then.
    """

    step: int = -1
    metrics: dict[str, float] = field(default_factory=dict)
    waited: int = 0

    def update(self, metrics: Mapping[str, float], step: int, *, metric: str, direction: Direction) -> bool:
        """Take in one evaluation; of two equal ones the earlier stays the best.

        Beside linear parts the accuracy on few dev rows hardly moves while a network learns, so that it would end too
        early. There `JOINED_LOSS` selects in place of the accuracy. Where errors have costs, `MEAN_COST` selects in
        place of a metric that counts all errors alike.

        Args:
            metrics: what was measured; a selecting metric that is not finite never is an improvement.
            step: when.
            metric: name of the metric that selects.
            direction: whether larger or smaller is better.

        Returns:
            Whether it is the best so far.

        Raises:
            UsageError: if the selecting metric was not measured.
        """
        check_known(metric, metrics, f"metric {metric!r} is not among the measured ones")
        if metric == "accuracy" and JOINED_LOSS in metrics and (self.step < 0 or JOINED_LOSS in self.metrics):
            metric, direction = JOINED_LOSS, "min"
        elif metric in _OF_ANSWERS and MEAN_COST in metrics and (self.step < 0 or MEAN_COST in self.metrics):
            metric, direction = MEAN_COST, "min"
        value = metrics[metric]
        sign = 1.0 if direction == "max" else -1.0
        better = math.isfinite(value) and (self.step < 0 or sign * value > sign * self.metrics[metric])
        if better:
            self.step, self.metrics, self.waited = step, dict(metrics), 0
        else:
            self.waited += 1
        return better


@dataclass
class TrainState:
    """Where a run stands, tensors aside.

    Attributes:
        step: optimizer steps taken.
        epoch: passes completed.
        position: batches done of the pass in progress.
        steps_per_epoch: batches of the first pass; tells other training data apart.
        seconds: time spent so far, over all resumptions.
        cpu_seconds: processor time of the same, over all threads.
        aside: the part of both that evaluations and checkpoints took.
        resumed: how often the run was resumed.
        loss_sum: sum of the examples' losses since the last line of the log.
        loss_count: number of these examples.
        figure_sums: sums over the same examples of what else the log shows the mean of, by name.
        records: lines that the log has; None in the checkpoint of a version that did not count them.
        threads: with which torch computes, on which the last digits of its sums depend; 0 where it was not kept.
        best: the best evaluation so far.
    """

    step: int = 0
    epoch: int = 0
    position: int = 0
    steps_per_epoch: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    aside: Cost = field(default_factory=Cost)
    resumed: int = 0
    loss_sum: float = 0.0
    loss_count: int = 0
    figure_sums: dict[str, float] = field(default_factory=dict)
    records: int | None = None
    threads: int = 0
    best: Best = field(default_factory=Best)

    def stop_reason(self, settings: TrainSettings) -> StopReason | None:
        """Return why the run is over; None while it is not."""
        if settings.patience and self.best.waited >= settings.patience:
            return "patience"
        if settings.epochs and self.epoch >= settings.epochs and self.step >= settings.least_steps:
            return "epochs"
        if settings.max_steps and self.step >= settings.max_steps:
            return "max_steps"
        return None
