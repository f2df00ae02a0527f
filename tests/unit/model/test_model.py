"""A model is a reading, an engine and a decision: here a toy of each, and the two engines that there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import whole_models
from heedful.errors import UsageError
from heedful.model.answers import Answer, Read
from heedful.model.decisions import KINDS, ClassDecision
from heedful.model.model import Model
from heedful.runtime import load
from heedful.tasks import load_model


class ByWords:
    """Reads two texts at a time."""

    def blocks(self, requests: Any, texts: int) -> Iterator[list[str]]:
        asked = list(requests)
        yield from (asked[start : start + 2] for start in range(0, len(asked), 2))

    def read(self, block: list[str]) -> list[Read]:
        return [Read((len(text.split()),), 0, truncated=False, empty=not text) for text in block]


class Lengths:
    """Says of a text how long it is, and that it is short."""

    can: frozenset[str] = frozenset()

    def run(self, block: list[str]) -> list[NDArray[np.float32]]:
        return [np.array([len(text.split()), 2.5], np.float32) for text in block]


class Toy(Model[list[str], Answer]):
    task, is_pair, labels, encoder, pooling = "text", False, ("long", "short"), "toy", "mean"
    run_settings: Mapping[str, object] = {}
    metrics: Mapping[str, object] = {}
    reading, engine = ByWords(), Lengths()  # type: ignore[assignment]
    decision = ClassDecision(("long", "short"))

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.require("vectors")
        return np.zeros((len(texts), 1), np.float32)


@pytest.mark.parametrize("threads", [1, 3])
def test_texts_become_answers_in_order(threads: int) -> None:
    model = Toy()
    model.threads = threads
    answers = list(model.predict(["a b c d", "a", "", "a b c", "a b"]))
    assert [answer.label for answer in answers] == ["long", "short", "short", "long", "short"]
    assert [answer.tokens for answer in answers] == [(4,), (1,), (0,), (3,), (2,)]
    assert list(model.rows(answers[0])) == [["long", f"{answers[0].probabilities['long']:.3f}", ""]]
    assert list(model.predict([])) == []


def test_what_an_engine_cannot_is_refused_in_one_sentence() -> None:
    for ask in (lambda: Toy().encode(["a"]), lambda: Toy().require("policy"), lambda: Toy().tagged_text("a")):
        with pytest.raises(UsageError, match=r"^a model of texts has no ") as refused:
            ask()
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize("task", ["text", "pair", "relatedness", "number", "labels", "tags"])
def test_both_engines_are_one_model(task: str, tmp_path: Path) -> None:
    make = whole_models.tagger if task == "tags" else lambda path: whole_models.whole(path, task)
    make(tmp_path / "model")
    mine, theirs = load(tmp_path / "model"), load_model(tmp_path / "model")
    for name in ("task", "is_pair", "labels", "encoder", "pooling", "noun", "header", "shows_texts", "kind"):
        if name != "labels" or KINDS[task].has_labels:
            assert getattr(mine, name) == getattr(theirs, name), name
    assert mine.engine.can - theirs.engine.can == set()
    assert {"gradients"} <= theirs.engine.can - mine.engine.can
    asked = [("A fine film", "dull plot")] if mine.is_pair else ["A fine film", ""]
    for one, other in zip(mine.predict(asked), theirs.predict(asked), strict=True):
        assert list(mine.rows(one)) == list(theirs.rows(other))
    with pytest.raises(UsageError, match=r"with torch$"):
        mine.require("features")


def test_both_engines_look_alike(tmp_path: Path) -> None:
    whole_models.whole(tmp_path / "model", "pair", "disan", parts=())
    sights = []
    for model in (load(tmp_path / "model"), load_model(tmp_path / "model")):
        sights.append(model.engine.look(model.reading.one(("A fine film", "dull plot"))))
    mine, theirs = sights
    assert mine.averaged == theirs.averaged
    for one, other in zip(mine.texts, theirs.texts, strict=True):
        assert list(one.maps) == list(other.maps)
        assert one.maps, "disan has maps"
        for place in one.maps:
            np.testing.assert_allclose(one.maps[place], other.maps[place], atol=2e-6)
        np.testing.assert_allclose(one.weights, other.weights, atol=2e-6)
