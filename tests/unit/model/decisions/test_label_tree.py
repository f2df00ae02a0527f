"""Classes as paths: parents are sums, levels are consistent, and an answer stops where its probability holds."""

from __future__ import annotations

import numpy as np
import pytest

from heedful.data.examples import Example
from heedful.errors import UsageError
from heedful.evaluation.tree_levels import tree_figures
from heedful.model.answers import Answer
from heedful.model.decisions.label_tree import LabelTree, tree_of

LABELS = ("food", "sport", "sport/ball/football", "sport/ball/tennis", "sport/chess")
SHARES = np.array([[0.3, 0.05, 0.25, 0.2, 0.2], [0.5, 0.1, 0.1, 0.1, 0.2], [0.05, 0.0, 0.9, 0.05, 0.0]])


def answered(own: np.ndarray) -> Answer:
    label = LABELS[int(own.argmax())]
    named = dict(zip(LABELS, own.tolist(), strict=True))
    return Answer(label, named, None, (2,), 0, truncated=False, empty=False)


def test_a_parent_has_the_sum_of_its_children_at_every_level() -> None:
    tree = LabelTree(LABELS, "/")
    assert tree.depth == 3
    assert tree.nodes(1) == ("food", "sport")
    assert tree.nodes(2) == ("food", "sport", "sport/ball", "sport/chess")
    assert tree.nodes(3) == LABELS
    for level in (1, 2, 3):
        assert tree.shares(SHARES, level).sum(axis=1) == pytest.approx(1)
    found = tree.add(answered(SHARES[0]))
    assert found.label == "food"  # the likeliest class
    assert found.parents == pytest.approx({"sport": 0.7, "sport/ball": 0.45})
    assert "parents" in found.as_dict()
    assert "parents" not in answered(SHARES[0]).as_dict()


@pytest.mark.parametrize(
    ("row", "at_least", "label", "probability"),
    [
        (0, 0.2, "sport/ball/football", 0.25),
        (0, 0.4, "sport/ball", 0.45),
        (0, 0.6, "sport", 0.7),
        (0, 0.99, "sport", 0.7),  # the first level is always answered
        (1, 0.3, "food", 0.5),
        (2, 0.8, "sport/ball/football", 0.9),
    ],
)
def test_an_answer_stops_at_the_level_whose_probability_holds(
    row: int, at_least: float, label: str, probability: float
) -> None:
    found = LabelTree(LABELS, "/", at_least).add(answered(SHARES[row]))
    assert found.label == label
    assert found.confidence == pytest.approx(probability)


def test_an_answer_of_none_of_the_classes_stays() -> None:
    none = Answer(
        "none of these", answered(SHARES[0]).probabilities, None, (2,), 0, truncated=False, empty=False
    )
    assert LabelTree(LABELS, "/", 0.5).add(none).label == "none of these"


def test_each_level_is_measured() -> None:
    tree = LabelTree(LABELS, "/", 0.6)
    gold = ("sport/chess", "sport/golf", "sport/ball/football")  # golf is unknown, but a sport
    examples = [Example(("a",), each) for each in gold]
    found = tree_figures(tree, [tree.add(answered(own)) for own in SHARES], examples)
    assert [level.accuracy for level in found.levels] == pytest.approx([2 / 3, 1 / 3, 1 / 3])
    assert [level.nodes for level in found.levels] == [2, 4, 5]
    assert found.right == pytest.approx(2 / 3)  # sport, sport or food, football
    assert sum(found.stopped) == pytest.approx(1)
    assert "level 2" in found.render()
    assert tree_figures(tree, [], []).count == 0


@pytest.mark.parametrize(
    ("labels", "separator", "at_least", "part"),
    [
        (LABELS, ">", None, "no class of this model has '>' in its name"),
        (LABELS, "", None, "what separates the levels of a class, such as /; got an empty text"),
        (LABELS, "/", 0.0, "above 0, at most 1; got 0.0"),
        (LABELS, "/", float("nan"), "got nan"),
        (LABELS, "/", True, "got True"),
    ],
)
def test_wrong_wishes_are_refused(
    labels: tuple[str, ...], separator: str, at_least: float | None, part: str
) -> None:
    with pytest.raises(UsageError, match=part):
        LabelTree(labels, separator, at_least)


def test_costs_and_probabilities_do_not_both_choose() -> None:
    assert tree_of(LABELS, np.eye(5), "/", None).at_least is None
    with pytest.raises(UsageError, match="by the costs of wrong answers"):
        tree_of(LABELS, np.eye(5), "/", 0.5)


@pytest.mark.parametrize("label", ["/food", "food/", "food//soup", "/", "food/ /soup"])
def test_a_level_without_a_name_is_refused(label: str) -> None:
    with pytest.raises(UsageError, match=r"tree: the class '.*' has a level without a name"):
        LabelTree(("sport", label), "/")
    assert LabelTree(("a-b", label), "-").depth == 2  # not a separator here
