"""The settings of a training run, checked as a whole before anything starts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from heedful.checked import Settings, above, at_least, inside, ranged, share

OptimizerName = Literal["adadelta", "adam", "adagrad"]
Direction = Literal["max", "min"]
Schedule = Literal["constant", "linear", "noam", "stepwise", "exponential"]
RelatednessLoss = Literal["kl", "mse"]
ClassWeight = Literal["none", "balanced"]
Device = Literal["auto", "cpu", "cuda"]
Precision = Literal["32-true", "bf16-mixed", "auto"]


def _rising(steps: Sequence[int]) -> str:
    rises = all(step >= 1 for step in steps) and list(steps) == sorted(set(steps))
    return "" if rises else "must be steps of 1 or more, each larger than the last"


@dataclass(frozen=True)
class OptimizerSettings(Settings):
    """How the weights are updated.

    Attributes:
        name: adadelta (the papers' choice), adam or adagrad (accumulators start at 0.1).
        lr: learning rate.
        weight_decay: factor of the L2 penalty ``0.5 * weight_decay * sum(W²)``, added to the gradient of exactly the
            matrices of `heedful.nn.l2_factors`.
        rho: decay of Adadelta's averages.
        eps: small constant inside the roots of Adadelta, outside that of Adam and Adagrad.
        beta2: decay of Adam's average of squares.
    """

    name: OptimizerName = "adadelta"
    lr: float = ranged(0.5, above(0))
    weight_decay: float = ranged(0.0, at_least(0))
    rho: float = ranged(0.95, share)
    eps: float = ranged(1e-8, above(0))
    beta2: float = ranged(0.999, share)


def _positive(factors: Mapping[str, object]) -> str:
    good = all(
        isinstance(factor, int | float) and not isinstance(factor, bool) and 0 < factor < math.inf
        for factor in factors.values()
    )
    return "" if good else "must give every class a number above 0"


@dataclass(frozen=True)
class TrainSettings(Settings):
    """How a run goes.

    Attributes:
        optimizer: how the weights are updated.
        seed: of dropout; the order of the batches is the data's own.
        epochs: epochs of training; 0 for no limit.
        max_steps: optimiser steps; 0 for no limit. One of the two must limit.
        evaluate_every: steps between evaluations; 0 evaluates after each epoch. The last step is always evaluated.
        evaluate_from: the first step that may be evaluated, so that patience counts from there; 0 leaves none out.
        metric: the metric that selects the best weights.
        direction: whether a larger or a smaller metric is better.
        patience: evaluations without improvement before the run stops; 0 never stops early.
        clip_norm: largest norm of the whole gradient; 0 leaves it alone.
        schedule: constant; linear: down to 0 at the last step; noam: with the inverse square root of the step
            (Vaswani et al., 2017); stepwise: times ``decay_rate`` at each of ``milestones``; or exponential: times
            ``decay_rate`` every ``decay_steps`` steps, without jumps.
        warmup_steps: steps over which the learning rate rises linearly from 0, under every schedule.
        milestones: steps after which the stepwise schedule multiplies the learning rate; read by no other.
        decay_rate: what the stepwise and the exponential schedule multiply the learning rate by.
        decay_steps: steps over which the exponential schedule multiplies it once.
        relatedness_loss: what training on scores minimises: "kl", the divergence between distributions over grades, or
            "mse", the square error of the expected grade.
        class_weight: how much the examples of a class count in training: "none", all alike; or "balanced",
            ``N / (classes * examples of the class)``, so that every class counts the same in all.
        class_weights: class name to a factor on top of that, for classes that matter more or less than others.
        label_smoothing: share of the target probability that is spread evenly over all classes.
        word_mask: share of the words that are masked in training, drawn anew at every step. A masked word has one
            trained row of its own, which `heedful explain` then reads in the place of a word that it takes away.
        weight_average: decay of a moving average of the weights, such as 0.99; 0 for none. About ``1 / (1 - decay)`` of
            the last steps count. The averaged weights are evaluated, selected and saved; a model is no larger for it.
        evaluate_train: whether the training split is measured too, once, with the best weights.
        shards: pieces each batch is cut into, each with its own dropout seed. A multiple of the number of processes;
            one process with the same number of shards takes the same steps.
        device: auto takes a CUDA device where there is one.
        precision: of matrix products; weights and sums stay float32. auto takes bf16-mixed where the device has
            instructions for it, else 32-true.
        save_seconds: time between checkpoints; 0 for none by the clock.
        save_steps: steps between checkpoints; 0 for none by count.
        log_every: steps between two training-loss lines of the log.
    """

    optimizer: OptimizerSettings = field(default_factory=OptimizerSettings)
    seed: int = ranged(0, at_least(0))
    epochs: int = ranged(10, at_least(0))
    max_steps: int = ranged(0, at_least(0))
    evaluate_every: int = ranged(0, at_least(0))
    evaluate_from: int = ranged(0, at_least(0))
    metric: str = "accuracy"
    direction: Direction = "max"
    patience: int = ranged(0, at_least(0))
    clip_norm: float = ranged(0.0, at_least(0))
    schedule: Schedule = "constant"
    warmup_steps: int = ranged(0, at_least(0))
    milestones: tuple[int, ...] = ranged((), _rising)
    decay_rate: float = ranged(0.5, inside(0, 1))
    decay_steps: int = ranged(1000, at_least(1))
    relatedness_loss: RelatednessLoss = "kl"
    class_weight: ClassWeight = "none"
    class_weights: dict[str, object] = field(default_factory=dict, metadata={"check": _positive})
    label_smoothing: float = ranged(0.0, share)
    word_mask: float = ranged(0.0, share)
    weight_average: float = ranged(0.0, share)
    evaluate_train: bool = False
    shards: int = ranged(1, at_least(1))
    device: Device = "auto"
    precision: Precision = "32-true"
    save_seconds: float = ranged(60.0, at_least(0))
    save_steps: int = ranged(0, at_least(0))
    log_every: int = ranged(50, at_least(1))

    def contradictions(self) -> list[str]:
        """See `Settings.contradictions`."""
        problems = []
        if self.schedule == "stepwise" and not self.milestones:
            problems.append(
                "milestones must name the steps at which the stepwise schedule lowers the learning rate"
            )
        if not self.epochs and not self.max_steps:
            problems.append("epochs and max_steps are both 0, so the run would never end: set one of them")
        return problems

    def total_steps(self, steps_per_epoch: int) -> int:
        """Return the number of optimiser steps of a run that is not stopped early."""
        limits = [self.epochs * steps_per_epoch if self.epochs else 0, self.max_steps]
        return min(limit for limit in limits if limit)


def flat(table: Mapping[str, object], path: str = "") -> Iterator[tuple[str, object]]:
    """Give each value of nested tables with its dotted name.

    Yields Name and value, in the order of the tables.
    """
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value
