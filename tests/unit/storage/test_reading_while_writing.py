"""A reader changes nothing on disk and reads a whole model, while one is first written and while it is replaced."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from heedful.errors import ArtifactError
from heedful.storage import folders, read_settled, replace_folder
from heedful.storage import model_folder as checkpoint
from heedful.storage.model_folder import ModelFolder, load_model_folder, save_model_folder

LOADS = 60  # the trials take 500


def save(path: Path, number: int) -> None:
    """Save a model of which every file holds the number."""
    content = ModelFolder(
        config={"number": number},
        state={"weight": torch.full((8,), float(number))},
        vocabulary={"number": number},
        labels=[str(number)],
        metrics={"number": number},
        card=str(number),
    )
    save_model_folder(path, content)


def load(path: Path) -> int:
    """Load a model and return its number, which all of its files agree on."""
    model = load_model_folder(path)
    numbers = {
        int(model.config["number"]),
        int(model.state["weight"][3]),
        int(model.vocabulary["number"]),
        int(model.labels[0]),
        int(model.metrics["number"]),
        int(model.card),
    }
    assert len(numbers) == 1
    return numbers.pop()


@pytest.fixture(params=["exchanging", "renaming"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let folders be exchanged in one step, or by two renames as where the system has no such step."""
    monkeypatch.setattr(os, "fsync", lambda _: None)  # kills of the machine are tried elsewhere
    if request.param == "renaming":
        monkeypatch.setattr(folders, "_exchange", lambda *_: False)


def beside(work: Callable[[], None]) -> tuple[threading.Thread, list[BaseException]]:
    """Start work in a thread; return it and the list of what goes wrong in it."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, failures


def test_loads_while_models_are_first_written(tmp_path: Path) -> None:
    """Each model is polled from before its save until it is there; what is not there yet is refused."""
    done, written, looked_for = threading.Event(), [], threading.Event()

    def write() -> None:
        while not done.is_set():
            if looked_for.wait(0.05):  # or thousands of models, between which a look takes ever longer
                looked_for.clear()
                save(tmp_path / f"model-{len(written)}", len(written))
                written.append(None)

    thread, failures = beside(write)
    absent = present = 0
    before = -1
    try:
        # On a busy machine most loads may come after the save: more are tried until enough came before it.
        while not failures and (absent + present < LOADS or absent <= LOADS // 10):
            number = len(written)
            if number > before:
                before = number
                looked_for.set()
            try:
                assert load(tmp_path / f"model-{number}") == number
                present += 1
            except ArtifactError:  # not there yet
                absent += 1
    finally:
        done.set()
        thread.join()
    assert failures == []
    assert absent + present >= LOADS
    assert absent > LOADS // 10
    assert [load(tmp_path / f"model-{number}") for number in range(len(written))] == list(range(len(written)))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        f"model-{n}" for n in range(len(written))
    )


def test_loads_while_a_model_is_replaced(tmp_path: Path) -> None:
    path, done, written = tmp_path / "model", threading.Event(), [0]
    save(path, 0)

    def write() -> None:
        while not done.is_set():
            save(path, written[-1] + 1)
            written.append(written[-1] + 1)

    thread, failures = beside(write)
    numbers = []
    try:
        while not failures and (len(numbers) < LOADS or len(set(numbers)) <= 5):
            before = written[-1]
            numbers.append(load(path))
            assert before <= numbers[-1] <= written[-1] + 1
    finally:
        done.set()
        thread.join()
    assert failures == []
    assert numbers == sorted(numbers)
    assert [entry.name for entry in tmp_path.iterdir()] == ["model"]


def test_a_reader_leaves_what_a_writer_is_at(tmp_path: Path) -> None:
    with replace_folder(tmp_path / "model") as half:
        (half / "config.json").write_text("{}")
        with pytest.raises(ArtifactError, match="there is none"):
            load_model_folder(tmp_path / "model")
        assert (half / "config.json").exists()


def test_a_model_of_a_run_that_is_not_at_its_end_is_not_there_yet(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "metrics.jsonl").touch()
    for path in (tmp_path / "run" / "model", tmp_path / "run"):
        with pytest.raises(ArtifactError, match=r"no model yet.*--resume") as caught:
            load_model_folder(path)
        assert "space" not in str(caught.value).replace(str(tmp_path), "")


def test_an_old_model_that_waits_is_read_where_it_is(tmp_path: Path) -> None:
    save(tmp_path / "model", 3)
    waiting = tmp_path / ".tmp-old-model"
    (tmp_path / "model").rename(waiting)
    assert load(tmp_path / "model") == 3
    assert [entry.name for entry in tmp_path.iterdir()] == [".tmp-old-model"]
    save(tmp_path / "model", 4)
    assert load(tmp_path / "model") == 4
    assert [entry.name for entry in tmp_path.iterdir()] == ["model"]


def test_a_model_that_changes_under_the_reader_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is replaced after its files were checked and before they are read: no mixture comes out."""
    save(tmp_path / "model", 1)
    real, calls = checkpoint.load_tensors, []

    def late(path: Path) -> dict[str, torch.Tensor]:
        calls.append(path)
        tensors = real(path)
        if len(calls) == 1:
            save(tmp_path / "model", 2)
        return tensors

    monkeypatch.setattr(checkpoint, "load_tensors", late)
    assert load(tmp_path / "model") == 2
    assert len(calls) == 2


def test_a_folder_that_never_settles_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "_PAUSE", 0.0)
    monkeypatch.setattr(folders, "_LOADS", 3)

    def read(path: Path) -> None:
        with replace_folder(tmp_path / "model"):
            pass

    read(tmp_path)
    with pytest.raises(ArtifactError, match="replaced 3 times while it was read"):
        read_settled(tmp_path / "model", read)
