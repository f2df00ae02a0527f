"""Shares of logits among words, on set functions that are known: exact for few words, and whatever the sample a sum."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pytest

from heedful.explain.explained_value import ExplainedValue
from heedful.explain.linear_parts import SharedLogits
from heedful.explain.methods.answer_function import Kept
from heedful.explain.methods.contributions import EXACT, contributions, players_of, shapley_of
from heedful.explain.methods.deletion import occlusion
from heedful.explain.methods.word_game import Game, game_of
from heedful.runtime.model_parts import ModelParts
from heedful.text.wide_part import PhraseRule, WidePart

TABLE = np.random.default_rng(1).standard_normal((400, 3))


class Known:
    """Two numbers of the players that remain: their sum, and another sum with a bonus for two neighbors together."""

    def __init__(self, count: int, pair: tuple[int, int] = (1, 2), bonus: float = 1.5) -> None:
        self.weights, self.pair, self.bonus, self.asked = TABLE[:count, :2], pair, bonus, 0

    def value(self, kept: Sequence[int]) -> np.ndarray:
        together = self.bonus * ({*self.pair} <= set(kept))
        return np.array([0.5, -0.25]) + self.weights[list(kept)].sum(axis=0) + [0.0, together]

    def ask(self, keep: np.ndarray) -> np.ndarray:
        self.asked += len(keep)
        return np.array([self.value(np.flatnonzero(row).tolist()) for row in keep])

    @property
    def shares(self) -> np.ndarray:
        """The Shapley values: two players share what they bring together."""
        made = self.weights.copy()
        made[list(self.pair), 1] += self.bonus / 2
        return made


@pytest.mark.parametrize("count", [3, 7, 8, 20, 40])
def test_sums_and_pairs_are_exact_and_neighbors_are_found(count: int) -> None:
    game = Known(count)
    whole = game.value(range(count))
    found, start, joint, asked = shapley_of(count, game.ask, whole, list(range(count - 1)))
    assert found == pytest.approx(game.shares, abs=1e-9)
    assert start == pytest.approx([0.5, -0.25])
    assert start + found.sum(axis=0) == pytest.approx(whole, abs=1e-12)
    assert {i for i, values in joint.items() if np.abs(values).max() > 1e-9} == {1}
    assert joint[1] == pytest.approx([0, 1.5])
    assert asked == game.asked <= max(2**EXACT, 3 * count + 97)


def test_few_players_have_the_values_of_the_definition() -> None:
    def ask(keep: np.ndarray) -> np.ndarray:
        return np.stack([np.sin(keep @ np.arange(1.0, 6.0)), keep.sum(axis=1) ** 2.0], axis=1)

    whole = ask(np.ones((1, 5), bool))[0]
    found, start, _, _ = shapley_of(5, ask, whole, [])
    wanted = np.zeros((5, 2))
    orders = list(permutations(range(5)))
    for order in orders:
        for place, player in enumerate(order):
            keep = np.zeros((2, 5), bool)
            keep[0, list(order[: place + 1])] = keep[1, list(order[:place])] = True
            with_it, without = ask(keep)
            wanted[player] += (with_it - without) / len(orders)
    assert found == pytest.approx(wanted)
    assert start + found.sum(axis=0) == pytest.approx(whole)


def test_whatever_the_sample_the_sum_is_exact_and_the_same_seed_gives_the_same() -> None:
    def ask(keep: np.ndarray) -> np.ndarray:
        return np.sin(7.0 * keep @ np.arange(30.0) ** 2)[:, None]

    whole = ask(np.ones((1, 30), bool))[0] + 1e-7  # as the answer rounds in another way
    first, start, _, _ = shapley_of(30, ask, whole, [])
    assert start + first.sum(axis=0) == pytest.approx(whole, abs=1e-12)
    assert np.array_equal(first, shapley_of(30, ask, whole, [])[0])
    assert not np.array_equal(first, shapley_of(30, ask, whole, [], seed=1)[0])


@pytest.mark.parametrize(("count", "run"), [(1, 1), (16, 1), (100, 1), (400, 8), (4000, 250)])
def test_of_a_long_text_runs_of_words_are_left_out_together(count: int, run: int) -> None:
    places = [(0, i) for i in range(count)]
    found, player = players_of(places)
    assert found == run
    assert np.bincount(player).max() <= run
    assert player.tolist() == sorted(player.tolist())
    assert len(set(player.tolist())) == -(-count // run)
    sides = players_of([(0, i) for i in range(count)] + [(1, i) for i in range(3)])[1]
    assert sides[count - 1] != sides[count], "no run is in two texts"


def game_of_words(count: int, linear: SharedLogits, fixed: frozenset[tuple[int, int]] = frozenset()) -> Game:
    known = Known(count)

    def rest(choices: Sequence[Kept]) -> np.ndarray:
        return np.array([known.value(kept[0]) for kept in choices])

    words = (tuple(f"w{i}" for i in range(count)),)
    return Game(words, known.value(range(count)) + linear.total, rest, rest, linear, fixed)


def test_linear_shares_are_added_and_everything_adds_up() -> None:
    linear = SharedLogits(np.array([1.0, 2.0]), (TABLE[:12, 1:],))
    game = game_of_words(12, linear)
    found = contributions(game)
    assert found.shares.total == pytest.approx(game.whole, abs=1e-12)
    assert found.shares.words[0] == pytest.approx(Known(12).shares + TABLE[:12, 1:], abs=1e-9)
    alone = contributions(Game(game.words, linear.total, None, game.total, linear))
    assert (alone.choices, alone.shares.total) == (0, pytest.approx(linear.total))


def test_a_word_that_always_remains_contributes_nothing() -> None:
    linear = SharedLogits(np.zeros(2), (np.zeros((5, 2)),))
    game = game_of_words(5, linear, frozenset({(0, 3)}))
    found = contributions(game)
    assert not found.shares.words[0][3].any()
    assert found.shares.total == pytest.approx(game.whole)
    assert found.shares.start == pytest.approx(Known(5).value([3]))


def test_a_text_without_words_is_its_base() -> None:
    linear = SharedLogits(np.array([0.5, 0.5]), (np.zeros((0, 2)),))
    game = Game(
        ((),), np.array([0.75, 0.5]), lambda choices: [[0.25, 0]], lambda choices: [[0.75, 0.5]], linear
    )
    found = contributions(game)
    assert (found.choices, found.shares.start.tolist()) == (0, [0.75, 0.5])


def test_numbers_of_words_and_characters_alone_begin_at_their_mean() -> None:
    rule = PhraseRule(words=1, shortest=3, longest=3)
    words = ("so", "grand")
    numbers = np.unique(np.asarray(rule.numbers(words, 0)))
    weights, bias = np.full((len(numbers), 1), 0.25, np.float32), np.zeros(1, np.float32)
    parts = ModelParts(wide=WidePart(rule, numbers, np.ones(len(numbers), np.float32), weights, bias))
    (added,) = parts.added(np.zeros(1, np.float32), [words]).tolist()
    game = game_of([words], [2.0 + added], None, parts)  # 2 is the mean of the numbers that were learned
    assert added > 0.1
    by_deletion = occlusion(game.question(ExplainedValue("number")))
    assert (by_deletion.start, by_deletion.whole) == pytest.approx((2.0, 2.0 + added))
    assert contributions(game).shares.start == pytest.approx(np.array([2.0]))


def test_fewer_choices_still_add_up() -> None:
    def ask(choices: np.ndarray) -> np.ndarray:
        count = choices.sum(axis=1, keepdims=True).astype(float)
        return np.concatenate([count + (choices[:, :1] & choices[:, 1:2]) * 2.0, count**2], axis=1)

    whole = ask(np.ones((1, 10), bool))[0]
    found = {rough: shapley_of(10, ask, whole, [0, 4], rough=rough) for rough in (False, True)}
    assert found[True][3] < found[False][3] / 2
    for values, start, joint, _ in found.values():
        np.testing.assert_allclose(values.sum(axis=0) + start, whole)
        np.testing.assert_allclose(joint[0][0], 2.0)
