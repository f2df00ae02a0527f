"""A model as a game of its words: the logits for any choice of the words of one example. Imports no torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heedful.explain.explained_value import ExplainedValue
from heedful.explain.linear_parts import SharedLogits, linear_shares, nothing, of_tagging
from heedful.explain.methods.answer_function import Kept, Question, remaining
from heedful.model.decisions.tag_paths import TagPaths
from heedful.runtime.model_parts import ModelParts
from heedful.runtime.tag_part import TagPart

Values = NDArray[np.float64]
Examples = Sequence[Sequence[Sequence[str]]]
"""For each example the words of each of its texts."""


@dataclass(frozen=True, eq=False)
class ChainedTags:
    """A model of tags with a linear part and a chain.

    Attributes:
        part: the linear part.
        logits: takes the words of a text; returns what the network and the linear part give, [L, Y].
        paths: the chain.
    """

    part: TagPart
    logits: Callable[[tuple[str, ...]], NDArray[np.float32]]
    paths: TagPaths

    def marginal_logits(self, words: tuple[str, ...]) -> Values:
        """Return the logits of the probability of each tag of each word over all sequences, all finite, [L, Y]."""
        scores = self.logits(words)
        found: Values = scores + self.paths.context(scores)
        return found


@dataclass(frozen=True, eq=False)
class Game:
    """The logits of a model for any choice of the words of one example.

    Attributes:
        words: the words of each side that the model read.
        whole: the logits with all words, as the answer has them, [Y].
        rest: takes choices of words; returns the logits of everything that is not linear in the words, [N, Y]; None
            where nothing is.
        total: likewise the logits of the whole model.
        linear: the shares of what is linear in the words.
        fixed: words that always remain, as (side, place).
        mask: what stands in the place of a word that does not remain; None deletes it.
    """

    words: tuple[tuple[str, ...], ...]
    whole: Values
    rest: Callable[[Sequence[Kept]], ArrayLike] | None
    total: Callable[[Sequence[Kept]], ArrayLike]
    linear: SharedLogits
    fixed: frozenset[tuple[int, int]] = field(default_factory=frozenset)
    mask: str | None = None

    def question(self, value: ExplainedValue, *, as_shown: bool = False) -> Question:
        """Return one number of the answer as a function of the words that remain.

        Args:
            value: the number.
            as_shown: whether it is the probability in place of its log-odds.

        Returns:
            The question.
        """
        of = value.shown if as_shown else value.value

        def values(choices: Sequence[Kept]) -> Values:
            return of(np.asarray(self.total(choices), np.float64))

        return Question(self.words, values, value.shown_as if as_shown else value.of, self.fixed, self.mask)

    @property
    def places(self) -> list[tuple[int, int]]:
        """The P words that may be left out, as (side, place)."""
        return Question(self.words, lambda choices: (), "", self.fixed).places


def game_of(
    sides: Sequence[Sequence[str]],
    whole: ArrayLike,
    network: Callable[[Examples], ArrayLike] | None,
    parts: ModelParts,
    mask: str | None = None,
) -> Game:
    """Make a game of a model of texts or pairs.

    Args:
        sides: the words of each text that the model read.
        whole: the logits of its answer, [Y].
        network: takes examples; returns the logits of the network alone, [N, Y]. None for a model without one.
        parts: what stands beside the network.
        mask: see `Game`.

    Returns:
        The game.
    """
    own, logits = tuple(tuple(words) for words in sides), np.asarray(whole, np.float64)
    linear, others = linear_shares(parts, own, len(logits))
    needed = network is not None or others.sentence is not None

    @cache
    def constant() -> NDArray[np.float32]:
        """Return what a model without a network adds to its parts, such as the mean of the training numbers."""
        return (logits - parts.added(np.zeros(len(logits), np.float32), own)).astype(np.float32)

    def examples(choices: Sequence[Kept]) -> list[list[list[str]]]:
        return [
            [remaining(words, kept, mask) for words, kept in zip(own, choice, strict=True)]
            for choice in choices
        ]

    def answered(choices: Sequence[Kept], added: ModelParts) -> Values:
        chosen = examples(choices)
        rows = (
            np.tile(constant(), (len(chosen), 1))
            if network is None
            else np.asarray(network(chosen), np.float32)
        )
        return np.array(added.added_to_all(list(rows), chosen), np.float64).reshape(len(chosen), len(logits))

    return Game(
        own,
        logits,
        (lambda choices: answered(choices, others)) if needed else None,
        lambda choices: answered(choices, parts),
        linear,
        mask=mask,
    )


def game_of_word(
    words: Sequence[str],
    place: int,
    whole: ArrayLike,
    network: Callable[[list[tuple[str, ...]], list[int]], ArrayLike] | None,
    mask: str | None = None,
    chained: ChainedTags | None = None,
) -> Game:
    """Make a game of a model that gives each word a tag: of one word's logits, which always remains itself.

    With a chain of tags the logits are those of the probability over all sequences: what the linear part and the
    network say of the word, and what the other words' tags say of its tag, which is in the start.

    Args:
        words: of the text.
        place: of the word, from 0.
        whole: its logits, [Y].
        network: takes lists of words, and the place of the word in each; returns its logits, [N, Y]. None for a model
            without one.
        mask: see `Game`.
        chained: the linear part and the chain; None for a model of the network alone.

    Returns:
        The game.
    """
    own, logits = tuple(words), np.asarray(whole, np.float64)
    fixed = frozenset({(0, place)})

    def texts_of(choices: Sequence[Kept]) -> tuple[list[tuple[str, ...]], list[int]]:
        texts = [tuple(remaining(own, kept[0], mask)) for kept in choices]
        return texts, [kept[0].index(place) if mask is None else place for kept in choices]

    def answered(choices: Sequence[Kept]) -> ArrayLike:
        assert network is not None  # without one nothing asks
        return network(*texts_of(choices))

    rest = None if network is None else answered
    if chained is None:
        return Game((own,), logits, rest, answered, nothing([own], len(logits)), fixed, mask)
    linear = of_tagging(chained.part, own, place)
    context = logits - linear.total
    if network is not None:
        context = context - np.asarray(network([own], [place]), np.float64)[0]
    shares = replace(linear, start=linear.start + context)

    def totals(choices: Sequence[Kept]) -> ArrayLike:
        found = [chained.marginal_logits(text)[at] for text, at in zip(*texts_of(choices), strict=True)]
        return np.array(found).reshape(len(choices), len(logits))

    return Game((own,), logits, rest, totals, shares, fixed, mask)
