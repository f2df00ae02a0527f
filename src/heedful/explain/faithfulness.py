"""The deletion test: whether the prediction depends on the words with the largest weights. Imports no torch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heedful.errors import UsageError, checked_whole
from heedful.explain.methods.answer_function import Kept, Question

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
        masked: whether a masked word took the place of a deleted one; see `heedful.explain.methods.Question`.
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
    masked: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "removed", tuple(self.removed))
        object.__setattr__(self, "random", tuple(float(p) for p in self.random))

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
    def is_informative(self) -> bool:
        """Whether anything may be claimed; only then is the test shown."""
        return self.verdict in ("more", "less")

    @property
    def claim(self) -> str:
        """The verdict in a sentence."""
        words = f"these {self.k} words" if self.k > 1 else "this word"
        what = "Masking" if self.masked else "Deleting"
        others = f"each of {self.draws} other choices" + (
            f" of {self.k} words" if self.k > 1 else " of a word"
        )
        return {
            "more": f"{what} {words} costs more than {others}.",
            "less": f"{what} {words} costs less than {others}: here the method does not single out what decides.",
            "within": f"The result of {what.lower()} {words} lies within the spread of {self.draws} other choices, so "
            "this test shows nothing.",
            "unknown": "There are too few other choices of words to compare with, so this test shows nothing.",
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
    sides = tuple(tuple(column) for column in words)

    def values(choices: Sequence[Kept]) -> NDArray[np.float64]:
        examples: list[PairOfWords] = [
            tuple([column[i] for i in kept] for column, kept in zip(sides, choice, strict=True))
            for choice in choices
        ]
        probability = _probabilities(predict(examples), len(examples))
        return probability[:, int(probability[0].argmax())]  # the first example has all words

    question = Question(sides, values, "the probability of the predicted class")
    return deletion_of(question, weights, k=k, draws=draws, seed=seed)


def deletion_of(
    question: Question, weights: Sequence[ArrayLike], *, k: int = 3, draws: int = 20, seed: int = 0
) -> DeletionScore | None:
    """Do the deletion test of an answer; see `deletion_score`.

    Args:
        question: what is asked; words that always remain are not deleted.
        weights: the weight of each word of each side, or what it contributes.
        k: see there.
        draws: see there.
        seed: see there.

    Returns:
        The score; None where fewer than two words may be deleted.

    Raises:
        UsageError: if an argument is out of range, or weights and words differ in number.
    """
    k, draws = checked_whole("k", k, 1), checked_whole("draws", draws, 1)
    flat, places = question.flat(weights), question.places
    if len(places) < 2:
        return None
    k = min(k, len(places) - 1)
    top = np.argsort(-flat, kind="stable")[:k].tolist()
    chance = _other_choices(len(places), top, draws, seed)
    keep = np.ones((2 + len(chance), len(places)), bool)
    for row, removed in zip(keep[1:], (top, *chance), strict=True):
        row[removed] = False
    before, after_top, *after = question.evaluate(keep).tolist()
    removed_words = tuple(question.words[side][i] for side, i in (places[t] for t in top))
    return DeletionScore(
        k=k,
        draws=len(chance),
        seed=seed,
        before=before,
        after_top=after_top,
        after_random=float(np.mean(after)),
        removed=removed_words,
        random=tuple(after),
        masked=question.mask is not None,
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


def _probabilities(answer: ArrayLike, count: int) -> NDArray[np.float64]:
    probability = np.asarray(answer, dtype=np.float64)
    if probability.ndim != 2 or len(probability) != count or not np.isfinite(probability).all():
        raise UsageError(
            f"predict must return finite probabilities [{count}, classes]; got {list(probability.shape)}."
        )
    return probability
