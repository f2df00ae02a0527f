"""What training needs of a data set, whatever its task."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import nn

from heedful.config import RunConfig
from heedful.models import ModelConfig


@dataclass(frozen=True)
class Prepared(ABC):
    """Base of the data sets that are ready for training.

    Attributes:
        datasets: "train", "dev" and, where there is one, "test"; each has a length and `lengths()` of its texts.
        labels: class names in the order of their numbers; empty where there are none.
        kind: of data, a key of `heedful.pipeline.tasks.BY_KIND`.
        notes: what was left out or cut, as lines for a person.
        protocol: one sentence that says how the parts came about.
        fingerprint: file to SHA-256 of what was read.
    """

    datasets: Mapping[str, Any]
    labels: tuple[str, ...]
    kind: str
    notes: tuple[str, ...]
    protocol: str
    fingerprint: dict[str, str]

    @abstractmethod
    def untrained(self, config: RunConfig, model: ModelConfig) -> Any:
        """Put a network with its initial weights together with what reads its texts.

        Args:
            config: the settings of the run; its seed decides the weights.
            model: those of the network, fitted to the data.

        Returns:
            The model, to be trained in place.
        """

    @property
    @abstractmethod
    def vocabulary_note(self) -> str:
        """What the vocabulary holds, for a card, without a final stop."""

    @abstractmethod
    def limits(self, network: nn.Module) -> str:
        """Say what a user of a model of this data should know, for its card.

        Args:
            network: the model's.

        Returns:
            Whole sentences.
        """
