"""One tag a word: parts of speech, named entities, chunks."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.data.cross_folds import cross_folds
from heedful.data.examples import Corpus, Ragged, WordTags
from heedful.data.readers.reading import RequestFiles
from heedful.data.readers.tag_files import files_of_words, read_tags
from heedful.data.taught_tags import TaughtTags, collate_taught_tags, encode_taught_tags
from heedful.data.tokens import TokenizedCorpus
from heedful.data.transfer_set import StudentReading
from heedful.data.word_tags import WordTagDataset, collate_word_tags, encode_word_tags
from heedful.errors import DataError, UsageError
from heedful.evaluation import Report, evaluate_tags
from heedful.evaluation.sequences import tag_metrics
from heedful.model.answers import TagsAnswer
from heedful.models import ModelConfig, Network, WordReader, WordTagger, build_encoder
from heedful.models.config import NO_NETWORK
from heedful.nn import Embedding
from heedful.nn.losses import tag_loss, taught_tag_loss
from heedful.nn.policy import with_policy
from heedful.runtime.sentence_features import MeanOfVectors
from heedful.runtime.tag_part import NeighborVectors
from heedful.structures import Batch, NetworkOutput
from heedful.tasks.corpus_reading import in_whole
from heedful.tasks.prepared import TRANSFER, Files, Prepared, TeacherAnswers
from heedful.tasks.schema import TextSettings
from heedful.tasks.sentences.report_inputs import UNJUDGED, group_of_each, notes_of
from heedful.tasks.sentences.used_settings import WORDS, vectors_problem
from heedful.tasks.tables import check_options, one_file_a_part
from heedful.tasks.words.lexicon import Lexicon
from heedful.tasks.words.reading_settings import training_settings
from heedful.tasks.words.tag_joining import (
    OUTSIDE_STEPS,
    JoinedTags,
    TagGold,
    fit_by_folds,
    fit_on_dev,
    tag_gold,
    taught_gold,
)
from heedful.tasks.words.tags_model import TagsModel
from heedful.tasks.words.word_task import WordTask
from heedful.text.bio import bio_tags, role_of, scheme_of, tags_problem, unread_spans
from heedful.text.english import ENGLISH, package_of
from heedful.text.vocabulary import AnyVocabulary
from heedful.text.wide_part import PhraseRule
from heedful.training.step import Objective

if TYPE_CHECKING:
    from heedful.run.run_config import DataConfig, RunConfig


_log = logging.getLogger(__name__)
FOLDS = 5


class TagsTask(WordTask[WordTagDataset, TagsModel, TagsAnswer]):
    """One tag a word."""

    name = "tags"
    dataset_type, model_type = WordTagDataset, TagsModel
    kept = "counts"
    has_tag_part = chooses_by_folds = True
    metrics = ("f1", "accuracy", "macro_f1", "precision", "recall")
    uses = WORDS | {
        "train.label_smoothing",
        "model.wide",
        "model.sentence",
        "data.few_rows",
        "distil",
    }
    options = frozenset({"conll"})
    question = "which tag each word of a text has"
    usage = 'model.predict(["a text"])'

    def measured(self, text: TextSettings) -> TextSettings:
        """See `WordTask.measured`: every word of a text counts, however long it is."""
        return in_whole(text)

    def problems(self, config: RunConfig) -> list[str]:
        """See `Task.problems`: plain tags and spans are not measured by all the same metrics."""
        if config.distil.vectors:
            return ["distil.vectors: sentence vectors are learned by models of classes; set distil.vectors=0"]
        if config.data.truncate in ("drop", "window"):
            return [
                f'data.truncate = "{config.data.truncate}" is for texts and pairs; model.task is {self.name!r}'
            ]
        if config.model.sentence not in ("none", "auto", "mean"):
            return [
                f"model.sentence = {config.model.sentence!r} reads whole texts; the linear part of tags reads the "
                'vectors of each word with "mean" or "auto"'
            ]
        if problem := vectors_problem(config):
            return problem
        if config.model.encoder == NO_NETWORK and config.model.wide == "none":
            return ['model.encoder = "none" leaves the linear part alone: set model.wide = "linear"']
        if config.train.metric in ("macro_f1", "precision", "recall"):
            return [
                'train.metric: tags are selected by "f1" or "accuracy", which plain tags and spans both have'
            ]
        return []

    def files(self, names: Mapping[str, str], data: DataConfig, root: Path | None) -> Files:
        """See `Task.files`."""
        read = check_options(data.options, read_tags, "files of tags", ("gold",))
        return one_file_a_part(names, root, lambda paths: {part: read(path) for part, path in paths.items()})

    def read_gold(self, model: TagsModel, file: Path, options: Mapping[str, object]) -> Corpus:
        """See `Task.read_gold`; the file is read as the training file was, and all its sentences count alike."""
        own = {name: value for name, value in model.file_options().items() if name != "weight"}
        return check_options(own, read_tags, "files of tags", ("gold",))(file)

    def request_files(self, model: TagsModel) -> RequestFiles:
        """See `Task.request_files`: files of words."""
        return files_of_words(model.file_options())

    def collect_labels(self, corpus: Corpus) -> tuple[str, ...]:
        """See `Task.collect_labels`: in alphabetical order; of spans O, and every mark of every kind."""
        found = {tag for e in corpus.examples if isinstance(e.target, WordTags) for tag in e.target.tags}
        if len(found) < 2:
            raise DataError(
                f"{corpus.source or 'training data'}: expected at least two different tags, got {sorted(found)}. Check "
                "the column of the tags."
            )
        if problem := unread_spans(found):
            raise DataError(f"{corpus.source or 'training data'}: {problem}")
        scheme = scheme_of(found)
        return (
            tuple(sorted(found))
            if scheme == "plain"
            else bio_tags({role_of(t) for t in found} - {""}, scheme)
        )

    def label_problem(self, labels: Sequence[str]) -> str:
        """See `WordTask.label_problem`."""
        return tags_problem(labels)

    def network(self, config: ModelConfig, embedding: Embedding) -> Network:
        """See `WordTask.network`."""
        reader = WordReader(embedding, build_encoder(config, embedding.width))
        return WordTagger(reader, config.outputs, dropout=config.dropout)

    def encode(
        self, corpus: TokenizedCorpus, vocabulary: AnyVocabulary, labels: tuple[str, ...], text: TextSettings
    ) -> WordTagDataset:
        """See `WordTask.encode`."""
        return encode_word_tags(
            corpus,
            vocabulary,
            labels,
            max_tokens=text.max_tokens,
            truncate=text.truncate,
            keeps_words=text.keeps_words,
        )

    def collate(self, dataset: WordTagDataset, rows: NDArray[np.int64]) -> Batch:
        """See `Task.collate`."""
        if isinstance(dataset, TaughtTags):
            return collate_taught_tags(dataset, rows)
        return collate_word_tags(dataset, rows)

    def transfer_set(
        self,
        config: RunConfig,
        corpus: TokenizedCorpus,
        gold: int,
        vocabulary: AnyVocabulary,
        labels: tuple[str, ...],
        taught: TeacherAnswers,
    ) -> TaughtTags:
        """See `WordTask.transfer_set`; the targets are those of `TaughtTags`."""
        text = replace(training_settings(config, corpus), keeps_words=config.model.wide != "none")
        reading = StudentReading(vocabulary, text.max_tokens, text.truncate, keeps_words=text.keeps_words)
        return encode_taught_tags(corpus, reading, gold, labels, taught.probabilities)

    def objective(self, config: RunConfig, model: TagsModel) -> Objective:
        """See `Task.objective`: the mean cross-entropy of the words, with a teacher also what is learned from it."""
        distil = config.distil
        if distil.teacher:
            return partial(
                _taught_loss,
                weight=distil.weight,
                temperature=distil.temperature,
                smoothing=config.train.label_smoothing,
            )
        return partial(_loss, smoothing=config.train.label_smoothing)

    def measure(self, model: TagsModel, dataset: WordTagDataset) -> Report:
        """See `Task.measure`."""
        if dataset.tags is None or not len(dataset.tags.values):
            raise UsageError(
                "there are no gold labels to evaluate against: the file must hold the tags of its words"
            )
        started = time.perf_counter()
        numbers = model.tag(dataset)
        return self._report(model, dataset, numbers, time.perf_counter() - started)

    def judge(self, model: TagsModel, dev: WordTagDataset) -> Mapping[str, float]:
        """See `Task.judge`."""
        return self._judged(model, dev, model.tag(dev))

    def _judged(
        self, model: TagsModel, dataset: WordTagDataset, numbers: NDArray[np.int64]
    ) -> dict[str, float]:
        """Return the metrics of answers; with weights of examples, each sentence counts by its own."""
        if dataset.weights is None:
            return self._report(model, dataset, numbers, 0.0).metrics
        gold, answered = _tags_of_both(dataset, numbers)
        return tag_metrics(gold, answered, dataset.labels, dataset.weights)

    def _report(
        self, model: TagsModel, dataset: WordTagDataset, numbers: NDArray[np.int64], seconds: float
    ) -> Report:
        gold, answered = _tags_of_both(dataset, numbers)
        return evaluate_tags(
            gold,
            answered,
            dataset.labels,
            groups=group_of_each(dataset),
            lengths=dataset.words(),
            seconds=seconds,
            notes={
                **notes_of(dataset, model.knows),
                "tags of the gold that the model does not know": len(dataset.labels) - len(model.labels),
            },
        )

    def untrained(self, config: RunConfig, prepared: Prepared[WordTagDataset, Lexicon]) -> TagsModel:
        """See `Task.untrained`."""
        model = super().untrained(config, prepared)
        model.text = replace(model.text, phrases=PhraseRule(), keeps_words=config.model.wide != "none")
        return model

    def begin(self, config: RunConfig, model: TagsModel, datasets: Mapping[str, WordTagDataset]) -> None:
        """See `Task.begin`: fit the linear part, in the strength that dev chooses, or cross-validation."""
        if config.model.wide == "none":
            return
        gold, seed = tag_gold(datasets["train"], len(model.labels)), config.train.seed
        training = gold
        if isinstance(transfer := datasets.get(TRANSFER), TaughtTags):
            training = gold.with_(taught_gold(transfer, model.decision))
        vectors = word_vectors(config, model.file_vectors)
        if "dev" in datasets and len(gold.texts) >= config.data.few_rows:
            held = tag_gold(datasets["dev"], len(model.labels))
            model.joining = fit_on_dev(training, held, model.labels, vectors, seed)
            return
        folds = cross_folds(rarest_tags(training), [" ".join(text) for text in training.texts], FOLDS, seed)
        model.measured = len(np.unique(folds)) > 1
        if not model.measured:
            _log.warning(UNJUDGED, len(gold.texts))
        found = fit_by_folds(training, folds, model.labels, vectors, seed)
        model.about = replace(model.about, tagging=found.part)
        model.nested = found.tags[: len(gold.tags)]

    def calibrate(self, model: TagsModel, datasets: Mapping[str, WordTagDataset]) -> None:
        """See `Task.calibrate`: let the linear part join, with the weights under which dev is likeliest."""
        if model.joining is None:
            return
        joining, dev = model.joining, datasets["dev"]
        network = None if model.model.encoder == NO_NETWORK else np.concatenate(model.word_logits(dev))
        joined = joining.join(network)
        figures = {"linear part": joining.tags(None, joining.join(None))}
        if network is not None:
            figures = {"network": model.tag(dev), **figures}
        f1 = {
            lower: self._judged(model, dev, joining.tags(network, joined, lower))["f1"]
            for lower in (OUTSIDE_STEPS if scheme_of(model.labels) != "plain" else OUTSIDE_STEPS[:1])
        }
        outside = best_step(f1)
        figures["together"] = joining.tags(network, joined, outside)
        model.joined_note = self._note(model, dev, figures, joined, outside)
        _log.info("%s", model.joined_note)
        with torch.no_grad():
            for values in model.network.output.parameters():
                values.mul_(joined.network)
        part = joining.part.scaled(joined.words, joined.chain)
        model.about = replace(model.about, tagging=replace(part, outside=outside))
        model.joining = None

    def _note(
        self,
        model: TagsModel,
        dev: WordTagDataset,
        answers: Mapping[str, NDArray[np.int64]],
        joined: JoinedTags,
        outside: float,
    ) -> str:
        """Return what each part reaches alone, and with which weight it joins."""
        f1 = {name: self._judged(model, dev, numbers)["f1"] for name, numbers in answers.items()}
        weights = {"network": joined.network, "linear part": joined.words}
        own = ", ".join(
            f"{name} f1 {f1[name]:.3f} (weight {weights[name]:.3g})" for name in f1 if name in weights
        )
        lower = f", O lowered by {outside:g}" if outside else ""
        return f"Parts, each alone on dev: {own}; together f1 {f1['together']:.3f}, chain {joined.chain:.3g}{lower}."

    def held_out(self, model: TagsModel, datasets: Mapping[str, WordTagDataset]) -> Report:
        """See `Task.held_out`: dev, or without it every training sentence by cross-validation."""
        nested, model.nested = model.nested, None
        chose, started = datasets["dev"] if "dev" in datasets else datasets["train"], time.perf_counter()
        if "dev" in datasets:
            nested = model.tag(chose)
        assert nested is not None  # without dev, cross-validation chose
        report = self._report(model, chose, nested, time.perf_counter() - started)
        if chose.weights is None:
            return report
        # Intervals resample examples of equal weight, so there are none.
        return replace(report, metrics=self._judged(model, chose, nested), statistics={})


def best_step(f1: Mapping[float, float]) -> float:
    """Choose what is taken from the score of O: the least of what is best when each step is evened with its neighbors.

    Args:
        f1: what each step gives on dev, in rising order.

    Returns:
        The step.
    """
    values = np.array([*f1.values()])
    padded = np.pad(values, 1, mode="edge")
    even = (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4
    steps = list(f1)
    return steps[int(np.argmax(even))] if even.max() > even[0] + LEAST_GAIN else steps[0]


LEAST_GAIN = 0.005
"""By how much the F1 on dev must rise before O is lowered."""


def _tags_of_both(
    dataset: WordTagDataset, numbers: NDArray[np.int64]
) -> tuple[list[list[str]], list[list[str]]]:
    """Return the gold of each sentence, and what was answered."""
    assert dataset.tags is not None  # the caller looked
    answers = Ragged(numbers.astype(np.int32), dataset.tags.offsets)
    gold, answered = (
        [[dataset.labels[tag] for tag in part[row]] for row in range(len(part))]
        for part in (dataset.tags, answers)
    )
    return gold, answered


def rarest_tags(gold: TagGold) -> NDArray[np.int64]:
    """Return for each sentence the number of its rarest tag, by which folds are evened; 0 for one without words."""
    counts = np.bincount(gold.tags, minlength=1)
    offsets = np.cumsum([0, *map(len, gold.texts)])
    own = (gold.tags[start:end] for start, end in pairwise(offsets))
    return np.array([tags[counts[tags].argmin()] if len(tags) else 0 for tags in own], np.int64)


def word_vectors(config: RunConfig, own: MeanOfVectors | None = None) -> NeighborVectors | None:
    """Return the word vectors that the linear part reads, as ``model.sentence`` says; None for none.

    Args:
        config: the settings.
        own: the vectors of a file that they name; None for none.

    Returns:
        The vectors.
    """
    if config.model.sentence == "mean" and own is not None:
        return NeighborVectors(own)
    name = config.text.vectors if package_of(config.text.vectors) else package_of(ENGLISH)
    if config.model.sentence != "mean" or not name:
        return None
    return NeighborVectors(MeanOfVectors.packaged(name))


def _taught_loss(
    output: NetworkOutput, targets: Tensor, *, weight: float, temperature: float, smoothing: float
) -> Tensor:
    found = taught_tag_loss(
        output.logits, targets, weight=weight, temperature=temperature, smoothing=smoothing
    )
    return with_policy(found, output.policies)


def _loss(output: NetworkOutput, targets: Tensor, smoothing: float) -> Tensor:
    return with_policy(tag_loss(output.logits, targets, smoothing), output.policies)
