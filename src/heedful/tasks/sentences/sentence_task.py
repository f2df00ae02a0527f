"""What the tasks share whose network gives one row of numbers for a text or a pair."""

from __future__ import annotations

import logging
import time
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.data.batching import collate, collate_shared, distinct_texts
from heedful.data.cross_folds import cross_folds
from heedful.data.encoding import EncodedDataset, encode
from heedful.data.examples import Corpus
from heedful.data.tokens import TokenizedCorpus
from heedful.errors import UsageError
from heedful.evaluation import Report
from heedful.model.decisions.decision import finite
from heedful.model.held_out_scores import HeldScores
from heedful.models import (
    NETWORKS,
    ModelConfig,
    Network,
    SentenceEncoder,
    build_aligned,
    build_sentence_encoder,
)
from heedful.models.config import NO_NETWORK
from heedful.nn import Embedding
from heedful.structures import Batch
from heedful.tasks.prepared import Files, SharedTexts
from heedful.tasks.schema import TextSettings
from heedful.tasks.sentences.cross_validation import FOLDS, OutOfFold
from heedful.tasks.sentences.fitting_wide import MOST_CLASSES
from heedful.tasks.sentences.limit_options import ASIDE, rejects
from heedful.tasks.sentences.part_rows import few, in_one, on_dev, part_rows, texts_of
from heedful.tasks.sentences.part_weights import PartWeights, Steady
from heedful.tasks.sentences.previous_choice import ChosenSettings
from heedful.tasks.sentences.previous_network import Recalled
from heedful.tasks.sentences.report_inputs import UNJUDGED, equally_weighted, gold_of, weights_of
from heedful.tasks.sentences.residual_gold import left_over, lessons_of
from heedful.tasks.sentences.stored_examples import StoredExamples, kept_examples
from heedful.tasks.sentences.stored_sums import learn_on_by_sums, sums_of
from heedful.tasks.sentences.taught_task import Model, TaughtSentences
from heedful.tasks.sentences.used_settings import sentence_problems
from heedful.tasks.tables import TableRoles
from heedful.tasks.task import Answered
from heedful.text.vocabulary import AnyVocabulary
from heedful.text.wide_part import PhraseRule

if TYPE_CHECKING:
    from heedful.run.run_config import DataConfig, RunConfig

_log = logging.getLogger(__name__)

NETWORK_WEIGHTS = (0.05, 20.0)
"""Smallest and largest weight of a network beside other parts: one over what divides all logits."""


