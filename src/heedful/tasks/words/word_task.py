"""What the tasks share whose texts are read as words: preparing data, building a network on words, loading a model."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import torch
from torch import nn

from heedful.attention.randomness import drawing_from, seeded
from heedful.data.cache import PreparedData, cache_key, load_or_prepare
from heedful.data.column_features import notes_on_columns
from heedful.data.encoding import EncodedDataset
from heedful.data.examples import Corpus
from heedful.data.folds import shared_with_training
from heedful.data.gold import refuse_unseen_alone, with_known_labels
from heedful.data.parses import find_parser, parse_corpus
from heedful.data.tokens import TokenizedCorpus, tokenize_corpus
from heedful.errors import DataError, UsageError
from heedful.model.decisions.reject import read_reject
from heedful.model.text_reading import Limits
from heedful.models import ModelConfig, Network, encoder_embedding, word_embedding
from heedful.models.config import NO_NETWORK
from heedful.models.expected_tensors import fit_tensors
from heedful.nn import Embedding
from heedful.storage.hugging_face import read_encoder, rebuild_encoder
from heedful.storage.model_folder import VOCABULARY, ModelFolder
from heedful.tasks.prepared import Corpora, DataFolders, Prepared, Source, TeacherAnswers
from heedful.tasks.schema import TextSettings, WordFolder, belonging, check_labels, read_about, read_settings
from heedful.tasks.tables import is_symmetric
from heedful.tasks.task import Answered, Task
from heedful.tasks.words.kept_parts import (
    take_columns,
    take_examples,
    take_familiar,
    take_sentence,
    take_sums,
    take_tagging,
    take_wide,
)
from heedful.tasks.words.lexicon import Lexicon, Pretrained, read_pretrained
from heedful.tasks.words.reading_settings import text_settings, training_settings, with_tokenizer
from heedful.tasks.words.starting import start_network
from heedful.tasks.words.text_model import TextModel
from heedful.text.parsers import DependencyParser
from heedful.text.vectors import initial_ngrams
from heedful.text.vocabulary import AnyVocabulary, PieceVocabulary, Vocabulary, vocabulary_from_plain

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from heedful.run.run_config import RunConfig

Encoded = TypeVar("Encoded", bound=EncodedDataset)
Model = TypeVar("Model", bound=TextModel[Any])


class WordTask(Task[Encoded, Lexicon, Model, Answered]):
    """Base of the tasks whose texts are read as words, or as the pieces of a pretrained encoder.

    Attributes:
        dataset_type: the class of the data sets.
        model_type: the class of the models.
        has_parts: whether linear parts may stand beside the network.
        has_tag_part: whether a linear part of tags may.
    """

    has_parts: ClassVar[bool] = False
    has_tag_part: ClassVar[bool] = False

    dataset_type: type[Encoded]
    model_type: type[Model]

    @abstractmethod
    def encode(
        self, corpus: TokenizedCorpus, vocabulary: AnyVocabulary, labels: tuple[str, ...], text: TextSettings
    ) -> Encoded:
        """Turn a tokenized corpus with gold into numbers.

        Args:
            corpus: the words and the gold.
            vocabulary: words to ids.
            labels: class names in the order of their numbers.
            text: the limits on length.

        Returns:
            The examples that have gold.

        Raises:
            DataError: naming the row, if gold is not what it should be, or a text too long.
        """

    @abstractmethod
    def network(self, config: ModelConfig, embedding: Embedding) -> Network:
        """Put a network together.

        Weights are drawn from torch's global generator: seed it first.

        Args:
            config: the settings.
            embedding: word vectors, or a pretrained encoder.

        Returns:
            The network, in training mode.

        Raises:
            UsageError: if a setting is unknown or out of range.
        """

    def transfer_set(
        self,
        config: RunConfig,
        corpus: TokenizedCorpus,
        gold: int,
        vocabulary: AnyVocabulary,
        labels: tuple[str, ...],
        taught: TeacherAnswers,
    ) -> Encoded:
        """Turn examples that a teacher answered into what a student learns from.

        Args:
            config: the settings of the run.
            corpus: the words of the examples.
            gold: how many of them, the first ones, have gold.
            vocabulary: words to ids.
            labels: class names in the order of their numbers.
            taught: the teacher's answers.

        Returns:
            The examples; a text that is too long is cut or left out.

        Raises:
            UsageError: by default, because the task takes no teacher.
        """
        raise UsageError(f"distil.teacher: a model of {self.noun} takes no teacher")

    def fitted(self, model: ModelConfig, labels: tuple[str, ...]) -> ModelConfig:
        """Return the model's settings with what the data decides: by default an output a label."""
        return replace(model, outputs=len(labels))

    def named_outputs(self, model: ModelConfig) -> int:
        """Return how many outputs of a network have a label: by default all."""
        return model.outputs

    def label_problem(self, labels: Sequence[str]) -> str:
        """Return what is wrong with the labels of a model folder, by default nothing."""
        return ""

    def cache_settings(self, config: RunConfig) -> dict[str, object]:
        """Return the settings beside data and text that decide how gold is encoded."""
        return {
            "task": self.name,
            "task_options": config.model.task_options,
            "wide": "none" if is_symmetric(config.model) else config.model.wide,
            "sentence": config.model.sentence,
        }

    def prepare(self, config: RunConfig, source: Source, place: DataFolders) -> Prepared[Encoded, Lexicon]:
        """See `Task.prepare`; what was encoded is kept in the cache."""
        pretrained = read_pretrained(config, place)
        parser = find_parser(config.text.parser, place.root) if config.text.parser else None

        def build() -> PreparedData[Encoded]:
            return self._encode(config, source, pretrained, parser, place)

        if place.keep:
            key = cache_key(pretrained.files, self._key(config, source, pretrained, parser))
            data = load_or_prepare(key, build, place.cache, dataset=self.dataset_type)
        else:
            data = build()
        return Prepared(
            datasets=data.datasets,
            labels=data.datasets["train"].labels,
            task=self.name,
            lexicon=pretrained.words(config, data.vocabulary, data.tokenizer),
            notes=data.notes,
            protocol=source.protocol,
            fingerprint=source.fingerprint,
        )

    def untrained(self, config: RunConfig, prepared: Prepared[Encoded, Lexicon]) -> Model:
        """See `Task.untrained`."""
        windows = config.data.truncate == "window" and config.model.encoder != NO_NETWORK
        window = config.data.max_tokens if windows else 0
        own_settings = replace(config.model, window=window, start="")  # where it came from is in the card
        model, words = self.fitted(own_settings, prepared.labels), prepared.lexicon
        files = words.encoder
        encoder = None if files is None else read_encoder(files.path, layers=model.pretrained.layers)
        with drawing_from(seeded(config.train.seed)):
            if files is not None and encoder is not None:
                network = self.on_encoder(model, encoder, start=files.rules.start, end=files.rules.end)
            else:
                assert words.table is not None  # what is not built on an encoder has word vectors
                assert isinstance(words.vocabulary, Vocabulary)  # word vectors are those of its words
                ngrams = initial_ngrams(words.vocabulary.ngram_rows, model.width, config.train.seed)
                embedding = word_embedding(
                    model,
                    torch.from_numpy(words.table.trainable),
                    torch.from_numpy(words.table.frozen),
                    None if ngrams is None else torch.from_numpy(ngrams),
                )
                if (mask_row := words.vocabulary.mask_row) is not None:
                    embedding.mask_words(mask_row, config.train.word_mask)
                network = self.network(model, embedding)
        if model.encoder == NO_NETWORK:
            with torch.no_grad():
                for weight in network.parameters():
                    weight.zero_()
            network.requires_grad_(requires_grad=False)
        elif prepared.start is not None and isinstance(words.vocabulary, Vocabulary):
            start_network(network, words.vocabulary, prepared.start)
        model = replace(model, width=network.sentence_encoder.embedding.width)
        text = replace(text_settings(config), tokenizer=words.tokenizer)
        own = self.model_type(network, model, words.vocabulary, prepared.labels, text)
        own.file_vectors = words.vectors
        return own

    def on_encoder(self, model: ModelConfig, encoder: PreTrainedModel, *, start: int, end: int) -> Network:
        """Put a network together on a pretrained encoder; see `heedful.models.encoder_embedding`."""
        embedding = encoder_embedding(model, encoder, start=start, end=end)
        return self.network(replace(model, width=embedding.width), embedding).train()

    def read(self, model: Model, corpus: Corpus, folder: Path | None = None) -> Encoded:
        """See `Task.read`."""
        tokenized = model.tokenize(corpus.examples, corpus.source, folder)
        return self.encode(tokenized, model.vocabulary, model.labels, self.measured(model.text))

    def measured(self, text: TextSettings) -> TextSettings:
        """Return how texts are read that a model is measured on: by default as all others."""
        return text

    def vocabulary_note(self, lexicon: Lexicon) -> str:
        """See `Task.vocabulary_note`."""
        return lexicon.note()

    def limits(self, lexicon: Lexicon, network: nn.Module) -> str:
        """See `Task.limits`."""
        return lexicon.limits(network)

    def load(self, folder: ModelFolder, path: Path, limits: Limits) -> Model:
        """See `Task.load`."""
        settings = read_settings(WordFolder, folder, path)
        about = read_about(settings, folder, path, temperature=settings.temperature, costs=settings.costs)
        check_labels(folder.labels, self.named_outputs(settings.model), path, self.label_problem)
        text = limits.of(settings.text)

        def build() -> Model:
            vocabulary = vocabulary_from_plain(folder.vocabulary, str(path / VOCABULARY))
            tensors, wide, sentence, tagging = dict(folder.state), None, None, None
            if settings.costs and len(settings.costs) != len(folder.labels):
                raise UsageError(f"costs of {len(settings.costs)} classes, and {len(folder.labels)} labels")
            if (settings.wide or settings.sentence or settings.columns) and not self.has_parts:
                raise UsageError(f"a task of {self.noun} has no parts beside the network")
            if settings.tagging and not self.has_tag_part:
                raise UsageError(f"a task of {self.noun} has no linear part of tags")
            if settings.wide:
                wide = take_wide(tensors, settings.text.phrases, settings.wide, settings.model.outputs)
            if settings.sentence:
                sentence = take_sentence(tensors, settings.sentence, settings.model.outputs, self.sides)
            columns = None
            if settings.columns:
                columns = take_columns(tensors, settings.columns, settings.model.outputs)
            if settings.tagging:
                tagging = take_tagging(tensors, settings.tagging, settings.model.outputs)
            examples = None
            if settings.examples:
                outputs = settings.model.outputs
                examples = take_examples(tensors, settings.examples, self.sides, outputs)
            sums = take_sums(tensors, settings.sums, settings.model.outputs) if settings.sums else None
            reject = read_reject(settings.reject, folder.labels) if settings.reject else None
            familiar = take_familiar(tensors, settings.reject, sentence)
            state = fit_tensors(tensors, lambda: self._of_folder(settings, vocabulary))
            network = self._of_folder(settings, vocabulary)
            network.load_state_dict(state)
            kept = replace(about, wide=wide, sentence=sentence, tagging=tagging, examples=examples)
            kept = replace(kept, reject=reject, familiar=familiar, columns=columns, sums=sums)
            return self.model_type(network, settings.model, vocabulary, folder.labels, text, kept)

        return belonging(path, build)

    def _of_folder(self, settings: WordFolder, vocabulary: AnyVocabulary) -> Network:
        """Build the network of a folder: one row a word; a pretrained encoder needs nothing but the folder."""
        model = settings.model
        if isinstance(vocabulary, PieceVocabulary):
            encoder = rebuild_encoder(settings.encoder)
            vocabulary.check_rows(getattr(encoder.config, "vocab_size", 0))
            return self.on_encoder(model, encoder, start=vocabulary.rules.start, end=vocabulary.rules.end)
        trained, frozen = (
            torch.empty(rows, model.width) for rows in (vocabulary.trainable_rows, vocabulary.frozen_rows)
        )
        ngrams = torch.empty(vocabulary.ngram_rows, model.width) if vocabulary.ngrams is not None else None
        return self.network(model, word_embedding(model, trained, frozen, ngrams))

    def _key(
        self, config: RunConfig, source: Source, pretrained: Pretrained, parser: DependencyParser | None
    ) -> dict[str, object]:
        """Return everything that the encoded data depends on, beside the files of vectors."""
        return {
            "fingerprint": source.fingerprint,
            "data": asdict(config.data),
            "text": asdict(config.text),
            "seed": config.train.seed,
            **self.cache_settings(config),
            **({"masked": True} if config.train.word_mask else {}),
            **({} if parser is None else {"parser": parser.identity}),
            **({} if pretrained.encoder is None else {"pieces": asdict(pretrained.encoder.rules)}),
        }

    def _encode(
        self,
        config: RunConfig,
        source: Source,
        pretrained: Pretrained,
        parser: DependencyParser | None,
        place: DataFolders,
    ) -> PreparedData[Encoded]:
        corpora = source.load()
        config, chosen = with_tokenizer(config, corpora["train"])
        self.check_gold(corpora, config.model)
        labels = source.labels or self.collect_labels(corpora["train"])
        if "test" in corpora:
            refuse_unseen_alone(corpora["test"], labels)
        if "dev" in corpora:
            corpora = {**corpora, "dev": with_known_labels(corpora["dev"], labels)}
        tokenized = {
            name: tokenize_corpus(corpus.examples, config.text.cutter, corpus.source)
            for name, corpus in corpora.items()
        }
        if not tokenized["train"].counts():
            source_name = corpora["train"].source or "training data"
            raise DataError(f"{source_name}: no text has a word. Check that the texts are the right column.")
        if parser is not None:
            tokenized = {
                name: parse_corpus(corpus, parser, place.cache) for name, corpus in tokenized.items()
            }
        if config.data.keep_examples != "none":
            judged = source.before is not None and source.before.judging
            for name in ("train", "dev") if judged else ("train",):
                texts = tuple(example.texts for example in corpora[name].examples)
                tokenized[name] = replace(tokenized[name], texts=texts)
        counts = Counter(tokenized["train"].counts())
        if source.unlabeled is not None:
            further = source.unlabeled
            counts.update(tokenize_corpus(further.examples, config.text.cutter, further.source).counts())
        vocabulary = pretrained.vocabulary(config.text, counts, masked=config.train.word_mask > 0)
        datasets = {
            name: self.encode(
                corpus,
                vocabulary,
                labels,
                training_settings(config, corpus)
                if name == "train"
                else self.measured(text_settings(config)),
            )
            for name, corpus in tokenized.items()
        }
        beside = notes_on_columns(config.data.features, corpora["train"])
        notes = (*chosen, *beside, *pretrained.found(vocabulary), *_notes(corpora, datasets))
        return PreparedData(vocabulary, datasets, notes, config.text.tokenizer)


def _notes(corpora: Corpora, datasets: Mapping[str, EncodedDataset]) -> Iterable[str]:
    yield from shared_with_training(corpora)
    for name, corpus in corpora.items():
        for reason, count in corpus.skipped.items():
            yield f"{name}: rows skipped: {count:,} ({reason})"
        yield from (f"{name}: {note}" for note in corpus.notes)
        report = datasets[name].report
        if report.truncated:
            yield f"{name}: texts truncated: {report.truncated:,} ({report.tokens_cut:,} tokens removed)"
        if report.dropped_long:
            yield f"{name}: examples skipped: {report.dropped_long:,} (a text is too long)"
        if report.without_gold:
            yield f"{name}: examples skipped: {report.without_gold:,} (no gold label)"
        if report.empty:
            yield f"{name}: texts without words: {report.empty:,}"
