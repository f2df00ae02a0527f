"""The learning of a task: its network, its loss, what is fitted before and after training, and its report."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Generic

import numpy as np
from numpy.typing import NDArray

from heedful.evaluation import Report
from heedful.structures import Batch
from heedful.tasks.prepared import Dataset, Lexicon, Model, Prepared, SharedTexts
from heedful.training.step import Objective, TrainingData

if TYPE_CHECKING:
    from heedful.run.run_config import RunConfig


class TaskLearning(ABC, Generic[Dataset, Lexicon, Model]):
    """What a task knows of training and measuring; see `heedful.tasks.task.Task`."""

    @abstractmethod
    def untrained(self, config: RunConfig, prepared: Prepared[Dataset, Lexicon]) -> Model:
        """Build the network with its initial weights, together with the lexicon that reads its texts.

        Args:
            config: the settings of the run; its seed determines the weights.
            prepared: the data, which determines the number of classes, if there are classes.

        Returns:
            The model, to be trained in place.
        """

    @abstractmethod
    def collate(self, dataset: Dataset, rows: NDArray[np.int64]) -> Batch:
        """Pad rows of a data set to one batch with targets."""

    def shared(self, dataset: Dataset) -> SharedTexts | None:
        """Return which examples share texts; None if the examples of the task are single texts."""
        return None

    @abstractmethod
    def objective(self, config: RunConfig, model: Model) -> Objective:
        """Return the loss function.

        Args:
            config: the settings.
            model: the model that is trained; its network may have values that the loss needs, such as a scale.

        Returns:
            The function from a network's output and a batch's targets to the loss of each example, [B].
        """

    def drawn(self, config: RunConfig, model: Model, dataset: Dataset, data: TrainingData) -> TrainingData:
        """Return the batches that are trained on; by default those that are given.

        Args:
            config: the settings of the run.
            model: the model that is trained.
            dataset: the training examples.
            data: their batches.

        Returns:
            The batches.
        """
        return data

    def begin(self, config: RunConfig, model: Model, datasets: Mapping[str, Dataset]) -> None:
        """Fit what does not need the network, before it is trained; by default nothing.

        Args:
            config: the settings of the run.
            model: the untrained model, changed in place.
            datasets: "train", and "dev" unless everything is chosen by cross-validation; with a teacher also
                `heedful.tasks.prepared.TRANSFER`, its first examples those of "train".
        """
        return

    def end(self, config: RunConfig, model: Model, datasets: Mapping[str, Dataset]) -> None:
        """Fit what needs the trained network, before anything is calibrated; by default nothing.

        Args:
            config: the settings of the run.
            model: the trained model, changed in place.
            datasets: see `begin`.
        """
        return

    def judge(self, model: Model, dev: Dataset) -> Mapping[str, float]:
        """Measure a model in training on the dev split, as it would be delivered now: all its parts together.

        Args:
            model: the model; what `calibrate` will fit is fitted for this measurement alone.
            dev: examples with labels that the model is not trained on.

        Returns:
            The metrics, of which one selects the best checkpoint.
        """
        return self.measure(model, dev).metrics

    def calibrate(self, model: Model, datasets: Mapping[str, Dataset]) -> None:
        """Fit values after training on examples that the model was not trained on, such as a temperature.

        By default nothing is fitted.

        Args:
            model: the trained model, changed in place.
            datasets: see `begin`.
        """
        return

    def keep(self, config: RunConfig, model: Model, datasets: Mapping[str, Dataset]) -> None:
        """Keep training examples in a trained model, as ``data.keep_examples`` says; by default nothing is kept.

        Args:
            config: the settings of the run.
            model: the trained model, changed in place.
            datasets: see `begin`.
        """
        return

    def held_out(self, model: Model, datasets: Mapping[str, Dataset]) -> Report:
        """Report on the examples that chose: the dev split, or by cross-validation every training example.

        Args:
            model: the trained model.
            datasets: see `begin`.

        Returns:
            The report.
        """
        return self.measure(model, datasets["dev"])

    @abstractmethod
    def measure(self, model: Model, dataset: Dataset) -> Report:
        """Compare a model's predictions with the gold labels.

        Args:
            model: the model.
            dataset: at least one example, with labels.

        Returns:
            The report.

        Raises:
            UsageError: if there are no labels.
        """

    def measure_blocks(self, model: Model, blocks: Iterable[Dataset]) -> Report:
        """Compare predictions with gold labels block by block, and keep only what the report needs; see `measure`.

        Each block has at least one example. The metrics are those that `measure` gives for all examples together.
        """
        return self.measure(model, *blocks)  # by default one block
