"""Who does what to whom around each predicate of a text."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from heedful.data.examples import Corpus, Ragged
from heedful.data.readers.reading import RequestFiles
from heedful.data.readers.role_columns import read_role_columns
from heedful.data.readers.role_files import ROLE_SUFFIXES, read_roles
from heedful.data.role_frames import NOT_COUNTED, TaggedDataset, collate_frames, encode_frames
from heedful.data.tokens import TokenizedCorpus
from heedful.errors import DataError, UsageError
from heedful.evaluation import Report, RoleCounts, compare_frames, evaluate_roles
from heedful.evaluation.role_counts import PREDICATE, arguments_of
from heedful.models import ModelConfig, Network, TaggerNetwork, build_encoder
from heedful.models.tagger import PredicateFinder, TaggedReader
from heedful.nn import Embedding, PretrainedEmbedding
from heedful.nn.losses import role_loss
from heedful.nn.policy import with_policy
from heedful.storage.fields import Fields
from heedful.structures import NetworkOutput, TaggedBatch, TaggerOutput
from heedful.tasks.prepared import Files
from heedful.tasks.roles.role_model import RolePredictor
from heedful.tasks.roles.role_predicates import RoleAnswer
from heedful.tasks.schema import TextSettings
from heedful.tasks.sentences.report_inputs import group_of_each, notes_of
from heedful.tasks.sentences.used_settings import WORDS
from heedful.tasks.tables import check_options, one_file_a_part
from heedful.tasks.words.reading_settings import refuse_leaving_out
from heedful.tasks.words.word_task import WordTask
from heedful.text.bio import begin_numbers, bio_tags, role_of
from heedful.text.vocabulary import AnyVocabulary
from heedful.training.step import Objective

if TYPE_CHECKING:
    from heedful.explain import Explanation
    from heedful.run.run_config import DataConfig, RunConfig

NO_PREDICATE = "-"
"""What stands in the column of the predicate where a text has none."""


class RolesTask(WordTask[TaggedDataset, RolePredictor, RoleAnswer]):
    """Semantic role labeling: examples are predicates, gold is one tag a word."""

    name, noun = "roles", "semantic roles"
    dataset_type, model_type = TaggedDataset, RolePredictor
    kept = "counts"
    metrics = ("f1", "precision", "recall", "complete", "predicate_f1")
    uses = WORDS - {"model.pretrained", "model.start"} | {"model.tagger"}
    options = frozenset({"predicates", "conll"})
    question = "who does what to whom around each predicate of a text, with the tags"
    usage = 'model.answer(["a text"])'
    hub_task = "token-classification"
    header = ("predicate", "probability", "warnings", "roles")
    shows_texts = False

    def problems(self, config: RunConfig) -> list[str]:
        """See `Task.problems`: a long sentence is cut or refused, never left out."""
        return refuse_leaving_out(config, self.name)

    def files(self, names: Mapping[str, str], data: DataConfig, root: Path | None) -> Files:
        """See `Task.files`."""
        check_options(data.options, read_role_columns, "files of semantic roles")
        return one_file_a_part(
            names,
            root,
            lambda paths: {part: read_roles(path, **data.options) for part, path in paths.items()},
        )

    def read_gold(self, model: RolePredictor, file: Path, options: Mapping[str, object]) -> Corpus:
        """See `Task.read_gold`."""
        return model.read_file(file)

    def request_files(self, model: RolePredictor) -> RequestFiles:
        """See `Task.request_files`: files that name the predicates."""
        return RequestFiles(ROLE_SUFFIXES, model.read_file)

    def collect_labels(self, corpus: Corpus) -> tuple[str, ...]:
        """See `Task.collect_labels`: O, and B and I of every role."""
        frames = [f for e in corpus.examples if isinstance(e.target, tuple) for f in e.target]
        roles = {role_of(tag) for frame in frames for tag in frame.tags} - {""}
        if not roles:
            raise DataError(f"{corpus.source or 'training data'}: there are no predicates with roles in it")
        return bio_tags(roles)

    def label_problem(self, labels: Sequence[str]) -> str:
        """See `WordTask.label_problem`."""
        try:
            begin_numbers(labels)
        except KeyError as error:
            return f"a tag that goes on with a role needs the one that begins it: {error}"
        return ""

    def network(self, config: ModelConfig, embedding: Embedding) -> Network:
        """See `WordTask.network`."""
        if isinstance(embedding, PretrainedEmbedding):
            raise UsageError(
                "model.pretrained: task 'roles' tags words, not word pieces; use word vectors (text.vectors)"
            )
        encoder = build_encoder(config, TaggedReader.vector_width(embedding.width, config.tagger))
        finder = PredicateFinder(embedding.width, config.tagger.finder_hidden, dropout=config.dropout)
        return TaggerNetwork(TaggedReader(embedding, encoder, config.tagger), finder, config.outputs)

    def encode(
        self, corpus: TokenizedCorpus, vocabulary: AnyVocabulary, labels: tuple[str, ...], text: TextSettings
    ) -> TaggedDataset:
        """See `WordTask.encode`."""
        return encode_frames(corpus, vocabulary, labels, max_tokens=text.max_tokens, truncate=text.truncate)

    def read(self, model: RolePredictor, corpus: Corpus, folder: Path | None = None) -> TaggedDataset:
        """See `Task.read`; counts what the limit on length takes from the gold."""
        tokenized = model.tokenize(corpus.examples, corpus.source, folder)
        dataset = self.encode(tokenized, model.vocabulary, model.labels, model.text)
        return replace(dataset, cut_off=_cut_off(tokenized, model.text.max_tokens))

    def collate(self, dataset: TaggedDataset, rows: NDArray[np.int64]) -> TaggedBatch:
        """See `Task.collate`."""
        return collate_frames(dataset, rows)

    def objective(self, config: RunConfig, model: RolePredictor) -> Objective:
        """Return the loss with the settings' smoothing; see `Task.objective`."""
        return partial(_loss, smoothing=config.model.tagger.label_smoothing)

    def answer(
        self, model: RolePredictor, corpus: Corpus, options: Mapping[str, object]
    ) -> Sequence[RoleAnswer]:
        """See `Task.answer`; ``--predicates`` names the predicates."""
        named = _named_predicates(options)
        return model.answer(corpus, model.places(corpus, named) if named else None)

    def explain(self, model: RolePredictor, corpus: Corpus, options: Mapping[str, object]) -> Explanation:
        """See `Task.explain`; one predicate is shown, the first one or that of ``--predicates``."""
        named = _named_predicates(options)
        if not named:
            return model.explain(corpus)
        (places,) = model.places(model.one(corpus), named)
        if len(places) != 1:
            raise UsageError(
                f"--predicates {named[0]!r}: explain shows one predicate at a time; name one, by its number"
            )
        return model.explain(corpus, places[0])

    def rows(self, answer: RoleAnswer) -> Iterable[list[str]]:
        """See `Task.rows`; one row a predicate."""
        for frame in answer.predicates:
            yield [frame.word, f"{frame.probability:.3f}", answer.remarks, answer.bracketed(frame)]
        if not answer.predicates:
            yield [NO_PREDICATE, "", answer.remarks, " ".join(answer.words)]

    def measure(self, model: RolePredictor, dataset: TaggedDataset) -> Report:
        """See `Task.measure`."""
        if dataset.tags is None:
            raise UsageError(
                "there are no gold labels to evaluate against: the file must hold the roles of its predicates"
            )
        asked = dataset.select(np.flatnonzero(dataset.predicates >= 0))
        if not len(asked):
            raise UsageError("there are no gold labels to evaluate against: the file has no predicates")
        started = time.perf_counter()
        answered = model.tag(asked)
        predicates = _predicates(model, dataset)
        seconds = time.perf_counter() - started
        gold, answers = (
            cast(Ragged, asked.tags),
            Ragged(answered.astype(np.int32), asked.sides[0].offsets),
        )
        outcomes = [
            compare_frames(
                [asked.labels[tag] for tag in gold[row]], [model.labels[tag] for tag in answers[row]]
            )
            for row in range(len(asked))
        ]
        predicates_cut, arguments_cut = dataset.cut_off
        unknown = sum(label.startswith("B-") for label in asked.labels[len(model.labels) :])
        return evaluate_roles(
            outcomes,
            predicates,
            groups=group_of_each(asked),
            lengths=asked.lengths(),
            seconds=seconds,
            notes={
                **notes_of(asked, model.knows),
                "predicates of the gold cut off": predicates_cut,
                "arguments of the gold cut off or shortened": arguments_cut,
                "roles of the gold that the model does not know": unknown,
            },
        )


