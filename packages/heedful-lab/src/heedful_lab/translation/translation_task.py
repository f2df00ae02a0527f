"""A text in another language: the task, which an entry point of ``heedful.tasks`` names."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from numpy.typing import NDArray
from torch import Tensor, nn

from heedful.attention.randomness import drawing_from, seeded
from heedful.data.examples import Corpus
from heedful.data.readers.class_folders import find_named
from heedful.data.readers.reading import RequestFiles
from heedful.errors import UsageError
from heedful.evaluation import Report
from heedful.evaluation.statistics import register_metric
from heedful.model.text_reading import Limits
from heedful.models import ModelConfig, build_encoder
from heedful.models.expected_tensors import fit_tensors
from heedful.nn.losses import sequence_cross_entropy
from heedful.settings import read_table
from heedful.storage import sha256
from heedful.storage.model_folder import VOCABULARY, ModelFolder
from heedful.structures import Batch, NetworkOutput
from heedful.tasks.prepared import DataFolders, Files, Prepared, Source
from heedful.tasks.schema import FolderSettings, belonging, check_labels, read_about, read_settings
from heedful.tasks.tables import check_options, published, sum_of
from heedful.tasks.task import Task
from heedful.tasks.words.reading_settings import refuse_leaving_out, text_settings
from heedful.training.step import Objective
from heedful_lab.translation.bitext import ParallelDataset, collate_parallel, encode_parallel
from heedful_lab.translation.bleu import bleu_of_copies
from heedful_lab.translation.decoder import TransformerDecoder
from heedful_lab.translation.parallel_files import parallel_files, read_parallel
from heedful_lab.translation.piece_tables import SeparateTables, SharedTables
from heedful_lab.translation.subwords import Languages, Subwords
from heedful_lab.translation.translation_network import TranslationConfig, TranslationNetwork
from heedful_lab.translation.translation_report import evaluate_translations
from heedful_lab.translation.translator import Translation, Translator

if TYPE_CHECKING:
    import numpy as np

    from heedful.run.run_config import DataConfig, RunConfig


@dataclass(frozen=True)
class TranslationFolder(FolderSettings):
    """What ``config.json`` says of a model that translates; see `FolderSettings`.

    Attributes:
        translation: the rest of the network.
    """

    translation: TranslationConfig = field(default_factory=TranslationConfig)


register_metric("bleu", "higher", bleu_of_copies)
register_metric("chrf", "higher")
register_metric("perplexity", "lower")


class TranslationTask(Task[ParallelDataset, Languages, Translator, Translation]):
    """A text in another language; texts are read as subwords."""

    name, noun = "translation", "translation"
    kept = "counts"
    metrics = ("bleu", "chrf", "perplexity")
    uses = frozenset({"data.languages", "model.task_options"})
    settings = TranslationConfig
    options = frozenset({"references"})
    question, usage = "a text with its translation", 'model.answer(["a text"])'
    hub_task = "translation"
    header = ("translation", "log probability", "warnings")

    def problems(self, config: RunConfig) -> list[str]:
        """See `Task.problems`: a long pair is left out of training under "head" already."""
        return refuse_leaving_out(config, self.name)

    def files(self, names: Mapping[str, str], data: DataConfig, root: Path | None) -> Files:
        """See `Task.files`: two files a part, whose line n says the same."""
        if not data.languages:
            raise UsageError('data.languages must name source and target, for example ["en", "de"]')
        source, target = data.languages
        read_part = check_options(data.options, read_parallel, "files of translations", ("target",))
        files = {part: parallel_files(stem, (source, target)) for part, stem in names.items()}
        paths = {part: find_named(own[0], root) for part, own in files.items()}
        beside = {part: find_named(str(path.parent / files[part][1]), None) for part, path in paths.items()}
        fingerprint = {published(part, files[part][0]): sum_of(path) for part, path in paths.items()}
        fingerprint |= {
            published(part, str(Path(files[part][0]).with_name(files[part][1]))): sha256(path)
            for part, path in beside.items()
        }

        def read() -> dict[str, Corpus]:
            return {part: read_part(path, target=files[part][1]) for part, path in paths.items()}

        return Files(read, fingerprint)

    def read_gold(self, model: Translator, file: Path, given: Mapping[str, object]) -> Corpus:
        """See `Task.read_gold`; ``--references`` names the translations, line by line."""
        references = given.get("references")
        if not isinstance(references, Path):
            raise UsageError(
                "a model that translates is measured against translations: add --references FILE"
            )
        return read_parallel(file, target=references.absolute())

    def request_files(self, model: Translator) -> RequestFiles:
        """See `Task.request_files`: a file of a text a line may end in a language."""
        languages = model.about.data.texts("languages", ())
        return RequestFiles(line_suffixes=tuple(f".{language}" for language in languages))

    def collect_labels(self, corpus: Corpus) -> tuple[str, ...]:
        """See `Task.collect_labels`: there are none."""
        return ()

    def prepare(
        self, config: RunConfig, source: Source, place: DataFolders
    ) -> Prepared[ParallelDataset, Languages]:
        """See `Task.prepare`; the subwords are learned from the training part."""
        corpora = source.load()
        languages = _learn(corpora["train"], config)
        datasets = {
            name: encode_parallel(
                corpus,
                languages.source,
                languages.target,
                max_tokens=config.data.max_tokens,
                truncate=config.data.truncate,
                training=name == "train",
            )
            for name, corpus in corpora.items()
        }
        return Prepared(
            datasets=datasets,
            labels=(),
            task=self.name,
            lexicon=languages,
            notes=tuple(_notes(corpora, datasets)),
            protocol=source.protocol,
            fingerprint=source.fingerprint,
        )

    def untrained(self, config: RunConfig, prepared: Prepared[ParallelDataset, Languages]) -> Translator:
        """See `Task.untrained`."""
        languages = prepared.lexicon
        with drawing_from(seeded(config.train.seed)):
            own = options_of(config.model)
            network = build_translation(config.model, own, len(languages.source), len(languages.target))
        return Translator(network, config.model, own, languages, text_settings(config))

    def collate(self, dataset: ParallelDataset, rows: NDArray[np.int64]) -> Batch:
        """See `Task.collate`."""
        return collate_parallel(dataset, rows)

    def objective(self, config: RunConfig, model: Translator) -> Objective:
        """Return the label-smoothed cross-entropy of a translation's subwords; see `Task.objective`."""
        return partial(_loss, smoothing=options_of(config.model).label_smoothing)

    def read(self, model: Translator, corpus: Corpus, folder: Path | None = None) -> ParallelDataset:
        """See `Task.read`; subwords have no trees."""
        text, languages = model.text, model.languages
        return encode_parallel(
            corpus, languages.source, languages.target, max_tokens=text.max_tokens, truncate=text.truncate
        )

    def measure(self, model: Translator, dataset: ParallelDataset) -> Report:
        """Translate and score by beam search with the model's settings; see `Task.measure`."""
        if not len(dataset):
            raise UsageError("there is nothing to evaluate: the data set has no examples")
        started = time.perf_counter()
        found = model.search([dataset.source[i] for i in range(len(dataset))])
        translations = [model.languages.target.decode(best.tokens) for best in found]
        return evaluate_translations(
            dataset.references,
            translations,
            perplexity=model.perplexity(dataset),
            lengths=dataset.source.lengths()[:, None] - 1,  # the end is no subword of the text
            seconds=time.perf_counter() - started,
            notes={"texts without words": dataset.report.empty, "texts cut": dataset.report.truncated},
        )

    def rows(self, answer: Translation) -> Iterable[list[str]]:
        """See `Task.rows`."""
        yield [answer.text, f"{answer.log_probability:.3f}", answer.remarks]

    def vocabulary_note(self, lexicon: Languages) -> str:
        """See `Task.vocabulary_note`."""
        if lexicon.shared:
            return f"{len(lexicon.source):,} subwords, shared by both languages"
        return f"{len(lexicon.source):,} subwords of the source, {len(lexicon.target):,} of the target"

    def limits(self, lexicon: Languages, network: nn.Module) -> str:
        """See `Task.limits`."""
        return (
            "The model knows the kind of sentence of its training data and translates in one direction. Any text is "
            "read, spelled in subwords; what it says of a text unlike its training data is not to be trusted."
        )

    def load(self, folder: ModelFolder, path: Path, limits: Limits) -> Translator:
        """See `Task.load`."""
        settings = read_settings(TranslationFolder, folder, path)
        about = read_about(settings, folder, path)
        check_labels(folder.labels, 0, path)
        text = limits.of(settings.text)

        def build() -> Translator:
            languages = Languages.from_json(folder.vocabulary, str(path / VOCABULARY))
            parts = settings.model, settings.translation, len(languages.source), len(languages.target)
            state = fit_tensors(folder.state, lambda: build_translation(*parts))
            network = build_translation(*parts)
            network.load_state_dict(state)
            return Translator(network, settings.model, settings.translation, languages, text, about)

        return belonging(path, build)


