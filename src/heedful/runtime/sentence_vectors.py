"""A sentence encoder without torch: texts to vectors of unit length, their similarity, and the states before them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Self, overload

import numpy as np

from heedful.errors import UsageError
from heedful.model.decisions.decision import finite_row
from heedful.model.decisions.named_labels import NamedLabels
from heedful.model.text_reading import listed
from heedful.runtime.kernels import Floats
from heedful.runtime.runtime_model import RuntimeModel
from heedful.runtime.runtime_reading import Block
from heedful.runtime.step_engine import StepEngine

_BLOCK = 64


class VectorEngine(StepEngine):
    """An engine whose logits are the vector of a text; see `StepEngine`."""

    def vectors(self, block: Block) -> list[Floats]:
        """See `StepEngine.vectors`."""
        return self.run(block)


class SentenceVectors(RuntimeModel):
    """A model whose answer to a text is a vector of unit length; see `RuntimeModel` for the arguments.

    `encode` gives the vectors, [N, D]; a text without words has the zero vector.
    """

    engine_type = VectorEngine

    @property
    def width(self) -> int:
        """Features of a vector."""
        return self.program.outputs

    @property
    def states_width(self) -> int:
        """Features of the states before the last layer."""
        return self.program.width

    @overload
    def similarity(self, first: str, second: str) -> float: ...
    @overload
    def similarity(
        self, first: list[str] | tuple[str, ...], second: list[str] | tuple[str, ...]
    ) -> Floats: ...
    def similarity(self, first: str | Sequence[str], second: str | Sequence[str]) -> float | Floats:
        """Return how alike texts are: the cosine of their vectors, from -1 to 1, and 0 for a text without words.

        Args:
            first: a text, or N texts.
            second: a text, or M texts.

        Returns:
            A number for two texts; else one for each pair, [N, M].

        Raises:
            UsageError: if one is a text and the other is not, or one is neither a text nor a list.
        """
        return similarity(self.encode, first, second)

    def states(self, words: Sequence[Sequence[str]]) -> Floats:
        """Return the states before the last layer: what tells texts apart for few labels.

        They are the pooled states and the mean of the word vectors, each of unit length, side by side. A model that
        reads only unknown words by their n-grams reads them as nothing here: names tell alike texts, not classes.

        Args:
            words: the words of each text, as the tokenizer gives them; those beyond the limit are not read.

        Returns:
            [N, F]; the same to the last bit whatever the other texts are.

        Raises:
            ArtifactError: if the network gives a number that is not finite.
        """
        return self._rows(words, lambda read: [self.program.vector(one) for one in read], self.states_width)

    def features(self, words: Sequence[Sequence[str]]) -> Floats:
        """Return the states and the vector side by side: the states tell more apart, the vector says what is alike.

        Args:
            words: see `states`.

        Returns:
            [N, F + D].

        Raises:
            ArtifactError: see `states`.
        """

        def both(read: Sequence[Mapping[str, Floats]]) -> list[Floats]:
            answers = self.program.answer([(one,) for one in read])
            return [
                np.concatenate([self.program.vector(one), answer.logits])
                for one, answer in zip(read, answers, strict=True)
            ]

        return self._rows(words, both, self.states_width + self.width)

    @property
    def word_width(self) -> int:
        """Features of the vector of a word."""
        return self.program.words_width

    def word_vectors(self, words: Sequence[str]) -> Floats:
        """Return what the network reads for words, without their neighbors.

        Args:
            words: as the tokenizer gives them.

        Returns:
            [n, D]; an unknown word has the vector of a known one that is like it, or what its n-grams give, or zeros.
        """
        looked = self.reading.looked_up(tuple(words))
        return self.program.word_vectors(looked.ids, looked.ngrams)

    def _rows(
        self,
        words: Sequence[Sequence[str]],
        rows_of: Callable[[Sequence[Mapping[str, Floats]]], list[Floats]],
        width: int,
    ) -> Floats:
        texts = words_of_texts(words)
        limit, found = self.settings.max_tokens, list[Floats]()
        known = self.reading.vocabulary.without_ngrams
        for start in range(0, len(texts), _BLOCK):
            looked = [self.reading.looked_up(known(text[:limit])) for text in texts[start : start + _BLOCK]]
            read = self.program.read([(each.ids, each.ngrams) for each in looked])
            first = len(found) + 1
            found += [finite_row("vector", row, first + n) for n, row in enumerate(rows_of(read))]
        return np.stack(found) if found else np.zeros((0, width), np.float32)

    def with_labels(self, names: Sequence[str], examples: Sequence[tuple[str, str]] = ()) -> Self:
        """Return a model that answers with one of these labels, without any training.

        Args:
            names: of the labels, two or more. Their meaning decides: "refund" or "asks for the money back".
            examples: texts with their labels, which refine them.

        Returns:
            A model whose `predict` answers; the network is shared.

        Raises:
            UsageError: see `NamedLabels.of`.
        """
        decision = NamedLabels.of(names, examples, self.encode, self.settings.temperature)
        return type(self)(self.reading, self.program, decision, self.parts, self.threads, self.metrics)


def words_of_texts(words: object) -> list[list[str]]:
    """Return the words of texts as lists; refuse texts, and what is no list of lists of words."""
    with suppress(UsageError):
        found = [list(listed(text)) for text in listed(words)]
        if all(isinstance(word, str) for text in found for word in text):
            return found
    raise UsageError(f'states: expected the words of each text, such as [["a", "film"]]; got {words!r:.60}')


def similarity(
    encode: Callable[[Sequence[str]], Floats], first: str | Sequence[str], second: str | Sequence[str]
) -> float | Floats:
    """Return the cosines of texts; see `SentenceVectors.similarity`."""
    if isinstance(first, str) != isinstance(second, str):
        raise UsageError("similarity: expected two texts, or two lists of texts; got one of each")
    if isinstance(first, str) and isinstance(second, str):
        one, other = encode([first, second])
        return float(one @ other)
    return encode(first) @ encode(second).T
