"""The whole models that are timed: the five systems and three baselines as networks for pairs, in the papers' sizes."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from heedful.data.encoding import EncodedDataset
from heedful.data.examples import Example
from heedful.models.precision import Precision, at_precision, kernels_of
from heedful.run import from_examples, prepare_examples
from heedful.run.preparation import TrainingBatches
from heedful.run.recipe_files import load_config, override
from heedful.run.run import count_parameters
from heedful.run.run_config import RunConfig
from heedful.tasks import Predictor, task_named
from heedful.training.distributed import start_fabric
from heedful.training.optim import build_optimizer
from heedful.training.step import GradientStep
from heedful_lab.bench.timing import Step
from heedful_lab.reproduce.plan import experiments, systems
from heedful_lab.reproduce.runner import Budget, Cell

PEER = "multi-head"
"""The model every other is compared with."""
SYSTEMS = (PEER, "cnn", "bi-lstm", "disan", "mtsa", "mssan", "mdman", "decomposable")
"""Names of the models, the peer first; each is the system of this name in the tables of the papers."""

_EXPERIMENT = "snli-own"
"""Whose rows are timed: SNLI, each system in the recipe of its own paper."""
_WITHOUT_FILES = {"text.vectors": "", "text.baseforms": "", "train.device": "cpu", "batches.group": False}
_CHANGES: dict[str, dict[str, object]] = {
    # Past its schedule: encoder and policy learn together.
    "mdman": {"model.encoder_options.encoder_steps": 0, "model.encoder_options.policy_steps": 0},
}


def settings_of(name: str, *, width: int, batch: int) -> RunConfig:
    """Return how a model is built and trained: the recipe and the network of its row in the tables, without files.

    Args:
        name: one of `SYSTEMS`.
        width: features of a word vector.
        batch: pairs a training step.

    Returns:
        The settings.
    """
    cell = Cell(experiments()[_EXPERIMENT], systems()[name], Budget())
    # The network alone: no pair is left out for its length, and the pairs bring their own trees.
    network = [change for change in cell.changes if change.startswith("model.")]
    shape = {"model.width": width, "batches.size": batch}
    return override(load_config(cell.recipe, network), {**_WITHOUT_FILES, **shape, **_CHANGES.get(name, {})})


class Trainee:
    """A network with its words and optimizer, ready to take steps and to answer.

    Args:
        config: the settings.
        examples: pairs that give it its vocabulary, and that it is trained on.

    Attributes:
        predictor: the network with its words.
        parameters: trained numbers, word vectors excluded.
        dataset: the examples as numbers.
    """

    def __init__(self, config: RunConfig, examples: Sequence[Example]) -> None:
        task = task_named("pair")
        source = from_examples(examples, examples[:3], "pair", config.data.dev_fraction, config.train.seed)
        prepared = prepare_examples(config, source)
        dataset = prepared.datasets["train"]
        assert isinstance(dataset, EncodedDataset)  # what the task of pairs prepares
        self.dataset = dataset
        self.predictor: Predictor = task.untrained(config, prepared)
        self._network = self.predictor.network
        self.parameters = count_parameters(self._network)
        self._optimizers = build_optimizer(self._network, config.train.optimizer)
        self._loss, self._settings = task.objective(config, self.predictor), config.train
        self._fabric = start_fabric(config.train)
        self._data = TrainingBatches(self.dataset, config, task)

    def kernels(self) -> dict[str, str]:
        """Return which implementation each of its operations uses here."""
        return kernels_of(self._network)

    def at(self, precision: Precision) -> Predictor:
        """Return the model as it is now, answering in a precision."""
        copied = copy(self.predictor)
        copied.network = at_precision(self._network, precision)
        return copied

    def train(self, batches: Sequence[NDArray[np.int64]]) -> None:
        """Take one whole step for each batch: forward, backward, optimizer.

        Args:
            batches: positions in the data.
        """
        self._network.train()
        step = GradientStep(self._fabric, self._network, self._data, self._loss, self._settings)
        for number, rows in enumerate(batches):
            self._optimizers.zero_grad()
            step.compute(rows, number)  # type: ignore[arg-type]
            self._optimizers.step()
        self._optimizers.zero_grad()


def training(model: Trainee, batches: Sequence[NDArray[np.int64]]) -> Step:
    """Return what takes a training step for each batch, to be timed."""
    return lambda: model.train(batches)


def inference(predictor: Predictor, dataset: EncodedDataset) -> Step:
    """Return what answers a whole data set, to be timed."""

    def step() -> None:
        predictor.run(dataset)

    return step
