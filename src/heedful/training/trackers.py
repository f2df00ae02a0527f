"""Figures of a run, sent to TensorBoard, MLflow or Weights & Biases; each is imported only when it is asked for."""

from __future__ import annotations

import logging
import math
import os
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from heedful.errors import UsageError, nearest, needing
from heedful.training.progress import Reporter, Silent, number_of
from heedful.training.train_settings import flat

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

_log = logging.getLogger(__name__)

Package_co = TypeVar("Package_co", covariant=True)
"""What is used of the package of a tracker: the package, or a class of it."""

PROJECT = "heedful"
"""Experiment of MLflow and project of Weights & Biases that a run belongs to, unless their own settings name one."""

_PARAMS = 100
"""Settings that MLflow takes at once."""


def with_trackers(
    reporter: Reporter, names: Sequence[str], folder: Path, settings: Mapping[str, object]
) -> Reporter:
    """Let trackers hear of a run beside a reporter.

    Args:
        reporter: hears everything, first.
        names: "tensorboard" (writes to ``folder/tensorboard``), "mlflow" (where ``MLFLOW_TRACKING_URI`` says) or
            "wandb" (as ``WANDB_MODE`` and the login of that program say).
        folder: the run folder; its name is the name of the run.
        settings: of the run, as nested plain values; kept with it under their dotted names.

    Returns:
        The reporter itself if there are no names.

    Raises:
        UsageError: if a name is unknown.
        MissingExtraError: if the package of a tracker is not installed; names the command that installs it.
    """
    unknown = [name for name in names if name not in TRACKERS]
    if unknown:
        raise UsageError(f"--track {unknown[0]}: unknown; {nearest(unknown[0], tuple(TRACKERS))}")
    plain = dict(flat(settings))
    trackers = [TRACKERS[name](folder, plain) for name in dict.fromkeys(names)]
    return Reporters([reporter, *trackers]) if trackers else reporter


class Reporters:
    """Passes all that a run says on to several reporters, in their order.

    Args:
        reporters: who hears.
    """

    def __init__(self, reporters: Sequence[Reporter]) -> None:
        self.reporters = reporters

    def start(self, total: int, done: int) -> None:
        """Begin, with some of the total steps already done."""
        for reporter in self.reporters:
            reporter.start(total, done)

    def step(self, step: int, loss: float) -> None:
        """Pass on that a step was taken."""
        for reporter in self.reporters:
            reporter.step(step, loss)

    def evaluation(self, record: Mapping[str, object]) -> None:
        """Pass on what an evaluation measured."""
        for reporter in self.reporters:
            reporter.evaluation(record)

    def sign(self, sentence: str) -> None:
        """Pass on a sign that training breaks the network."""
        for reporter in self.reporters:
            reporter.sign(sentence)

    def close(self) -> None:
        """End."""
        for reporter in self.reporters:
            reporter.close()


class Tracker(Silent, Generic[Package_co]):
    """Sends the figures of every evaluation to another program; training steps are not sent one by one.

    A program that cannot be opened is refused before the first step. One that fails later ends its tracking with a
    warning and never the run.

    Args:
        folder: the run folder.
        settings: of the run, dotted name to value.
    """

    name: ClassVar[str]

    def __init__(self, folder: Path, settings: Mapping[str, object]) -> None:
        self.folder, self.settings = folder, settings
        self._sends = False
        with needing(self.name, self.name, f"--track {self.name}"):
            self.package = self.load()

    def start(self, total: int, done: int) -> None:
        """Open the program.

        Raises UsageError if it cannot be opened; says what it says.
        """
        try:
            self.open(done)
        except Exception as error:  # whatever another library raises
            raise UsageError(f"--track {self.name}: {_reason(error)}") from error
        self._sends = True

    def evaluation(self, record: Mapping[str, object]) -> None:
        """Send the numbers of a record under their names."""
        aside = ("step", "best")
        numbers = {
            name: float(value)
            for name, value in record.items()
            if name not in aside and isinstance(value, int | float) and math.isfinite(value)
        }
        self._try(lambda: self.send(int(number_of(record, "step")), numbers))

    def close(self) -> None:
        """Close the program, if it was opened."""
        self._try(self.finish)
        self._sends = False

    def _try(self, action: Callable[[], None]) -> None:
        if not self._sends:
            return
        try:
            action()
        except Exception as error:  # the run goes on without it
            self._sends = False
            _log.warning("--track %s ended: %s", self.name, _reason(error))

    @abstractmethod
    def load(self) -> Package_co:
        """Import the program's package and return what is used of it."""

    @abstractmethod
    def open(self, done: int) -> None:
        """Begin after some steps that were taken before."""

    @abstractmethod
    def send(self, step: int, numbers: Mapping[str, float]) -> None:
        """Send numbers that were measured after a step."""

    @abstractmethod
    def finish(self) -> None:
        """End what was begun."""


