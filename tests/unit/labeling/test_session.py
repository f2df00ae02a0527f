"""What happens to a label, whoever gives it, from however many windows."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from desks import Desk
from heedful.errors import DataError
from heedful.labeling import next_text
from heedful.labeling.learner import FIRST, Guess
from heedful.labeling.session import Conflict
from heedful.labeling.training_process import Doubt, LessonResult


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, [f"text number {number}" for number in range(40)])


def test_a_label_is_in_the_file_before_the_next_text_comes(desk: Desk) -> None:
    seen = []
    for _ in range(40):
        shown: Any = desk.session.next("Ann")
        seen.append(shown["texts"][0])
        desk.label("Ann", shown["texts"][0], "good")
        assert [row["text"] for row in desk.rows()] == seen
    assert sorted(seen) == sorted(desk.texts)
    assert desk.session.next("Ann") == {"done": True, "skipped": 0}


def test_two_people_never_get_the_same_text(desk: Desk) -> None:
    one: Any = desk.session.next("Ann")
    other: Any = desk.session.next("Bob")
    assert one["id"] != other["id"]


def test_people_who_disagree_both_keep_their_labels(desk: Desk) -> None:
    desk.label("Ann", "text number 1", "good")
    desk.label("Bob", "text number 1", "bad")
    desk.label("Bob", "text number 2", "bad")
    assert [(row["by"], row["label"]) for row in desk.rows()] == [
        ("Ann", "good"),
        ("Bob", "bad"),
        ("Bob", "bad"),
    ]
    state: Any = desk.session.state("Ann")
    assert [each["texts"] for each in state["disagreements"]] == [["text number 1"]]
    desk.label("Bob", "text number 1", "good", seen="bad")
    assert desk.session.state("Ann")["disagreements"] == []
    assert [row["label"] for row in desk.rows()] == ["good", "good", "bad"]


def test_an_old_window_of_the_same_person_overwrites_nothing(desk: Desk) -> None:
    desk.label("Ann", "text number 1", "good")
    with pytest.raises(Conflict, match="you have labeled this text good in another window"):
        desk.label("Ann", "text number 1", "bad")
    desk.label("Ann", "text number 1", "good")  # a repeated request
    desk.label("Ann", "text number 1", "bad", seen="good")
    with pytest.raises(Conflict):
        desk.label("Ann", "text number 1", "-", seen="good")
    assert [row["label"] for row in desk.rows()] == ["bad"]


def test_a_text_that_is_no_longer_in_the_pool_keeps_its_label(desk: Desk) -> None:
    shown: Any = desk.session.next("Ann")
    desk.texts = ["another text"]
    desk.pool.write_text("text\nanother text\n", encoding="utf-8")
    desk.label("Ann", shown["texts"][0], "good")
    assert desk.session.next("Ann")["texts"] == ("another text",)
    assert [row["text"] for row in desk.rows()] == [shown["texts"][0]]
    assert desk.said == [f"{desk.pool} has changed: 1 texts are new, 40 are gone"]
    desk.texts = []
    desk.pool.write_text("", encoding="utf-8")
    assert desk.session.next("Ann")["texts"] == ("another text",)
    assert "cannot be read, so the texts stay as they were" in desk.said[-1]


def test_undo_takes_back_one_thing_after_the_other(desk: Desk) -> None:
    desk.label("Ann", "text number 1", "good")
    desk.label("Bob", "text number 5", "good")
    desk.label("Ann", "text number 1", "bad", seen="good")
    desk.session.label_together("Ann", [desk.session._pool.pool.keys[k] for k in (2, 3, 1)], "good")
    assert len(desk.rows()) == 4
    assert desk.session.undo("Ann")["undone"] == 2
    assert desk.session.undo("Ann")["label"] == "good"
    assert desk.session.undo("Ann")["texts"] == ("text number 1",)
    assert desk.session.undo("Ann") == {"nothing": True}
    assert [row["by"] for row in desk.rows()] == ["Bob"]


def test_undo_after_a_restart_takes_back_the_last_label_of_the_file(desk: Desk, tmp_path: Path) -> None:
    desk.label("Ann", "text number 1", "good")
    again = Desk(tmp_path, desk.texts)
    assert again.session.undo("Bob") == {"nothing": True}
    assert again.session.undo("Ann")["texts"] == ("text number 1",)
    assert again.rows() == []


def test_what_is_skipped_comes_again_only_after_a_restart(desk: Desk, tmp_path: Path) -> None:
    for _ in range(40):
        shown: Any = desk.session.next("Ann")
        desk.session.skip("Ann", shown["id"])
    assert desk.session.next("Ann") == {"done": True, "skipped": 40}
    assert "id" in desk.session.next("Bob")
    assert "id" in Desk(tmp_path, desk.texts).session.next("Ann")


def test_the_guess_of_a_random_text_is_hidden_until_it_has_a_label(desk: Desk) -> None:
    desk.learner.says = Guess("bad", 0.9, (("bad", 0.9), ("good", 0.1)), ())
    shown: Any = desk.session.next("Ann")
    assert (shown["why"], shown["guess"]) == ("random", None)
    saved: Any = desk.label("Ann", shown["texts"][0], "good")
    assert saved["guess"]["label"] == "bad"
    assert desk.rows()[0]["guess"] == "bad"


def test_a_label_that_looks_wrong_comes_again_until_it_is_kept(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(FIRST):
        desk.label("Ann", f"text number {number}", "good" if number % 2 else "bad")
    (lesson,) = desk.learner.lessons
    assert len(lesson.pool) == 20
    desk.learner.done(
        lesson, LessonResult(1.0, 20, (3,), (Doubt(4, "good", ("number",)), Doubt(6, "good", ())))
    )
    state: Any = desk.session.state("Ann")
    assert [each["texts"] for each in state["doubtful"]] == [["text number 4"], ["text number 6"]]
    shown: Any = desk.session.text("Ann", state["doubtful"][0]["id"])
    assert shown["doubt"] == {"suggestion": "good", "against": ("number",)}
    desk.label("Ann", "text number 4", "bad", seen="bad")
    desk.label("Ann", "text number 6", "good", seen="bad")
    assert desk.session.state("Ann")["doubtful"] == []
    assert [row["checked"] for row in desk.rows() if row["text"] == "text number 4"] == ["yes"]
    early = [desk.session.next(f"person {k}")["why"] for k in range(8)]
    assert "uncertain" not in early  # there are few labels
    monkeypatch.setattr(next_text, "MANY", FIRST)
    order: list[Any] = [desk.session.next(f"person {k}") for k in range(8)]
    assert lesson.pool[3] in [each["texts"] for each in order if each["why"] == "uncertain"]


def test_similar_texts_are_offered_and_labeled_together(tmp_path: Path) -> None:
    texts = [f"the parcel {word} came too late" for word in "abcdefgh"] + [
        "something else entirely",
        "and this",
    ]
    desk = Desk(tmp_path, texts)
    assert desk.session._next.similar.wait(10)
    saved: Any = desk.label("Ann", texts[0], "bad")
    assert sorted(each["texts"][0] for each in saved["similar"]) == texts[1:8]
    assert desk.session.label_together("Bob", [each["id"] for each in saved["similar"]], "bad") == {
        "labeled": 7
    }
    assert {row["chosen"] for row in desk.rows()[1:]} == {"similar"}
    assert desk.label("Ann", texts[8], "-")["similar"] == []


@pytest.mark.parametrize("label", ["other", None, 3, ["good"], ""])
def test_a_label_that_is_none_is_refused(desk: Desk, label: object) -> None:
    with pytest.raises(DataError, match="there is no label"):
        desk.label("Ann", "text number 1", label)
    assert desk.rows() == []


def test_a_hundred_thousand_texts_wait_for_nothing(tmp_path: Path) -> None:
    desk = Desk(
        tmp_path, [f"text {number} about {number % 997} and {number % 31}" for number in range(100_000)]
    )
    assert desk.session._next.similar.wait(120)
    started = time.process_time()
    for _ in range(20):
        shown: Any = desk.session.next("Ann")
        desk.label("Ann", shown["texts"][0], "good")
        desk.session.state("Ann")
    found: Any = desk.session.search("about 31")
    assert found["count"] > len(found["found"]) == 50
    assert (time.process_time() - started) / 21 < 0.25


def test_no_torch_is_loaded_before_the_first_training() -> None:
    code = (
        "import sys, heedful.cli.label, heedful.labeling.serve_page, heedful.labeling.exchange; "
        "print([name for name in ('torch', 'sklearn', 'scipy') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
