"""Several labels for a text, or none: topics, tags of a ticket, emotions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from heedful.data.encoding import EncodedDataset
from heedful.data.examples import Corpus, LabelSet
from heedful.data.gold import Targets, has_gold, with_unseen
from heedful.data.tokens import TokenizedCorpus, place
from heedful.errors import DataError
from heedful.evaluation import Report
from heedful.evaluation.label_sets import evaluate_label_sets, label_metrics
from heedful.export.describe import answer_steps, classifier_steps
from heedful.export.recording import Recording
from heedful.model.answers import LabelsAnswer
from heedful.model.decisions import LabelsDecision
from heedful.models import ModelConfig, Network, SentenceEncoder, VectorNetwork, classifier_head
from heedful.nn.heads import ClassifierHead
from heedful.nn.policy import with_policy
from heedful.settings import at_least, ranged
from heedful.structures import NetworkOutput
from heedful.tasks.sentences.cross_validation import OutOfFold
from heedful.tasks.sentences.limit_options import LimitOptions
from heedful.tasks.sentences.linear_targets import FlagTargets
from heedful.tasks.sentences.part_rows import TaughtRows
from heedful.tasks.sentences.report_inputs import example_weights, gold_of, group_of_each, notes_of, unseen_of
from heedful.tasks.sentences.sentence_model import SentenceModel
from heedful.tasks.sentences.sentence_task import SentenceTask
from heedful.tasks.sentences.used_settings import SENTENCES
from heedful.tasks.tables import TEXT, TableRoles
from heedful.training.run_state import MEAN_COST
from heedful.training.step import Objective

if TYPE_CHECKING:
    from heedful.run.run_config import RunConfig

OfSets = TypeVar("OfSets", bound=SentenceModel[LabelsAnswer])


class LabelSetsTask(SentenceTask[OfSets, LabelsAnswer]):
    """Base of the tasks whose gold is a set of labels."""

    def collect_labels(self, corpus: Corpus) -> tuple[str, ...]:
        """See `Task.collect_labels`; in alphabetical order."""
        found = {name for e in corpus.examples if isinstance(e.target, LabelSet) for name in e.target.names}
        if not found:
            raise DataError(
                f"{corpus.source or 'training data'}: no example has a label. Check the label column."
            )
        return tuple(sorted(found))

    def targets(self, corpus: TokenizedCorpus, labels: tuple[str, ...]) -> Targets:
        """See `SentenceTask.targets`: 1 at the labels of an example, 0 elsewhere, [N, Y] float32.

        Labels that only this corpus has get columns behind the others.
        """
        for row, target in enumerate(corpus.targets):
            if target is not None and not isinstance(target, LabelSet):
                where = place(corpus.source, int(corpus.rows[row]))
                raise DataError(f"{where}: expected a set of labels, got {target!r:.80}")
        found = [target.names if isinstance(target, LabelSet) else () for target in corpus.targets]
        every = with_unseen(found, labels, corpus)
        number = {label: n for n, label in enumerate(every)}
        flags = np.zeros((len(corpus), len(every)), np.float32)
        for row, names in enumerate(found):
            flags[row, [number[name] for name in names]] = 1
        return Targets(flags, has_gold(corpus), every)


HALF = 0.5
"""The threshold of a label where none was fitted."""
_FEW = 3
"""Examples with a label from which on it has a threshold of its own: that of one or two is chance."""


@dataclass(frozen=True)
class LabelsOptions(LimitOptions):
    """Settings of the task itself, ``[model.task_options]``.

    Attributes:
        thresholds: the probability from which a label is predicted. "each" fits one threshold for each label on the dev
            split, and one for all labels together that one or two examples there have; "one" fits one for all labels,
            both for the highest F1; "cost" fits one for each label for the lowest costs; "half" is 0.5 for all.
        false_positive: cost of predicting a wrong label, with "cost".
        false_negative: cost of not predicting a right label, with "cost".
    """

    thresholds: Literal["each", "one", "cost", "half"] = "each"
    false_positive: float = ranged(1.0, at_least(0))
    false_negative: float = ranged(1.0, at_least(0))


class LabelsNetwork(VectorNetwork):
    """Score every label of a text by itself.

    Args:
        sentence_encoder: text to vector.
        head: vector to logits.
        outputs: labels Y.

    Attributes:
        sides: one.
        thresholds: the probability from which each label is answered, [Y].
    """

    sides = 1
    thresholds: Tensor

    def __init__(self, sentence_encoder: SentenceEncoder, head: ClassifierHead, outputs: int) -> None:
        super().__init__(sentence_encoder)
        self.head = head
        self.register_buffer("thresholds", torch.full((outputs,), HALF))

    def score(self, vectors: tuple[Tensor, ...]) -> Tensor:
        """See `VectorNetwork.score`."""
        return self.head(vectors[0])


@answer_steps.register
def _(network: LabelsNetwork, record: Recording, vectors: list[str]) -> str:
    return classifier_steps(network.head, record, vectors[0])


class LabelsModel(SentenceModel[LabelsAnswer]):
    """A network that gives a text several labels, or none; see `TextModel` for the arguments."""

    network: LabelsNetwork

    @property
    def decision(self) -> LabelsDecision:
        """See `SentenceModel.decision`."""
        return LabelsDecision(self.labels, self.network.thresholds.double().cpu().numpy())

    def chosen(self, logits: NDArray[np.float32]) -> NDArray[np.bool_]:
        """Return which labels are answered, [N, Y], for logits [N, Y]."""
        return self.decision.chosen(logits)


class LabelsTask(LabelSetsTask[LabelsModel]):
    """Several labels for a text, or none."""

    name = "labels"
    model_type = LabelsModel
    settings = LabelsOptions
    table = TableRoles(TEXT, "label", separator=",")
    metrics = ("micro_f1", "macro_f1", "subset_accuracy", "lrap")
    kept = "counts"
    uses = SENTENCES | table.settings | {"distil", "model.highway", "model.final_bias", "model.task_options"}
    options = table.options
    question, usage = "any number of labels for a text", 'model.predict(["a text"])'

    def head(self, config: ModelConfig, encoder: SentenceEncoder) -> Network:
        """See `SentenceTask.head`."""
        return LabelsNetwork(encoder, classifier_head(config, encoder.width_out), config.outputs)

    def objective(self, config: RunConfig, model: LabelsModel) -> Objective:
        """See `Task.objective`: the binary cross-entropy, averaged over the labels."""
        return _loss

    def linear_targets(self, model: LabelsModel, dataset: EncodedDataset) -> FlagTargets:
        """See `SentenceTask.linear_targets`."""
        return FlagTargets(example_weights(dataset), np.greater(gold_of(dataset), 0).astype(np.float64))

    def lessons(self, model: LabelsModel, rest: EncodedDataset) -> TaughtRows:
        """See `SentenceTask.lessons`: the teacher's probability of each label."""
        return TaughtRows(rest, FlagTargets(example_weights(rest), gold_of(rest).astype(np.float64)))

    def calibrate(self, model: LabelsModel, datasets: Mapping[str, EncodedDataset]) -> None:
        """Let the parts join, and fit the thresholds on the examples that choose; see `Task.calibrate`."""
        rows = None if model.joining is None else self.joined(model, datasets).logits.astype(np.float32)
        super().calibrate(model, datasets)
        dev = self.choosing(datasets)
        rows = model.run(dev)[0] if rows is None else rows[-len(dev) :]
        thresholds = self.thresholds(model, rows, dev)
        model.network.thresholds.copy_(torch.from_numpy(thresholds))

    def nested(self, model: LabelsModel, found: OutOfFold, training: EncodedDataset) -> NDArray[np.float32]:
        """See `SentenceTask.nested`: logits over those of the thresholds that are chosen without an example."""
        rows, choices = found.nested()
        joined = found.joining().join(None).logits.astype(np.float32)
        final = self.thresholds(model, joined, training)
        for inside, choice in choices:
            outside = np.setdiff1d(np.arange(len(training)), inside)
            own = self.thresholds(model, choice.logits.astype(np.float32), training.select(outside))
            rows[inside] += _logit(final) - _logit(own)
        return rows.astype(np.float32)

    def judged(self, model: LabelsModel, rows: NDArray[np.float32], dev: EncodedDataset) -> dict[str, float]:
        """See `SentenceTask.judged`; the thresholds are those that `calibrate` would fit."""
        return self._figures(model, rows, model.probabilities(rows) >= self.thresholds(model, rows, dev), dev)

    def answered(
        self, model: LabelsModel, rows: NDArray[np.float32], dev: EncodedDataset
    ) -> dict[str, float]:
        """See `SentenceTask.answered`."""
        return self._figures(model, rows, model.chosen(rows), dev)

    def _figures(
        self,
        model: LabelsModel,
        rows: NDArray[np.float32],
        answered: NDArray[np.bool_],
        dev: EncodedDataset,
    ) -> dict[str, float]:
        gold = np.greater(gold_of(dev), 0)
        found = label_metrics(gold, answered, rows, dev.weights)
        return {**found, **_cost(model, gold, answered, example_weights(dev))}

    def thresholds(
        self, model: LabelsModel, rows: NDArray[np.float32], dev: EncodedDataset
    ) -> NDArray[np.float64]:
        """Find the probability from which each label is answered, [Y], as the settings say.

        Args:
            model: the model.
            rows: its logits for the dev split, [N, Y].
            dev: the dev split, whose examples count by their weights.

        Returns:
            The thresholds.
        """
        options = LabelsOptions(**model.model.task_options)
        probabilities, gold = model.probabilities(rows), np.greater(gold_of(dev), 0)
        outputs, weights = gold.shape[1], example_weights(dev)
        if options.thresholds == "half":
            return np.full(outputs, HALF)
        if options.thresholds == "one":
            every = np.repeat(weights, outputs)
            return np.full(outputs, best_threshold(probabilities.ravel(), gold.ravel(), every))
        if options.thresholds == "cost":
            costs = (options.false_positive, options.false_negative)
            columns = zip(probabilities.T, gold.T, strict=True)
            return np.array([cheapest_threshold(p, g, *costs, weights) for p, g in columns])
        return best_thresholds(probabilities, gold, weights)

    def report_of(
        self, model: LabelsModel, dataset: EncodedDataset, rows: NDArray[np.float32], seconds: float
    ) -> Report:
        """See `SentenceTask.report_of`."""
        unseen = ((0, 0), (0, len(dataset.labels or model.labels) - len(model.labels)))
        report = evaluate_label_sets(
            np.greater(gold_of(dataset), 0),
            np.pad(model.chosen(rows), unseen),
            np.pad(rows, unseen, constant_values=float(rows.min()) - 1),
            dataset.labels or model.labels,
            groups=group_of_each(dataset),
            lengths=dataset.lengths(),
        )
        known = np.greater(gold_of(dataset), 0)[:, : len(model.labels)]
        return replace(
            report,
            metrics={**report.metrics, **_cost(model, known, model.chosen(rows))},
            seconds=seconds,
            notes={**notes_of(dataset, model.knows), **unseen_of(dataset, len(model.labels))},
        )


