"""What a run stores while it trains: its state, the best weights, the log, and the checkpoint on disk.

A moving average of the weights may be evaluated, selected and kept in place of the last weights.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor, nn

from heedful.errors import UsageError
from heedful.training.checkpoint_checks import check_position
from heedful.training.optim import Optimizers
from heedful.training.progress import Cost, MetricsLog
from heedful.training.run_folder import RunFolder
from heedful.training.run_state import TrainState
from heedful.training.state import (
    checkpoint_exists,
    copy_weights,
    load_state,
    restore_weights,
    save_state,
    trainable_weights,
)
from heedful.training.train_settings import TrainSettings


class WeightAverage:
    """Averages the trainable weights exponentially over the steps (Polyak and Juditsky, 1992).

    After step t (from 1) the average is ``d * average + (1 - d) * weights`` with
    ``d = min(decay, (1 + t) / (10 + t))``, so that the initial weights are soon forgotten.

    Args:
        network: whose weights are averaged; the averages begin as copies of them.
        decay: share of the average that a step leaves, above 0 and below 1. About ``1 / (1 - decay)`` steps count.

    Attributes:
        tensors: the averages, by the names of the parameters.
    """

    def __init__(self, network: nn.Module, decay: float) -> None:
        self.network, self.decay = network, decay
        self.tensors: dict[str, Tensor] = {
            name: weight.detach().clone() for name, weight in trainable_weights(network).items()
        }

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Take in the weights after a step.

        Args:
            step: how many steps have been taken, from 1.
        """
        share = 1 - min(self.decay, (1 + step) / (10 + step))
        for name, weight in trainable_weights(self.network).items():
            self.tensors[name].lerp_(weight, share)

    @torch.no_grad()
    def put(self) -> None:
        """Overwrite the weights of the network with the averages."""
        for name, weight in trainable_weights(self.network).items():
            weight.copy_(self.tensors[name])

    @contextlib.contextmanager
    def in_place(self) -> Iterator[None]:
        """Let the network have the averages for a while; afterwards it has its own weights again, to the bit."""
        weights = trainable_weights(self.network)
        own = {name: weight.detach().clone() for name, weight in weights.items()}
        self.put()
        try:
            yield
        finally:
            with torch.no_grad():
                for name, weight in weights.items():
                    weight.copy_(own[name])


