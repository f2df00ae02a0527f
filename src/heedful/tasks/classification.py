"""The class of a text or of a pair."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from heedful.data.encoding import EncodedDataset
from heedful.data.examples import Corpus
from heedful.data.gold import Targets, class_targets, collect_labels
from heedful.data.tokens import TokenizedCorpus
from heedful.errors import UsageError
from heedful.evaluation import Report, calibration, classification_metrics, evaluate_classes, fit_temperature
from heedful.evaluation.calibration import CalibrationSums, calibration_sums
from heedful.evaluation.streaming_reports import ExampleKind, count_cells, evaluate_cells
from heedful.model.answers import Answer
from heedful.model.decisions import ClassDecision
from heedful.model.decisions.decision import finite
from heedful.models import ModelConfig, Network, PairNetwork, SentenceEncoder, TextNetwork, classifier_head
from heedful.nn.heads import matched
from heedful.tasks.class_costs import (
    OF_MOST_PROBABLE,
    ClassOptions,
    confused,
    cost_matrix,
    figures,
    refuse_reject_class,
    with_costs,
)
from heedful.tasks.class_loss import LOSS, distilled_loss, loss_of_classes, weights_of_classes
from heedful.tasks.prepared import Files, Prepared
from heedful.tasks.sentences.class_means import means_join
from heedful.tasks.sentences.contrast import Partnered, check_head, contrast, fit_linear_head
from heedful.tasks.sentences.fitting_reject import rejecting
from heedful.tasks.sentences.linear_targets import ClassTargets
from heedful.tasks.sentences.part_rows import TaughtRows, sentence_rows
from heedful.tasks.sentences.previous_choice import ChosenSettings
from heedful.tasks.sentences.previous_network import take_weights
from heedful.tasks.sentences.previous_part import LearnedBefore
from heedful.tasks.sentences.report_inputs import example_weights, gold_of, group_of_each, notes_of, unseen_of
from heedful.tasks.sentences.sentence_model import SentenceModel
from heedful.tasks.sentences.sentence_task import SentenceTask
from heedful.tasks.sentences.used_settings import PAIRS, SENTENCES
from heedful.tasks.tables import PAIR, TEXT, TableRoles
from heedful.tasks.words.lexicon import Lexicon
from heedful.training.run_state import MEAN_COST
from heedful.training.step import Objective, TrainingData

if TYPE_CHECKING:
    from heedful.run.run_config import DataConfig, DistilConfig, RunConfig


class Predictor(SentenceModel[Answer]):
    """A network that answers a text or a pair with a class; see `TextModel` for the arguments.

    Attributes:
        class_weights: how much the examples of each class count in training, [Y]; None for all alike, and for a model
            that was loaded: weights are not kept with a model.
    """

    class_weights: Tensor | None = None

    @property
    def decision(self) -> ClassDecision:
        """See `SentenceModel.decision`."""
        costs = np.array(self.about.costs) if self.about.costs else None
        return ClassDecision(self.labels, self.about.temperature, costs, self.about.reject)

    def chosen(self, probabilities: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the number of the class that is answered, [N], for probabilities [N, Y]."""
        return self.decision.chosen(probabilities)