def options_of(model: ModelConfig) -> TranslationConfig:
    """Return the settings of the task itself, ``[model.task_options]``, which a recipe may call ``[translation]``.

    Args:
        model: the settings all models have.

    Returns:
        The settings, defaults filled in.

    Raises:
        UsageError: listing every mistake.
    """
    problems: list[str] = []
    own = read_table(TranslationConfig, model.task_options, "model.task_options.", problems)
    if problems or own is None:
        raise UsageError("; ".join(problems))
    return own


def _loss(output: NetworkOutput, targets: Tensor, *, smoothing: float) -> Tensor:
    return sequence_cross_entropy(output.logits, targets, smoothing)


def _learn(corpus: Corpus, config: RunConfig) -> Languages:
    sources = [example.texts[0] for example in corpus.examples]
    targets = [str(example.target) for example in corpus.examples]
    own = options_of(config.model)
    if own.shared:
        both = Subwords.learn([*sources, *targets], own.pieces)
        return Languages(both, both)
    return Languages(Subwords.learn(sources, own.pieces), Subwords.learn(targets, own.pieces))


def _notes(corpora: Mapping[str, Corpus], datasets: Mapping[str, ParallelDataset]) -> Iterable[str]:
    for name, corpus in corpora.items():
        for reason, count in corpus.skipped.items():
            yield f"{name}: rows skipped: {count:,} ({reason})"
        report = datasets[name].report
        if report.dropped_long:
            yield f"{name}: pairs skipped: {report.dropped_long:,} (a text is too long)"
        if report.truncated:
            yield f"{name}: texts truncated: {report.truncated:,} ({report.tokens_cut:,} subwords removed)"


def build_translation(
    model: ModelConfig, translation: TranslationConfig, source_rows: int, target_rows: int
) -> TranslationNetwork:
    """Build a network that translates.

    Weights are drawn from torch's global generator: seed it first.

    Args:
        model: the settings all models have; its width is that of the vectors of subwords and of the decoder, and
            pooling, head and matching are not read.
        translation: those of a network that translates.
        source_rows: subwords of the source.
        target_rows: subwords of the translation; the same ones where they are shared.

    Returns:
        The network, in training mode.

    Raises:
        UsageError: if a setting is unknown or out of range.
    """
    encoder = build_encoder(model, model.width)
    decoder = TransformerDecoder(model.width, encoder.width_out, translation.decoder)
    tables = (
        SharedTables(target_rows, model.width)
        if translation.shared
        else SeparateTables(source_rows, target_rows, model.width)
    )
    return TranslationNetwork(tables, encoder, decoder)