class Keeper:
    """Keeps a run.

    Args:
        network: what is trained.
        optimizers: what trains it.
        settings: of the run.
        home: where it is kept; None keeps it in memory only.
        writes: whether this process writes; of several processes one does.

    Attributes:
        seconds_before: time that the run took before it was last resumed.
        average: of the weights; None where the settings ask for none.
    """

    def __init__(
        self,
        network: nn.Module,
        optimizers: Optimizers,
        settings: TrainSettings,
        home: RunFolder | None,
        *,
        writes: bool,
    ) -> None:
        self.network, self.optimizers, self.settings, self.home = network, optimizers, settings, home
        self.writes = writes and home is not None
        self.log = MetricsLog(home.metrics if home is not None and self.writes else None)
        self.state = TrainState()
        self.best_weights: dict[str, Tensor] = {}
        decay = settings.weight_average
        self.average = WeightAverage(network, decay) if decay else None
        self._started, self._saved_at = Cost.now(), time.monotonic()
        self.seconds_before = 0.0

    def begin(self, batches: Callable[[int], Sequence[object]], *, resume: bool) -> None:
        """Start at the beginning or, if asked to and there is one, at the last checkpoint.

        Raises UsageError if the checkpoint is of a run with other settings or data. Raises ArtifactError if the
        checkpoint was altered.
        """
        steps_per_epoch = len(batches(0))
        threads = torch.get_num_threads()
        self.state = TrainState(steps_per_epoch=steps_per_epoch, records=0, threads=threads)
        if not resume or self.home is None:
            return
        if checkpoint_exists(self.home.checkpoint):
            self._load(self.home)
            if self.state.steps_per_epoch != steps_per_epoch:
                raise UsageError(
                    f"cannot resume with other training data: {self.state.steps_per_epoch} batches an epoch then, "
                    f"{steps_per_epoch} now. Use the same data, or begin in another folder."
                )
            check_position(self.state, batches, self.home.checkpoint)
            self._go_on()
        self.log.restore(self.state.step, known=self.state.records)

    def stepped(self) -> None:
        """Take in the weights after a step."""
        if self.average is not None:
            self.average.update(self.state.step)

    def judged(self) -> contextlib.AbstractContextManager[None]:
        """Let the network have the weights that are evaluated and kept, which are the averages if there are any."""
        return contextlib.nullcontext() if self.average is None else self.average.in_place()

    def finish(self) -> None:
        """Give the network the best weights; without an evaluation the averages, or what it has."""
        if self.best_weights:
            restore_weights(self.network, self.best_weights)
        elif self.average is not None:
            self.average.put()

    def record(self, kind: str, **values: object) -> dict[str, object]:
        """Write one event with means over the training examples since the last one: the loss, a policy's figures.

        Returns the record.
        """
        state = self.state
        self._count_time()
        record = {
            "kind": kind,
            "step": state.step,
            "epoch": round(state.epoch + state.position / state.steps_per_epoch, 4),
            "seconds": round(state.seconds, 3),
            "train_loss": state.loss_sum / max(1, state.loss_count),
            **{name: total / max(1, state.loss_count) for name, total in state.figure_sums.items()},
            **values,
        }
        state.loss_sum, state.loss_count, state.figure_sums = 0.0, 0, {}
        self.log.write(record)
        return record

    def consider(self, metrics: dict[str, float]) -> bool:
        """Keep a copy of the weights if an evaluation is the best so far.

        Returns whether it is the best so far. Raises UsageError if the selecting metric was not measured.
        """
        settings = self.settings
        better = self.state.best.update(
            metrics, self.state.step, metric=settings.metric, direction=settings.direction
        )
        if better:
            self.best_weights = copy_weights(self.network)
        return better

    def save_due(self) -> bool:
        """Return whether the settings ask for a checkpoint now."""
        by_clock, by_count = self.settings.save_seconds, self.settings.save_steps
        if by_clock and time.monotonic() - self._saved_at >= by_clock:
            return True
        return bool(by_count) and self.state.step % by_count == 0

    def save(self) -> None:
        """Write the checkpoint.

        Raises OutputError if it cannot be written; the old one stays.
        """
        if self.home is None or not self.writes:
            return
        self._count_time()
        self.state.records = len(self.log.records)
        with self.state.aside.counting():
            save_state(
                self.home.checkpoint,
                state=self.state,
                network=self.network,
                optimizers=self.optimizers,
                best_weights=self.best_weights,
                settings=self.settings,
                averages=self._averages(),
            )
        self._count_time()
        self._saved_at = time.monotonic()

    def keep_last_good(self) -> str:
        """After a step that could not be taken, save what precedes it and give the network its best weights.

        Returns what was kept, as a sentence.
        """
        finite = all(
            bool(torch.isfinite(weight).all()) for weight in trainable_weights(self.network).values()
        )
        on_disk = self.home is not None and (finite or checkpoint_exists(self.home.checkpoint))
        if finite:
            self.save()
        if self.best_weights:
            restore_weights(self.network, self.best_weights)
            kept = f"the best weights, of step {self.state.best.step}"
        elif finite:
            kept = f"the weights of step {self.state.step}"
        elif self.home is not None and on_disk:
            self._load(self.home)
            kept = f"the weights of the last checkpoint, step {self.state.step}"
        else:
            return "No finite weights are left. Lower the learning rate."
        where = f" and {self.home.checkpoint} hold" if self.home is not None and on_disk else " holds"
        return f"The network{where} {kept}. Look at these rows, or lower the learning rate."

    def _go_on(self) -> None:
        """Count time from what the former parts of the run took."""
        state = self.state
        state.resumed += 1
        self.seconds_before = state.seconds
        self._started = Cost.now() - Cost(state.seconds, state.cpu_seconds)

    def _count_time(self) -> None:
        spent = Cost.now() - self._started
        self.state.seconds, self.state.cpu_seconds = spent.seconds, spent.cpu_seconds

    def _load(self, home: RunFolder) -> None:
        self.state, self.best_weights = load_state(
            home.checkpoint,
            network=self.network,
            optimizers=self.optimizers,
            settings=self.settings,
            averages=self._averages(),
        )

    def _averages(self) -> dict[str, Tensor]:
        return {} if self.average is None else self.average.tensors
