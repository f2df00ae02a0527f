"""A model of which the network reads a text, or both texts of a pair, and gives one row of numbers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.data.batching import collate, collate_shared, distinct_texts
from heedful.data.encoding import EncodedDataset
from heedful.data.examples import Corpus
from heedful.errors import UsageError
from heedful.machine.canceling import in_steps
from heedful.machine.torch_state import own_torch_state
from heedful.model.answers import Answer
from heedful.model.decisions import Decision, ScoreDecision
from heedful.model.decisions.decision import finite
from heedful.model.training_sums import KeptSums
from heedful.models import VectorNetwork
from heedful.models.config import NO_NETWORK
from heedful.tasks.corpus_reading import EncodedReading
from heedful.tasks.saved_model import A_co, as_corpus, even_batches
from heedful.tasks.schema import Text
from heedful.tasks.torch_engine import SentenceEngine
from heedful.tasks.words.text_model import TextModel

if TYPE_CHECKING:
    from heedful.explain import Explanation
    from heedful.explain.policy_steps import PolicySteps
    from heedful.explain.word_features import WordFeatures
    from heedful.tasks.sentences.part_weights import Joining
    from heedful.tasks.sentences.previous_choice import ChosenSettings
    from heedful.tasks.sentences.previous_network import Recalled
    from heedful.tasks.sentences.previous_part import LearnedBefore


_BLOCK = 1024
"""Examples whose features are in memory at a time."""


class SentenceModel(TextModel[A_co]):
    """A network that reads a text or a pair and gives one row of numbers; see `TextModel` for the arguments.

    Attributes:
        joining: the parts that wait to join the network; only in training.
        nested: rows of numbers for each training example, [N, Y], that cross-validation gave; only in training.
        folds: the fold of each training example in it, [N]; only in training.
        joined_note: what each part reached alone, and with which weight it joined; after training.
        before: the parts of the model that learns on, to which new ones are added; only in training.
        recalled: what the model before answers to the training examples, where its network goes on; only in training.
        sums: the sums that the model before keeps, with the classes that there are now; only in training.
        held_to: the settings of the linear parts that the model before had, where these still stand; only in training.
        chosen_settings: those of the linear parts, where a later training may be held to them; after training.
    """

    joining: Joining | None = None
    nested: NDArray[np.float32] | None = None
    folds: NDArray[np.int64] | None = None
    joined_note: str = ""
    before: LearnedBefore | None = None
    recalled: Recalled | None = None
    sums: KeptSums | None = None
    held_to: ChosenSettings | None = None
    chosen_settings: ChosenSettings | None = None

    @property
    def is_pair(self) -> bool:
        """Whether a request is a pair of texts."""
        return self.network.sides == 2

    @property
    def reading(self) -> EncodedReading:
        """See `Model.reading`."""
        return EncodedReading(self)

    @property
    def engine(self) -> SentenceEngine:
        """See `Model.engine`."""
        return SentenceEngine(self)

    @property
    def is_score(self) -> bool:
        """Whether the answer is a number."""
        return isinstance(self, ScoreModel)

    @property
    @abstractmethod
    def decision(self) -> Decision[Any]:
        """What turns rows of numbers into answers."""

    def beside(self, dataset: EncodedDataset) -> NDArray[np.float32] | None:
        """Return what the parts beside the network add to its rows of numbers, [N, Y]; None where there are none.

        Args:
            dataset: encoded examples.

        Returns:
            The sum of the wide part's logits, the sentence part's and the column part's.

        Raises:
            UsageError: if the examples were encoded without what a part reads.
        """
        wide, sentence, count = self.about.wide, self.about.sentence, len(dataset)
        columns = self.about.columns
        added: list[NDArray[np.float32]] = []
        if wide is not None:
            if dataset.phrases is None:
                raise UsageError("this model has a wide part: encode the texts with its own settings")
            added.append(wide.logits(dataset.phrases))
        if sentence is not None:
            if dataset.kept is None:
                raise UsageError("this model has a sentence part: encode the texts with its own settings")
            kept, blocks = dataset.kept, range(0, count, _BLOCK)
            parts = [sentence.of_words(kept.examples(range(b, min(b + _BLOCK, count)))) for b in blocks]
            added.append(np.concatenate([np.zeros((0, sentence.outputs), np.float32), *parts]))
        if columns is not None:
            cells = dataset.cells or (None,) * count
            rows = zip(cells, dataset.rows.tolist(), strict=True)
            added.append(columns.logits([columns.read(own, f"row {row}") for own, row in rows]))
        if not added:
            return None
        total: NDArray[np.float32] = sum(added[1:], added[0])
        return total

    @torch.inference_mode()
    def run(self, dataset: EncodedDataset) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """Run the network over a data set, in batches of similar length.

        A text that occurs several times is read once for all; a policy that draws (`decision="sample"`) draws once
        for it too.

        Args:
            dataset: encoded examples.

        Returns:
            Logits [N, Y], what stands beside the network included, and the sentence vectors of each side, [N, D] each,
            in the order of the data set.
        """
        logits, vectors = self.run_network(dataset)
        beside = self.beside(dataset)
        return logits if beside is None else logits + beside, vectors

    @torch.inference_mode()
    def run_network(self, dataset: EncodedDataset) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """Run the network alone; see `run`."""
        self.network.eval()
        logits = np.zeros((len(dataset), self.model.outputs), np.float32)
        width = self.network.sentence_encoder.width_out
        vectors = [np.zeros((len(dataset), width), np.float32) for _ in range(self.network.sides)]
        if not len(dataset):
            return logits, vectors
        distinct = distinct_texts(dataset)
        if isinstance(self.network, VectorNetwork):
            return self._compare(self._read(distinct.texts), distinct.places)
        # The longest first: what they took is room for the others, and the process does not grow with every length.
        batches = even_batches(dataset.lengths(), self.text.eval_size, distinct.groups())[::-1]
        for rows in in_steps(batches):
            output = self.network(collate_shared(dataset, distinct, rows).to(self.device))
            logits[rows] = output.logits.float().cpu().numpy()
            for side, vector in zip(vectors, output.vectors, strict=True):
                side[rows] = vector.float().cpu().numpy()
        return logits, vectors

    def _read(self, texts: EncodedDataset) -> Tensor:
        """Return the vector of each text, [M, D], in the network's precision."""
        assert isinstance(self.network, VectorNetwork)  # whoever calls it has looked
        found: Tensor | None = None
        for rows in in_steps(self.batches(texts)[::-1]):  # the longest first; see `run_network`
            vectors = self.network.sentence_encoder(collate(texts, rows, self.device).sides[0])[0]
            if found is None:  # one block for all: kept vectors between what is freed would hold it
                found = vectors.new_empty(len(texts), *vectors.shape[1:])
            found[torch.from_numpy(rows).to(self.device)] = vectors
        assert found is not None  # whoever calls it has a text
        return found

    def _compare(
        self, texts: Tensor, places: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """Return logits [N, Y] and the vectors of each side, from those of the texts and where each example's are."""
        assert isinstance(self.network, VectorNetwork)
        logits = np.zeros((len(places), self.model.outputs), np.float32)
        for start in range(0, len(places), self.text.eval_size):
            rows = slice(start, start + self.text.eval_size)
            sides = tuple(texts[torch.from_numpy(side).to(self.device)] for side in places[rows].T)
            logits[rows] = self.network.score(sides).float().cpu().numpy()
        plain = texts.float().cpu().numpy()
        return logits, [plain[side] for side in places.T]

    def encode(self, texts: Sequence[str] | Corpus) -> NDArray[np.float32]:
        """Turn texts into vectors; a pair model takes single texts here too.

        Args:
            texts: strings.

        Returns:
            One vector a text, [N, D]; exactly zero for a text without words.

        Raises:
            ArtifactError: naming the text, if the network gives a number that is not finite.
            UsageError: if the network reads both texts of a pair together.
        """
        if not isinstance(self.network, VectorNetwork):
            raise UsageError(
                f"model.encoder={self.model.encoder!r} reads two texts together and has no vector of one text alone; "
                "encode with a model whose encoder reads single texts, such as disan"
            )
        if self.model.encoder == NO_NETWORK:
            raise UsageError(
                "this model has linear parts alone and no vector of a text; train it with data.few_rows=0, which asks "
                "for a network; for English texts, en-sentences of heedful-en gives vectors without training"
            )
        corpus = as_corpus(texts, pair=False)
        dataset, _ = self.encode_examples(corpus.examples, corpus.source)
        if not len(dataset):
            return np.zeros((0, self.network.sentence_encoder.width_out), np.float32)
        distinct = distinct_texts(dataset)
        with torch.inference_mode():
            vectors: NDArray[np.float32] = self._read(distinct.texts).float().cpu().numpy()
        return finite("vector", vectors[distinct.places[:, 0]])

    @own_torch_state()
    def explain(
        self,
        request: Text | Corpus,
        *,
        faithfulness: bool = True,
        method: str | None = None,
        samples: int = 50,
        seed: int = 0,
        why: str | None = None,
    ) -> Explanation:
        """Show what each word contributes to the prediction, and what the model looked at.

        Args:
            request: one text or one pair.
            faithfulness: with a method other than the default, also delete the heaviest words of a classified example
                and see what happens.
            method: what says how much each word contributes: "contributions", "attention", "gradient", "integrated",
                "occlusion" or "shapley". By default the method that ``heedful faithfulness`` found to be best for this
                model, or contributions if it was not measured.
            samples: random orders of the words for Shapley values.
            seed: of the random numbers.
            why: the class or label that is explained; by default the one that is predicted.

        Returns:
            The record that the pictures are drawn from.

        Raises:
            UsageError: if a corpus does not hold exactly one example, there is no such method, or this model cannot be
                explained by it.
        """
        from heedful.explain.explainer import explain
        from heedful.explain.methods import MethodChoice, Sampling

        choice = MethodChoice(method, Sampling(samples, seed), why)
        return explain(self, self.one(request), choice, faithfulness=faithfulness)

    def features_of(self, word: str, texts: Sequence[str], count: int = 8) -> WordFeatures:
        """See `Model.features_of`."""
        from heedful.tasks.sentences.network_records import read_features

        return read_features(self, word, texts, count)

    def policy_of(self, texts: Mapping[str, str]) -> tuple[PolicySteps, ...]:
        """See `Model.policy_of`."""
        from heedful.tasks.sentences.network_records import read_policy

        return read_policy(self, texts)


class ScoreModel(SentenceModel[Answer]):
    """A model of which the answer is a number."""

    @property
    @abstractmethod
    def decision(self) -> ScoreDecision:
        """See `SentenceModel.decision`."""

    def scores(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the numbers, [N], that rows of the network's output, [N, Y], stand for."""
        return self.decision.scores(rows)
