"""The engine of torch: networks with everything that they record, and their gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.data.batching import collate
from heedful.data.encoding import EncodedDataset, Truncate
from heedful.data.examples import Example
from heedful.explain.from_output import sight_of
from heedful.model.attention_records import Sight
from heedful.model.decisions.decision import finite
from heedful.model.engine import NO_NETWORK, Capability, Floats, Rows
from heedful.models import Network, VectorNetwork
from heedful.runtime.model_parts import ModelParts
from heedful.structures import Batch
from heedful.text.vocabulary import PieceVocabulary, mask_of
from heedful.text.wide_part import PhraseRule

if TYPE_CHECKING:
    from heedful.explain.attribution import Attribution
    from heedful.explain.explained_value import ExplainedValue
    from heedful.explain.methods.gradients import OnVectors
    from heedful.tasks.corpus_reading import EncodedExamples
    from heedful.tasks.saved_model import SavedModel
    from heedful.tasks.schema import TextSettings
    from heedful.tasks.sentences.sentence_model import SentenceModel
    from heedful.tasks.words.tags_model import TagsModel


@dataclass(frozen=True, eq=False)
class TorchEngine:
    """What torch computes of a model that answers in its own way; see `heedful.model.engine.Engine`.

    Attributes:
        model: the model.
    """

    model: SavedModel[Any]
    name: Literal["torch"] = "torch"
    is_exact: bool = False  # it adds up a batch in an order that depends on its size

    @property
    def can(self) -> frozenset[Capability]:
        """An explanation shows what the network looked at; there is no more."""
        return frozenset({"look"})

    @property
    def outputs(self) -> int:
        """How many logits there are."""
        return self.model.model.outputs

    @property
    def word_counts(self) -> None:
        """Nothing: torch keeps nothing of words."""
        return None

    @property
    def parts(self) -> ModelParts:
        """The linear models beside the network."""
        return self.model.about.parts

    @property
    def mask(self) -> str | None:
        """What stands in the place of a word that is left out."""
        vocabulary = getattr(self.model, "vocabulary", None)
        return None if vocabulary is None else mask_of(vocabulary)

    def run(self, block: Any) -> Rows:
        """See `Engine.run`."""
        raise NotImplementedError  # `Model.answered` is the model's own

    def look(self, block: Any) -> Sight:
        """See `Engine.look`."""
        raise NotImplementedError

    def of_words(self, examples: Sequence[Sequence[Sequence[str]]]) -> Rows:
        """See `Engine.of_words`."""
        raise NotImplementedError

    def unlike(self, block: Any) -> NDArray[np.float64]:
        """See `Engine.unlike`."""
        raise NotImplementedError  # only a model of classes can reject

    def gradients(
        self, block: Any, value: Any, place: int = 0, beside: NDArray[np.floating] | None = None
    ) -> Mapping[str, Callable[[], Any]]:
        """See `Engine.gradients`."""
        return {}


@dataclass(frozen=True, eq=False)
class SentenceEngine(TorchEngine):
    """What torch computes of a model of texts or pairs; a block is `EncodedExamples`."""

    model: SentenceModel[Any]

    @property
    def can(self) -> frozenset[Capability]:
        """See `Engine.can`; a network may refuse single features or a policy, which says why."""
        found: set[Capability] = {"look", "methods", "gradients", "features", "policy"}
        if isinstance(self.model.network, VectorNetwork) and self.model.encoder != NO_NETWORK:
            found.add("vectors")
        return frozenset(found)

    def run(self, block: EncodedExamples) -> NDArray[np.float32]:
        """See `Engine.run`."""
        return finite("prediction", self.model.run(block.dataset)[0])

    def unlike(self, block: EncodedExamples) -> NDArray[np.float64]:
        """See `Engine.unlike`."""
        assert block.dataset.kept is not None  # a model that rejects keeps the words
        return self.parts.unlike(block.dataset.kept.examples(range(len(block.dataset))))

    def look(self, block: EncodedExamples) -> Sight:
        """See `Engine.look`."""
        dataset, network = block.dataset, self.model.network
        added = len(network.prefix)
        pieces = tuple(_places(side[0], added) for side in dataset.places)
        lengths = [len(each) for each in pieces] or [added + n for n in dataset.words()[0].tolist()]
        found = looked(network, collate(dataset, np.array([0]), self.model.device), lengths)
        summary = network.sentence_encoder.embedding.summary_width > 0 if pieces else False
        return replace(found, pieces=pieces, prefix=tuple(network.prefix), has_summary=summary)

    def of_words(self, examples: Sequence[Sequence[Sequence[str]]]) -> NDArray[np.float32]:
        """See `Engine.of_words`."""
        cut: Truncate = "window" if self.model.text.truncate == "window" else "head"
        settings = replace(_as_words(self.model.text, cut), phrases=PhraseRule(), keeps_words=False)
        reader = self.model.reading_as(settings)
        texts = [Example(tuple(" ".join(words) for words in example)) for example in examples]
        return self.model.run_network(reader.encode_examples(texts)[0])[0]

    def gradients(
        self,
        block: EncodedExamples,
        value: ExplainedValue,
        place: int = 0,
        beside: NDArray[np.floating] | None = None,
    ) -> Mapping[str, Callable[[], Attribution]]:
        """See `Engine.gradients`; what stands beside the network is held fixed."""
        if self.model.encoder == NO_NETWORK:
            return {}
        added = self.model.beside(block.dataset)

        def explained(rows: Tensor) -> Tensor:
            from heedful.explain.methods.gradients import log_odds

            wide = rows.double() / value.temperature
            if value.kind == "class":
                return log_odds(wide, value)
            if value.kind == "grade":
                return wide.softmax(dim=-1) @ torch.arange(1.0, wide.shape[1] + 1, dtype=wide.dtype)
            return wide[:, value.column]

        def problem() -> OnVectors:
            from heedful.explain.methods.gradients import on_vectors

            fixed = 0 if added is None else torch.from_numpy(added).to(self.model.device)
            batch = collate(block.dataset, np.array([0]), self.model.device)
            return on_vectors(self.model.network, batch, lambda rows: explained(rows + fixed), value.of)

        return _by_gradients(problem)


@dataclass(frozen=True, eq=False)
class TaggingEngine(TorchEngine):
    """What torch computes of a model of tags; a block is `EncodedExamples`."""

    model: TagsModel

    @property
    def can(self) -> frozenset[Capability]:
        """See `Engine.can`; the vectors of a pretrained encoder are those of pieces, not of words."""
        pieces = isinstance(self.model.vocabulary, PieceVocabulary)
        return frozenset({"look", "methods"} if pieces else {"look", "methods", "gradients"})

    def run(self, block: EncodedExamples) -> list[Floats]:
        """See `Engine.run`."""
        return self.model.word_logits(block.dataset)

    def look(self, block: EncodedExamples) -> Sight:
        """See `Engine.look`."""
        batch = self.model.padded(block.dataset, np.array([0]))
        return looked(self.model.network, batch, [int(block.dataset.words()[0, 0])])

    def of_words(self, examples: Sequence[Sequence[Sequence[str]]]) -> list[Floats]:
        """See `Engine.of_words`."""
        if self.model.encoder == NO_NETWORK:
            return [np.zeros((len(words), self.model.model.outputs), np.float32) for (words,) in examples]
        dataset = self._encoded([words for (words,) in examples])
        found: list[Floats] = [np.zeros((0, 0), np.float32)] * len(examples)
        for rows, logits in self.model.network_logits(dataset):
            for row, own in zip(rows.tolist(), logits, strict=True):
                found[row] = own
        return found

    def gradients(
        self,
        block: EncodedExamples,
        value: ExplainedValue,
        place: int = 0,
        beside: NDArray[np.floating] | None = None,
    ) -> Mapping[str, Callable[[], Attribution]]:
        """See `Engine.gradients`; the number is one of the tags of the word at a place."""
        model = self.model
        if model.encoder == NO_NETWORK or "gradients" not in self.can:
            return {}

        def problem() -> OnVectors:
            from heedful.explain.methods.gradients import log_odds, on_vectors

            fixed = 0 if beside is None else torch.from_numpy(beside).to(model.device)
            batch = model.padded(block.dataset, np.array([0]))

            def odds(rows: Tensor) -> Tensor:
                return log_odds(rows[:, place].double() + fixed, value)

            return on_vectors(model.network, batch, odds, value.of)

        return _by_gradients(problem)

    def _encoded(self, texts: Sequence[Sequence[str]]) -> EncodedDataset:
        """Return texts whose words are given as they are."""
        reader = self.model.reading_as(_as_words(self.model.text, "head"))
        return reader.encode_examples([Example((" ".join(words),)) for words in texts])[0]


def looked(network: Network, batch: Batch, lengths: Sequence[int]) -> Sight:
    """Run a network and keep what it looked at.

    Args:
        network: in evaluation mode.
        batch: one example.
        lengths: tokens of each of its texts, with those that the network puts in front.

    Returns:
        The record.
    """
    with torch.inference_mode():
        output = network(batch, need_weights=True)
    # A token that the network puts in front has no place in a tree.
    trees = None if network.prefix else [side.tree_distance for side in batch.sides]
    chosen = [policy.chosen for policy in output.policies] or None
    return sight_of(output, 0, lengths, tree_distances=trees, chosen=chosen)


def _as_words(text: TextSettings, truncate: Truncate) -> TextSettings:
    """Return how words are read that were cut already."""
    return replace(text, tokenizer="whitespace", markup="keep", normalize=False, truncate=truncate)


def _places(pieces: NDArray[np.int32], added: int) -> NDArray[np.int64]:
    """Return the place of each token's word among the words of its side, where the network may put tokens in front."""
    return np.concatenate([np.arange(added), added + pieces.astype(np.int64)])


def _by_gradients(problem: Callable[[], OnVectors]) -> dict[str, Callable[[], Attribution]]:
    from heedful.explain.methods.gradients import gradient, integrated

    return {"gradient": lambda: gradient(problem()), "integrated": lambda: integrated(problem())}