class ClassTask(SentenceTask[Predictor, Answer]):
    """Base of the two tasks that choose a class."""

    model_type = Predictor
    settings = ClassOptions
    metrics = ("accuracy", "macro_f1")

    def collect_labels(self, corpus: Corpus) -> tuple[str, ...]:
        """See `Task.collect_labels`; in alphabetical order."""
        return collect_labels(corpus.examples, corpus.source)

    def files(self, names: Mapping[str, str], data: DataConfig, root: Path | None) -> Files:
        """See `Task.files`; beside the classes of a model that learns on a class may come alone."""
        if not data.learn_from:
            return super().files(names, data, root)
        return self.table.files(
            names, data, root, lambda corpus: collect_labels(corpus.examples, corpus.source, 1)
        )

    def targets(self, corpus: TokenizedCorpus, labels: tuple[str, ...]) -> Targets:
        """See `SentenceTask.targets`."""
        return class_targets(corpus, labels)

    def untrained(self, config: RunConfig, prepared: Prepared[EncodedDataset, Lexicon]) -> Predictor:
        """See `Task.untrained`; the model knows what the examples of each class count in training."""
        model = super().untrained(config, prepared)
        dataset = prepared.datasets["train"]
        gold = gold_of(dataset).astype(np.int64)
        model.class_weights = weights_of_classes(config.train, gold, prepared.labels, dataset.weights)
        refuse_reject_class(ClassOptions(**model.model.task_options), model.labels)
        if (before := prepared.before) is not None and before.recalls:
            assert isinstance(before.model, Predictor)  # models of classes alone learn on
            sums = before.model.about.sums is not None and config.data.keep_sums
            take_weights(model, before.model, before.name, sums=sums)
        if before is not None and before.whole:
            rows, times = len(prepared.datasets["train"]), config.data.choose_again
            settings = ChosenSettings.read(before.model.about.metrics)
            if settings is not None and settings.stands(rows, model.model.outputs, times):
                model.held_to = settings
        if before is not None and not before.whole:
            again = min(len(before.examples), len(gold))
            about, old, now = before.model.about, before.model.labels, prepared.labels
            parts = LearnedBefore.of(about, old, now, again, before.each)
            model.before = replace(parts, judging=len(before.judging), judging_each=before.judging_each)
            if about.sums is not None and config.data.keep_sums:
                columns = np.array([now.index(label) for label in old], np.int64)
                model.sums = about.sums.with_classes(columns, len(now))
        cost_matrix(_costs(model), model.labels)  # a name that is wrong is reported before training
        return model

    def objective(self, config: RunConfig, model: Predictor) -> Objective:
        """See `Task.objective`: the cross-entropy, smoothed and weighted as ``train`` says.

        With a teacher the targets are those of `Prepared.transfer`, and the loss that of
        `heedful.run.run_config.DistilConfig`.
        """
        smoothing, weights = config.train.label_smoothing, model.class_weights
        if model.recalled is not None:
            return partial(model.recalled.loss, smoothing=smoothing, weights=weights)
        if config.distil.teacher:
            return partial(distilled_loss, smoothing=smoothing, weights=weights, distil=config.distil)
        return partial(loss_of_classes, smoothing=smoothing, weights=weights)

    def drawn(
        self, config: RunConfig, model: Predictor, dataset: EncodedDataset, data: TrainingData
    ) -> TrainingData:
        """See `Task.drawn`: where a network learns on, with what the model before answers to the examples."""
        return data if model.recalled is None else model.recalled.beside(data)

    def taught_targets(
        self,
        gold: NDArray[np.floating],
        taught: NDArray[np.float32],
        vectors: NDArray[np.float32],
        distil: DistilConfig,
    ) -> NDArray[np.float32]:
        """See `SentenceTask.taught_targets` and `Prepared.transfer`: number of the class, probabilities, vectors."""
        numbers = np.full((len(taught), 1), -1, np.float32)
        numbers[: len(gold), 0] = gold
        return np.concatenate([numbers, taught, vectors], axis=1)

    def linear_targets(self, model: Predictor, dataset: EncodedDataset) -> ClassTargets:
        """See `SentenceTask.linear_targets`: an example counts by its own weight and by that of its class."""
        classes, weights = _classes_and_weights(model, dataset)
        return ClassTargets.of_classes(classes, model.model.outputs, weights)

    def lessons(self, model: Predictor, rest: EncodedDataset) -> TaughtRows | None:
        """See `SentenceTask.lessons`: the teacher's probabilities."""
        assert rest.targets is not None  # those of a transfer set
        shares = np.asarray(rest.targets[:, 1 : 1 + model.model.outputs], np.float64)
        answered = np.flatnonzero(shares.sum(axis=1) > 0)
        shares = shares[answered] / shares[answered].sum(axis=1, keepdims=True)
        found = TaughtRows(rest.select(answered), ClassTargets(np.ones(len(answered)), shares))
        return found if len(answered) else None

    def begin_many(
        self, config: RunConfig, model: Predictor, training: EncodedDataset, dev: EncodedDataset | None
    ) -> None:
        """See `SentenceTask.begin_many`: the mean directions of classes join, where whole texts have vectors."""
        if not model.is_pair:
            reads = sentence_rows(config, model, training, dev)
            held = None if dev is None else self.linear_targets(model, dev)
            own = _classes_and_weights(model, training)
            model.joining = means_join(reads, own, model.model.outputs, held)
            if model.joining is not None and dev is None:
                model.nested = model.joining.join(None).logits.astype(np.float32)
        super().begin_many(config, model, training, dev)

    def take_weight(self, model: Predictor, weight: float) -> float:
        """See `SentenceTask.take_weight`: one over the temperature, which divides all logits."""
        model.about = replace(model.about, temperature=1 / weight)
        return 1 / weight

    def judged(self, model: Predictor, rows: NDArray[np.float32], dev: EncodedDataset) -> dict[str, float]:
        """See `SentenceTask.judged`; classes are answered by cost, if wrong answers have costs."""
        gold, stated, weights = gold_of(dev).astype(np.int64), _costs(model), self._counting(model, dev)
        if not stated:
            return classification_metrics(gold, rows.argmax(axis=1), weights)
        temperature = 1.0 if model.joining is not None else fit_temperature(rows, gold, weights)
        decision = ClassDecision(model.labels, temperature, cost_matrix(stated, model.labels))
        return figures(gold, decision.chosen(decision.probabilities(rows)), weights, stated, model.labels)

    def answered(self, model: Predictor, rows: NDArray[np.float32], dev: EncodedDataset) -> dict[str, float]:
        """See `SentenceTask.answered`; that classes differ in weight is of the training alone."""
        answered, likeliest = _answered(model, rows)
        gold, stated = gold_of(dev).astype(np.int64), _costs(model)
        found = figures(gold, answered, dev.weights, stated, model.labels)
        if stated:
            found[OF_MOST_PROBABLE] = figures(gold, likeliest, dev.weights, stated, model.labels)[MEAN_COST]
        return found

    def _counting(self, model: Predictor, dataset: EncodedDataset) -> NDArray[np.float64] | None:
        """Return how much each example counts, [N]; None where all count alike."""
        alike = dataset.weights is None and model.class_weights is None
        return None if alike else self.linear_targets(model, dataset).weights

    def calibrate(self, model: Predictor, datasets: Mapping[str, EncodedDataset]) -> None:
        """Let the parts join, or fit the temperature under which the gold of dev is likeliest.

        From then on the model answers by cost, if wrong answers have costs. See `Task.calibrate`.
        """
        if model.joining is not None:
            super().calibrate(model, datasets)
        else:
            dev = self.choosing(datasets)
            rows, gold = model.run_network(dev)[0], gold_of(dev).astype(np.int64)
            temperature = fit_temperature(rows, gold, self._counting(model, dev))
            model.about = replace(model.about, temperature=temperature)
        if stated := _costs(model):
            costs = tuple(map(tuple, cost_matrix(stated, model.labels).tolist()))
            model.about = replace(model.about, costs=costs)

    def held_out(self, model: Predictor, datasets: Mapping[str, EncodedDataset]) -> Report:
        """See `Task.held_out`; from then on a text may fit no class, if the settings ask for that."""
        report = super().held_out(model, datasets)
        options = ClassOptions(**model.model.task_options)
        if options.keep:
            reject, familiar = rejecting(model, datasets, options.reject_label, options.keep)
            model.about = replace(model.about, reject=reject, familiar=familiar)
        return report

    def report_of(
        self, model: Predictor, dataset: EncodedDataset, rows: NDArray[np.float32], seconds: float
    ) -> Report:
        """See `SentenceTask.report_of`."""
        gold = gold_of(dataset).astype(np.int64)
        predicted, likeliest = _answered(model, rows)
        report = evaluate_classes(
            gold,
            predicted,
            dataset.labels or model.labels,
            groups=group_of_each(dataset),
            lengths=dataset.lengths(),
            calibration=calibration(*model.about.on_one_scale(rows, gold)),
            seconds=seconds,
            notes={**notes_of(dataset, model.knows), **unseen_of(dataset, len(model.labels))},
        )
        if not model.about.costs:
            return report
        classes = len(model.labels)
        known = gold < classes
        counts = np.stack([confused(gold[known], each[known], classes) for each in (predicted, likeliest)])
        return with_costs(report, model.about.costs, counts)

    def gold_blocks(self, model: Predictor, file: Path, options: Mapping[str, object]) -> Iterator[Corpus]:
        """See `Task.gold_blocks`: a block has at most 8,192 examples."""
        return self.table.gold_blocks(file, options, model.labels, model.about.run)

    def measure_blocks(self, model: Predictor, blocks: Iterable[EncodedDataset]) -> Report:
        """See `Task.measure_blocks`: what is kept are counts and sums, as many as there are kinds of examples."""
        cells, notes, seconds = Counter[ExampleKind](), Counter[str](), 0.0
        sums: CalibrationSums | None = None
        classes = len(model.labels)
        costly = classes if model.about.costs else 0
        counts = np.zeros((2, costly, costly), np.int64)
        names = {name: number for number, name in enumerate(model.labels)}
        for dataset in blocks:
            started = time.perf_counter()
            logits = finite("prediction", model.run(dataset)[0])
            own = [names.setdefault(name, len(names)) for name in dataset.labels]
            gold = np.array(own, np.int64)[gold_of(dataset).astype(np.int64)]
            found = calibration_sums(*model.about.on_one_scale(logits, gold))
            sums = found if sums is None else sums + found
            predicted, likeliest = _answered(model, logits)
            cells.update(count_cells(gold, predicted, dataset.groups, dataset.group_names, dataset.lengths()))
            if costly:
                known = gold < classes
                counts += np.stack(
                    [confused(gold[known], each[known], classes) for each in (predicted, likeliest)]
                )
            notes.update(notes_of(dataset, model.knows))
            seconds += time.perf_counter() - started
        if unseen := len(names) - classes:
            notes["labels of the gold that the model does not know"] = unseen
        report = evaluate_cells(
            cells,
            tuple(names),
            calibration=None if sums is None else sums.calibration(),
            seconds=seconds,
            notes=dict(notes),
        )
        return with_costs(report, model.about.costs, counts)


