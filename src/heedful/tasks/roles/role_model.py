"""`RolePredictor`: a network that labels semantic roles, together with its words and tags."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.data.batching import collate
from heedful.data.encoding import EncodedDataset
from heedful.data.examples import Corpus
from heedful.data.readers.role_files import read_roles_like
from heedful.data.role_frames import TaggedDataset, collate_frames, examples_of_predicates
from heedful.errors import UsageError
from heedful.explain import SentenceView
from heedful.explain.tag_explanations import attention_of
from heedful.machine.torch_state import own_torch_state
from heedful.model.decisions.decision import finite
from heedful.model.role_spans import role_spans
from heedful.models import TaggerNetwork
from heedful.structures import Batch
from heedful.tasks.roles.role_predicates import (
    PredicateAnswer,
    Predicates,
    RoleAnswer,
    above,
    checked,
    places_of,
    predicates_of,
    senses_of,
)
from heedful.tasks.schema import Requests, Text
from heedful.tasks.torch_engine import looked
from heedful.tasks.words.tagging import TaggingModel

if TYPE_CHECKING:
    from heedful.explain import Explanation


class RolePredictor(TaggingModel[RoleAnswer]):
    """Who does what to whom: for every predicate of a text its arguments.

    See `TextModel` for the arguments; labels are the BIO tags.
    """

    network: TaggerNetwork
    threshold = 0.5
    """Probability from which a word is a predicate."""

    def read_file(self, path: Path) -> Corpus:
        """Read a file of sentences with their predicates, as the training file was read where it has its format.

        Args:
            path: the file; see `heedful.data.readers.role_files.read_roles`.

        Returns:
            The examples.
        """
        data = self.about.data
        return read_roles_like(path, data.text("train", ""), data.table("options", {}))

    @torch.inference_mode()
    def find(self, dataset: EncodedDataset) -> NDArray[np.float32]:
        """Score every word to be a predicate.

        Args:
            dataset: encoded texts.

        Returns:
            The probability of each word, all texts end to end, [T].

        Raises:
            ArtifactError: if the network gives a number that is not finite.
        """
        self.network.eval()
        rows = dataset.sides[0]
        found = np.zeros(len(rows.values), np.float32)
        for indices in self.batches(dataset):
            sentences = collate(dataset, indices, self.device).sides[0]
            scores = torch.sigmoid(self.network.find(sentences).float())
            found[rows.places(indices)] = scores[sentences.valid].cpu().numpy()
        return finite("prediction", found)

    def padded(self, dataset: EncodedDataset, indices: NDArray[np.int64]) -> Batch:
        """See `TaggingModel.padded`; the examples name their predicates."""
        assert isinstance(dataset, TaggedDataset)  # what `ask` gives
        return collate_frames(dataset, indices, self.device)

    def answered(self, block: Corpus) -> list[RoleAnswer]:
        """See `Model.answered`."""
        return self.answer(block)

    def answer(self, requests: Requests, predicates: Predicates | None = None) -> list[RoleAnswer]:
        """Label the roles of texts.

        Args:
            requests: strings, may be empty; or examples of a file, whose frames name their predicates.
            predicates: for each text the places of its predicates among its words, from 0; None takes those of the
                examples, or finds them where there are none.

        Returns:
            One answer a text, in order.

        Raises:
            UsageError: if predicates and texts differ in number, or a place lies outside its text.
            DataError: naming the row, if a text is too long, or its predicates are counted in words that the model
                splits.
        """
        corpus = self.read(requests)
        dataset, readings = self.encode_examples(corpus.examples, corpus.source)
        if not len(dataset):
            return []
        lengths = dataset.lengths()[:, 0]
        if predicates is None:
            predicates = predicates_of(corpus, lengths, readings.truncated, self.text.cutter)
        scores, chosen = self._chosen(dataset, predicates)
        asked = examples_of_predicates(dataset, chosen)
        tagged = list(self.decision.chosen_with_shares(self.word_logits(asked)))
        starts = dataset.sides[0].offsets
        found: list[list[PredicateAnswer]] = [[] for _ in corpus.examples]
        seen = [self.words_of(example, int(n)) for example, n in zip(corpus.examples, lengths, strict=True)]
        senses = [
            senses_of(example, read.written) for example, read in zip(corpus.examples, seen, strict=True)
        ]
        for row, (number, place) in enumerate(zip(asked.sentences, asked.predicates, strict=True)):
            if place < 0:
                continue
            numbers, shares = tagged[row]
            tags = tuple(self.labels[tag] for tag in numbers)
            _, offsets, text, spoken = seen[number]
            spans = role_spans(tags, shares.tolist(), offsets, text)
            score = float(scores[starts[number] + place])
            sense = senses[number].get(int(place), "")
            found[number].append(PredicateAnswer(int(place), spoken[place], score, tags, spans, sense))
        return [
            RoleAnswer(
                read.written,
                read.spans,
                tuple(own),
                int(readings.unknown[number]),
                bool(readings.truncated[number]),
            )
            for number, (read, own) in enumerate(zip(seen, found, strict=True))
        ]

    def _chosen(
        self, dataset: EncodedDataset, given: Predicates | None
    ) -> tuple[NDArray[np.float32], list[list[int]]]:
        """Return the probability of each word to be a predicate, [T], and the places of the predicates of each text."""
        if given is not None:
            return np.ones(len(dataset.sides[0].values), np.float32), checked(given, dataset.lengths()[:, 0])
        scores = self.find(dataset)
        return scores, above(scores, dataset, self.threshold)

    def places(self, corpus: Corpus, named: Sequence[str]) -> list[list[int]]:
        """Find the predicates that a person named.

        Args:
            corpus: the texts.
            named: for each text its predicates, separated by commas: words of the text, of which every occurrence is
                taken, or numbers of words from 1.

        Returns:
            For each text their places, from 0.

        Raises:
            UsageError: if texts and names differ in number, or a text has no such word.
        """
        if len(named) != len(corpus.examples):
            raise UsageError(
                f"predicates must be named once a text; got {len(named)} for {len(corpus.examples)} texts"
            )
        read = [self.words_of(example, self.text.max_tokens).written for example in corpus.examples]
        return [
            [place for name in names.split(",") for place in places_of(name.strip(), words)]
            for names, words in zip(named, read, strict=True)
        ]

    @own_torch_state()
    def explain(self, request: Text | Corpus, predicate: int | None = None) -> Explanation:
        """Show what the model looked at when it labeled one predicate.

        Args:
            request: one text.
            predicate: place of the predicate, from 0; None takes the first one of the answer.

        Returns:
            The record that the pictures are drawn from.

        Raises:
            UsageError: if a corpus does not hold exactly one example, or the text has no predicate.
        """
        corpus = self.one(request)
        answer = self.answer(corpus, None if predicate is None else [[predicate]])[0]
        if not answer.predicates:
            raise UsageError("no predicate was found in the text; name one with --predicates")
        frame, (example,) = answer.predicates[0], corpus.examples
        asked = examples_of_predicates(self.encode_examples([example], corpus.source)[0], [[frame.place]])
        sight = looked(self.network, self.padded(asked, np.array([0])), [len(frame.tags)])
        words, spans, text, written = self.words_of(example, len(frame.tags))
        unknown = tuple(not self.knows(word) for word in words)
        view = SentenceView("text", text, written, spans, unknown, answer.truncated)
        shares = self.decision.probabilities(np.asarray(sight.logits, np.float64))
        numbers = [self.labels.index(tag) for tag in frame.tags]
        mean = float(shares[np.arange(len(numbers)), numbers].mean()) if numbers else 0.0
        return attention_of(self, sight, view, answer.bracketed(frame), mean)