def _reason(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


class TensorBoard(Tracker["type[SummaryWriter]"]):
    """Writes event files into ``tensorboard`` in the run folder; a resumed run goes on in them."""

    name = "tensorboard"

    def load(self) -> type[SummaryWriter]:
        """See `Tracker.load`."""
        from torch.utils.tensorboard import SummaryWriter

        return SummaryWriter

    def open(self, done: int) -> None:
        """Open the files; what they hold of later steps than are done is hidden."""
        self._writer: SummaryWriter = self.package(
            str(self.folder / "tensorboard"), purge_step=done + 1 if done else None
        )
        table = "\n".join(f"    {name} = {value!r}" for name, value in self.settings.items())
        self._writer.add_text("settings", table, done)

    def send(self, step: int, numbers: Mapping[str, float]) -> None:
        """Write the numbers."""
        for name, value in numbers.items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()

    def finish(self) -> None:
        """Close the files."""
        self._writer.close()


class MLflow(Tracker[ModuleType]):
    """Logs one MLflow run, named after the run folder, where ``MLFLOW_TRACKING_URI`` says."""

    name = "mlflow"

    def load(self) -> ModuleType:
        """See `Tracker.load`."""
        import mlflow

        return mlflow

    def open(self, done: int) -> None:
        """Begin the run and log its settings."""
        if not os.environ.get("MLFLOW_EXPERIMENT_NAME"):
            self.package.set_experiment(PROJECT)
        self.package.start_run(run_name=self.folder.absolute().name)
        settings = list(self.settings.items())
        for first in range(0, len(settings), _PARAMS):
            self.package.log_params(dict(settings[first : first + _PARAMS]))

    def send(self, step: int, numbers: Mapping[str, float]) -> None:
        """Log the numbers."""
        self.package.log_metrics(dict(numbers), step=step)

    def finish(self) -> None:
        """End the run."""
        self.package.end_run()


class WeightsAndBiases(Tracker[ModuleType]):
    """Logs one run of Weights & Biases, named after the run folder."""

    name = "wandb"

    def load(self) -> ModuleType:
        """See `Tracker.load`."""
        import wandb

        return wandb

    def open(self, done: int) -> None:
        """Begin the run with its settings."""
        self._run = self.package.init(
            project=os.environ.get("WANDB_PROJECT", PROJECT),
            name=self.folder.absolute().name,
            dir=str(self.folder),
            config=dict(self.settings),
        )

    def send(self, step: int, numbers: Mapping[str, float]) -> None:
        """Log the numbers."""
        self._run.log(dict(numbers), step=step)

    def finish(self) -> None:
        """End the run."""
        self._run.finish()


TRACKERS: dict[str, type[Tracker[object]]] = {
    kind.name: kind for kind in (TensorBoard, MLflow, WeightsAndBiases)
}
"""Name of a tracker, as ``--track`` takes it, to the class that serves it."""
