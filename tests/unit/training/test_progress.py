from __future__ import annotations

import importlib.util
import io

import pytest

from heedful.training import progress
from heedful.training.loop import fit
from toy_training import ToyData, ToyNetwork, accuracy_on, cross_entropy, toy_settings

RECORD = {
    "kind": "evaluation",
    "step": 8,
    "epoch": 1.0,
    "seconds": 65.2,
    "train_loss": 0.5,
    "accuracy": 0.75,
    "best": True,
}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "variable", "quiet", "kind"),
    [
        (Terminal(), None, False, progress.Bar),
        (Terminal(), "NO_COLOR", False, progress.Lines),
        (Terminal(), "CI", False, progress.Lines),
        (io.StringIO(), None, False, progress.Lines),
        (Terminal(), None, True, progress.Silent),
    ],
)
def test_the_reporter_follows_the_place(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, variable: str | None, quiet: bool, kind: type
) -> None:
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    for name in ("CI", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    if variable:
        monkeypatch.setenv(variable, "1")
    assert type(progress.choose_reporter(quiet)) is kind


def test_a_summary_is_one_line() -> None:
    assert progress.summary(RECORD) == "epoch 1.00  train_loss 0.5000  accuracy 0.7500  1:05  best"


def train(reporter: progress.Reporter) -> None:
    data = ToyData()
    fit(
        ToyNetwork(),
        data,
        cross_entropy,
        toy_settings(epochs=2),
        evaluate=accuracy_on(data),
        reporter=reporter,
    )


def test_plain_lines_are_one_an_evaluation() -> None:
    stream = io.StringIO()
    train(progress.Lines(stream))
    lines = stream.getvalue().splitlines()
    assert lines[0] == "training: up to 16 steps"
    assert [line.split("  ")[0] for line in lines[1:]] == ["step 8/16", "step 16/16"]
    assert [line.endswith("at most 0 s to go") for line in lines[1:]] == [True, False]
    assert "\x1b" not in stream.getvalue()


def test_plain_lines_between_evaluations_become_rarer(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    stream = io.StringIO()
    lines = progress.Lines(stream)
    lines.start(10_000, 0)
    for step in range(1, 10_000):
        clock[0] = step / 10
        lines.step(step, 0.5)
    told = stream.getvalue().splitlines()[1:]
    assert told[:5] == [
        "step 100/10000  loss 0.5000  at most 16 min to go",
        "step 300/10000  loss 0.5000  at most 16 min to go",
        "step 900/10000  loss 0.5000  at most 15 min to go",
        "step 2700/10000  loss 0.5000  at most 12 min to go",
        "step 5700/10000  loss 0.5000  at most 7.2 min to go",
    ]
    assert len(told) == 6


def test_a_bar_shows_steps_and_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CI", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    train(progress.Bar(stream))
    assert "16/16" in stream.getvalue()
    assert "accuracy" in stream.getvalue()


def test_a_notebook_has_the_bar_of_tqdm(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "in_notebook", lambda: True)
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "ipywidgets" else find(name)
    )
    bar = progress.choose_reporter()
    assert isinstance(bar, progress.NotebookBar)
    bar.start(4, 1)
    bar.step(3, 0.5)
    bar.evaluation({"step": 3, "epoch": 1.0, "accuracy": 0.75, "seconds": 2.0})
    bar.sign("units are dead")
    bar.close()
    printed = capsys.readouterr()
    assert "3/4" in printed.err
    assert "accuracy 0.7500" in printed.out + printed.err
    assert isinstance(progress.choose_reporter(quiet=True), progress.Silent)
    assert progress.NotebookBar().close() is None  # a run that never began


def test_a_terminal_is_no_notebook() -> None:
    assert not progress.in_notebook()
