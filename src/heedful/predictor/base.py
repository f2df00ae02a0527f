"""What every model that takes text has: a network with its words, kept together in one folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.checkpoint import ModelFolder, save_model_folder
from heedful.data.encode import EncodedDataset, encode
from heedful.data.examples import Example
from heedful.data.parses import parse_if_possible
from heedful.data.tokens import TokenisedCorpus, tokenise_corpus
from heedful.errors import UsageError
from heedful.hugging_face import describe_encoder, rebuild_encoder
from heedful.models import ModelConfig, Network, build_network, build_on_encoder
from heedful.modules import PretrainedEmbedding
from heedful.predictor.batches import even_batches
from heedful.predictor.records import About, TextSettings
from heedful.predictor.saved import SavedModel, refuse_rounded
from heedful.text.pieces import AnyVocabulary, PieceVocabulary, vocabulary_from_json


@dataclass(frozen=True)
class Readings:
    """How examples were read, beside their ids.

    Attributes:
        unknown: words of each example that the model does not know, [N] int64.
        truncated: whether a text of it was cut, [N] bool.
    """

    unknown: NDArray[np.int64]
    truncated: NDArray[np.bool_]


class TextModel(SavedModel):
    """A trained network with its words; a saved model folder is one of these and nothing more.

    Args:
        network: the network; put into evaluation mode.
        model: the settings it was built from.
        vocabulary: words to ids, or to pieces.
        labels: class names in the order of the network's outputs; empty where there are none.
        text: how text is read.
        about: what is kept with it.

    Attributes:
        tasks: what its network may answer, ``model.task``.
    """

    tasks: ClassVar[tuple[str, ...]]

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

    @property
    def device(self) -> torch.device:
        """Where the network is."""
        return next(self.network.parameters()).device

    def reading(self, text: TextSettings) -> Self:
        """Return a model with the same network that reads text in another way."""
        return type(self)(self.network, self.model, self.vocabulary, self.labels, text, self.about)

    def limited(self, max_tokens: int | None, truncate: Literal["error", "head"] | None) -> Self:
        """Return a model with another limit on the length of a text.

        Args:
            max_tokens: longest text, in tokens; None leaves it.
            truncate: what a longer text does: "error", or "head" to read its beginning; None leaves it.

        Returns:
            The model; the network is shared.

        Raises:
            UsageError: if the limit is below 1.
        """
        if max_tokens is not None and max_tokens < 1:
            raise UsageError(f"max_tokens must be 1 or more; got {max_tokens}")
        text = replace(self.text, max_tokens=max_tokens or self.text.max_tokens)
        return self.reading(replace(text, truncate=truncate or text.truncate))

    def tokenise(
        self, examples: Sequence[Example], source: Path | None = None, folder: Path | None = None
    ) -> TokenisedCorpus:
        """Cut examples into words, with their trees where the model was trained with a parser.

        Args:
            examples: texts, or pairs.
            source: the file they came from, for messages.
            folder: the folder of data sets, where the parser may be a file; None for ``HEEDFUL_DATA``.

        Returns:
            The words, in the order of the examples.
        """
        corpus = tokenise_corpus(examples, self.text.tokenizer, source)
        return parse_if_possible(corpus, self.text.parser, folder) if self.text.parser else corpus

    def encode_examples(
        self, examples: Sequence[Example], source: Path | None = None
    ) -> tuple[EncodedDataset, Readings]:
        """Tokenise and look up examples; every one stays, in order.

        Args:
            examples: texts, or pairs.
            source: the file they came from, for messages.

        Returns:
            The encoded examples without gold, and how they were read.

        Raises:
            DataError: naming the row, if a text is too long and may not be cut.
        """
        corpus = self.tokenise(examples, source)
        limit = self.text.max_tokens
        dataset = encode(corpus, self.vocabulary, kind="none", max_tokens=limit, truncate=self.text.truncate)
        known = np.fromiter(map(self.vocabulary.knows, corpus.words), bool, len(corpus.words))
        unknown = np.zeros(len(corpus), np.int64)
        read = dataset.words()
        for side, words in zip(corpus.sides, read.T, strict=True):
            kept = side.head(words)
            running = np.concatenate([[0], np.cumsum(~known[kept.values])])
            unknown += running[kept.offsets[1:]] - running[kept.offsets[:-1]]
        return dataset, Readings(unknown, np.any(corpus.lengths() > read, axis=1))

    def batches(self, dataset: EncodedDataset) -> list[NDArray[np.int64]]:
        """Cut a data set into batches of similar length, each as positions in it."""
        return even_batches(dataset.lengths(), self.text.eval_size)

    def save(self, path: Path) -> None:
        """Write the model folder.

        Args:
            path: the folder; an old one is replaced as a whole.

        Raises:
            OutputError: if it cannot be written; the old one stays.
            UsageError: if the model is at int8.
        """
        refuse_rounded(self.network)
        config = {
            "model": asdict(self.model),
            "text": asdict(self.text),
            "run": self.about.run,
            "temperature": self.about.temperature,
        }
        embedding = self.network.sentence_encoder.embedding
        if isinstance(embedding, PretrainedEmbedding):
            config["encoder"] = describe_encoder(embedding.encoder)
        save_model_folder(
            path,
            config=config,
            state=self.network.state_dict(),
            vocabulary=json.loads(self.vocabulary.to_json()),
            labels=list(self.labels),
            metrics=self.about.metrics,
            card=self.about.card,
        )

    @classmethod
    def _assemble(cls, folder: ModelFolder, path: Path) -> Self:
        model = ModelConfig.from_plain(folder.config["model"])
        text = TextSettings(**folder.config["text"])
        vocabulary = vocabulary_from_json(json.dumps(folder.vocabulary))
        network = _network(folder, model, vocabulary)
        network.load_state_dict(folder.state)
        temperature = folder.config.get("temperature", 1.0)  # older folders have none
        about = About(folder.config["run"], folder.metrics, folder.card, temperature)
        return cls(network, model, vocabulary, folder.labels, text, about)


def _network(folder: ModelFolder, model: ModelConfig, vocabulary: AnyVocabulary) -> Network:
    """Build the network that the folder's tensors belong to; a pretrained encoder needs nothing but the folder."""
    if isinstance(vocabulary, PieceVocabulary):
        encoder, rules = rebuild_encoder(folder.config["encoder"]), vocabulary.rules
        return build_on_encoder(model, encoder, start=rules.start, end=rules.end)
    trained = folder.state["sentence_encoder.embedding.weight"]
    return build_network(model, trained, folder.state["sentence_encoder.embedding.frozen"])
