"""Texts to vectors: a sentence encoder, which answers with the names of labels once it is given some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, overload

import numpy as np
from numpy.typing import NDArray

from heedful.data.batching import collate
from heedful.data.encoding import EncodedDataset
from heedful.data.examples import Corpus, Example
from heedful.data.tokens import TokenizedCorpus
from heedful.errors import UsageError
from heedful.evaluation import Report
from heedful.model.answers import Answer
from heedful.model.decisions.named_labels import NamedLabels
from heedful.models import JoinedEncoder, ModelConfig, Network, SentenceVectorNetwork, build_sentence_encoder
from heedful.nn import Embedding
from heedful.nn.pooling import SourceToToken
from heedful.runtime.sentence_vectors import similarity, words_of_texts
from heedful.settings import Settings, at_least, ranged
from heedful.structures import Batch
from heedful.tasks.prepared import Files
from heedful.tasks.saved_model import as_corpus
from heedful.tasks.schema import TextSettings
from heedful.tasks.sentences.sentence_model import SentenceModel
from heedful.tasks.sentences.used_settings import SENTENCES
from heedful.tasks.tables import TEXT, TableRoles
from heedful.tasks.words.word_task import WordTask
from heedful.text.vocabulary import AnyVocabulary, Vocabulary
from heedful.training.step import Objective

if TYPE_CHECKING:
    from heedful.run.run_config import DataConfig, RunConfig

_NOT_TRAINED = (
    "model.task='vector' learns from the vectors of another encoder, not from labels, so this command cannot train or "
    "measure it; docs/sentence-vectors.md says how en-sentences was made"
)


@dataclass(frozen=True)
class VectorOptions(Settings):
    """Settings of the task itself, ``[model.task_options]``.

    Attributes:
        pooled_hidden: hidden units of source2token pooling; 0 for as many as the states have features. With fewer, a
            text is read faster.
    """

    pooled_hidden: int = ranged(0, at_least(0))


class VectorModel(SentenceModel[Answer]):
    """A network that turns texts into vectors of unit length; see `TextModel` for the arguments.

    Attributes:
        named: turns vectors into answers; it has names once `with_labels` gave some.
    """

    network: SentenceVectorNetwork
    named: NamedLabels = NamedLabels(())

    @property
    def decision(self) -> NamedLabels:
        """See `SentenceModel.decision`: the label whose name is most like the text."""
        return self.named

    def encode(self, texts: Sequence[str] | Corpus) -> NDArray[np.float32]:
        """Turn texts into vectors of unit length.

        Args:
            texts: strings.

        Returns:
            One vector a text, [N, D]; exactly zero for a text without words.

        Raises:
            ArtifactError: naming the text, if the network gives a number that is not finite.
        """
        return self.logits(as_corpus(texts, pair=False))

    @overload
    def similarity(self, first: str, second: str) -> float: ...
    @overload
    def similarity(
        self, first: list[str] | tuple[str, ...], second: list[str] | tuple[str, ...]
    ) -> NDArray[np.float32]: ...
    def similarity(
        self, first: str | Sequence[str], second: str | Sequence[str]
    ) -> float | NDArray[np.float32]:
        """Return the cosines of texts; see `heedful.runtime.SentenceVectors.similarity`."""
        return similarity(self.encode, first, second)

    def states(self, words: Sequence[Sequence[str]]) -> NDArray[np.float32]:
        """Return the states before the last layer; see `heedful.runtime.SentenceVectors.states`."""
        limit, vocabulary = self.text.max_tokens, self.vocabulary
        known = vocabulary.without_ngrams if isinstance(vocabulary, Vocabulary) else tuple
        cut = [Example((" ".join(text),), words=(known(text[:limit]),)) for text in words_of_texts(words)]
        return super().encode(Corpus(cut))

    def with_labels(self, names: Sequence[str], examples: Sequence[tuple[str, str]] = ()) -> VectorModel:
        """Return a model that answers with labels; see `heedful.runtime.SentenceVectors.with_labels`."""
        made = self.reading_as(self.text)
        made.named = NamedLabels.of(names, examples, self.encode, self.about.temperature)
        return made

    def reading_as(self, text: TextSettings) -> VectorModel:
        """See `SavedModel.reading_as`; the labels stay."""
        made = super().reading_as(text)
        made.named = self.named
        return made


class VectorTask(WordTask[EncodedDataset, VectorModel, Answer]):
    """A vector of unit length for a text."""

    name = "vector"
    dataset_type, model_type = EncodedDataset, VectorModel
    table: ClassVar[TableRoles] = TableRoles(TEXT, "label")
    metrics = ("spearman",)
    uses = SENTENCES | table.settings | {"model.outputs", "model.task_options"}
    settings = VectorOptions
    options = table.options
    question, usage = "a vector for a text", 'model.encode(["a text", "another text"])'
    hub_task = "sentence-similarity"

    def problems(self, config: RunConfig) -> list[str]:
        """See `Task.problems`: there is nothing that `heedful train` could learn from."""
        return [_NOT_TRAINED]

    def collect_labels(self, corpus: Corpus) -> tuple[str, ...]:
        """See `Task.collect_labels`: there are none."""
        return ()

    def files(self, names: Mapping[str, str], data: DataConfig, root: Path | None) -> Files:
        """See `Task.files`."""
        return self.table.files(names, data, root, self.collect_labels)

    def encode(
        self, corpus: TokenizedCorpus, vocabulary: AnyVocabulary, labels: tuple[str, ...], text: TextSettings
    ) -> EncodedDataset:
        """See `WordTask.encode`."""
        raise UsageError(_NOT_TRAINED)

    def collate(self, dataset: EncodedDataset, rows: NDArray[np.int64]) -> Batch:
        """See `Task.collate`."""
        return collate(dataset, rows)

    def read_gold(self, model: VectorModel, file: Path, options: Mapping[str, object]) -> Corpus:
        """See `Task.read_gold`."""
        raise UsageError(_NOT_TRAINED)

    def named_outputs(self, model: ModelConfig) -> int:
        """See `WordTask.named_outputs`: features have no names."""
        return 0

    def fitted(self, model: ModelConfig, labels: tuple[str, ...]) -> ModelConfig:
        """See `WordTask.fitted`: the width of the vector is the user's choice."""
        return model

    def network(self, config: ModelConfig, embedding: Embedding) -> Network:
        """See `WordTask.network`."""
        encoder = JoinedEncoder.of(build_sentence_encoder(config, embedding))
        hidden, pooling = VectorOptions(**config.task_options).pooled_hidden, encoder.pooling
        if hidden and isinstance(pooling, SourceToToken):
            layer = pooling.hidden
            encoder.pooling = SourceToToken(
                pooling.width_in, hidden=hidden, activation=layer.activation, dropout=layer.dropout
            )
        return SentenceVectorNetwork(encoder, config.outputs)

    def objective(self, config: RunConfig, model: VectorModel) -> Objective:
        """See `Task.objective`."""
        raise UsageError(_NOT_TRAINED)

    def measure(self, model: VectorModel, dataset: EncodedDataset) -> Report:
        """See `Task.measure`."""
        raise UsageError(_NOT_TRAINED)
