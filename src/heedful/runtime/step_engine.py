"""The engine that needs no torch: a list of steps, computed with NumPy and the compiled kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from heedful.model.attention_records import Sight
from heedful.model.decisions.decision import finite_row
from heedful.model.engine import NO_NETWORK, Capability
from heedful.runtime.kernels import Floats
from heedful.runtime.model_parts import NO_PARTS, ModelParts
from heedful.runtime.program import Program
from heedful.runtime.runtime_reading import Block, NetworkWords, RuntimeReading, row_of
from heedful.runtime.word_values import WordCounts
from heedful.text.vocabulary import mask_of

_TOGETHER = 64
"""Choices of the words of a text that are computed together."""


@dataclass(frozen=True, eq=False)
class StepEngine:
    """Computes a network and what stands beside it; see `heedful.model.engine.Engine`.

    Attributes:
        reading: knows the words.
        program: the network.
        parts: what is added to its logits.
    """

    reading: RuntimeReading
    program: Program
    parts: ModelParts = NO_PARTS
    name: Literal["runtime"] = "runtime"
    is_exact: bool = True

    @property
    def can(self) -> frozenset[Capability]:
        """What the network has; a folder of an earlier version may not say what is shown."""
        found: set[Capability] = {"methods"}
        if self.program.width and self.reading.settings.encoder != NO_NETWORK:
            found.add("vectors")
        if self.program.shown is not None:
            found.add("look")
        return frozenset(found)

    @property
    def outputs(self) -> int:
        """How many logits there are."""
        return self.program.outputs

    @property
    def mask(self) -> str | None:
        """What stands in the place of a word that is left out."""
        return mask_of(self.reading.vocabulary)

    @property
    def word_counts(self) -> WordCounts:
        """What became of the words that were read."""
        return self.program.word_counts

    def run(self, block: Block) -> list[Floats]:
        """See `Engine.run`."""
        read = self._read(block)
        results = self.program.answer([[read[each.kept] for each in words] for _, words in block])
        return [
            finite_row("prediction", self.added(result.logits, words), number)
            for (number, words), result in zip(block, results, strict=True)
        ]

    def vectors(self, block: Block) -> list[Floats]:
        """Return the vector of each request of a block, which is a text."""
        read = self._read(block)
        return [
            finite_row("vector", self.program.vector(read[words.kept]), number) for number, (words,) in block
        ]

    def look(self, block: Block) -> Sight:
        """See `Engine.look`."""
        ((_, words),) = block
        found = self.program.look([(each.ids, each.ngrams) for each in words])
        shown = self.program.shown
        return found if shown is None else replace(found, prefix=shown.prefix)

    def unlike(self, block: Block) -> NDArray[np.float64]:
        """See `Engine.unlike`."""
        return self.parts.unlike([[each.kept for each in words] for _, words in block])

    def of_words(self, examples: Sequence[Sequence[Sequence[str]]]) -> list[Floats]:
        """See `Engine.of_words`."""
        looked = self.reading.looked_up
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
            found += [finite_row("prediction", result.logits, 1) for result in results]
        return found

    def gradients(
        self, block: Block, value: Any, place: int = 0, beside: NDArray[np.floating] | None = None
    ) -> Mapping[str, Callable[[], Any]]:
        """See `Engine.gradients`: there are none."""
        return {}

    def added(self, logits: Floats, words: tuple[NetworkWords, ...]) -> Floats:
        """Return the logits of an example, [Y], with those of the parts beside the network, if there are any."""
        return self.parts.about(row_of(words)).added(logits, [each.kept for each in words])

    def _read(self, block: Block) -> dict[tuple[str, ...], Mapping[str, Floats]]:
        """Read each distinct text of a block once."""
        distinct = {each.kept: each for _, words in block for each in words}
        read = self.program.read([(each.ids, each.ngrams) for each in distinct.values()])
        return dict(zip(distinct, read, strict=True))
