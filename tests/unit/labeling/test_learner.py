"""The process that trains: a model that answers here without torch, texts it is uncertain of, and wrong labels."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from forked_commands import started
from heedful.labeling.forms import form_of
from heedful.labeling.learner import FIRST, Learner
from heedful.labeling.training_process import Lesson, LessonResult, taught
from heedful.machine.child import Failed, send
from waiting import PATIENCE

FORM = form_of("classes", ["good", "bad"])
TEXTS = [(f"a {'superb' if k % 2 else 'dull'} film about {k} people",) for k in range(48)]
LABELS = ["good" if k % 2 else "bad" for k in range(48)]


@pytest.fixture(autouse=True)
def _forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the teacher's process be forked from one that has imported all; the tests of a crew start theirs anew."""
    monkeypatch.setattr("heedful.machine.crew._SPAWN", started())


class Waiting:
    """Waits for what comes of trainings."""

    def __init__(self, form: Any = FORM) -> None:
        self.came, self._event = list[LessonResult](), threading.Event()
        self.learner = Learner(form, 1, self._take)

    def _take(self, lesson: Lesson, found: LessonResult) -> None:
        self.came.append(found)
        self._event.set()

    def train(self, count: int, texts: Any = TEXTS, labels: Any = LABELS) -> None:
        self._event.clear()
        self.learner.train(texts[:count], labels[:count], texts[count:])
        assert self._event.wait(PATIENCE), self.learner.status


def test_a_model_is_trained_beside_and_answers_with_the_words_that_count() -> None:
    waiting = Waiting()
    learner = waiting.learner
    try:
        assert learner.guess(("a superb film",)) is None
        assert not learner.is_due(FIRST - 1)
        assert learner.is_due(FIRST)
        waiting.train(FIRST)
        assert sorted(waiting.came[0].uncertain) == list(range(len(TEXTS) - FIRST))
        guess = learner.guess(("a superb story",))
        assert guess is not None
        assert (guess.label, learner.trained_on) == ("good", FIRST)
        assert guess.probability == dict(guess.ranked)["good"] > 0.5
        assert max(guess.words[0], key=lambda each: each[2])[:2] == (2, 8)
        assert learner.guess(("superb " * 6_000,)) is not None
        assert not learner.is_due(FIRST + 4)
        assert learner.is_due(FIRST + 5)

        assert learner._child is not None
        send(learner._child.process, 9)  # as the system does when memory is short
        learner._child.process.join()
        learner.train(TEXTS[:30], LABELS[:30], [])
        while learner.is_training:
            threading.Event().wait(0.05)
        assert "ended with exit status -9" in learner.status
        assert learner.guess(("a superb story",)) == guess
        waiting.train(40)
        assert learner.trained_on == 40
    finally:
        learner.close()
    assert learner._child is not None
    assert learner._child.process.exitcode is not None


def test_labels_of_one_kind_are_too_few() -> None:
    learner = Learner(FORM, 1, lambda *_: None)
    learner.train(TEXTS[:20], ["good"] * 20, [])
    assert (learner.is_training, learner.status) == (False, "A model needs labels of at least two kinds.")


def test_changed_labels_are_doubted(tmp_path: Path) -> None:
    labels = [*LABELS]
    labels[7], labels[20] = "bad", "good"
    found = taught(Lesson("classes", TEXTS, labels, [], tmp_path / "model"))
    assert {(each.place, each.suggestion) for each in found.doubts} >= {(7, "good"), (20, "bad")}
    assert "superb" in next(each for each in found.doubts if each.place == 7).against


@pytest.mark.parametrize(
    ("kind", "texts", "labels"),
    [
        ("classes", [(a, "a film") for (a,) in TEXTS], LABELS),
        ("several", TEXTS, [["x"] if k % 2 else ["x", "y"] if k % 3 else [] for k in range(48)]),
        ("number", TEXTS, [float(k % 2) for k in range(48)]),
        ("number", [(a, "a film") for (a,) in TEXTS], [float(k % 2) for k in range(48)]),
    ],
)
def test_every_form_has_a_model(tmp_path: Path, kind: Any, texts: Any, labels: Any) -> None:
    found = taught(Lesson(kind, texts, labels, texts[:5], tmp_path / "model"))
    assert found.labels == 48
    assert sorted(found.uncertain) == ([] if kind == "number" else list(range(5)))
    pair = len(texts[0]) == 2
    learner = Learner(
        form_of(kind, [] if kind == "number" else ["good", "bad", "x", "y"][:4], pair=pair), 1, print
    )
    learner._trained_by_child = lambda lesson: taught(lesson)  # type: ignore[method-assign]
    learner._train(texts, labels, [])
    guess = learner.guess(texts[1])
    assert guess is not None, learner.status
    assert len(guess.words) == len(texts[0])
    learner.close()


def test_spans_are_guessed_as_places_of_the_text() -> None:
    names = ["Ada", "Bo", "Cleo", "Dan"]
    texts = [(f"😀 {names[k % 4]} Lee met {names[(k + 1) % 4]}, who sings {k}",) for k in range(24)]
    labels: list[Any] = []
    for (text,) in texts:
        one, other = text.index(" Lee"), text.index(",")
        labels.append([[2, one + 4, "PER"], [text.rindex(" ", 0, other) + 1, other, "PER"]])
    labels[3] = []
    waiting = Waiting(form_of("spans", ["PER"]))
    try:
        waiting.train(22, texts, labels)
        assert sorted(waiting.came[0].uncertain) == [0, 1]
        guess = waiting.learner.guess(("😀 Bo Lee met Dan, who sings",))
        assert guess is not None
        assert (guess.label, guess.words) == ([[2, 8, "PER"], [13, 16, "PER"]], ())
    finally:
        waiting.learner.close()


def test_what_cannot_be_trained_is_said_in_one_line(tmp_path: Path) -> None:
    learner = Learner(FORM, 1, lambda *_: None)
    learner._trained_by_child = lambda lesson: Failed.of(ValueError("no"), "training")  # type: ignore[method-assign]
    learner._train(TEXTS, LABELS, [])
    assert learner.status == (
        "The model could not be trained on 48 labels: internal error in training: ValueError: no"
    )
