"""The deletion test: whether the prediction depends on the words with the largest weights. Imports no torch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heedful.errors import UsageError

PairOfWords = tuple[list[str], ...]
Predict = Callable[[list[PairOfWords]], ArrayLike]


FEWEST = 5
"""With fewer other choices of words than this, nothing is claimed."""
_VISIBLE = 0.005
"""How far a probability must lie outside the spread before something is claimed: what two decimals show."""


@dataclass(frozen=True)
class DeletionScore:
    """How much the probability of the predicted class falls when words are deleted.

    Attributes:
        k: how many words were deleted at a time.
        draws: how many other choices of k words were tried.
        seed: seed of the random choices.
        before: probability of the predicted class with all words.
        after_top: its probability without the k words of largest weight.
        after_random: its mean probability without k words of another choice.
        removed: the k words of largest weight, largest first.
        random: its probability without the words of each of the other choices, which are the spread; empty in a record
            of a version that did not keep them.
    """

    k: int
    draws: int
    seed: int
    before: float
    after_top: float
    after_random: float
    removed: tuple[str, ...]
    random: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "removed", tuple(self.removed))
        object.__setattr__(self, "random", tuple(float(p) for p in self.random))

    @property
    def drop_top(self) -> float:
        """Fall of the probability without the words of largest weight."""
        return self.before - self.after_top

    @property
    def drop_random(self) -> float:
        """Mean fall of the probability without random words."""
        return self.before - self.after_random

    @property
    def spread(self) -> tuple[float, float] | None:
        """The lowest and the highest probability of the other choices; None if they are too few to compare with."""
        return (min(self.random), max(self.random)) if len(self.random) >= FEWEST else None

    @property
    def verdict(self) -> Literal["more", "less", "within", "unknown"]:
        """What may be claimed.

        "more" if deleting the words costs more probability than every other choice of as many words, by at least 0.005;
        "less" if it costs less than every one, likewise; "within" if it lies within their spread; "unknown" if there
        are fewer than five other choices.
        """
        if self.spread is None:
            return "unknown"
        low, high = self.spread
        if self.after_top < low - _VISIBLE:
            return "more"
        return "less" if self.after_top > high + _VISIBLE else "within"

    @property
    def claim(self) -> str:
        """The verdict in a sentence."""
        words = f"the {self.k} words" if self.k > 1 else "the word"
        others = f"each of {self.draws} other choices" + (
            f" of {self.k} words" if self.k > 1 else " of a word"
        )
        return {
            "more": f"Deleting {words} with the largest weights costs more than {others}.",
            "less": f"Deleting {words} with the largest weights costs less than {others}: here the weights do not "
            "single out what decides.",
            "within": f"Deleting {words} with the largest weights lies within the spread of {self.draws} other "
            "choices, so this test shows nothing about the weights.",
            "unknown": "There are too few other choices of words to compare with, so this test shows nothing about "
            "the weights.",
        }[self.verdict]


def deletion_score(
    predict: Predict,
    words: Sequence[Sequence[str]],
    weights: Sequence[ArrayLike],
    *,
    k: int = 3,
    draws: int = 20,
    seed: int = 0,
) -> DeletionScore | None:
    """Delete the k words of largest weight, and k words of other choices, and compare.

    A word is deleted from the list of words; nothing takes its place. A set of weights is faithful in this sense if the
    first deletion costs more probability than each of the others. The words of both sides of a pair compete; a tie goes
    to the earlier word. The other choices are random, without the choice that is tested; if there are no more than
    ``draws`` of them, all are taken, each once.

    Args:
        predict: takes examples, each a tuple with one list of words a side; returns probabilities [N, Y]. Called once.
        words: the words of each side.
        weights: the weight of each word of each side, in the same order.
        k: how many words to delete; at most all but one are.
        draws: how many other choices of k words are tried at most.
        seed: seed of the random choices.

    Returns:
        The score; None for fewer than two words, where there is nothing to compare.

    Raises:
        UsageError: if an argument is out of range, or weights and words differ in number.
    """
    if k < 1 or draws < 1:
        raise UsageError(f"k and draws must be at least 1; got k={k}, draws={draws}.")
    flat = _joined(words, weights)
    places = [(side, i) for side, column in enumerate(words) for i in range(len(column))]
    if len(places) < 2:
        return None
    k = min(k, len(places) - 1)
    top = np.argsort(-flat, kind="stable")[:k].tolist()
    chance = _other_choices(len(places), top, draws, seed)
    examples = [_without(words, {places[i] for i in removed}) for removed in ([], top, *chance)]
    probability = _probabilities(predict(examples), len(examples))
    predicted = int(probability[0].argmax())
    before, after_top, *after_random = probability[:, predicted].tolist()
    removed_words = tuple(words[side][i] for side, i in (places[t] for t in top))
    return DeletionScore(
        k,
        len(chance),
        seed,
        before,
        after_top,
        float(np.mean(after_random)),
        removed_words,
        tuple(after_random),
    )


def _other_choices(count: int, top: Sequence[int], draws: int, seed: int) -> list[list[int]]:
    """Choose as many of ``count`` words as ``top`` has, but not those: all ways once, or as many random ones."""
    tested = set(top)
    if math.comb(count, len(top)) - 1 <= draws:
        return [list(each) for each in combinations(range(count), len(top)) if set(each) != tested]
    generator, found = np.random.default_rng(seed), list[list[int]]()
    while len(found) < draws:
        choice = generator.choice(count, size=len(top), replace=False).tolist()
        if set(choice) != tested:
            found.append(choice)
    return found


def _joined(words: Sequence[Sequence[str]], weights: Sequence[ArrayLike]) -> NDArray[Any]:
    columns = [np.asarray(column, dtype=np.float64) for column in weights]
    if [(len(column),) for column in words] != [column.shape for column in columns]:
        raise UsageError(
            f"weights need one number a word on each side; got words {[len(column) for column in words]} and weights "
            f"{[list(column.shape) for column in columns]}."
        )
    return np.concatenate(columns) if columns else np.zeros(0)


def _without(words: Sequence[Sequence[str]], removed: set[tuple[int, int]]) -> PairOfWords:
    return tuple(
        [word for i, word in enumerate(column) if (side, i) not in removed]
        for side, column in enumerate(words)
    )


def _probabilities(answer: ArrayLike, count: int) -> NDArray[Any]:
    probability = np.asarray(answer, dtype=np.float64)
    if probability.ndim != 2 or len(probability) != count or not np.isfinite(probability).all():
        raise UsageError(
            f"predict must return finite probabilities [{count}, classes]; got {list(probability.shape)}."
        )
    return probability
