"""A model that gives every word a tag: the network, and beside it a linear part with a chain of tags on top."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from heedful.data.encoding import EncodedDataset
from heedful.data.examples import Corpus
from heedful.data.word_tags import collate_word_tags
from heedful.errors import UsageError
from heedful.explain.explainer import explain
from heedful.explain.methods import MethodChoice, Sampling
from heedful.machine.torch_state import own_torch_state
from heedful.model.answers import TagsAnswer
from heedful.model.attention_records import TaggedText
from heedful.model.engine import Floats
from heedful.models import WordTagger
from heedful.structures import Batch
from heedful.tasks.corpus_reading import EncodedExamples, WordReading
from heedful.tasks.schema import Text
from heedful.tasks.torch_engine import TaggingEngine
from heedful.tasks.words.tag_joining import TagJoining
from heedful.tasks.words.tag_rows import texts_of
from heedful.tasks.words.tagging import TaggingModel

if TYPE_CHECKING:
    from heedful.explain import Explanation


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

    def logits_of_texts(self, dataset: EncodedDataset) -> Iterator[tuple[NDArray[np.int64], list[Floats]]]:
        """See `TaggingModel.logits_of_texts`; the linear part is added."""
        if self.about.tagging is None:
            yield from self.network_logits(dataset)
            return
        if dataset.kept is None:
            raise UsageError("this model has a linear part: encode the texts with its own settings")
        added, words = self.engine.parts.added_to_words, texts_of(dataset)
        for rows, logits in self.network_logits(dataset):
            yield rows, [added(own, words[row]) for row, own in zip(rows.tolist(), logits, strict=True)]

    def file_options(self) -> Mapping[str, object]:
        """Return the options that the training file was read with."""
        return self.about.data.table("options", {})

    @property
    def engine(self) -> TaggingEngine:
        """See `Model.engine`."""
        return TaggingEngine(self)

    @property
    def reading(self) -> WordReading:
        """See `Model.reading`."""
        return WordReading(self)

    def tagged_text(self, request: Text | Corpus) -> TaggedText:  # type: ignore[override]
        """See `Model.tagged_text`."""
        corpus = self.one(request)
        block = EncodedExamples(corpus, *self.encode_examples(corpus.examples, corpus.source))
        (read,) = self.reading.read(block)
        placed = read.placed
        if not placed.words:
            raise UsageError("the text has no words, so there is nothing to explain")
        (answer,) = self.decision.answers(self.engine.run(block), [read])
        return TaggedText(placed.words, placed.text, answer, block, self.engine.look(block))

    @own_torch_state()
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
        choice = MethodChoice(method, Sampling(samples, seed), why)
        return explain(self, self.one(request), choice, word)
