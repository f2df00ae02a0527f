"""One tag a word: parts of speech, named entities, chunks."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.attention.bio import bio_decode, tag_decode
from heedful.data.cross_folds import cross_folds
from heedful.data.encoding import EncodedDataset
from heedful.data.examples import Corpus, Ragged, WordTags
from heedful.data.readers.reading import RequestFiles
from heedful.data.readers.tag_files import files_of_words, read_tags
from heedful.data.tokens import TokenisedCorpus
from heedful.data.word_tags import WordTagDataset, collate_word_tags, encode_word_tags, in_windows
from heedful.errors import DataError, UsageError
from heedful.evaluation import Report, evaluate_tags
from heedful.explain.methods import MethodChoice, Sampling
from heedful.models import ModelConfig, Network, WordReader, WordTagger, build_encoder
from heedful.models.config import NO_NETWORK
from heedful.nn import Embedding, PretrainedEmbedding
from heedful.nn.losses import tag_loss
from heedful.nn.policy import with_policy
from heedful.runtime.answers import TAGS, TagsAnswer, role_spans
from heedful.runtime.sentence_features import MeanOfVectors
from heedful.runtime.tag_part import TagPart, WordVectors
from heedful.structures import Batch, NetworkOutput
from heedful.tasks.saved_model import finite
from heedful.tasks.schema import Requests, Text, TextSettings
from heedful.tasks.sentences.sentence_task import WORDS, group_of_each, notes_of
from heedful.tasks.tables import check_options, one_file_a_part
from heedful.tasks.task import Files, Prepared
from heedful.tasks.words.lexicon import Words
from heedful.tasks.words.tag_joining import JoinedTags, TagGold, TagJoining, fit_by_folds, fit_on_dev
from heedful.tasks.words.tag_rows import gold_tags, texts_of
from heedful.tasks.words.tag_sequences import TagSequences, chain_of
from heedful.tasks.words.tagging import TaggedWords, TaggingModel
from heedful.tasks.words.word_task import WordTask
from heedful.text.bio import (
    OUTSIDE,
    begin_numbers,
    bio_tags,
    may_follow,
    role_of,
    scheme_of,
    tags_problem,
    unread_spans,
)
from heedful.text.english import ENGLISH, package_of
from heedful.text.vocabulary import AnyVocabulary
from heedful.text.wide_part import PhraseRule
from heedful.text.windows import windows_of
from heedful.training.step import Objective

if TYPE_CHECKING:
    from heedful.explain import Explanation
    from heedful.run.run_config import DataConfig, RunConfig


_log = logging.getLogger(__name__)
FOLDS = 5


class TagsModel(TaggingModel[TagsAnswer]):
    """A network that gives every word a tag; see `TextModel` for the arguments. BIO and BIOES it answers are valid.

    Attributes:
        joining: the linear part that waits to join the network; only in training.
        nested: tags of the training words that cross-validation gave; only in training.
        joined_note: what each part reached alone, and with which weight it joined; after training.
    """

    network: WordTagger
    joining: TagJoining | None = None
    nested: NDArray[np.int64] | None = None
    joined_note: str = ""

    def padded(self, dataset: EncodedDataset, indices: NDArray[np.int64]) -> Batch:
        """See `TaggingModel.padded`."""
        return collate_word_tags(dataset, indices, self.device)

    def decode(self, scores: Tensor, valid: Tensor) -> Tensor:
        """See `TaggingModel.decode`: the best tag of each word, or the best sequence where tags mark spans."""
        scheme = scheme_of(self.labels)
        if scheme == "plain":
            return scores.argmax(dim=-1).masked_fill(~valid, 0)
        if scheme == "bio":
            return bio_decode(scores, valid, torch.tensor(begin_numbers(self.labels), device=scores.device))
        table = [[may_follow(tag, before, scheme) for before in self.labels] for tag in self.labels]
        ends = [may_follow(OUTSIDE, tag, scheme) for tag in self.labels]
        follows, last = (torch.tensor(each, device=scores.device) for each in (table, ends))
        return tag_decode(scores, valid, follows, follows[:, self.labels.index(OUTSIDE)], last)

    def tag(self, dataset: EncodedDataset) -> TaggedWords:
        """See `TaggingModel.tag`; a text of more words than `max_tokens` is read in windows, so that each has a tag."""
        if self.about.tagging is not None:
            return self._tag_by_chain(dataset, self.about.tagging)
        long = np.flatnonzero(dataset.lengths()[:, 0] > self.text.max_tokens)
        if not len(long):
            return super().tag(dataset)
        rows = dataset.sides[0]
        numbers = np.zeros(len(rows.values), np.int64)
        probabilities = np.zeros(len(rows.values), np.float32)
        short = np.setdiff1d(np.arange(len(dataset)), long)
        if len(short):
            tagged = super().tag(dataset.select(short))
            places = rows.places(short)
            numbers[places], probabilities[places] = tagged.numbers, tagged.probabilities
        for row in long.tolist():
            scores = torch.log_softmax(self._logits_in_windows(dataset.select(np.array([row]))), dim=-1)
            valid = torch.ones(1, len(scores), dtype=torch.bool)
            tags = self.decode(scores[None].to(self.device), valid.to(self.device))[0].cpu()
            places = rows.places(np.array([row]))
            numbers[places] = tags.numpy()
            probabilities[places] = scores.gather(1, tags[:, None])[:, 0].exp().numpy()
        return TaggedWords(numbers, probabilities)

    @torch.inference_mode()
    def _logits_in_windows(self, text: EncodedDataset) -> Tensor:
        """Return the network's logits of each tag of each word of one text, [L, Y]."""
        cut = windows_of(int(text.lengths()[0, 0]), self.text.max_tokens)
        windows = in_windows(text, cut)
        found = torch.zeros(len(text.sides[0].values), len(self.labels))
        self.network.eval()
        for indices in self.batches(windows):
            scores = self.network(self.padded(windows, indices)).logits.float().cpu()
            for own, k in zip(scores, indices.tolist(), strict=True):
                start, _, first, last = cut[k]
                found[first:last] = own[first - start : last - start]
        return found

    @torch.inference_mode()
    def network_logits(self, dataset: EncodedDataset) -> NDArray[np.float32]:
        """Return the network's logits of all words, in the rows of the data set, [T, Y]; 0 without a network.

        Args:
            dataset: encoded examples.

        Returns:
            The logits, without what a linear part adds.
        """
        rows = dataset.sides[0]
        found = np.zeros((len(rows.values), self.model.outputs), np.float32)
        if self.model.encoder == NO_NETWORK or not len(dataset):
            return found
        self.network.eval()
        long = dataset.lengths()[:, 0] > self.text.max_tokens
        short = np.flatnonzero(~long)
        part = dataset.select(short)
        for indices in self.batches(part) if len(short) else ():
            batch = self.padded(part, indices)
            logits = self.network(batch).logits[batch.sides[0].valid]
            found[rows.places(short[indices])] = logits.float().cpu().numpy()
        for row in np.flatnonzero(long):
            found[rows.places(np.array([row]))] = self._logits_in_windows(
                dataset.select(np.array([row]))
            ).numpy()
        return found

    def logits(self, dataset: EncodedDataset) -> NDArray[np.float32]:
        """Return the logits of all words with what the linear part adds to them, [T, Y]; see `network_logits`."""
        found, part = self.network_logits(dataset), self.about.tagging
        if part is None:
            return found
        if dataset.kept is None:
            raise UsageError("this model has a linear part: encode the texts with its own settings")
        for row, words in enumerate(texts_of(dataset)):
            found[dataset.sides[0].places(np.array([row]))] += part.emissions(words)
        return found

    def _tag_by_chain(self, dataset: EncodedDataset, part: TagPart) -> TaggedWords:
        """Return the best sequences under the chain, and how probable each tag is over all sequences."""
        scores = finite("prediction", self.logits(dataset))
        sequences = TagSequences(scores, np.asarray(dataset.sides[0].offsets, np.int64))
        chain = chain_of(self.labels, part.chain)
        numbers = sequences.best(chain)
        return TaggedWords(numbers, sequences.shares(chain, numbers))

    def options(self) -> Mapping[str, object]:
        """Return the options that the training file was read with."""
        return self.about.data.table("options", {})

    def answer(self, requests: Requests) -> list[TagsAnswer]:
        """Tag the words of texts; those of more than `max_tokens` words are read in windows.

        Args:
            requests: strings, may be empty; or examples of a file, whose words are taken as they are.

        Returns:
            One answer a text, in order.

        Raises:
            DataError: naming the row, if a text is too long.
        """
        return self._answers(self.read(requests), whole=True)

    def _answers(self, corpus: Corpus, *, whole: bool) -> list[TagsAnswer]:
        """Tag the words of texts: all of them, or at most `max_tokens` of each, as the network reads them at a time."""
        reader = self.reading(in_whole(self.text)) if whole else self
        dataset, readings = reader.encode_examples(corpus.examples, corpus.source)
        if not len(dataset):
            return []
        tagged = self.tag(dataset)
        offsets = dataset.sides[0].offsets.tolist()
        spans_are_there = scheme_of(self.labels) != "plain"
        found = []
        for row, example in enumerate(corpus.examples):
            part = slice(offsets[row], offsets[row + 1])
            tags = tuple(self.labels[number] for number in tagged.numbers[part])
            probabilities = tuple(tagged.probabilities[part].tolist())
            _, places, text, words = self.words_of(example, len(tags))
            spans = role_spans(tags, probabilities, places, text) if spans_are_there else ()
            unknown, cut = int(readings.unknown[row]), bool(readings.truncated[row])
            found.append(TagsAnswer(words, places, tags, probabilities, spans, unknown, cut))
        return found

    def explain(
        self,
        request: Text | Corpus,
        *,
        method: str | None = None,
        samples: int = 50,
        seed: int = 0,
        word: int | str | None = None,
        why: str | None = None,
    ) -> Explanation:
        """Show what each word contributes to the tag of one of them, and what each word looked at.

        Args:
            request: one text.
            method: "contributions", "attention", "gradient", "integrated", "occlusion" or "shapley"; by default
                contributions.
            samples: random orders of the words for Shapley values.
            seed: of these orders.
            word: the word whose tag is explained, as the word or as its number from 1; by default the one whose tag is
                least certain.
            why: another tag of the word that is explained; by default its own.

        Returns:
            The record that the pictures are drawn from.

        Raises:
            UsageError: if a corpus does not hold exactly one example, the text has no words or not this one, or there
                is no such method.
        """
        corpus = self.one(request)
        (answer,) = self._answers(corpus, whole=False)
        if not answer.words:
            raise UsageError("the text has no words, so there is nothing to explain")
        dataset, _ = self.encode_examples(corpus.examples, corpus.source)
        batch = self.padded(dataset, np.array([0]))
        said = answer.in_a_line()
        found = self.explained(batch, corpus.examples[0], answer.tags, said, truncated=answer.truncated)
        from heedful.tasks.words.tagging import explain_tag

        chosen = MethodChoice(method, Sampling(samples, seed), why)
        words = self.words_of(corpus.examples[0], len(answer.tags)).words
        return explain_tag(self, found, words, answer, batch, chosen, word)


