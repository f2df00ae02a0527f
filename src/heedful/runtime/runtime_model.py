"""A model folder without torch: its words, its network and its answers, on one thread or several."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sized
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from heedful.errors import MOST_AT_ONCE, UsageError, checked_whole
from heedful.model.answers import Answer, LabelsAnswer, TagsAnswer
from heedful.model.decisions import Decision
from heedful.model.engine import NO_NETWORK
from heedful.model.model import Model, in_order
from heedful.model.text_reading import Limits
from heedful.model.training_examples import KeptExamples
from heedful.runtime.kernels import Floats
from heedful.runtime.model_parts import NO_PARTS, ModelParts
from heedful.runtime.program import Program
from heedful.runtime.runtime_reading import Block, RuntimeReading, each_request
from heedful.runtime.settings import RuntimeSettings
from heedful.runtime.step_engine import StepEngine

Answered = Answer | LabelsAnswer | TagsAnswer
"""What a model of the runtime answers: each word with a tag, several labels, or one class or number."""


class RuntimeModel(Model[Block, Answered]):
    """A trained network with its words, computed with NumPy and the compiled kernels.

    Args:
        reading: turns requests into words.
        program: the network.
        decision: turns its logits into answers.
        parts: what is added to its logits; by default nothing.
        threads: how many compute; no answer depends on it.
        metrics: what was measured of it, as its folder keeps it.
        examples: the training examples that it keeps; None for none.

    Attributes:
        program: as given.
        parts: as given.
        threads: as given.
        folder: what it was read from, by which another process opens it; None for a model of changed decisions.
    """

    folder: Path | None = None

    def __init__(
        self,
        reading: RuntimeReading,
        program: Program,
        decision: Decision[Any],
        parts: ModelParts = NO_PARTS,
        threads: int = 1,
        metrics: Mapping[str, object] | None = None,
        examples: KeptExamples | None = None,
    ) -> None:
        self.program, self.parts, self.threads = program, parts, threads
        self._reading, self._decision = reading, decision
        self._metrics, self._examples = metrics or {}, examples
        self._engine = self.engine_type(reading, program, parts)

    engine_type: type[StepEngine] = StepEngine

    @property
    def reading(self) -> RuntimeReading:
        """See `Model.reading`."""
        return self._reading

    @property
    def engine(self) -> StepEngine:
        """See `Model.engine`."""
        return self._engine

    @property
    def decision(self) -> Decision[Any]:
        """See `Model.decision`."""
        return self._decision

    @property
    def task(self) -> str:
        """See `Model.task`."""
        return self.settings.task

    @property
    def labels(self) -> tuple[str, ...]:
        """See `Model.labels`."""
        return tuple(self.decision.names)

    @property
    def encoder(self) -> str:
        """See `Model.encoder`."""
        return self.settings.encoder

    @property
    def pooling(self) -> str:
        """See `Model.pooling`."""
        return self.settings.pooling

    @property
    def run_settings(self) -> Mapping[str, object]:
        """See `Model.run_settings`."""
        return self.settings.run

    @property
    def metrics(self) -> Mapping[str, object]:
        """See `Model.metrics`."""
        return self._metrics

    @property
    def examples(self) -> KeptExamples | None:
        """See `Model.examples`."""
        return self._examples

    @property
    def settings(self) -> RuntimeSettings:
        """How text is read and what is answered."""
        return self.reading.settings

    @property
    def is_pair(self) -> bool:
        """Whether a request is a pair of texts."""
        return self.program.texts == 2

    @property
    def width(self) -> int:
        """Features of the vector that `encode` gives; 0 where it gives none."""
        return 0 if self.settings.encoder == NO_NETWORK else self.program.width

    def limited(
        self, max_tokens: int | None = None, truncate: Literal["error", "head"] | None = None
    ) -> Self:
        """Return a model with another limit on the length of a text; the network is shared.

        Args:
            max_tokens: longest text, in tokens; None leaves it.
            truncate: what a longer text does: "error", or "head" to read its beginning; None leaves it.

        Returns:
            The model.

        Raises:
            UsageError: if the limit is below 1.
        """
        if max_tokens is None and truncate is None:
            return self
        reading = self.reading.limited(Limits(max_tokens, truncate))
        return self._with(reading, self.program, self.threads)

    def threaded(self, threads: int) -> Self:
        """Return a model that computes blocks of 64 requests on several threads; the network is shared.

        Args:
            threads: how many, 1 to 1,024.

        Returns:
            The model; its answers are the same to the last bit.

        Raises:
            UsageError: if it is no such number.
        """
        return self._with(self.reading, self.program, checked_whole("threads", threads, 1, MOST_AT_ONCE))

    def remembering(self, megabytes: int) -> Self:
        """Return a model that keeps what its network makes of single words in so much memory; the weights are shared.

        Args:
            megabytes: for the words that are asked for most often, 16 by default; 0 keeps nothing.

        Returns:
            The model; its answers are the same to the last bit.

        Raises:
            UsageError: if it is no whole number of 0 or more.
        """
        program = self.program.remembering(checked_whole("megabytes", megabytes, 0) << 20)
        return self._with(self.reading, program, self.threads)

    def _with(self, reading: RuntimeReading, program: Program, threads: int) -> Self:
        found = type(self)(reading, program, self.decision, self.parts, threads, self.metrics, self.examples)
        found.folder = self.folder
        return found

    def __copy__(self) -> Self:
        found = object.__new__(type(self))
        vars(found).update(vars(self))
        return found

    def __deepcopy__(self, memo: object) -> Self:
        """Share the weights, which nothing changes."""
        return copy.copy(self)

    def encode(self, texts: Iterable[str]) -> Floats:
        """See `Model.encode`."""
        texts = each_request(texts)
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
        if self.encoder == NO_NETWORK:
            raise UsageError(
                "this model has linear parts alone and no vector of a text; train it with --set data.few_rows=0, which "
                "asks for a network; for English texts, en-sentences of heedful-en gives vectors without training"
            )
        yield from itertools.chain.from_iterable(
            in_order(self.engine.vectors, self.reading.of_texts_alone().blocks(texts, 1), self.threads)
        )
