"""A model folder without torch: its words, its network and its answers, on one thread or several."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from heedful.errors import ArtifactError, UsageError
from heedful.model.answers import Answer, LabelsAnswer, TagsAnswer
from heedful.model.decisions import Decision
from heedful.runtime.asking import Asking, Block, Request, Words, read_of
from heedful.runtime.kernels import Floats
from heedful.runtime.parts import NO_PARTS, Parts
from heedful.runtime.program import Program
from heedful.runtime.settings import Settings

_TOGETHER = 64
"""Choices of the words of a text that are computed together."""
T = TypeVar("T")
R = TypeVar("R")


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


_NO_NETWORK = "none"
"""Name of the encoder of a model that is made of linear parts alone."""


class Model:
    """A trained network with its words, computed with NumPy and the compiled kernels.

    Args:
        asking: turns requests into words.
        program: the network.
        decision: turns its logits into answers.
        parts: what is added to its logits; by default nothing.
        threads: how many compute; no answer depends on it.
        metrics: what was measured of it, as its folder keeps it.

    Attributes:
        asking: as given.
        program: as given.
        decision: as given.
        parts: as given.
        threads: as given.
        metrics: as given.
    """

    def __init__(
        self,
        asking: Asking,
        program: Program,
        decision: Decision[Any],
        parts: Parts = NO_PARTS,
        threads: int = 1,
        metrics: Mapping[str, object] | None = None,
    ) -> None:
        self.asking, self.program, self.decision, self.parts = asking, program, decision, parts
        self.threads, self.metrics = threads, metrics or {}

    @property
    def settings(self) -> Settings:
        """How text is read and what is answered."""
        return self.asking.settings

    @property
    def is_pair(self) -> bool:
        """Whether a request is a pair of texts."""
        return self.program.texts == 2

    @property
    def width(self) -> int:
        """Features of the vector that `encode` gives; 0 where it gives none."""
        return 0 if self.settings.encoder == _NO_NETWORK else self.program.width

    def limited(self, max_tokens: int | None = None, truncate: str | None = None) -> Self:
        """Return a model with another limit on the length of a text; the network is shared.

        Args:
            max_tokens: longest text, in tokens; None leaves it.
            truncate: what a longer text does: "error", or "head" to read its beginning; None leaves it.

        Returns:
            The model.

        Raises:
            UsageError: if the limit is below 1.
        """
        asking = self.asking.limited(max_tokens, truncate)
        return type(self)(asking, self.program, self.decision, self.parts, self.threads, self.metrics)

    def threaded(self, threads: int) -> Self:
        """Return a model that computes blocks of 64 requests on several threads; the network is shared.

        Args:
            threads: how many, at least 1.

        Returns:
            The model; its answers are the same to the last bit.

        Raises:
            UsageError: if there is to be no thread.
        """
        if threads < 1:
            raise UsageError(f"threads must be 1 or more; got {threads}")
        return type(self)(self.asking, self.program, self.decision, self.parts, threads, self.metrics)

    def remembering(self, megabytes: int) -> Self:
        """Return a model that keeps what its network makes of single words in so much memory; the weights are shared.

        Args:
            megabytes: for the words that are asked for most often, 64 by default; 0 keeps nothing.

        Returns:
            The model; its answers are the same to the last bit.

        Raises:
            UsageError: if it is less than nothing.
        """
        if megabytes < 0:
            raise UsageError(f"megabytes must be 0 or more; got {megabytes}")
        program = self.program.remembering(megabytes << 20)
        return type(self)(self.asking, program, self.decision, self.parts, self.threads, self.metrics)

    def logits(self, requests: Iterable[Request]) -> Floats:
        """Return the network's unnormalized scores, [N, Y]; see `predict`."""
        blocks = self.asking.blocks(requests, self.program.texts)
        rows = [row for block in in_order(self.logits_of, blocks, self.threads) for row in block]
        return np.stack(rows) if rows else np.zeros((0, self.program.outputs), np.float32)

    def probabilities(self, logits: Floats) -> NDArray[np.float64]:
        """Return the probabilities that logits [N, Y] stand for, [N, Y]; see `Decision.probabilities`."""
        return self.decision.probabilities(logits)

    def predict(self, requests: Iterable[Request]) -> Iterator[Answer | LabelsAnswer | TagsAnswer]:
        """Predict for texts or pairs, up to 64 at a time.

        Args:
            requests: strings for a model of texts, (premise, hypothesis) for one of pairs; empty strings are allowed.

        Yields:
            One answer a request, in order; the same to the last bit whatever the other requests are. A model of several
            labels answers with a `LabelsAnswer`, one of tags with a `TagsAnswer`, any other with an `Answer`.

        Raises:
            DataError: naming the request, if it is no text or too long.
            ArtifactError: if the network gives a number that is not finite.
            UsageError: if it is one string and no list.
        """
        blocks = self.asking.blocks(requests, self.program.texts)
        for answers in in_order(self.answers, blocks, self.threads):
            yield from answers

    def answers(self, block: Block) -> Sequence[Answer | LabelsAnswer | TagsAnswer]:
        """Answer the requests of a block; see `predict`."""
        logits = self.logits_of(block)
        return list(self.decision.answers(np.stack(logits), [read_of(words) for _, words in block]))

    def encode(self, texts: Iterable[str]) -> Floats:
        """Turn texts into vectors; a model of pairs takes single texts here too.

        Args:
            texts: strings.

        Returns:
            One vector a text, [N, D]; exactly zero for a text without words.

        Raises:
            DataError: naming the text, if it is no string or too long.
            UsageError: if the network has no vector of one text alone.
        """
        rows = self.vectors(texts)
        if isinstance(texts, Sized):  # a row is forgotten once it is copied
            found = np.zeros((len(texts), self.width), np.float32)
            for place, row in zip(found, rows, strict=True):
                place[:] = row
            return found
        kept = list(rows)
        return np.stack(kept) if kept else np.zeros((0, self.width), np.float32)

    def vectors(self, texts: Iterable[str]) -> Iterator[Floats]:
        """Yield the vector of each text, [D], in order; see `encode`."""
        if self.settings.encoder == _NO_NETWORK:
            raise UsageError(
                "this model has linear parts alone and no vector of a text; train it with --set data.few_rows=0, which "
                "asks for a network; for English texts, en-sentences of heedful-en gives vectors without training"
            )
        yield from itertools.chain.from_iterable(
            in_order(self._vectors, self.asking.blocks(texts, 1), self.threads)
        )

    def _vectors(self, block: Block) -> list[Floats]:
        read = self._read(block)
        return [finite("vector", self.program.vector(read[words.kept]), number) for number, (words,) in block]

    def logits_of(self, block: Block) -> list[Floats]:
        """Return the logits of each request of a block; see `predict` for errors."""
        read = self._read(block)
        results = self.program.answer([[read[each.kept] for each in words] for _, words in block])
        return [
            finite("prediction", self.added(result.logits, words), number)
            for (number, words), result in zip(block, results, strict=True)
        ]

    def network_logits(self, examples: Sequence[Sequence[Sequence[str]]]) -> list[Floats]:
        """Return the logits of the network alone for examples given as the words of each text, [Y] each."""
        looked = self.asking.looked_up
        texts = {tuple(words) for example in examples for words in example}
        by_words = {words: looked(words) for words in texts}
        found = list[Floats]()
        for start in range(0, len(examples), _TOGETHER):
            block = [
                (number, tuple(by_words[tuple(words)] for words in example))
                for number, example in enumerate(examples[start : start + _TOGETHER], start=1)
            ]
            read = self._read(block)
            results = self.program.answer([[read[each.kept] for each in words] for _, words in block])
            found += [finite("prediction", result.logits, 1) for result in results]
        return found

    def added(self, logits: Floats, words: Sequence[Words]) -> Floats:
        """Return the logits of an example, [Y], with those of the parts beside the network, if there are any."""
        return self.parts.added(logits, [each.kept for each in words])

    def _read(self, block: Block) -> dict[tuple[str, ...], Mapping[str, Floats]]:
        """Read each distinct text of a block once."""
        distinct = {each.kept: each for _, words in block for each in words}
        read = self.program.read([(each.ids, each.ngrams) for each in distinct.values()])
        return dict(zip(distinct, read, strict=True))


def finite(what: str, row: Floats, number: int) -> Floats:
    """Refuse a row that holds what is no number; ``what`` and ``number`` are for the message."""
    if not np.isfinite(row).all():
        raise ArtifactError(
            f"text {number:,}: the {what} holds numbers that are not finite, so the weights are of no use. Copy the "
            "model again from its source, or train it again."
        )
    return row
