"""Any number for a text or a pair: a price, a year, a reading time, a similarity on any scale."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.data.encoding import EncodedDataset
from heedful.data.gold import spread_of_most
from heedful.errors import DataError, UsageError
from heedful.evaluation.metrics import number_metrics
from heedful.export.describe import answer_steps, classifier_steps, match_steps
from heedful.export.recording import Recording
from heedful.model.decisions import NumberDecision
from heedful.models import NETWORKS, ModelConfig, Network, SentenceEncoder, VectorNetwork, classifier_head
from heedful.nn import Embedding
from heedful.nn.heads import ClassifierHead, Matching, match_features, matched
from heedful.nn.policy import with_policy
from heedful.storage.manifest import LARGEST
from heedful.structures import NetworkOutput
from heedful.tasks.prepared import Corpora, Prepared
from heedful.tasks.sentences.limit_options import LimitOptions
from heedful.tasks.sentences.linear_targets import NumberTargets
from heedful.tasks.sentences.report_inputs import example_weights, gold_of
from heedful.tasks.sentences.score_task import ScoreTask
from heedful.tasks.sentences.sentence_model import ScoreModel
from heedful.tasks.sentences.used_settings import PAIRS, SENTENCES
from heedful.tasks.tables import PAIR, TEXT, TableRoles
from heedful.tasks.words.lexicon import Lexicon
from heedful.training.step import Objective

if TYPE_CHECKING:
    from heedful.run.run_config import RunConfig


_DIGITS = 30
"""Training numbers must spread over so many steps of single precision at least, or differences are rounded off."""


@dataclass(frozen=True)
class NumberOptions(LimitOptions):
    """Settings of the task itself, ``[model.task_options]``.

    Attributes:
        loss: training loss of the error: "square", of the error in standard deviations of the training numbers; or
            "huber", which grows only linearly beyond one unit, so that a few gross errors in the data count less. Its
            unit is that of most numbers: 1.48 times the median distance from their median, if that is above 0.
    """

    loss: Literal["square", "huber"] = "square"


class NumberNetwork(VectorNetwork):
    """Give a number for a text or a pair.

    The head answers in units from the center of the training numbers, which are their standard deviation and mean, with
    ``loss = "huber"`` those of most numbers; the network gives numbers on their own scale.

    Args:
        sentence_encoder: a text to one vector.
        head: features to one number.
        sides: texts of an example, 1 or 2.
        matching: how two vectors become features.

    Attributes:
        scale: center, unit, least and greatest of the training numbers, [4].
    """

    scale: Tensor

    def __init__(
        self, sentence_encoder: SentenceEncoder, head: ClassifierHead, sides: int, matching: Matching
    ) -> None:
        super().__init__(sentence_encoder)
        self.head, self.sides = head, sides
        self.matching: Matching = matching
        self.register_buffer("scale", torch.tensor([0.0, 1.0, 0.0, 0.0]))

    def score(self, vectors: tuple[Tensor, ...]) -> Tensor:
        """Return one number an example, [B, 1]; see `VectorNetwork.score`."""
        features = match_features(*vectors, matching=self.matching) if self.sides == 2 else vectors[0]
        standardized: Tensor = self.head(features)
        return standardized * self.scale[1] + self.scale[0]


@answer_steps.register
def _(network: NumberNetwork, record: Recording, vectors: list[str]) -> str:
    features = match_steps(network.matching, record, vectors) if network.sides == 2 else vectors[0]
    standardized = classifier_steps(network.head, record, features)
    return record.step("rescale", standardized, weights={"scale": network.scale})


class NumberModel(ScoreModel):
    """A network that gives a number for a text or a pair; see `TextModel` for the arguments."""

    network: NumberNetwork

    @property
    def decision(self) -> NumberDecision:
        """See `SentenceModel.decision`."""
        least, greatest = self.network.scale[2:].float().tolist()
        return NumberDecision(least=least, greatest=greatest)


class _NumberTask(ScoreTask[NumberModel]):
    """Base of the two tasks that give a number."""

    model_type = NumberModel
    settings = NumberOptions
    metrics = ("r2", "pearson", "spearman", "mse", "mae")

    def fitted(self, model: ModelConfig, labels: tuple[str, ...]) -> ModelConfig:
        """See `WordTask.fitted`: one number."""
        return replace(model, outputs=1)

    def check_gold(self, corpora: Corpora, model: ModelConfig) -> None:
        """See `Task.check_gold`: numbers that single precision cannot tell apart lose their digits, and are refused."""
        train = corpora["train"]
        numbers = np.array(
            [e.target for e in train.examples if isinstance(e.target, int | float)], np.float64
        )
        largest = np.abs(numbers).max(initial=0.0)
        if 0 < largest < 1 / LARGEST:
            raise DataError(
                f"{train.source or 'training data'}: the largest number, {largest:.10g}, is too small for single "
                "precision. Multiply all of them first"
            )
        if largest > LARGEST:
            raise DataError(
                f"{train.source or 'training data'}: the largest number, {largest:.10g}, is too large for single "
                f"precision. Divide all of them first, so that none is above {LARGEST:g}"
            )
        if 0 < numbers.std() < _DIGITS * float(np.spacing(np.float32(largest))):
            low, high = numbers.min(), numbers.max()
            raise DataError(
                f"{train.source or 'training data'}: the numbers from {low:.10g} to {high:.10g} are too close together "
                f"for single precision. Subtract a number such as {low:.10g} from all of them first"
            )

    def network(self, config: ModelConfig, embedding: Embedding) -> Network:
        """See `WordTask.network`."""
        if config.encoder in NETWORKS:
            raise UsageError(
                f"model.encoder={config.encoder!r} gives no number; choose an encoder of single texts, such as disan"
            )
        return super().network(config, embedding)

    def head(self, config: ModelConfig, encoder: SentenceEncoder) -> Network:
        """See `SentenceTask.head`."""
        width = encoder.width_out
        head = classifier_head(config, matched(config.matching, width) if self.sides == 2 else width)
        return NumberNetwork(encoder, head, self.sides, config.matching)

    def untrained(self, config: RunConfig, prepared: Prepared[EncodedDataset, Lexicon]) -> NumberModel:
        """See `Task.untrained`; the training numbers decide the scale."""
        numbers = gold_of(prepared.datasets["train"]).astype(np.float64)
        center, unit = numbers.mean(), numbers.std()
        if self.own(config.model).loss == "huber" and (usual := spread_of_most(numbers)):
            center, unit = np.median(numbers), usual
        facts = [center, unit, numbers.min(), numbers.max()]
        model = super().untrained(config, prepared)
        model.network.scale.copy_(torch.tensor(facts))
        return model

    def objective(self, config: RunConfig, model: NumberModel) -> Objective:
        """See `Task.objective`: the loss that ``model.task_options.loss`` names."""
        return partial(_loss, network=model.network, huber=self.own(config.model).loss == "huber")

    def own(self, model: ModelConfig) -> NumberOptions:
        """Return the settings of the task's own."""
        return NumberOptions(**model.task_options)

    def linear_targets(self, model: NumberModel, dataset: EncodedDataset) -> NumberTargets:
        """See `SentenceTask.linear_targets`: in units of the training numbers from their center."""
        mean, deviation = model.network.scale[:2].double().tolist()
        numbers = (gold_of(dataset).astype(np.float64) - mean) / deviation
        return NumberTargets(example_weights(dataset), numbers, self.own(model.model).loss == "huber")

    def network_logits(self, model: NumberModel, rows: NDArray[np.float32]) -> NDArray[np.floating]:
        """See `SentenceTask.network_logits`."""
        mean, deviation = model.network.scale[:2].double().tolist()
        return (rows.astype(np.float64) - mean) / deviation

    def take_weight(self, model: NumberModel, weight: float) -> float:
        """See `SentenceTask.take_weight`; the parts give standard deviations, and the model numbers."""
        deviation = float(model.network.scale[1])
        model.network.scale[1] *= weight
        return deviation

    def delivered(self, model: NumberModel, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """See `SentenceTask.delivered`."""
        mean, deviation = model.network.scale[:2].tolist()
        return rows * deviation + mean

    def judged(self, model: NumberModel, rows: NDArray[np.float32], dev: EncodedDataset) -> dict[str, float]:
        """See `SentenceTask.judged`."""
        if model.joining is not None:
            rows = self.delivered(model, rows)
        return super().judged(model, rows, dev)

    def figures(
        self,
        gold: NDArray[np.floating],
        predicted: NDArray[np.floating],
        weights: NDArray[np.floating] | None = None,
    ) -> dict[str, float]:
        """See `ScoreTask.figures`."""
        return number_metrics(gold, predicted, weights)


def _loss(output: NetworkOutput, targets: Tensor, *, network: NumberNetwork, huber: bool) -> Tensor:
    off = (output.logits[:, 0] - targets) / network.scale[1]
    losses = torch.where(off.abs() < 1, off.square(), 2 * off.abs() - 1) if huber else off.square()
    return with_policy(losses, output.policies)


class NumberTask(_NumberTask):
    """A number for a text."""

    name = "number"
    table = TableRoles(TEXT, "score")
    uses = SENTENCES | table.settings | {"distil", "model.highway", "model.final_bias", "model.task_options"}
    options = table.options
    question, usage = "a number for a text", 'model.predict(["a text"])'


class PairNumberTask(_NumberTask):
    """A number for a pair."""

    name = "pair-number"
    sides, table = 2, TableRoles(PAIR, "score")
    uses = (
        PAIRS
        | table.settings
        | {"distil", "model.highway", "model.final_bias", "model.matching", "model.task_options"}
    )
    options = table.options
    question = "a number for a pair of texts"
    usage = 'model.predict([("a first sentence", "a second sentence")])'
