"""Exact and sampled methods on set functions that are known, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations

import numpy as np
import pytest

from heedful.errors import UsageError
from heedful.explain.methods import METHODS, MethodChoice, Question, Sampling, attribute, deletion
from heedful.explain.methods.answer_function import Kept

WEIGHTS = np.array([0.5, -0.2, 0.1, 0.0, 0.3, -0.1, 0.05, 0.2, -0.3, 0.15])


class Game:
    """A value of the words that remain: their weights, and a bonus if the first two are together."""

    def __init__(self, count: int, bonus: float = 0.0) -> None:
        self.calls: list[Sequence[Kept]] = []
        self.weights, self.bonus = WEIGHTS[:count], bonus
        self.question = Question((tuple(f"w{k}" for k in range(count)),), self.values, "the value")

    def value(self, kept: Sequence[int]) -> float:
        return 1 + float(self.weights[list(kept)].sum()) + (self.bonus if {0, 1} <= set(kept) else 0.0)

    def values(self, choices: Sequence[Kept]) -> list[float]:
        self.calls.append(choices)
        return [self.value(kept[0]) for kept in choices]


def shapley_by_definition(count: int, value: Callable[[Sequence[int]], float]) -> np.ndarray:
    found, orders = np.zeros(count), list(permutations(range(count)))
    for order in orders:
        for place, word in enumerate(order):
            found[word] += value(sorted(order[: place + 1])) - value(sorted(order[:place]))
    return found / len(orders)


def test_leave_one_out_is_exact_and_asks_once() -> None:
    game = Game(5, bonus=0.4)
    found = attribute("occlusion", game.question)
    assert found.values[0] == pytest.approx([0.9, 0.2, 0.1, 0.0, 0.3])
    assert found.whole == pytest.approx(game.value(range(5)))
    assert (found.start, found.together) == (1.0, pytest.approx(-0.4)), "the bonus is counted twice"
    assert found.gap == pytest.approx(0)
    assert len(game.calls) == 1
    assert len(game.calls[0]) == 7
    assert game.calls[0][0] == ((0, 1, 2, 3, 4),)


def test_shapley_values_of_a_short_text_are_those_of_the_definition() -> None:
    game = Game(6, bonus=0.4)
    found = attribute("shapley", game.question)
    assert found.values[0] == pytest.approx(shapley_by_definition(6, game.value))
    assert len(game.calls) == 1
    assert len(game.calls[0]) == 2**6, "every choice of words once"
    assert (found.exact, found.gap) == (True, pytest.approx(0))


def test_many_orders_are_computed_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = attribute("shapley", Game(10, bonus=0.4).question, Sampling(40, seed=3))
    monkeypatch.setattr(deletion, "_PAIRS", 3)
    parts = attribute("shapley", Game(10, bonus=0.4).question, Sampling(40, seed=3))
    assert np.array_equal(parts.values[0], whole.values[0])
    assert np.array_equal(parts.errors[0], whole.errors[0])
    assert (parts.start, parts.whole, parts.samples) == (whole.start, whole.whole, whole.samples)
    with pytest.raises(UsageError, match=r"^samples must be a whole number from 1 to 100000; got 100001$"):
        Sampling(100_001)


def test_sampled_shapley_values_add_up_and_are_within_their_error() -> None:
    game = Game(10, bonus=0.4)
    found = attribute("shapley", game.question, Sampling(40, seed=3))
    wanted = WEIGHTS.copy()
    wanted[:2] += 0.2  # two words share what they bring together
    assert found.samples == 40
    assert found.gap == pytest.approx(0)
    error = found.errors[0]
    assert error[2:] == pytest.approx(0), "a word that brings the same in every order has no error"
    assert (np.abs(found.values[0] - wanted) <= 4 * error + 1e-9).all()
    assert len(game.calls) == 1
    again = attribute("shapley", Game(10, bonus=0.4).question, Sampling(40, seed=3))
    assert np.array_equal(found.values[0], again.values[0])


def test_more_orders_make_the_error_smaller() -> None:
    def noisy(choices: Sequence[Kept]) -> list[float]:
        return [np.sin(7.0 * sum((k + 1) ** 2 for k in kept[0])) for kept in choices]

    question = Question((tuple("abcdefghij"),), noisy, "the value")
    few, many = (attribute("shapley", question, Sampling(orders)).errors[0] for orders in (8, 200))
    assert many.mean() < 0.4 * few.mean()


def test_a_word_that_always_remains_contributes_nothing_and_is_never_deleted() -> None:
    asked: list[Kept] = []

    def values(choices: Sequence[Kept]) -> list[float]:
        asked.extend(choices)
        return [float(len(kept[0])) for kept in choices]

    question = Question((("a", "b", "c"),), values, "the value", frozenset({(0, 1)}))
    for method in ("occlusion", "shapley"):
        assert attribute(method, question).values[0].tolist() == [1.0, 0.0, 1.0]
    assert all(1 in kept[0] for kept in asked)


@pytest.mark.parametrize("words", [((),), ((), ()), (("one",), ())])
def test_texts_without_words_have_no_contributions(words: tuple[tuple[str, ...], ...]) -> None:
    question = Question(words, lambda choices: [float(len(c[0])) for c in choices], "the value")
    for method in ("occlusion", "shapley"):
        found = attribute(method, question)
        assert [len(side) for side in found.values] == [len(side) for side in words]


def test_what_is_wrong_is_named() -> None:
    question = Game(2).question
    with pytest.raises(UsageError, match=r"there is no explanation method 'oclusion'.*occlusion"):
        attribute("oclusion", question)
    with pytest.raises(
        UsageError, match="no explanation by gradient; choose contributions, occlusion or shapley"
    ):
        attribute("gradient", question)
    with pytest.raises(UsageError, match="samples must be a whole number from 1 to 100000"):
        MethodChoice("shapley", Sampling(0))
    with pytest.raises(UsageError, match="finite"):
        attribute("occlusion", Question((("a",),), lambda choices: [np.nan] * len(choices), "the value"))
    assert len(METHODS) == 6
