"""A trained network with its words: the part of a model that all tasks share whose texts are read as words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.data.encoding import EncodedDataset, encode, refuse_long
from heedful.data.examples import Corpus, Example
from heedful.data.parses import parse_if_possible
from heedful.data.tokens import TokenizedCorpus, tokenize_corpus
from heedful.errors import UsageError
from heedful.export import describe
from heedful.model.decisions.reject import REJECT
from heedful.model.kept_examples import EXAMPLES, KeptExamples, read_kept_examples
from heedful.model.kept_sums import SUMS, KeptSums, read_kept_sums
from heedful.models import ModelConfig, Network
from heedful.nn import PretrainedEmbedding
from heedful.runtime.column_part import COLUMNS, ColumnPart, read_column_part
from heedful.runtime.familiar import FAMILIAR, Familiar, read_familiar
from heedful.runtime.loading import read_states
from heedful.runtime.sentence_features import MeanOfVectors
from heedful.runtime.sentence_part import SENTENCE, SentencePart, read_sentence_part
from heedful.runtime.tag_part import SHAPES, TAGGING, TagPart, read_tag_part
from heedful.storage.hugging_face import describe_encoder
from heedful.storage.model_folder import ModelFolder, save_model_folder
from heedful.tasks.saved_model import A_co, SavedModel, even_batches, refuse_rounded
from heedful.tasks.schema import About, TextSettings
from heedful.text.vocabulary import AnyVocabulary
from heedful.text.wide_part import PhraseRule, WidePart


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
                **_tensors(self.about.sentence),
                **_tensors(self.about.tagging),
                **_tensors(self.about.examples),
                **_tensors(self.about.familiar),
                **_tensors(self.about.columns),
                **_tensors(self.about.sums),
            },
            vocabulary=self.vocabulary.to_plain(),
            labels=list(self.labels),
            metrics=self.about.metrics,
            card=self.about.card,
        )
        save_model_folder(path, content)


_KINDS = {"numbers": torch.int32, "rarity": torch.float32, "weights": torch.float32, "bias": torch.float32}


def wide_tensors(part: WidePart | None) -> dict[str, Tensor]:
    """Return what a folder keeps of a wide part beside its rule and its weight; nothing where there is none."""
    if part is None:
        return {}
    return {f"wide.{name}": torch.from_numpy(getattr(part, name)) for name in _KINDS}


def _tensors(
    part: SentencePart | TagPart | KeptExamples | KeptSums | Familiar | ColumnPart | None,
) -> dict[str, Tensor]:
    """Return what a folder keeps of something beside the network; nothing where there is none."""
    found = {} if part is None else part.tensors()
    return {name: torch.from_numpy(each.copy()) for name, each in found.items()}


def take_familiar(
    state: dict[str, Tensor], table: Mapping[str, object], sentence: SentencePart | None
) -> Familiar | None:
    """Take what training texts were like out of the tensors of a folder; None where no rule of the table needs it."""
    if not table:
        return None
    found = read_familiar(_finder(state), None if sentence is None else sentence.features)
    for name in [name for name in state if name.startswith(f"{FAMILIAR}.")]:
        del state[name]
    return found


def take_columns(state: dict[str, Tensor], table: Mapping[str, object], outputs: int) -> ColumnPart:
    """Take the column part out of the tensors of a folder; see `take_sentence`."""
    part = read_column_part(table, _finder(state), outputs)
    for name in part.tensors():
        del state[name]
    return part


def _finder(state: Mapping[str, Tensor]) -> Callable[[str], NDArray[np.generic]]:
    """Return a function that finds a tensor by its name, or says that it is missing."""

    def tensor(name: str) -> NDArray[np.generic]:
        if name not in state:
            raise UsageError(f"tensor {name!r} is missing")
        found: NDArray[np.generic] = state[name].numpy()
        return found

    return tensor


def take_tagging(state: dict[str, Tensor], table: Mapping[str, object], outputs: int) -> TagPart:
    """Take the linear part of tags out of the tensors of a folder.

    Args:
        state: tensors by name; those of the part are removed.
        table: what config.json says of it.
        outputs: of the network.

    Returns:
        The part.

    Raises:
        UsageError: if something is missing or does not fit; see `read_tag_part`.
    """
    tensor = _finder(state)

    def floats(name: str) -> NDArray[np.float32]:
        if not np.issubdtype(tensor(name).dtype, np.floating):
            raise UsageError(f"tensor {name!r} holds {tensor(name).dtype}, expected real numbers")
        return tensor(name).astype(np.float32)

    part = read_tag_part(table, tensor, floats, outputs)
    for name in [name for name in state if name.startswith((f"{TAGGING}.", f"{SHAPES}."))]:
        del state[name]
    return part


def take_sentence(
    state: dict[str, Tensor], table: Mapping[str, object], outputs: int, texts: int
) -> SentencePart:
    """Take a sentence part out of the tensors of a folder.

    Args:
        state: tensors by name; those of the part are removed.
        table: what config.json says of it.
        outputs: of the network.
        texts: of an example.

    Returns:
        The part.

    Raises:
        UsageError: if something is missing or does not fit; see `read_sentence_part`.
    """
    tensor = _finder(state)
    part = read_sentence_part(table, tensor, outputs, texts, read_states)
    for name in [name for name in state if name.startswith(f"{SENTENCE}.")]:
        del state[name]
    return part


def take_examples(
    state: dict[str, Tensor], table: Mapping[str, object], texts: int, outputs: int
) -> KeptExamples:
    """Take the training examples out of the tensors of a folder.

    Args:
        state: tensors by name; those of the examples are removed.
        table: what config.json says of them.
        texts: of an example.
        outputs: of the network.

    Returns:
        The examples.

    Raises:
        UsageError: if something is missing or does not fit; see `read_kept_examples`.
    """
    found = read_kept_examples(table, _finder(state), texts, outputs)
    for name in [name for name in state if name.startswith(f"{EXAMPLES}.")]:
        del state[name]
    return found


def take_sums(state: dict[str, Tensor], table: Mapping[str, object], outputs: int) -> KeptSums:
    """Take the sums over training rows out of the tensors of a folder; see `take_examples`."""
    found = read_kept_sums(table, _finder(state), outputs)
    for name in [name for name in state if name.startswith(f"{SUMS}.")]:
        del state[name]
    return found


def take_wide(state: dict[str, Tensor], rule: PhraseRule, weight: float, outputs: int) -> WidePart:
    """Take a wide part out of the tensors of a folder.

    Args:
        state: tensors by name; those of the wide part are removed.
        rule: which features it reads.
        weight: what its logits are multiplied by.
        outputs: classes of the network.

    Returns:
        The part.

    Raises:
        UsageError: if a tensor is missing, of another kind, or does not fit the network.
    """
    tensors = {}
    for name, kind in _KINDS.items():
        tensor = state.pop(f"wide.{name}", None)
        if tensor is None or tensor.dtype != kind:
            raise UsageError(f"tensor 'wide.{name}' is missing or not {kind}")
        tensors[name] = tensor.numpy()
    part = WidePart(rule, weight=weight, **tensors)
    if part.outputs != outputs:
        raise UsageError(f"the wide part has {part.outputs} outputs, the network {outputs}")
    return part
