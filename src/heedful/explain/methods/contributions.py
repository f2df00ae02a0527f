"""One number a word: what it adds to the logits of a whole model, its linear parts exact, the rest by Shapley values.

Shapley values (Shapley, 1953) are exact for few words. For more they are the weighted least squares of Lundberg and Lee
(NIPS 2017, Kernel SHAP): every word alone, every word left out, and random choices each with its complement (Covert and
Lee, AISTATS 2021). Whatever the sample, the contributions add up to the logits. Imports no torch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, comb, factorial

import numpy as np
from numpy.typing import NDArray

from heedful.explain.linear_parts import AcrossLogits, JointLogits, SharedLogits
from heedful.explain.methods.word_game import Game

Values = NDArray[np.float64]
Choices = NDArray[np.bool_]
ValuesOf = Callable[[Choices], Values]
EXACT = 7
"""Up to so many words all choices of words are computed, 128 texts."""
_PAIRS, _FEWEST = 48, 16
_ROUGH_EXACT, _ROUGH_PAIRS = 4, 4
"""Random choices, each with its complement: of short and of long texts; and both where many texts are added up."""
_ACROSS = 4
"""Words of each text of a pair that are asked about together with those of the other text."""
_LONG, _TOKENS = 40, 20_000
"""Words from which neighbors are not asked about and fewer choices are drawn; words read in all, about."""


@dataclass(frozen=True, eq=False)
class Explained:
    """The logits of an answer shared among its words.

    Attributes:
        shares: the shares; they add up to the logits.
        choices: how many choices of words were computed; 0 where everything is linear.
        run: how many neighboring words were left out together.
    """

    shares: SharedLogits
    choices: int = 0
    run: int = 1


def contributions(game: Game, seed: int = 0, *, rough: bool = False) -> Explained:
    """Share the logits of an answer among its words.

    Args:
        game: the model's logits for any choice of words.
        seed: of the random choices.
        rough: whether a third of the choices is enough, because many texts are added up.

    Returns:
        The shares. Their start is what the model gives without words; where the words read, all of them, give exactly
        the logits of the answer.
    """
    places, linear = game.places, game.linear
    whole = game.whole - linear.total
    if game.rest is None or not places:
        start = linear.start + whole  # rounding, and what a model gives where no word may be left out
        return Explained(replace(linear, start=start))
    rest, kept = game.rest, Remaining(game)
    run, player = players_of(places)

    def values_of(choices: Choices) -> Values:
        return np.asarray(rest([kept.of(row[player]) for row in choices]), np.float64)

    neighbors = _neighbors(places) if len(places) <= _LONG else []
    values, start, joint, asked = shapley_of(
        int(player[-1]) + 1, values_of, whole, neighbors, seed, rough=rough
    )
    words, sizes = tuple(side.copy() for side in linear.words), np.bincount(player)
    for (side, place), own in zip(places, player.tolist(), strict=True):
        words[side][place] += values[own] / sizes[own]
    found = tuple(
        JointLogits(places[i][0], places[i][1], places[i][1] + 2, value) for i, value in joint.items()
    )
    across: list[AcrossLogits] = []
    if len(words) > 1 and run == 1 and neighbors and not rough:
        across, more = _across(places, values, values_of, whole)
        asked += more
    joints = (*linear.joint, *found)
    shares = SharedLogits(linear.start + start, words, joints, tuple(across), linear.columns)
    return Explained(shares, asked, run)


def _across(
    places: list[tuple[int, int]], values: Values, values_of: ValuesOf, whole: Values
) -> tuple[list[AcrossLogits], int]:
    """Ask what the strongest words of both texts add together; return that, and how many choices were asked.

    The size of a word is that of what it adds to the logits, less their mean, which no softmax sees.
    """
    centered = values - values.mean(axis=1, keepdims=True) if values.shape[1] > 1 else values
    sizes = np.linalg.norm(centered, axis=1).round(6)  # what rounding alone sets apart goes by its place
    order = np.argsort(-sizes, kind="stable").tolist()
    sides = [[i for i in order if places[i][0] == side][:_ACROSS] for side in (0, 1)]
    if not all(sides):
        return [], 0
    pairs = [(i, j) for i in sides[0] for j in sides[1]]
    gone = [*((i,) for side in sides for i in side), *pairs]
    keep = np.ones((len(gone), len(places)), bool)
    for row, out in zip(keep, gone, strict=True):
        row[list(out)] = False
    found = dict(zip(gone, values_of(keep), strict=True))
    return [
        AcrossLogits(places[i][1], places[j][1], whole - found[i,] - found[j,] + found[i, j])
        for i, j in pairs
    ], len(gone)


def players_of(places: list[tuple[int, int]]) -> tuple[int, NDArray[np.int64]]:
    """Choose what is left out together: of a long text runs of neighboring words.

    Args:
        places: the words that may be left out, at least one.

    Returns:
        Words of a run, and for each word the number of its player, from 0.
    """
    count = len(places)
    run = ceil(count / max(_FEWEST, _TOKENS // count)) if count > _FEWEST else 1
    player, number, size = np.zeros(count, np.int64), 0, 1
    for i in range(1, count):
        if places[i][0] != places[i - 1][0] or size == run:
            number, size = number + 1, 0
        player[i], size = number, size + 1
    return run, player


class Remaining:
    """Turns choices among the words that may be left out into places of the words that remain."""

    def __init__(self, game: Game) -> None:
        self._sides, self._places = [len(words) for words in game.words], game.places

    def of(self, row: Choices) -> tuple[tuple[int, ...], ...]:
        """Return for each side the places of the words that remain."""
        gone = {place for place, stays in zip(self._places, row.tolist(), strict=True) if not stays}
        return tuple(
            tuple(i for i in range(length) if (side, i) not in gone)
            for side, length in enumerate(self._sides)
        )


def _neighbors(places: list[tuple[int, int]]) -> list[int]:
    """Return the numbers of the words whose next word may be left out too."""
    pairs = enumerate(pairwise(places))
    return [i for i, (first, second) in pairs if second == (first[0], first[1] + 1)]


def shapley_of(
    count: int,
    values_of: ValuesOf,
    whole: Values,
    neighbors: list[int],
    seed: int = 0,
    *,
    rough: bool = False,
) -> tuple[Values, Values, dict[int, Values], int]:
    """Return Shapley values of several numbers at once.

    Args:
        count: players P, at least 1.
        values_of: takes choices of players, [N, P]; returns the numbers of each, [N, Y].
        whole: the numbers with all players, [Y], to which the values and the start add up.
        neighbors: players of which is asked what they add together with the next one.
        seed: of the random choices.
        rough: see `contributions`.

    Returns:
        The values [P, Y]; the numbers without players [Y]; for each of the neighbors what both add beyond what each
        adds to all others, ``v(N) - v(N without i) - v(N without j) + v(N without both)``, [Y]; and how many choices
        were asked.
    """
    if count <= (_ROUGH_EXACT if rough else EXACT):
        keep = (np.arange(2**count)[:, None] >> np.arange(count)) & 1 > 0
        values = values_of(keep)
        values[-1] = whole
        joint = {i: _together(values, 2**count - 1, 1 << i, 1 << i + 1) for i in neighbors}
        return _exactly(count, values), values[0], joint, len(keep)
    one, pairs = np.eye(count, dtype=bool), np.zeros((len(neighbors), count), bool)
    for row, i in zip(pairs, neighbors, strict=True):
        row[i : i + 2] = True
    drawn = np.array(list(_drawn(count, seed, _ROUGH_PAIRS if rough else 0)), bool).reshape(-1, count)
    sampled = np.stack([drawn, ~drawn], axis=1).reshape(-1, count)
    keep = np.concatenate([np.zeros((1, count), bool), one, ~one, ~pairs, sampled])
    values = values_of(keep)
    start, ends = values[0], np.cumsum([1, count, count, len(pairs)])
    without = values[ends[1] : ends[2]]
    joint = {
        i: whole - without[i] - without[i + 1] + both
        for i, both in zip(neighbors, values[ends[2] : ends[3]], strict=True)
    }
    used = np.concatenate([np.arange(ends[0], ends[2]), np.arange(ends[3], len(keep))])
    weights = _weights(count, len(sampled))
    return _regressed(keep[used], values[used] - start, weights, whole - start), start, joint, len(keep)


def _together(values: Values, full: int, first: int, second: int) -> Values:
    made: Values = values[full] - values[full ^ first] - values[full ^ second] + values[full ^ first ^ second]
    return made


def _exactly(count: int, values: Values) -> Values:
    """Return the Shapley values of all choices, [2^P, Y] in the order of their bits."""
    chosen = np.arange(2**count)
    sizes = np.array([bin(number).count("1") for number in chosen])
    found = np.zeros((count, values.shape[1]))
    weight = np.array([factorial(s) * factorial(count - s - 1) / factorial(count) for s in range(count)])
    for i in range(count):
        without = chosen[chosen >> i & 1 == 0]
        found[i] = weight[sizes[without]] @ (values[without | 1 << i] - values[without])
    return found


def _drawn(count: int, seed: int, pairs: int = 0) -> Iterator[list[bool]]:
    """Draw choices of 2 to P - 2 players, of each size as often as its weight says; 0 pairs are the usual ones.

    The random numbers are those of a linear congruential generator, which the exported page has too.
    """
    shares = np.cumsum([1 / (size * (count - size)) for size in range(2, count - 1)])
    state = seed & 0xFFFFFFFF

    def uniform() -> float:
        nonlocal state
        state = (1664525 * state + 1013904223) & 0xFFFFFFFF
        return state / 2**32

    for _ in range(pairs or max(_FEWEST, _PAIRS - max(0, count - _LONG) // 4)):
        size = 2 + int(np.searchsorted(shares, uniform() * shares[-1], side="right"))
        order = list(range(count))
        for place in range(size):
            other = place + int(uniform() * (count - place))
            order[place], order[other] = order[other], order[place]
        chosen = set(order[:size])
        yield [player in chosen for player in range(count)]


def _weights(count: int, sampled: int) -> Values:
    """Return the weights of choices of 1 and of P - 1 players, all of them, and of the sampled ones, [2P + N].

    A choice of s players has the weight ``(P - 1) / (comb(P, s) s (P - s))``, and those of 2 to P - 2 players have
    theirs together.
    """
    edge = (count - 1) / (comb(count, 1) * (count - 1))
    inner = sum((count - 1) / (size * (count - size)) for size in range(2, count - 1))
    found: Values = np.concatenate([np.full(2 * count, edge), np.full(sampled, inner / max(sampled, 1))])
    return found


def _regressed(keep: Choices, values: Values, weights: Values, change: Values) -> Values:
    """Return the weighted least squares of values by players whose sum is the change, [P, Y]."""
    z = keep.astype(np.float64)
    weighted = z * weights[:, None]
    matrix, right = weighted.T @ z, weighted.T @ values
    solved = np.linalg.solve(matrix, np.column_stack([right, np.ones(len(matrix))]))
    both: Values = np.asarray(solved, np.float64)
    free, ones = both[:, :-1], both[:, -1]
    found: Values = free - np.outer(ones, (free.sum(axis=0) - change) / ones.sum())
    return found
