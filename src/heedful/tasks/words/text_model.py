"""A trained network with its words: the part of a model that all tasks share whose texts are read as words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from heedful.data.encoding import EncodedDataset, encode, refuse_long
from heedful.data.examples import Corpus, Example
from heedful.data.parses import parse_if_possible
from heedful.data.tokens import TokenizedCorpus, tokenize_corpus
from heedful.export import describe
from heedful.model.decisions.reject import REJECT
from heedful.model.training_examples import EXAMPLES
from heedful.model.training_sums import SUMS
from heedful.models import ModelConfig, Network
from heedful.nn import PretrainedEmbedding
from heedful.runtime.column_part import COLUMNS
from heedful.runtime.sentence_features import MeanOfVectors
from heedful.runtime.sentence_part import SENTENCE
from heedful.runtime.tag_part import TAGGING
from heedful.storage.hugging_face import describe_encoder
from heedful.storage.model_folder import ModelFolder, save_model_folder
from heedful.tasks.saved_model import A_co, SavedModel, even_batches, refuse_rounded
from heedful.tasks.schema import About, TextSettings
from heedful.tasks.words.kept_parts import part_tensors, wide_tensors
from heedful.text.vocabulary import AnyVocabulary


@dataclass(frozen=True)
class Readings:
    """How examples were read, beside their ids.

    Attributes:
        unknown: words of each example that the model does not know, [N] int64.
        truncated: whether a text of it was cut, [N] bool.
    """

    unknown: NDArray[np.int64]
    truncated: NDArray[np.bool_]


class TextModel(SavedModel[A_co]):
    """A trained network with its words.

    Args:
        network: the network; put into evaluation mode.
        model: the settings it was built from.
        vocabulary: words to ids, or to pieces.
        labels: class names in the order of the network's outputs; empty where there are none.
        text: how text is read.
        about: what is kept with it.

    Attributes:
        file_vectors: the vectors of a file that linear parts read; only in training.
        reads_whole: whether texts beyond the word pieces of a pretrained encoder are read in windows.
    """

    network: Network
    reads_whole: ClassVar[bool] = False
    file_vectors: MeanOfVectors | None = None

    def __init__(
        self,
        network: Network,
        model: ModelConfig,
        vocabulary: AnyVocabulary,
        labels: Sequence[str],
        text: TextSettings,
        about: About | None = None,
    ) -> None:
        self.network = network.eval()
        self.about = about or About()
        self.model, self.vocabulary, self.labels, self.text = model, vocabulary, tuple(labels), text

    def reading_as(self, text: TextSettings) -> Self:
        """See `SavedModel.reading_as`."""
        return type(self)(self.network, self.model, self.vocabulary, self.labels, text, self.about)

    def knows(self, word: str) -> bool:
        """Return whether the network or a part beside it has a vector of a word."""
        return self.vocabulary.knows(word) or self.about.parts.knows(word)

    def tokenize(
        self, examples: Sequence[Example], source: Path | None = None, folder: Path | None = None
    ) -> TokenizedCorpus:
        """Cut examples into words, with their trees where the model was trained with a parser.

        Args:
            examples: texts, or pairs.
            source: the file they came from, for messages.
            folder: the folder of data sets, where the parser may be a file; None for ``HEEDFUL_DATA``.

        Returns:
            The words, in the order of the examples.
        """
        corpus = tokenize_corpus(examples, self.text.cutter, source)
        return parse_if_possible(corpus, self.text.parser, folder) if self.text.parser else corpus

    def encode_examples(
        self, examples: Sequence[Example], source: Path | None = None
    ) -> tuple[EncodedDataset, Readings]:
        """Tokenize and look up examples; every one stays, in order.

        Args:
            examples: texts, or pairs.
            source: the file they came from, for messages.

        Returns:
            The encoded examples without gold, and how they were read.

        Raises:
            DataError: naming the row, if a text is too long and may not be cut.
        """
        corpus = self.tokenize(examples, source)
        limit = self.text.max_tokens
        text = self.text
        dataset = encode(
            corpus,
            self.vocabulary,
            max_tokens=limit,
            truncate=text.truncate,
            phrases=text.phrases,
            keeps_words=text.keeps_words,
            whole=self.reads_whole,
        )
        known = np.fromiter(map(self.knows, corpus.words), bool, len(corpus.words))
        unknown = np.zeros(len(corpus), np.int64)
        read = dataset.words()
        for side, words in zip(corpus.sides, read.T, strict=True):
            kept = side.head(words)
            running = np.concatenate([[0], np.cumsum(~known[kept.values])])
            unknown += running[kept.offsets[1:]] - running[kept.offsets[:-1]]
        return dataset, Readings(unknown, np.any(corpus.lengths() > read, axis=1))

    def refuse_long(self, corpus: Corpus) -> None:
        """See `SavedModel.refuse_long`; nothing is parsed."""
        text = self.text
        if text.truncate == "error":
            refuse_long(corpus, self.vocabulary, text.cutter, text.max_tokens)

    def batches(self, dataset: EncodedDataset) -> list[NDArray[np.int64]]:
        """Cut a data set into batches of similar length, each as positions in it."""
        return even_batches(dataset.lengths(), self.text.eval_size)

    def complete(self) -> Self:
        """Return the same model, of which a folder needs no package beside it for what it reads."""
        made, sentence, tagging = self.reading_as(self.text), self.about.sentence, self.about.tagging
        made.about = replace(
            self.about,
            sentence=None if sentence is None else sentence.complete(),
            tagging=None if tagging is None else tagging.complete(),
        )
        return made

    def save(self, path: Path) -> None:
        """See `SavedModel.save`."""
        refuse_rounded(self.network)
        config = {
            "model": asdict(self.model),
            "text": asdict(self.text),
            "run": self.about.run,
            "temperature": self.about.temperature,
            "network": describe(self.network),
        }
        if self.about.wide is not None:
            config["wide"] = self.about.wide.weight
        if self.about.sentence is not None:
            config[SENTENCE] = self.about.sentence.table()
        if self.about.tagging is not None:
            config[TAGGING] = self.about.tagging.table()
        if self.about.examples is not None:
            config[EXAMPLES] = self.about.examples.table()
        if self.about.sums is not None:
            config[SUMS] = self.about.sums.table()
        if self.about.columns is not None:
            config[COLUMNS] = self.about.columns.table()
        if self.about.costs:
            config["costs"] = [list(row) for row in self.about.costs]
        if self.about.reject is not None:
            config[REJECT] = self.about.reject.table()
        embedding = self.network.sentence_encoder.embedding
        if isinstance(embedding, PretrainedEmbedding):
            config["encoder"] = describe_encoder(embedding.encoder)
        content = ModelFolder(
            config=config,
            state={
                **self.network.state_dict(),
                **wide_tensors(self.about.wide),
                **part_tensors(self.about.sentence),
                **part_tensors(self.about.tagging),
                **part_tensors(self.about.examples),
                **part_tensors(self.about.familiar),
                **part_tensors(self.about.columns),
                **part_tensors(self.about.sums),
            },
            vocabulary=self.vocabulary.to_plain(),
            labels=list(self.labels),
            metrics=self.about.metrics,
            card=self.about.card,
        )
        save_model_folder(path, content)
