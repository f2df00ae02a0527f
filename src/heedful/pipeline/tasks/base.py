"""What the pipeline does in its own way for one kind of data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from torch import Tensor

from heedful.data.encode import EncodedDataset
from heedful.data.examples import Corpus
from heedful.data.tokens import TokenisedCorpus
from heedful.evaluation import Report
from heedful.models import ModelConfig, Network
from heedful.models.config import Task
from heedful.pipeline.tasks.temperature import TemperatureScaling
from heedful.predictor import Predictor, TextSettings
from heedful.structures import NetworkOutput
from heedful.text.pieces import AnyVocabulary


class RunTask(ABC):
    """One kind of data: its gold, its loss, its figures. The defaults are those of a class or a number a text.

    Attributes:
        kind: of data: "text", "pair" and so on, as a data set's entry names it.
        name: what the network answers, ``model.task``.
        metrics: what is measured.
        question: what the model answers, for its card.
        request: an example of a request as Python text, for its card.
        calibration: how a trained model's confidences are mended; None where its answers have none.
    """

    kind: ClassVar[str]
    name: ClassVar[Task]
    metrics: ClassVar[tuple[str, ...]]
    question: ClassVar[str]
    request: ClassVar[str]
    calibration: ClassVar[TemperatureScaling | None] = None

    @abstractmethod
    def read_labels(
        self, corpora: Mapping[str, Corpus], fixed: tuple[str, ...], model: ModelConfig
    ) -> tuple[str, ...]:
        """Look at the gold of all parts.

        Args:
            corpora: the parts by name; there is a "train".
            fixed: the class names, where the source of the data fixes them.
            model: the settings of the network.

        Returns:
            The class names in the order of their numbers; none where there are no classes.

        Raises:
            DataError: naming the row, if gold is not what it should be.
        """

    @abstractmethod
    def encode(
        self, corpus: TokenisedCorpus, vocabulary: AnyVocabulary, labels: tuple[str, ...], text: TextSettings
    ) -> EncodedDataset:
        """Turn a tokenised corpus with gold into numbers.

        Args:
            corpus: the words and the gold.
            vocabulary: words to ids.
            labels: class names in the order of their numbers.
            text: the limits on length.

        Returns:
            The examples that have gold.
        """

    def fitted(self, model: ModelConfig, labels: tuple[str, ...]) -> ModelConfig:
        """Return the model's settings with what the data decides: by default a class a label."""
        return replace(model, outputs=len(labels))

    def predictor(
        self,
        network: Network,
        model: ModelConfig,
        vocabulary: AnyVocabulary,
        labels: tuple[str, ...],
        text: TextSettings,
    ) -> Predictor:
        """Put the network together with its words."""
        return Predictor(network, model, vocabulary, labels, text)

    @abstractmethod
    def loss(self, output: NetworkOutput, targets: Tensor) -> Tensor:
        """Return the loss of each example.

        Args:
            output: what the network returned for a batch of B.
            targets: the batch's targets.

        Returns:
            [B].
        """

    @abstractmethod
    def measure(self, predictor: Predictor, dataset: EncodedDataset) -> Report:
        """Compare a model's answers with gold.

        Args:
            predictor: the model.
            dataset: at least one example, with gold.

        Returns:
            The report.
        """