def _cost(
    model: LabelsModel,
    gold: NDArray[np.bool_],
    answered: NDArray[np.bool_],
    weights: NDArray[np.float64] | None = None,
) -> dict[str, float]:
    """Return the mean cost of an example by its name, where the thresholds are those of lowest cost."""
    options = LabelsOptions(**model.model.task_options)
    if options.thresholds != "cost":
        return {}
    wrong, missed = (answered & ~gold).sum(axis=1), (~answered & gold).sum(axis=1)
    costs = options.false_positive * wrong + options.false_negative * missed
    return {MEAN_COST: float(np.average(costs, weights=weights))}


def _logit(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    clipped = np.clip(probabilities, 1e-9, 1 - 1e-9)
    found: NDArray[np.float64] = np.log(clipped) - np.log1p(-clipped)
    return found


def _counted(
    probabilities: NDArray[np.float64], gold: NDArray[np.bool_], weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
    """Leave out what does not count, so that no threshold lies beside it; return the weights of the others too."""
    if weights is None:
        return probabilities, gold, np.ones(len(gold))
    some = weights > 0
    return probabilities[some], gold[some], weights[some]


def best_threshold(
    probabilities: NDArray[np.float64], gold: NDArray[np.bool_], weights: NDArray[np.float64] | None = None
) -> float:
    """Return the threshold with the highest F1, midway between two probabilities.

    The best threshold of probabilities that are right is half of the highest F1, and answering always reaches an F1 of
    2p / (1 + p), where p is the share of the rows with this label. So it is at least p / (1 + p). Thresholds below half
    of that are not considered: they would answer a rare label that nothing predicts nearly everywhere.

    Args:
        probabilities: [N].
        gold: which are right, [N].
        weights: how much each counts, [N]; None for all alike.

    Returns:
        The threshold; `HALF` where nothing is right or none is considered. Of equally good ones the highest, which
        answers fewest.
    """
    probabilities, gold, weights = _counted(probabilities, gold, weights)
    if not weights[gold].any():
        return HALF
    order = np.argsort(-probabilities, kind="stable")
    ranked = probabilities[order]
    right, answered = np.cumsum(gold[order] * weights[order]), np.cumsum(weights[order])
    f1 = 2 * right / np.maximum(answered + right[-1], 1e-12)
    between = (ranked + np.append(ranked[1:], 0.0)) / 2
    together = np.append(ranked[1:] < ranked[:-1], True)  # equal probabilities are answered together
    share = right[-1] / answered[-1]
    considered = np.flatnonzero(together & (between >= share / (1 + share) / 2))
    return float(between[considered[f1[considered].argmax()]]) if len(considered) else HALF


def best_thresholds(
    probabilities: NDArray[np.float64], gold: NDArray[np.bool_], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the threshold of each label with the highest F1, see `best_threshold`.

    Labels that one or two examples have share the one with which all of these together have the highest F1.

    Args:
        probabilities: [N, Y].
        gold: which are right, [N, Y].
        weights: how much each example counts, [N].

    Returns:
        The thresholds, [Y].
    """
    found = np.array([best_threshold(p, g, weights) for p, g in zip(probabilities.T, gold.T, strict=True)])
    examples = (gold & (weights > 0)[:, None]).sum(axis=0)
    rare = (examples > 0) & (examples < _FEW)
    if rare.any():
        every = np.repeat(weights, rare.sum())
        found[rare] = best_threshold(probabilities[:, rare].ravel(), gold[:, rare].ravel(), every)
    return found


def cheapest_threshold(
    probabilities: NDArray[np.float64],
    gold: NDArray[np.bool_],
    false_positive: float,
    false_negative: float,
    weights: NDArray[np.float64] | None = None,
) -> float:
    """Return the threshold with the lowest cost, midway between two probabilities.

    Args:
        probabilities: [N].
        gold: which are right, [N].
        false_positive: cost of each answer that is wrong.
        false_negative: cost of each right one that is not answered.
        weights: how much each counts, [N]; None for all alike.

    Returns:
        The threshold; where it is cheapest to answer nothing, one above 1. Of equally cheap ones the highest.
    """
    probabilities, gold, weights = _counted(probabilities, gold, weights)
    order = np.argsort(-probabilities, kind="stable")
    ranked = probabilities[order]
    wrong, right = (
        np.concatenate([[0], np.cumsum(flags * weights[order])]) for flags in (~gold[order], gold[order])
    )
    costs = false_positive * wrong + false_negative * (right[-1] - right)
    ends = np.concatenate([[2.0], ranked, [-1.0]])
    last = ends[1:] < ends[:-1]  # equal probabilities are answered together
    best = int(np.flatnonzero(last)[costs[last].argmin()])
    return float((ends[best] + ends[best + 1]) / 2)


def _loss(output: NetworkOutput, targets: Tensor) -> Tensor:
    losses = functional.binary_cross_entropy_with_logits(output.logits.float(), targets, reduction="none")
    return with_policy(losses.mean(dim=1), output.policies)