class TagsTask(WordTask[WordTagDataset, TagsModel, TagsAnswer]):
    """One tag a word."""

    name, noun = "tags", "tags of words"
    dataset_type, model_type = WordTagDataset, TagsModel
    kept = "counts"
    has_tag_part = chooses_by_folds = True
    metrics = ("f1", "accuracy", "macro_f1", "precision", "recall")
    uses = WORDS - {"model.pretrained"} | {
        "train.label_smoothing",
        "model.wide",
        "model.sentence",
        "data.few_rows",
    }
    options = frozenset({"conll"})
    question = "which tag each word of a text has"
    usage = 'model.predict(["a text"])'
    header = TAGS.header
    shows_texts = False

    def measured(self, text: TextSettings) -> TextSettings:
        """See `WordTask.measured`: every word of a text counts, however long it is."""
        return in_whole(text)

    def problems(self, config: RunConfig) -> list[str]:
        """See `Task.problems`: plain tags and spans are not measured by all the same metrics."""
        if config.data.truncate in ("drop", "window"):
            return [
                f'data.truncate = "{config.data.truncate}" is for texts and pairs; model.task is {self.name!r}'
            ]
        if config.train.metric in ("macro_f1", "precision", "recall"):
            return [
                'train.metric: tags are selected by "f1" or "accuracy", which plain tags and spans both have'
            ]
        return []

    def files(self, names: Mapping[str, str], data: DataConfig, root: Path | None) -> Files:
        """See `Task.files`."""
        read = check_options(data.options, read_tags, "files of tags", ("gold",))
        paths, fingerprint = one_file_a_part(names, root)
        return Files(lambda: {part: read(path) for part, path in paths.items()}, fingerprint)

    def read_gold(self, model: TagsModel, file: Path, given: Mapping[str, object]) -> Corpus:
        """See `Task.read_gold`; the file is read as the training file was."""
        return check_options(model.options(), read_tags, "files of tags", ("gold",))(file)

    def request_files(self, model: TagsModel) -> RequestFiles:
        """See `Task.request_files`: files of words."""
        return files_of_words(model.options())

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
        if isinstance(embedding, PretrainedEmbedding):
            raise UsageError(
                "model.pretrained: task 'tags' tags words, not word pieces; use word vectors (text.vectors)"
            )
        reader = WordReader(embedding, build_encoder(config, embedding.width))
        return WordTagger(reader, config.outputs, dropout=config.dropout)

    def encode(
        self, corpus: TokenisedCorpus, vocabulary: AnyVocabulary, labels: tuple[str, ...], text: TextSettings
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
        return collate_word_tags(dataset, rows)

    def objective(self, config: RunConfig, model: TagsModel) -> Objective:
        """See `Task.objective`: the mean cross-entropy of the words."""
        return partial(_loss, smoothing=config.train.label_smoothing)

    def measure(self, model: TagsModel, dataset: WordTagDataset) -> Report:
        """See `Task.measure`."""
        if dataset.tags is None or not len(dataset.tags.values):
            raise UsageError(
                "there are no gold labels to evaluate against: the file must hold the tags of its words"
            )
        started = time.perf_counter()
        numbers = model.tag(dataset).numbers
        return self._report(model, dataset, numbers, time.perf_counter() - started)

    def _report(
        self, model: TagsModel, dataset: WordTagDataset, numbers: NDArray[np.int64], seconds: float
    ) -> Report:
        assert dataset.tags is not None  # the caller looked
        answers = Ragged(numbers.astype(np.int32), dataset.tags.offsets)
        gold, answered = (
            [[dataset.labels[tag] for tag in part[row]] for row in range(len(part))]
            for part in (dataset.tags, answers)
        )
        return evaluate_tags(
            gold,
            answered,
            dataset.labels,
            groups=group_of_each(dataset),
            lengths=dataset.lengths(),
            seconds=seconds,
            notes={
                **notes_of(dataset),
                "tags of the gold that the model does not know": len(dataset.labels) - len(model.labels),
            },
        )

    def untrained(self, config: RunConfig, prepared: Prepared[WordTagDataset, Words]) -> TagsModel:
        """See `Task.untrained`."""
        model = super().untrained(config, prepared)
        model.text = replace(model.text, phrases=PhraseRule(), keeps_words=config.model.wide != "none")
        return model

    def begin(self, config: RunConfig, model: TagsModel, datasets: Mapping[str, WordTagDataset]) -> None:
        """See `Task.begin`: fit the linear part, in the strength that dev chooses, or cross-validation."""
        if config.model.wide == "none":
            return
        training, seed = tag_gold(datasets["train"], len(model.labels)), config.train.seed
        vectors = word_vectors(config)
        if "dev" in datasets and len(training.texts) >= config.data.few_rows:
            held = tag_gold(datasets["dev"], len(model.labels))
            model.joining = fit_on_dev(training, held, model.labels, vectors, seed)
            return
        folds = cross_folds(rarest_tags(training), [tuple(text) for text in training.texts], FOLDS, seed)
        found = fit_by_folds(training, folds, model.labels, vectors, seed)
        model.about = replace(model.about, tagging=found.part)
        model.nested = found.tags

    def judge(self, model: TagsModel, dev: WordTagDataset) -> Mapping[str, float]:
        """See `Task.judge`: the network with the linear part, and by itself."""
        if model.joining is None:
            return super().judge(model, dev)
        network = model.network_logits(dev)
        joined = model.joining.join(network)
        found = self._report(model, dev, model.joining.tags(network, joined), 0.0).metrics
        return {**found, **joined.shares()}

    def calibrate(self, model: TagsModel, datasets: Mapping[str, WordTagDataset]) -> None:
        """See `Task.calibrate`: let the linear part join, with the weights under which dev is likeliest."""
        if model.joining is None:
            return
        joining, dev = model.joining, datasets["dev"]
        network = None if model.model.encoder == NO_NETWORK else model.network_logits(dev)
        joined = joining.join(network)
        figures = {"linear part": joining.tags(None, joining.join(None))}
        if network is not None:
            figures = {"network": model.tag(dev).numbers, **figures}
        figures["together"] = joining.tags(network, joined)
        model.joined_note = self._note(model, dev, figures, joined)
        _log.info("%s", model.joined_note)
        with torch.no_grad():
            for values in model.network.output.parameters():
                values.mul_(joined.network)
        model.about = replace(model.about, tagging=joining.part.scaled(joined.words, joined.chain))
        model.joining = None

    def _note(
        self,
        model: TagsModel,
        dev: WordTagDataset,
        answers: Mapping[str, NDArray[np.int64]],
        joined: JoinedTags,
    ) -> str:
        """Say what each part reaches alone, and with which weight it joins."""
        f1 = {name: self._report(model, dev, numbers, 0.0).metrics["f1"] for name, numbers in answers.items()}
        weights = {"network": joined.network, "linear part": joined.words}
        own = ", ".join(
            f"{name} f1 {f1[name]:.3f} (weight {weights[name]:.3g})" for name in f1 if name in weights
        )
        return f"Parts, each alone on dev: {own}; together f1 {f1['together']:.3f}, chain {joined.chain:.3g}."

    def held_out(self, model: TagsModel, datasets: Mapping[str, WordTagDataset]) -> Report:
        """See `Task.held_out`: dev, or without it every training sentence by cross-validation."""
        nested, model.nested = model.nested, None
        if "dev" in datasets:
            return self.measure(model, datasets["dev"])
        assert nested is not None  # without dev, cross-validation chose
        return self._report(model, datasets["train"], nested, 0.0)

    def rows(self, answer: TagsAnswer) -> Iterable[list[str]]:
        """See `Task.rows`; the probability is the mean over the words."""
        yield TAGS.cells(answer)


def tag_gold(dataset: WordTagDataset, known: int) -> TagGold:
    """Return the words and tags of a data set, as the linear part learns them.

    Args:
        dataset: sentences with gold.
        known: how many tags the model knows.

    Returns:
        The sentences.
    """
    assert dataset.tags is not None  # what is trained on has gold
    return TagGold(texts_of(dataset), gold_tags(dataset.tags.values, known))


def rarest_tags(gold: TagGold) -> NDArray[np.int64]:
    """Return for each sentence the number of its rarest tag, by which folds are evened; 0 for one without words."""
    counts = np.bincount(gold.tags, minlength=1)
    offsets = np.cumsum([0, *map(len, gold.texts)])
    own = (gold.tags[start:end] for start, end in pairwise(offsets))
    return np.array([tags[counts[tags].argmin()] if len(tags) else 0 for tags in own], np.int64)


def word_vectors(config: RunConfig) -> WordVectors | None:
    """Return the word vectors that the linear part reads, as ``model.sentence`` says; None for none."""
    name = config.text.vectors if package_of(config.text.vectors) else package_of(ENGLISH)
    if config.model.sentence != "mean" or not name:
        return None
    return WordVectors(MeanOfVectors.packaged(name))


def in_whole(text: TextSettings) -> TextSettings:
    """Return how texts are read if every word is to have a tag: none is cut, unless long ones are refused."""
    return replace(text, truncate="window") if text.truncate == "head" else text


def _loss(output: NetworkOutput, targets: Tensor, smoothing: float) -> Tensor:
    return with_policy(tag_loss(output.logits, targets, smoothing), output.policies)
