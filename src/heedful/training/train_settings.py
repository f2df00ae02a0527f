"""The settings of a training run, checked as a whole before anything starts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from heedful.settings import Settings, above, at_least, inside, ranged, share

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
        name: "adadelta" (the papers' choice), "adam" or "adagrad" (its accumulators start at 0.1).
        lr: learning rate.
        weight_decay: factor of the L2 penalty ``0.5 * weight_decay * sum(W²)`` over the matrices that
            `heedful.nn.l2_factors` lists; its gradient is added to theirs.
        rho: decay of Adadelta's averages.
        eps: small constant against division by zero: inside the square roots of Adadelta, and added to the square root
            of Adam and Adagrad.
        beta2: decay of Adam's average of squared gradients.
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
    """How a model is trained.

    Attributes:
        optimizer: how the weights are updated.
        seed: random seed of the dev split, the initial weights, the order of the batches and dropout.
        epochs: epochs of training; 0 for no limit.
        least_steps: steps that ``epochs`` are at least, where few rows make an epoch of few steps: a run then takes as
            many epochs as it needs, and is evaluated as often as with ``epochs`` of them. Whoever sets ``epochs`` has
            so many. 0 for no such limit.
        max_steps: optimizer steps; 0 for no limit. ``epochs`` and ``max_steps`` cannot both be 0.
        evaluate_every: steps between evaluations; 0 evaluates after each epoch. The last step is always evaluated.
        evaluate_from: the first step that may be evaluated; patience counts from there. 0 for no restriction.
        metric: the metric that selects the best checkpoint. Where linear parts stand beside a network, and the metric
            is the accuracy, the loss of all together selects. Where errors have costs, the mean cost selects in
            place of "accuracy" and "micro_f1", which count all errors alike.
        direction: whether a larger or a smaller metric is better.
        patience: number of evaluations without improvement after which the run stops early; 0 for never.
        clip_norm: largest norm of the whole gradient; a larger one is scaled down. 0 for no limit.
        schedule: how the learning rate changes: "constant"; "linear" falls to 0 at the last step; "noam" falls with the
            inverse square root of the step (Vaswani et al., 2017); "stepwise" is multiplied by ``decay_rate`` at each
            of ``milestones``; "exponential" falls smoothly, by the factor ``decay_rate`` every ``decay_steps`` steps.
        warmup_steps: steps over which the learning rate rises linearly from 0, under every schedule.
        milestones: steps after which the stepwise schedule multiplies the learning rate; other schedules ignore it.
        decay_rate: factor by which the stepwise and the exponential schedule multiply the learning rate.
        decay_steps: number of steps over which the exponential schedule multiplies the learning rate by ``decay_rate``.
        relatedness_loss: the loss of relatedness: "kl" is the divergence between distributions over grades, and "mse"
            the squared error of the expected grade.
        class_weight: weight of the examples of a class in training: with "none" all weights are 1; with "balanced" they
            are ``N / (classes * examples of the class)``, by the weights of the examples, so that every class has
            the same total weight.
        class_weights: table of class name to a further factor, for classes that matter more or less than others.
        label_smoothing: share of the target probability that is spread evenly over all classes.
        contrast: whether the texts of a class are drawn together and those of others apart, by the cosine of their
            vectors, and a linear head is fitted afterwards, as SetFit does it (Tunstall et al., 2022); for few labels
            and a pretrained encoder. No checkpoint is selected then: the last one stays.
        word_mask: share of the words that are masked in training, drawn anew at every step. All masked words share one
            trained vector. Where `heedful explain` removes a word, the model then reads this vector instead.
        weight_average: decay of a moving average of the weights, such as 0.99; 0 for none. The average covers about the
            last ``1 / (1 - decay)`` steps. The averaged weights are evaluated, selected and saved; the model does not
            become larger.
        evaluate_train: whether the training split is also measured, once, with the best checkpoint.
        shards: number of pieces that each batch is divided into, each with its own dropout seed. It must be a multiple
            of the number of processes. One process with the same number of shards takes the same steps.
        device: "auto" uses a CUDA device if there is one.
        precision: precision of matrix products; weights and sums stay float32. "auto" uses "bf16-mixed" if the device
            is faster in it (AMX, Arm's BF16, AVX-512 BF16 of AMD, or a GPU with bfloat16), and "32-true" otherwise.
        save_seconds: seconds between checkpoints; 0 for no checkpoints by time.
        save_steps: steps between checkpoints; 0 for no checkpoints by steps.
        log_every: number of steps after which the log gets a line with the training loss.
    """

    optimizer: OptimizerSettings = field(default_factory=OptimizerSettings)
    seed: int = ranged(0, at_least(0))
    epochs: int = ranged(10, at_least(0))
    least_steps: int = ranged(0, at_least(0))
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
    contrast: bool = False
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
        """Return the number of optimizer steps of a run that is not stopped early."""
        epochs = max(self.epochs * steps_per_epoch, self.least_steps) if self.epochs else 0
        return min(limit for limit in (epochs, self.max_steps) if limit)

    def evaluation_steps(self, steps_per_epoch: int) -> int:
        """Return the number of steps between evaluations; 0 for an evaluation after each epoch."""
        if self.evaluate_every or not self.epochs:
            return self.evaluate_every
        apart = -(-self.least_steps // self.epochs)
        return apart if apart > steps_per_epoch else 0


def flat(table: Mapping[str, object], path: str = "") -> Iterator[tuple[str, object]]:
    """Give each value of nested tables with its dotted name.

    Yields Name and value, in the order of the tables.
    """
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value
