"""Which evaluation was the best, and how long ago."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from heedful.errors import UsageError, nearest
from heedful.training.settings import Direction


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
        if metric not in metrics:
            raise UsageError(
                f"metric {metric!r} is not among the measured ones; {nearest(metric, list(metrics))}"
            )
        value = metrics[metric]
        sign = 1.0 if direction == "max" else -1.0
        better = math.isfinite(value) and (self.step < 0 or sign * value > sign * self.metrics[metric])
        if better:
            self.step, self.metrics, self.waited = step, dict(metrics), 0
        else:
            self.waited += 1
        return better
