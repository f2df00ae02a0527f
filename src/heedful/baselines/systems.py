"""What the scoreboard compares: anything that trains on splits and gives logits or scores of texts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from heedful.baselines.splits import Split, Splits, Texts
from heedful.data.examples import Example
from heedful.model.decisions import ScoreDecision
from heedful.run import from_examples, prepare_examples, train
from heedful.run.run_config import RunConfig
from heedful.tasks import AnyModel, Text


class TrainedSystem(Protocol):
    """A trained system."""

    def outputs(self, texts: Texts) -> NDArray[np.float64]:
        """Return logits of texts or pairs, [N, Y], or scores, [N]."""

    @property
    def chosen(self) -> str:
        """What the dev split chose, in words; empty for nothing."""

    @property
    def megabytes(self) -> float:
        """What the model takes on disk: its numbers as they are kept, and its words as text."""


class System(Protocol):
    """What can be trained.

    Attributes:
        name: for tables.
    """

    @property
    def name(self) -> str:
        """See the class."""

    def train(self, splits: Splits) -> TrainedSystem:
        """Train; the test split is not touched.

        Args:
            splits: the data.

        Returns:
            The model.
        """


@dataclass(frozen=True)
class HeedfulSystem:
    """One of Heedful's own networks, trained in memory by the settings of a run.

    Attributes:
        name: for tables.
        config: the settings; those of the data and the seed are not used.
    """

    name: str
    config: RunConfig

    def train(self, splits: Splits) -> HeedfulModel:
        """See `System.train`."""
        config = replace(self.config, train=replace(self.config.train, seed=splits.seed))
        source = from_examples(
            _examples(splits.train, splits.labels),
            None if splits.dev is None else _examples(splits.dev, splits.labels),
            splits.task,
            config.data.dev_fraction,
            splits.seed,
            labels=splits.labels,
        )
        result = train(config, prepare_examples(config, source))
        return HeedfulModel(result.predictor, result.fit.best_step)


@dataclass(frozen=True)
class HeedfulModel:
    """A trained network.

    Attributes:
        predictor: the model.
        best_step: the step that dev chose.
    """

    predictor: AnyModel
    best_step: int

    @property
    def chosen(self) -> str:
        """See `TrainedSystem.chosen`."""
        return f"step {self.best_step:,}"

    @property
    def megabytes(self) -> float:
        """See `TrainedSystem.megabytes`."""
        numbers = sum(tensor.nbytes for tensor in self.predictor.network.state_dict().values())
        return (numbers + len(self.predictor.reading.vocabulary.to_json())) / 1e6

    def outputs(self, texts: Texts) -> NDArray[np.float64]:
        """See `TrainedSystem.outputs`."""
        rows: list[Text] = [text[0] if len(text) == 1 else (text[0], text[1]) for text in texts]
        logits = self.predictor.logits(rows)
        decision = self.predictor.decision
        if isinstance(decision, ScoreDecision):
            return decision.scores(logits)
        return np.asarray(logits, np.float64)


def heedful_system(encoder: str, config: RunConfig) -> HeedfulSystem:
    """Return one of Heedful's networks with the settings of a data set.

    Args:
        encoder: its name, as ``model.encoder`` takes it; "embedding" is the words without any context.
        config: the settings that all of them share.

    Returns:
        The system.
    """
    from heedful.run.recipe_files import override

    model = replace(config.model, encoder=encoder, encoder_options={})
    return HeedfulSystem(f"Heedful, {encoder}", override(replace(config, model=model), {}))


def _examples(split: Split, labels: tuple[str, ...]) -> list[Example]:
    gold = [labels[number] for number in split.gold] if labels else split.gold.tolist()
    weights = [1.0] * len(split) if split.weights is None else split.weights.tolist()
    return [
        Example(texts, target, weight=weight)
        for texts, target, weight in zip(split.texts, gold, weights, strict=True)
    ]
