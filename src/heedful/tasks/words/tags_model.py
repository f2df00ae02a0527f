"""A model that gives every word a tag: the network, and beside it a linear part with a chain of tags on top."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.attention.bio import bio_decode, tag_decode
from heedful.data.encoding import EncodedDataset
from heedful.data.examples import Corpus
from heedful.data.word_tags import collate_word_tags, in_windows
from heedful.errors import UsageError
from heedful.explain.explainer import explain
from heedful.explain.methods import MethodChoice, Sampling
from heedful.machine.torch_state import own_torch_state
from heedful.model.answers import TagsAnswer, role_spans
from heedful.model.decisions.decision import finite
from heedful.model.sights import TaggedText
from heedful.models import WordTagger
from heedful.models.config import NO_NETWORK
from heedful.runtime.tag_part import TagPart
from heedful.structures import Batch
from heedful.tasks.schema import Text, TextSettings
from heedful.tasks.torch_engine import TaggingEngine
from heedful.tasks.words.tag_joining import TagJoining
from heedful.tasks.words.tag_rows import texts_of
from heedful.tasks.words.tag_sequences import TagSequences, chain_of
from heedful.tasks.words.tagging import TaggedWords, TaggingModel
from heedful.text.bio import (
    OUTSIDE,
    begin_numbers,
    may_follow,
    scheme_of,
)
from heedful.text.windows import windows_of

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
            valid = torch.ones_like(scores[None, :, 0], dtype=torch.bool)
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
        found = torch.zeros(len(text.sides[0].values), len(self.labels), dtype=torch.float32, device="cpu")
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
        offsets = np.asarray(dataset.sides[0].offsets, np.int64)
        chain = chain_of(self.labels, part.chain)
        numbers = TagSequences(part.deciding(scores, self.labels), offsets).best(chain)
        return TaggedWords(numbers, TagSequences(scores, offsets).shares(chain, numbers))

    def file_options(self) -> Mapping[str, object]:
        """Return the options that the training file was read with."""
        return self.about.data.table("options", {})

    @property
    def engine(self) -> TaggingEngine:
        """See `Model.engine`."""
        return TaggingEngine(self)

    def answered(self, block: Corpus) -> list[TagsAnswer]:
        """See `Model.answered`; texts of more than `max_tokens` words are read in windows."""
        return self._answers(block, whole=True)

    def tagged_text(self, request: Text | Corpus) -> TaggedText:  # type: ignore[override]
        """See `Model.tagged_text`."""
        corpus = self.one(request)
        (answer,) = self._answers(corpus, whole=False)
        if not answer.words:
            raise UsageError("the text has no words, so there is nothing to explain")
        dataset, _ = self.encode_examples(corpus.examples, corpus.source)
        placed = self.words_of(corpus.examples[0], len(answer.tags))
        return TaggedText(placed.words, placed.text, answer, dataset, self.engine.look(dataset))

    def _answers(self, corpus: Corpus, *, whole: bool) -> list[TagsAnswer]:
        """Tag the words of texts: all of them, or at most `max_tokens` of each, as the network reads them at a time."""
        reader = self.reading_as(in_whole(self.text)) if whole else self
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


def in_whole(text: TextSettings) -> TextSettings:
    """Return how texts are read if every word is to have a tag: none is cut, unless long ones are refused."""
    return replace(text, truncate="window") if text.truncate == "head" else text
