"""How related two sentences are: a number from 1 to the last grade."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from heedful.data.encoding import EncodedDataset
from heedful.data.tokens import place
from heedful.errors import DataError
from heedful.evaluation import relatedness_metrics
from heedful.model.decisions import GradeDecision
from heedful.models import ModelConfig, Network, RelatednessNetwork, SentenceEncoder
from heedful.nn.heads import RelatednessHead
from heedful.nn.losses import relatedness_loss, relatedness_square_error
from heedful.nn.policy import with_policy
from heedful.structures import NetworkOutput
from heedful.tasks.prepared import Corpora
from heedful.tasks.sentences.limit_options import LimitOptions
from heedful.tasks.sentences.linear_targets import ClassTargets
from heedful.tasks.sentences.report_inputs import example_weights, gold_of
from heedful.tasks.sentences.score_task import ScoreTask
from heedful.tasks.sentences.sentence_model import ScoreModel
from heedful.tasks.sentences.used_settings import PAIRS
from heedful.tasks.tables import PAIR, TableRoles
from heedful.training.step import Objective

if TYPE_CHECKING:
    from heedful.run.run_config import RunConfig


class RelatednessModel(ScoreModel):
    """A network that grades how related two texts are; see `TextModel` for the arguments."""

    @property
    def decision(self) -> GradeDecision:
        """See `SentenceModel.decision`."""
        return GradeDecision(tuple(str(grade) for grade in range(1, self.model.outputs + 1)))


class RelatednessTask(ScoreTask[RelatednessModel]):
    """A number from 1 to ``model.outputs``, the last grade."""

    name, board_recipe = "relatedness", "disan-sick"
    model_type = RelatednessModel
    sides, table = 2, TableRoles(PAIR, "score")
    metrics = ("pearson", "spearman", "mse")
    settings = LimitOptions
    uses = (
        PAIRS | table.settings | {"distil", "model.outputs", "train.relatedness_loss", "model.task_options"}
    )
    options = table.options
    question = "how related two sentences are"
    usage = 'model.predict([("a first sentence", "a second sentence")])'
    hub_task = "sentence-similarity"

    def check_gold(self, corpora: Corpora, model: ModelConfig) -> None:
        """Refuse a score outside the grades; see `WordTask.check_gold`."""
        grades = model.outputs
        for corpus in corpora.values():
            for number, example in enumerate(corpus.examples, start=1):
                if isinstance(example.target, int | float) and not 1 <= example.target <= grades:
                    raise DataError(
                        f"{place(corpus.source, example.row or number)}: the score {example.target:g} is outside 1 to "
                        f"{grades}; bring scores onto a scale that begins at 1, and set model.outputs to its end; or "
                        "learn numbers of any range with the recipe my-pair-numbers (in Python "
                        'PairScorer(model__task="pair-number"))'
                    )

    def cache_settings(self, config: RunConfig) -> dict[str, object]:
        """See `WordTask.cache_settings`; the grades decide which scores are refused."""
        return {**super().cache_settings(config), "grades": config.model.outputs}

    def fitted(self, model: ModelConfig, labels: tuple[str, ...]) -> ModelConfig:
        """Return the settings as they are: the number of grades is the user's choice."""
        return model

    def head(self, config: ModelConfig, encoder: SentenceEncoder) -> Network:
        """See `SentenceTask.head`."""
        return RelatednessNetwork(
            encoder,
            RelatednessHead(
                encoder.width_out,
                config.hidden,
                config.outputs,
                activation=config.activation,
                dropout=config.dropout,
            ),
        )

    def objective(self, config: RunConfig, model: RelatednessModel) -> Objective:
        """Return the loss that ``train.relatedness_loss`` names; see `Task.objective`."""
        return _divergence if config.train.relatedness_loss == "kl" else _square_error

    def linear_targets(self, model: RelatednessModel, dataset: EncodedDataset) -> ClassTargets:
        """See `SentenceTask.linear_targets`: the two grades beside a score, each by its nearness (Tai et al., 2015)."""
        scores = gold_of(dataset).astype(np.float64)
        grades = np.arange(1, model.model.outputs + 1)
        shares = np.maximum(1 - np.abs(scores[:, None] - grades), 0.0)
        return ClassTargets(example_weights(dataset), shares)

    def figures(
        self,
        gold: NDArray[np.floating],
        predicted: NDArray[np.floating],
        weights: NDArray[np.floating] | None = None,
    ) -> dict[str, float]:
        """See `ScoreTask.figures`."""
        return relatedness_metrics(gold, predicted, weights)


def _divergence(output: NetworkOutput, targets: Tensor) -> Tensor:
    return with_policy(relatedness_loss(output.logits, targets), output.policies)


def _square_error(output: NetworkOutput, targets: Tensor) -> Tensor:
    return with_policy(relatedness_square_error(output.logits, targets), output.policies)