class SentenceTask(TaughtSentences[Model, Answered]):
    """Base of the tasks whose network gives one row of numbers for a text or a pair.

    Attributes:
        table: the columns of its files.
    """

    has_parts = True
    table: ClassVar[TableRoles]
    dataset_type = EncodedDataset
    chooses_by_folds = True

    def problems(self, config: RunConfig) -> list[str]:
        """See `Task.problems`."""
        return sentence_problems(config, self.sides)

    @abstractmethod
    def head(self, config: ModelConfig, encoder: SentenceEncoder) -> Network:
        """Put what answers on top of what reads.

        Args:
            config: the settings.
            encoder: a text to one vector.

        Returns:
            The network, in training mode.
        """

    def network(self, config: ModelConfig, embedding: Embedding) -> Network:
        """See `WordTask.network`."""
        if config.encoder not in NETWORKS:
            return self.head(config, build_sentence_encoder(config, embedding))
        if self.sides != 2:
            raise UsageError(
                f"model.encoder={config.encoder!r} reads pairs; model.task={self.name!r} has single texts"
            )
        return build_aligned(config, embedding)

    def encode(
        self, corpus: TokenizedCorpus, vocabulary: AnyVocabulary, labels: tuple[str, ...], text: TextSettings
    ) -> EncodedDataset:
        """See `WordTask.encode`."""
        targets = self.targets(corpus, labels)
        return encode(
            corpus,
            vocabulary,
            targets,
            labels=targets.labels or labels,
            max_tokens=text.max_tokens,
            truncate=text.truncate,
            phrases=text.phrases,
            keeps_words=text.keeps_words,
        )

    def collate(self, dataset: EncodedDataset, rows: NDArray[np.int64]) -> Batch:
        """See `Task.collate`."""
        return collate(dataset, rows)

    def shared(self, dataset: EncodedDataset) -> SharedTexts | None:
        """See `Task.shared`; the texts of pairs may be shared."""
        if self.sides != 2:
            return None
        distinct = distinct_texts(dataset)
        return SharedTexts(distinct.groups(), lambda rows: collate_shared(dataset, distinct, rows))

    def files(self, names: Mapping[str, str], data: DataConfig, root: Path | None) -> Files:
        """See `Task.files`."""
        return self.table.files(names, data, root, self.collect_labels)

    def begin(self, config: RunConfig, model: Model, datasets: Mapping[str, EncodedDataset]) -> None:
        """See `Task.begin`: fit the linear parts, in the settings that dev chooses, or cross-validation."""
        training, dev = datasets["train"], datasets.get("dev")
        if model.model.outputs > MOST_CLASSES:
            if config.data.features:
                raise UsageError(
                    f"data.features: columns are read for at most {MOST_CLASSES:,} classes, and here are "
                    f"{model.model.outputs:,}; leave --feature out"
                )
            self.begin_many(config, model, training, dev)
            return
        gold = self.linear_targets(model, training)
        goes_on = model.before is not None and model.model.encoder != NO_NETWORK
        chooses = None if dev is None else self.linear_targets(model, dev)
        if goes_on:
            self._recall(model, training)
        judges = None if dev is None or chooses is None or not goes_on else (dev, chooses)
        if learn_on_by_sums(config, model, gold, training, judges):
            return
        targets = left_over(model, gold, training, grows=True)
        reads = part_rows(config, model, targets, training, dev, lessons_of(model, datasets, self.lessons))
        if model.before is None:
            model.sums = sums_of(config, model, gold, training, reads)
        if not reads:
            return
        if dev is not None and chooses is not None and not few(config, training):
            joining = on_dev(reads, targets, left_over(model, chooses, dev))
            model.joining = Steady(joining.targets, joining.parts, joining.drawn) if goes_on else joining
            return
        held_to = model.held_to
        wanted = frozenset[str]() if held_to is None else held_to.names
        parts = [[part] for part in reads] if model.is_pair else in_one(reads, targets, wanted)
        parts = parts if held_to is None else held_to.held(parts)
        folds = model.folds = cross_folds(targets.strata(), texts_of(training), FOLDS, config.train.seed)
        held = None if dev is None else left_over(model, self.linear_targets(model, dev), dev)
        found = OutOfFold.of(parts, targets, folds, held)
        model.measured = found.judges
        if not found.judges:
            _log.warning(UNJUDGED, len(training))
        model.joining = found.joining()
        if config.data.keep_examples == "texts" and config.data.keep_share == 1 and found.judges:
            model.chosen_settings = ChosenSettings.of(found, held_to)
        if dev is None:
            model.nested = self.nested(model, found, training) + np.float32(targets.beyond)

    def _recall(self, model: Model, training: EncodedDataset) -> None:
        """Let a model whose network goes on remember what the one before answers to the training examples."""
        assert model.before is not None  # the caller looked
        logits = model.before.temper(model.run_network(training)[0]) + model.before.logits(training)
        model.recalled = Recalled.of(logits, model.before.labels, model.labels)

    def begin_many(
        self, config: RunConfig, model: Model, training: EncodedDataset, dev: EncodedDataset | None
    ) -> None:
        """Do as `begin` where there are too many outputs for fits: by default the network is the whole model.

        Args:
            config: the settings of the run.
            model: the model, which gets the parts.
            training: the examples that they learn from.
            dev: further examples that choose; None where there are none.

        Raises:
            UsageError: if there is neither a part nor a network.
        """
        if model.joining is None and model.model.encoder == NO_NETWORK:
            raise UsageError(
                f"there are {model.model.outputs:,} classes, and linear parts learn more than {MOST_CLASSES:,} from "
                "vectors of whole texts alone: set text.vectors, or pip install 'heedful[en]' for English texts. "
                'Without them a network is needed: remove model.encoder="none", or set data.few_rows=0'
            )
        keeps = model.joining is not None or rejects(model.model.task_options)
        model.text = replace(model.text, phrases=PhraseRule(), keeps_words=keeps)

    def nested(self, model: Model, found: OutOfFold, training: EncodedDataset) -> NDArray[np.float32]:
        """Return rows of numbers for each training example, [N, Y], from a choice that it had no part in."""
        return found.nested()[0].astype(np.float32)

    def calibrate(self, model: Model, datasets: Mapping[str, EncodedDataset]) -> None:
        """See `Task.calibrate`: let the parts join whose weights `begin` left open."""
        if model.joining is None:
            return
        joining, joined = model.joining, self.joined(model, datasets)
        chose = self.choosing(datasets)
        beyond = joining.targets.beyond
        # A dev split of few rows chooses together with the training examples, which are in front of it.
        alone = {
            name: self.judged(model, (logits + beyond)[-len(chose) :].astype(np.float32), chose)
            for name, logits in joined.alone.items()
        }
        together = self.judged(model, (joined.logits + beyond)[-len(chose) :].astype(np.float32), chose)
        scale = self.take_weight(model, joined.network)  # sets the temperature in `about`, so it comes first
        model.about = joining.added(joined, model.about, scale)
        if model.before is not None:
            model.about = model.before.put(model.about)
        model.joining = None
        model.joined_note = joined.note(self.metrics[0], alone, together)
        if joining.drawn:
            rows = f"{joining.drawn:,} drawn rows of {len(datasets['train']):,}"
            model.joined_note += f" Features of whole texts were fitted on {rows}."
        _log.info("%s", model.joined_note)
        text = model.text if model.about.wide is not None else replace(model.text, phrases=PhraseRule())
        keeps = model.about.sentence is not None or rejects(model.model.task_options)
        model.text = replace(text, keeps_words=keeps)

    def joined(self, model: Model, datasets: Mapping[str, EncodedDataset]) -> PartWeights:
        """Return the weights of the parts beside the network of a model, as it is now."""
        assert model.joining is not None  # the caller looked
        network = None
        if model.model.encoder != NO_NETWORK:
            network = self.network_logits(model, model.run_network(datasets["dev"])[0])
        return model.joining.join(network, *NETWORK_WEIGHTS)

    def choosing(self, datasets: Mapping[str, EncodedDataset]) -> EncodedDataset:
        """Return the examples on which the parts are measured: dev, or by cross-validation every training example."""
        return datasets["dev"] if "dev" in datasets else datasets["train"]

    def held_out(self, model: Model, datasets: Mapping[str, EncodedDataset]) -> Report:
        """See `Task.held_out`."""
        chose = self.choosing(datasets)
        if model.nested is None:
            if model.before is not None and 0 < model.before.judging < len(
                chose
            ):  # which it has learned long ago
                chose = equally_weighted(chose.select(np.arange(len(chose) - model.before.judging)))
            rows = finite("prediction", model.run(chose)[0])
        else:
            rows, model.nested = self.delivered(model, model.nested), None
            if model.before is not None and (old := model.before.replayed):  # which the old parts have seen
                chose, rows = equally_weighted(chose.select(np.arange(len(chose) - old))), rows[:-old]
            model.held_scores = HeldScores(chose.rows, gold_of(chose), rows, weights=weights_of(chose))
        if (aside := datasets.get(ASIDE)) is not None:
            judged = finite("prediction", model.run(aside)[0])
            model.held_scores = HeldScores(aside.rows, gold_of(aside), judged, "held_out", weights_of(aside))
        report = self.report_of(model, chose, rows, 0.0)
        if chose.weights is None:
            return report
        # Intervals resample examples of equal weight, so there are none.
        return replace(report, metrics=self.answered(model, rows, chose), statistics={})

    def keep(self, config: RunConfig, model: Model, datasets: Mapping[str, EncodedDataset]) -> None:
        """See `Task.keep`."""
        model.about = replace(model.about, sums=model.sums)
        how = config.data.keep_examples
        if how != "none":
            old = () if model.before is None else (model.before.replayed, model.before.each)
            keeping = StoredExamples(how, config.data.keep_share, config.train.seed, *old)
            found = kept_examples(model, datasets["train"], keeping)
            if found is not None and model.before is not None and (judged := model.before.judging):
                dev = datasets["dev"]
                last = dev.select(np.arange(len(dev) - judged, len(dev)))
                each = StoredExamples(how, 1.0, config.train.seed, judged, model.before.judging_each)
                further = kept_examples(model, last, each)
                found = found if further is None else found.beside(further)
            model.about = replace(model.about, examples=found)

    def delivered(self, model: Model, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return rows on the scale of `linear_targets` as the model gives them; by default unchanged."""
        return rows

    def measure(self, model: Model, dataset: EncodedDataset) -> Report:
        """See `Task.measure`."""
        started = time.perf_counter()
        rows = finite("prediction", model.run(dataset)[0])
        return self.report_of(model, dataset, rows, time.perf_counter() - started)

    @abstractmethod
    def report_of(
        self, model: Model, dataset: EncodedDataset, rows: NDArray[np.float32], seconds: float
    ) -> Report:
        """Report on the answers that rows of numbers stand for.

        Args:
            model: the model.
            dataset: examples with gold.
            rows: what the model gives for them, [N, Y].
            seconds: how long that took.

        Returns:
            The report.
        """

    def network_logits(self, model: Model, rows: NDArray[np.float32]) -> NDArray[np.floating]:
        """Return what the network gave, [N, Y], on the scale of `linear_targets`; by default unchanged."""
        return rows

    def take_weight(self, model: Model, weight: float) -> float:
        """Give the network of a model its weight beside the parts.

        Args:
            model: the model, whose network or temperature is changed.
            weight: of the network's logits.

        Returns:
            What the weights of the parts are to be multiplied by.
        """
        final = model.network.get_submodule("head.output")
        with torch.no_grad():
            for values in final.parameters():
                values.mul_(weight)
        return 1.0

    def judge(self, model: Model, dev: EncodedDataset) -> dict[str, float]:
        """See `Task.judge`: all parts together, each example by its weight; and the network alone."""
        rows = model.run_network(dev)[0]
        if model.joining is None:
            return self.judged(model, rows, dev)
        network = self.network_logits(model, rows)
        joined = model.joining.join(network, *NETWORK_WEIGHTS)
        found = self.judged(model, joined.logits.astype(np.float32), dev)
        alone = self.judged(model, (joined.network * network).astype(np.float32), dev)
        return {**found, f"network_{self.metrics[0]}": alone[self.metrics[0]], **joined.figures()}

    @abstractmethod
    def judged(self, model: Model, rows: NDArray[np.float32], dev: EncodedDataset) -> dict[str, float]:
        """Return the metrics of what a model would answer for the dev split, each example by its weight.

        Args:
            model: the model.
            rows: what the parts give together, [N, Y]: on the scale of `linear_targets` where parts wait to join.
            dev: the examples.

        Returns:
            The metrics that may select the best checkpoint.
        """

    def answered(self, model: Model, rows: NDArray[np.float32], dev: EncodedDataset) -> dict[str, float]:
        """Return the metrics of what a finished model answers, each example by its weight.

        Args:
            model: the model, whose temperature and thresholds stand.
            rows: what it gives, [N, Y].
            dev: the examples.

        Returns:
            The metrics, by default those of `judged`.
        """
        return self.judged(model, rows, dev)

    def read_gold(self, model: Model, file: Path, options: Mapping[str, object]) -> Corpus:
        """See `Task.read_gold`."""
        return self.table.gold_of(file, options, model.labels, model.about.run)