def _costs(model: Predictor) -> dict[str, object]:
    return ClassOptions(**model.model.task_options).costs


def _answered(model: Predictor, logits: NDArray[np.float32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of the classes that are answered, and of the most probable ones, [N] each."""
    likeliest: NDArray[np.int64] = logits.argmax(axis=1)
    return model.chosen(model.probabilities(logits)) if model.about.costs else likeliest, likeliest


def _classes_and_weights(
    model: Predictor, dataset: EncodedDataset
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the class of each example, [N], and how much it counts by its own weight and by that of its class."""
    classes, weights = gold_of(dataset).astype(np.int64), example_weights(dataset)
    if model.class_weights is not None:
        weights = weights * model.class_weights.numpy()[classes]
        weights /= weights.mean() or 1.0
    return classes, weights


_OF_CLASSES = frozenset(
    {
        "distil",
        "data.label_type",
        *LOSS,
        "model.highway",
        "model.final_bias",
        "model.task_options",
    }
)
"""Settings of tasks that choose a class."""


class TextTask(ClassTask):
    """The class of a text."""

    name, board_recipe = "text", "disan-cr"
    table = TableRoles(TEXT, "label")
    uses = SENTENCES | table.settings | _OF_CLASSES | {"train.contrast"}
    options = table.options
    question, usage = "the class of a text", 'model.predict(["a text"])'

    def drawn(
        self, config: RunConfig, model: Predictor, dataset: EncodedDataset, data: TrainingData
    ) -> TrainingData:
        """See `ClassTask.drawn`: with ``train.contrast`` each text has a partner of its class."""
        if not config.train.contrast:
            return super().drawn(config, model, dataset, data)
        if config.distil.teacher:
            raise UsageError("train.contrast learns from gold labels alone: leave distil.teacher out")
        return Partnered(data, gold_of(dataset).astype(np.int64), config.train.seed)

    def objective(self, config: RunConfig, model: Predictor) -> Objective:
        """See `ClassTask.objective`; with ``train.contrast`` the loss is `contrast`."""
        if not config.train.contrast:
            return super().objective(config, model)
        assert isinstance(model.network, TextNetwork)  # see `head`
        check_head(model.network.head)
        return contrast

    def end(self, config: RunConfig, model: Predictor, datasets: Mapping[str, EncodedDataset]) -> None:
        """See `Task.end`: with ``train.contrast`` a logistic regression over the vectors becomes the head."""
        if config.train.contrast:
            assert isinstance(model.network, TextNetwork)  # see `head`
            targets = self.linear_targets(model, datasets["train"])
            vectors = model.run_network(datasets["train"])[1][0]
            classes = gold_of(datasets["train"]).astype(np.int64)
            fit_linear_head(model.network.head, vectors, classes, targets.weights)

    def head(self, config: ModelConfig, encoder: SentenceEncoder) -> Network:
        """See `SentenceTask.head`."""
        return TextNetwork(encoder, classifier_head(config, encoder.width_out))


class PairTask(ClassTask):
    """The class of a pair."""

    name, board_recipe = "pair", "disan-snli"
    sides, table = 2, TableRoles(PAIR, "label")
    uses = PAIRS | table.settings | _OF_CLASSES | {"model.matching"}
    options = table.options
    question = "how a hypothesis relates to a premise"
    usage = 'model.predict([("a first sentence", "a second sentence")])'

    def head(self, config: ModelConfig, encoder: SentenceEncoder) -> Network:
        """See `SentenceTask.head`."""
        head = classifier_head(config, matched(config.matching, encoder.width_out))
        return PairNetwork(encoder, head, matching=config.matching)
