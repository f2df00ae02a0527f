"""Several label columns for a text, each with one class: its topic, its mood and its language at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.data.encoding import EncodedDataset
from heedful.data.examples import Corpus, LabelSet
from heedful.errors import DataError
from heedful.evaluation import Report
from heedful.evaluation.column_report import column_metrics, evaluate_label_columns
from heedful.model.answers import LabelsAnswer
from heedful.model.decisions import LabelColumnsDecision
from heedful.model.decisions.label_columns import column_places
from heedful.models import ModelConfig, Network, SentenceEncoder, TextNetwork, classifier_head
from heedful.nn.policy import with_policy
from heedful.structures import NetworkOutput
from heedful.tasks.labels import LabelSetsTask
from heedful.tasks.sentences.limit_options import LimitOptions
from heedful.tasks.sentences.linear_targets import ColumnTargets
from heedful.tasks.sentences.report_inputs import example_weights, gold_of, group_of_each, notes_of, unseen_of
from heedful.tasks.sentences.sentence_model import SentenceModel
from heedful.tasks.sentences.used_settings import SENTENCES
from heedful.tasks.tables import TEXT, TableRoles
from heedful.training.step import Objective

if TYPE_CHECKING:
    from heedful.run.run_config import RunConfig


class LabelColumnsModel(SentenceModel[LabelsAnswer]):
    """A network that gives each of several label columns its class; see `TextModel` for the arguments."""

    network: TextNetwork

    @property
    def decision(self) -> LabelColumnsDecision:
        """See `SentenceModel.decision`."""
        return LabelColumnsDecision(self.labels)

    def chosen(self, logits: NDArray[np.float32]) -> NDArray[np.bool_]:
        """Return which classes are answered, one of each column, [N, Y], for logits [N, Y]."""
        return self.decision.chosen(logits)


class LabelColumnsTask(LabelSetsTask[LabelColumnsModel]):
    """Several label columns for a text: one encoder, and a softmax for each column."""

    name = "label-columns"
    model_type = LabelColumnsModel
    settings = LimitOptions
    table = TableRoles(TEXT, "label", label_columns=True)
    metrics = ("micro_f1", "macro_f1", "subset_accuracy")
    kept = "counts"
    uses = SENTENCES | table.settings | {"model.highway", "model.final_bias", "model.task_options"}
    options = table.options
    question, usage = "the class of several label columns", 'model.predict(["a text"])'

    def collect_labels(self, corpus: Corpus) -> tuple[str, ...]:
        """See `Task.collect_labels`; columns in the order of the settings, the classes of each in alphabetical order.

        Args:
            corpus: the training part.

        Returns:
            The names of all classes, those of a column beside each other.

        Raises:
            DataError: if a column has fewer than two classes.
        """
        names = super().collect_labels(corpus)
        sets = [each.target.names for each in corpus.examples if isinstance(each.target, LabelSet)]
        order = column_places((*max(sets, key=len), *names))  # a row with the most columns has them in order
        places = {column: column_places(names)[column] for column in order}
        for column, own in places.items():
            if len(own) < 2:
                raise DataError(
                    f"{corpus.source or 'training data'}: expected two classes or more in label column "
                    f"{column!r}, got {names[own[0]]!r:.80} alone; leave this column out"
                )
        return tuple(names[place] for own in places.values() for place in own.tolist())

    def head(self, config: ModelConfig, encoder: SentenceEncoder) -> Network:
        """See `SentenceTask.head`: the heads of all columns are one layer, whose outputs are theirs side by side."""
        return TextNetwork(encoder, classifier_head(config, encoder.width_out))

    def objective(self, config: RunConfig, model: LabelColumnsModel) -> Objective:
        """See `Task.objective`: the cross-entropy of each column that an example has, averaged over all columns."""
        return partial(_loss, places=[torch.from_numpy(own) for own in column_places(model.labels).values()])

    def linear_targets(self, model: LabelColumnsModel, dataset: EncodedDataset) -> ColumnTargets:
        """See `SentenceTask.linear_targets`."""
        flags = np.greater(gold_of(dataset), 0).astype(np.float64)
        return ColumnTargets(example_weights(dataset), flags, tuple(column_places(model.labels).values()))

    def judged(
        self, model: LabelColumnsModel, rows: NDArray[np.float32], dev: EncodedDataset
    ) -> dict[str, float]:
        """See `SentenceTask.judged`."""
        gold = np.greater(gold_of(dev), 0)
        return column_metrics(gold, model.chosen(rows), column_places(model.labels), dev.weights)

    def report_of(
        self, model: LabelColumnsModel, dataset: EncodedDataset, rows: NDArray[np.float32], seconds: float
    ) -> Report:
        """See `SentenceTask.report_of`."""
        labels, gold = dataset.labels or model.labels, np.greater(gold_of(dataset), 0)
        bare = {
            f"rows without a class of {column}": len(gold) - int(gold[:, own].any(axis=1).sum())
            for column, own in column_places(labels).items()
        }
        report = evaluate_label_columns(
            gold,
            np.pad(model.chosen(rows), ((0, 0), (0, len(labels) - len(model.labels)))),
            labels,
            column_places(labels),
            groups=group_of_each(dataset),
            lengths=dataset.lengths(),
        )
        notes: Mapping[str, int] = {
            **notes_of(dataset, model.knows),
            **unseen_of(dataset, len(model.labels)),
            **{note: count for note, count in bare.items() if count},
        }
        return replace(report, seconds=seconds, notes=dict(notes))


def _loss(output: NetworkOutput, targets: Tensor, *, places: list[Tensor]) -> Tensor:
    logits = output.logits.float()
    total = torch.zeros(len(logits), device=logits.device)
    for own in places:
        own = own.to(logits.device)
        total = total - (targets[:, own] * torch.log_softmax(logits[:, own], dim=1)).sum(dim=1)
    return with_policy(total / len(places), output.policies)
