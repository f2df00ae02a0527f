"""Trackers hear of every evaluation, and nothing of them is imported unless it is asked for."""

from __future__ import annotations

import builtins
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from heedful.errors import MissingExtraError, UsageError
from heedful.training.loop import fit
from heedful.training.progress import Silent
from heedful.training.run_folder import RunStorage
from heedful.training.trackers import TRACKERS, with_trackers
from toy_training import ToyData, ToyNetwork, accuracy_on, cross_entropy, toy_settings

SETTINGS = {"name": "a run", "train": {"epochs": 2, **{f"option{i}": i for i in range(150)}}}


class Book:
    """Stands for the library of a tracker and writes down each call."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            self.calls.append((name, args, options))
            return self

        return call

    def named(self, *names: str) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
        return [(args, options) for name, args, options in self.calls if name in names]


@pytest.fixture
def book(monkeypatch: pytest.MonkeyPatch) -> Book:
    """Put a book in the place of each library."""
    book = Book()
    tensorboard = ModuleType("torch.utils.tensorboard")
    tensorboard.SummaryWriter = book.SummaryWriter  # type: ignore[attr-defined]
    for name, stands in (("torch.utils.tensorboard", tensorboard), ("mlflow", book), ("wandb", book)):
        monkeypatch.setitem(sys.modules, name, stands)  # type: ignore[arg-type]
    return book


def train_tracked(name: str, folder: Path, *, resume: bool = False, epochs: int = 2) -> list[dict[str, Any]]:
    data = ToyData(60, 8)
    result = fit(
        ToyNetwork(),
        data,
        cross_entropy,
        toy_settings(epochs=epochs, evaluate_every=5, save_steps=5),
        evaluate=accuracy_on(data),
        keeping=RunStorage(folder, resume),
        reporter=with_trackers(Silent(), [name], folder, SETTINGS),
    )
    return [dict(record) for record in result.history if record["kind"] == "evaluation"]


@pytest.mark.parametrize("name", TRACKERS)
def test_every_evaluation_is_sent_with_its_step(book: Book, tmp_path: Path, name: str) -> None:
    records = train_tracked(name, tmp_path / "run")
    sent = {
        "tensorboard": lambda: [
            (args[2], args[1]) for args, _ in book.named("add_scalar") if args[0] == "accuracy"
        ],
        "mlflow": lambda: [(at["step"], args[0]["accuracy"]) for args, at in book.named("log_metrics")],
        "wandb": lambda: [(at["step"], args[0]["accuracy"]) for args, at in book.named("log")],
    }[name]()
    assert len(records) > 2
    assert sent == [(record["step"], pytest.approx(record["accuracy"])) for record in records]
    assert len(book.named("close", "end_run", "finish")) == 1


@pytest.mark.parametrize("name", TRACKERS)
def test_the_settings_are_kept_under_their_dotted_names(book: Book, tmp_path: Path, name: str) -> None:
    train_tracked(name, tmp_path / "run")
    if name == "tensorboard":
        assert "train.option149 = 149" in book.named("add_text")[0][0][1]
        return
    kept = {"mlflow": [args[0] for args, _ in book.named("log_params")]}.get(name)
    tables = kept or [options["config"] for _, options in book.named("init")]
    assert {key: value for table in tables for key, value in table.items()}["train.option149"] == 149
    assert all(len(table) <= 100 for table in tables) or name == "wandb"


def test_a_resumed_run_goes_on_in_its_event_files(book: Book, tmp_path: Path) -> None:
    train_tracked("tensorboard", tmp_path / "run", epochs=1)
    done = 8
    train_tracked("tensorboard", tmp_path / "run", resume=True)
    opened = [(Path(args[0]), options["purge_step"]) for args, options in book.named("SummaryWriter")]
    assert opened == [(tmp_path / "run" / "tensorboard", None), (tmp_path / "run" / "tensorboard", done + 1)]


@pytest.mark.parametrize("name", TRACKERS)
def test_without_its_package_a_tracker_names_the_install_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    real = builtins.__import__

    def missing(module: str, *args: Any, **options: Any) -> Any:
        if module.split(".")[0] in TRACKERS or module == "torch.utils.tensorboard":
            raise ImportError(module)
        return real(module, *args, **options)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(MissingExtraError, match=rf"heedful\[{name}\]"):
        with_trackers(Silent(), [name], tmp_path, {})


def test_an_unknown_tracker_is_refused_and_none_costs_nothing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="tensorboard"):
        with_trackers(Silent(), ["tensorbord"], tmp_path, {})
    reporter = Silent()
    assert with_trackers(reporter, [], tmp_path, {}) is reporter


def test_a_tracker_that_cannot_be_opened_is_refused_before_the_first_step(
    book: Book, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(book, "set_experiment", fails, raising=False)
    with pytest.raises(UsageError, match=r"--track mlflow: no such place$"):
        train_tracked("mlflow", tmp_path / "run")
    assert not (tmp_path / "run" / "metrics.jsonl").exists()


def test_a_tracker_that_fails_later_ends_and_the_run_goes_on(
    book: Book, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(book, "log_metrics", fails, raising=False)
    records = train_tracked("mlflow", tmp_path / "run")
    assert len(records) > 2
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def fails(*_: Any, **__: Any) -> Any:
    raise RuntimeError("no such place\nand a second line")
