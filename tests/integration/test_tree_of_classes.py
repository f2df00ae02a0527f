"""Classes as paths at the doors that know them: both commands, the estimator and the runtime answer alike."""

from __future__ import annotations

from pathlib import Path

import pytest

import heedful
import tiny
from heedful import TextClassifier
from heedful.errors import UsageError

WORDS = {"sport/ball": "goal", "sport/chess": "rook", "food": "soup", "art": "film"}
TEXTS = [
    f"{how} {word} {when}"
    for word in WORDS.values()
    for how in ("a", "the")
    for when in ("now", "then", "here")
]
LABELS = [label for label in WORDS for _ in range(6)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    model = TextClassifier(text__vectors="", model__sentence="none").fit(
        TEXTS * 2, LABELS * 2, baseline=False
    )
    model.save_pretrained(root / "model")
    tiny.write_csv(root / "new.csv", list(zip(TEXTS, LABELS, strict=True)), ["text", "label"])
    return root


def test_every_door_stops_at_the_same_node(folder: Path) -> None:
    asked = ["the goal now", "goal or rook"]
    said = [
        tiny.run("predict", folder / "model", text, "--tree", "/", "--at-least", "0.7", "--json").json()
        for text in asked
    ]
    assert said[0]["label"] == "sport/ball"
    assert said[1]["label"] == "sport"
    assert said[1]["parents"]["sport"] == pytest.approx(
        said[1]["probabilities"]["sport/ball"] + said[1]["probabilities"]["sport/chess"]
    )
    model = heedful.from_pretrained(folder / "model")
    assert [answer.label for answer in model.in_tree(asked, at_least=0.7)] == ["sport/ball", "sport"]
    plain = heedful.runtime.load(folder / "model").in_tree("/", 0.7)
    assert [answer.label for answer in plain.predict(asked)] == ["sport/ball", "sport"]


def test_levels_are_measured(folder: Path) -> None:
    found = tiny.run("evaluate", folder / "model", folder / "new.csv", "--tree", "/", "--json").json()["tree"]
    assert [level["nodes"] for level in found["levels"]] == [3, 4]
    assert found["levels"][0]["accuracy"] == 1.0


def test_what_does_not_fit_is_refused(folder: Path) -> None:
    for more, part in (
        (("--tree", ">"), "no class of this model has '>' in its name"),
        (("--at-least", "0.5"), "add --tree"),
        (("--tree", "/", "--at-least", "2"), "at most 1; got 2.0"),
    ):
        result = tiny.run("predict", folder / "model", "x", *more)
        assert result.code == 2
        assert part in result.err.splitlines()[-1]
    numbers = heedful.TextScorer(text__vectors="", model__sentence="none").fit(
        TEXTS, range(24), baseline=False
    )
    with pytest.raises(UsageError, match="tree: expected a model of classes"):
        numbers.predictor.in_tree("/")