def _loss(output: NetworkOutput, targets: Tensor, smoothing: float) -> Tensor:
    found = cast(TaggerOutput, output).predicate_logits
    assert found is not None  # a tagger always gives them
    return with_policy(role_loss(output.logits, found, targets, smoothing), output.policies)


def _cut_off(corpus: TokenizedCorpus, longest: int) -> tuple[int, int]:
    """Count the predicates that lie behind a limit on length, and the arguments that are not read to their end."""
    targets = (target for target in corpus.targets if isinstance(target, tuple))
    frames = [frame for target in targets for frame in target if frame.tags]
    cut = [
        argument
        for frame in frames
        if len(frame.tags) > longest
        for argument in arguments_of(frame.tags)
        if argument.role != PREDICATE and argument.pieces[-1][1] > longest
    ]
    return sum(frame.predicate >= longest for frame in frames), len(cut)


def _predicates(model: RolePredictor, dataset: TaggedDataset) -> RoleCounts:
    """Count the words that were found to be predicates, each sentence once."""
    _, first = np.unique(dataset.sentences, return_index=True)
    sentences = dataset.select(first)
    gold = cast(Ragged, sentences.found).values
    wanted = gold == 1
    found = (model.find(sentences) >= model.threshold) & (gold != NOT_COUNTED)
    return RoleCounts(int((wanted & found).sum()), int((found & ~wanted).sum()), int((wanted & ~found).sum()))


def _named_predicates(given: Mapping[str, object]) -> tuple[str, ...]:
    """Return what ``--predicates`` names; nothing where it is not given."""
    fields = Fields(given, "", "--", UsageError)
    return fields.texts("predicates") if "predicates" in fields else ()
