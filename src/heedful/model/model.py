"""A trained model: a text is read, an engine computes, a decision answers.

This is what the command line, the server, bulk predictions, pages, explanations and estimators know of a model, with
torch and without it: ``text -> reading -> block -> engine -> logits -> decision -> answer``.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError
from heedful.features.feature_columns import FeatureColumns
from heedful.model.attention_records import TaggedText
from heedful.model.decisions import Decision, Kind, Promise, Wish, kind_of, promise_of
from heedful.model.decisions.label_tree import LabelTree, tree_of
from heedful.model.decisions.promise import refuse_without_sets
from heedful.model.engine import NEEDED, Capability, Engine
from heedful.model.text_reading import TextReading
from heedful.model.training_examples import KeptExamples

B = TypeVar("B")
A_co = TypeVar("A_co", covariant=True)
T = TypeVar("T")
R = TypeVar("R")
READS_COLUMNS = "answer with heedful predict or heedful serve, or from Python with heedful.runtime.load"
"""What a message says that has no place for columns beside the text."""


class Model(ABC, Generic[B, A_co]):
    """A trained model, whatever it answers and whatever computes it.

    Attributes:
        options: options of commands that not every task takes and this one does.
        threads: how many compute; no answer depends on it.
        promise: what gives each answer a set or an interval; None where that was not asked for.
        tree: what gives each answer its parents; None where that was not asked for.
    """

    options: frozenset[str] = frozenset()
    threads: int = 1
    promise: Promise | None = None
    tree: LabelTree | None = None

    @property
    @abstractmethod
    def task(self) -> str:
        """Name of the task, ``model.task``."""

    @property
    @abstractmethod
    def is_pair(self) -> bool:
        """Whether a request is a pair of texts."""

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """What the logits stand for, in their order; empty for numbers and vectors."""

    @property
    @abstractmethod
    def encoder(self) -> str:
        """Name of the encoder, "none" for linear parts alone."""

    @property
    @abstractmethod
    def pooling(self) -> str:
        """Name of what makes a vector of the states of a text."""

    @property
    @abstractmethod
    def run_settings(self) -> Mapping[str, object]:
        """The settings of the run that made it, as they were saved."""

    @property
    @abstractmethod
    def metrics(self) -> Mapping[str, object]:
        """What was measured of it."""

    @property
    def examples(self) -> KeptExamples | None:
        """The training examples that it keeps, of which `heedful.explain.neighbors` finds the most alike; or None."""
        return None

    @property
    @abstractmethod
    def reading(self) -> TextReading[B]:
        """What turns requests into blocks."""

    @property
    @abstractmethod
    def engine(self) -> Engine[B]:
        """What turns blocks into logits."""

    @property
    def decision(self) -> Decision[Any]:
        """What turns logits into answers; a model of roles or translations answers blocks itself."""
        raise NotImplementedError

    @property
    def kind(self) -> Kind:
        """What is known of the answers of the task."""
        return kind_of(self.task)

    @property
    def noun(self) -> str:
        """What it is a model of, for messages."""
        return self.kind.noun

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the cells of an answer."""
        return self.with_set(self.kind.layout.header)

    def with_set(self, header: tuple[str, ...]) -> tuple[str, ...]:
        """Return names of cells with that of the set or the interval, where answers have one."""
        return header if self.promise is None else (*header, *self.kind.set_header)

    def promising(self, wish: Wish) -> Self:
        """Return a model whose answers have a set of labels, or an interval, that holds what is right so often.

        Args:
            wish: how often, and how sets are made.

        Returns:
            The model; the network is shared.

        Raises:
            UsageError: if its answers have no sets, or it keeps no scores of rows that chose nothing.
        """
        found = copy.copy(self)
        found.promise = self.promise_of(wish)
        return found

    def promise_of(self, wish: Wish) -> Promise:
        """Return what gives answers of this model a set or an interval; see `promising`."""
        refuse_without_sets(self.kind, self.noun)  # such a model may have no decision
        return promise_of(self.metrics, self.decision, self.kind, wish)

    def in_tree(self, separator: str, at_least: float | None = None) -> Self:
        """Return a model that takes its classes as paths, "sport/football", and answers with their parents too.

        Args:
            separator: what stands between the levels of a name.
            at_least: see `LabelTree`.

        Returns:
            The model; the network is shared.

        Raises:
            UsageError: see `heedful.model.decisions.label_tree.tree_of`; or if its answers are no classes.
        """
        return self.along(self.tree_of(separator, at_least))

    def along(self, tree: LabelTree | None) -> Self:
        """Return a model whose answers have the parents of a tree of its classes; the model itself where it is None."""
        if tree is None:
            return self
        found = copy.copy(self)
        found.tree = tree
        return found

    def tree_of(self, separator: str, at_least: float | None = None) -> LabelTree:
        """Return what gives answers of this model their parents; see `in_tree`."""
        if self.kind.outputs != "classes":
            raise UsageError(f"tree: expected a model of classes; this is a model of {self.noun}")
        return tree_of(self.labels, getattr(self.decision, "costs", None), separator, at_least)

    @property
    def shows_texts(self) -> bool:
        """Whether a terminal shows the texts beside the cells of an answer, which do not contain them."""
        return not self.kind.of_words

    def rows(self, answer: Any) -> Iterable[list[str]]:
        """Lay an answer out as rows of cells, at least one."""
        return [self.kind.layout.cells(answer)]

    def predict(self, requests: Any, options: Mapping[str, object] | None = None) -> Iterator[A_co]:
        """Answer requests.

        Args:
            requests: strings for a model of texts, (premise, hypothesis) for one of pairs; empty strings are allowed.
                Or the examples that a reader made of a file, which keep their rows in messages.
            options: values of `options`.

        Yields:
            One answer a request, in order.

        Raises:
            DataError: naming the request, if it is no text or too long.
            ArtifactError: if the network gives a number that is not finite.
            UsageError: if it is one string and no list.
        """
        blocks = self.reading.blocks(requests, 2 if self.is_pair else 1)
        for answers in in_order(self.answered, blocks, self.threads):
            yield from answers

    def logits(self, requests: Any) -> NDArray[np.float32]:
        """Return the unnormalized scores of requests, [N, Y]; of tags those of all words, end to end; see `predict`."""
        blocks = self.reading.blocks(requests, 2 if self.is_pair else 1)
        found = in_order(self.engine.run, blocks, self.threads)
        rows = [np.atleast_2d(row) for rows in found for row in rows]
        return np.concatenate(rows) if rows else np.zeros((0, self.engine.outputs), np.float32)

    def probabilities(self, logits: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the probabilities that logits [N, Y] stand for, [N, Y]; see `Decision.probabilities`."""
        return self.decision.probabilities(logits)

    def answered(self, block: B) -> Sequence[A_co]:
        """Answer the requests of a block; see `predict`."""
        logits = self.engine.run(block)
        if not len(logits):
            return []
        rows = logits if self.kind.of_words else np.asarray(logits, np.float32)
        given = list(self.decision.answers(rows, self.reading.read(block)))
        found = list(self.decision.judged(given, rows, lambda: self.engine.unlike(block)))
        for each in (self.promise, self.tree):
            found = found if each is None else list(map(each.add, found))
        return found

    @abstractmethod
    def encode(self, texts: Any) -> NDArray[np.float32]:
        """Turn texts into vectors; a model of pairs takes single texts here too.

        Args:
            texts: strings.

        Returns:
            One vector a text, [N, D]; exactly zero for a text without words.

        Raises:
            DataError: naming the text, if it is no string or too long.
            UsageError: if the network has no vector of one text alone.
        """

    def tagged_text(self, request: object) -> TaggedText:
        """Give the words of one text their tags, for an explanation; at most as many as are read at a time.

        Args:
            request: a text, or a sequence of ready-made words.

        Returns:
            The text with its tags.

        Raises:
            UsageError: if it has no words, or the model has no tags of words.
        """
        raise UsageError(f"a model of {self.noun} has no tags of words")

    def features_of(self, word: str, texts: Sequence[str], count: int = 8) -> Any:
        """Show single features of the attention of one word, in one sentence or several (DiSAN, Figure 8).

        Explanations average attention over features. ``replace(explanation, features=model.features_of(...))`` adds
        the features to an explanation and its page.

        Args:
            word: the word.
            texts: sentences; those without the word are left out.
            count: how many features of each attention: those that differ most from the mean over all features.

        Returns:
            `heedful.explain.WordFeatures`: the weights that the word gives in these features, and its own weight in the
            sentence vector.

        Raises:
            UsageError: if no sentence has the word, or the model has no weights feature by feature.
        """
        self.require("features")
        raise NotImplementedError  # an engine that can do it does it

    def policy_of(self, texts: Mapping[str, str]) -> Any:
        """Show how the policy of an MDMAN model opened the masks of sentences, step by step (MDMAN, Figure 2).

        Args:
            texts: sentences by their names.

        Returns:
            A `heedful.explain.PolicySteps` for each sentence; ``replace(explanation, policy=...)`` adds them to an
            explanation and its page.

        Raises:
            UsageError: if the model has no such policy, or the policy does not act yet.
        """
        self.require("policy")
        raise NotImplementedError

    def attention(self, request: Any, options: Mapping[str, object] | None = None) -> Any:
        """Show what a model looked at that has attention alone, of roles or translations, as an `Explanation`."""
        self.require("look")
        raise NotImplementedError

    def threaded(self, threads: int) -> Self:
        """Return a model that computes on several threads, if its engine leaves that to the caller."""
        return self

    def remembering(self, megabytes: int) -> Self:
        """Return a model that keeps what is computed of single words in so much memory, if its engine keeps it."""
        return self

    def request_files(self) -> Any:
        """Return the `RequestFiles` that the model reads in its own way; None for none."""
        return None

    def refuse_long(self, corpus: Any) -> None:
        """Refuse texts that are too long, without running the network; by default whatever answering refuses."""

    @property
    def columns(self) -> FeatureColumns | None:
        """The columns beside the text that the model reads; None where it reads texts alone."""
        part = self.engine.parts.columns
        return None if part is None else part.columns

    def reading_texts_alone(self, reader: str) -> Self:
        """Return the model, or refuse one that reads columns where there are only texts.

        Args:
            reader: what has texts alone, as the subject of a sentence.

        Returns:
            The model.

        Raises:
            UsageError: if the model reads columns beside the text.
        """
        part = self.engine.parts.columns
        if part is not None:
            names = ", ".join(part.columns.names)
            raise UsageError(
                f"{reader} reads texts alone, and this model reads columns beside them ({names:.200}); {READS_COLUMNS}"
            )
        return self

    def require(self, capability: Capability) -> Self:
        """Return the model, or refuse in one sentence what its engine does not have.

        Args:
            capability: what is needed.

        Returns:
            The model.

        Raises:
            UsageError: if the engine cannot do it.
        """
        if capability not in self.engine.can:
            raise UsageError(f"a model of {self.noun} {NEEDED[capability]}")
        return self


def in_order(compute: Callable[[T], R], items: Iterable[T], threads: int) -> Iterator[R]:
    """Compute items on several threads, which is faster where most of the time goes into the compiled kernels.

    Args:
        compute: computes one item.
        items: read as they are needed, a few ahead.
        threads: how many; with 1 there is no thread but the caller's.

    Yields:
        The results in the order of the items. An error, of an item or of reading the next, comes after the results of
        the items before it.
    """
    if threads <= 1:
        yield from map(compute, items)
        return
    from concurrent.futures import Future, ThreadPoolExecutor

    waiting, source = deque[Future[R]](), iter(items)
    trouble: BaseException | None = None
    with ThreadPoolExecutor(threads, "answers") as pool:
        try:
            while trouble is None:
                while trouble is None and len(waiting) < 2 * threads:
                    try:
                        waiting.append(pool.submit(compute, next(source)))
                    except StopIteration as end:
                        trouble = end
                    except Exception as error:
                        trouble = error
                if waiting:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for each in waiting:
                each.cancel()
    if not isinstance(trouble, StopIteration):
        raise trouble
