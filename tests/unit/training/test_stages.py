"""What is shown of work beside the steps of a network."""

from __future__ import annotations

import io
import sys

import pytest

from heedful import TextClassifier
from heedful.training import stages
from heedful.training.stages import Stage, stage, stages_shown


def test_nobody_listens() -> None:
    with stage("work", 3) as work:
        work.step()
        work.reach(2)
        work.reach(1)
    assert (work.count, work.total) == (2, 3)


def test_lines_say_what_goes_on_and_how_long_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(stages.time, "monotonic", lambda: clock[0])
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with stages_shown(), stage("fitting linear parts", 40) as fits:
        fits.step()  # after no time nothing is said
        for clock[0] in (3.0, 4.0, 14.0):
            fits.step(3)
    assert stream.getvalue().splitlines() == [
        "fitting linear parts: 4 of up to 40, about 27 s left",
        "fitting linear parts: 10 of up to 40, about 55 s left",
    ]


def test_what_is_slow_at_first_is_not_taken_for_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(stages.time, "monotonic", lambda: clock[0])
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with stages_shown(), stage("fitting linear parts", 11) as fits:
        for clock[0] in (36.0, 47.0, 58.0):
            fits.step()
    assert stream.getvalue().splitlines() == [
        "fitting linear parts: 1 of up to 11",
        "fitting linear parts: 2 of up to 11, about 99 s left",
        "fitting linear parts: 3 of up to 11, about 88 s left",
    ]


def test_a_million_pieces_are_not_all_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(stages.time, "monotonic", lambda: clock[0])
    lines = stages._Lines("keeping training examples", 1_000_000, io.StringIO())
    for count in range(1, 10_000):
        clock[0] = count / 1000
        lines.done(count)
    assert len(lines._heard) <= 21


def test_a_quiet_body_shows_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stages, "FIRST_SECONDS", 0.0)
    with stages_shown(), stages_shown(quiet=True), stage("work", 2) as work:
        work.step()
    assert capsys.readouterr().err == ""
    with stages_shown(), stage("work", 2) as work:
        work.step()
    assert capsys.readouterr().err.startswith("work: 1 of up to 2")


def test_a_bar_on_a_terminal_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for name in ("CI", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with stages_shown(), stage("fitting linear parts", 2) as fits:
        fits.step(2)
    shown = sys.stderr.getvalue()  # type: ignore[attr-defined]
    assert "fitting linear parts" in shown
    assert "2/2" in shown


def test_a_notebook_has_tqdms_bar(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("tqdm")
    monkeypatch.setattr(stages, "in_notebook", lambda: True)
    found = stages.importlib.util.find_spec
    monkeypatch.setattr(
        stages.importlib.util, "find_spec", lambda name: None if name == "ipywidgets" else found(name)
    )
    with stages_shown(), stage("fitting linear parts", 4) as fits:
        fits.step(3)
    shown = capsys.readouterr().err
    assert "fitting linear parts" in shown
    assert "/4" in shown


def test_few_rows_are_fitted_with_an_expected_end(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[tuple[str, int, int]] = []

    class Listener:
        def __init__(self, title: str, total: int) -> None:
            self.title, self.total = title, total

        def done(self, count: int) -> None:
            heard.append((self.title, count, self.total))

        def close(self) -> None:
            heard.append((self.title, -1, self.total))

    monkeypatch.setattr(stages, "_choose", lambda: Listener)
    texts = ["good plot and fine acting", "dull plot and poor acting", "a fine cast", "a dull cast"] * 10
    TextClassifier(verbose=True).fit(texts, ["a", "b", "a", "b"] * 10)
    titles = list(dict.fromkeys(title for title, *_ in heard))
    assert titles[-2:] == ["fitting linear parts", "training simple models to compare with"]
    assert {*titles[:-2]} <= {"reading texts for the linear parts"}
    for title in titles[-2:]:
        counts = [count for name, count, _ in heard if name == title]
        total = next(total for name, _, total in heard if name == title)
        assert counts == [*sorted(counts[:-1]), -1]
        assert counts[-2] == total


def test_counting_never_goes_beyond_the_end() -> None:
    work = Stage(2, None)
    work.step(5)
    assert work.count == 2
