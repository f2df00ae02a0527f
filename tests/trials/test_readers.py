"""Readers beside writers: a model that is looked for while it is written or replaced comes whole, or not yet."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import torch

import small_runs
from forked import CONTEXT
from heedful.errors import ArtifactError
from heedful.storage.model_folder import ModelFolder, load_model_folder, save_model_folder
from heedful.tasks import load_model
from small_runs import WORKING
from tally import Outcome, Tally


def save(folder: Path, number: int) -> None:
    """Write a model each file of which holds its number."""
    content = ModelFolder(
        config={"number": number},
        state={"weight": torch.full((40, 30), float(number))},
        vocabulary={"words": [str(number)]},
        labels=[str(number)],
        metrics={"number": number},
        card=f"{number}\n",
    )
    save_model_folder(folder, content)


def numbers(folder: Path) -> set[int]:
    """Return the numbers that a loaded model holds; more than one if it is mixed from two."""
    model = load_model_folder(folder)
    texts = (*model.labels, *model.vocabulary["words"], model.card)
    own = {int(text) for text in texts} | {model.config["number"], model.metrics["number"]}
    return own | {int(value) for value in model.state["weight"].unique()}


def save_often(root: Path, times: int, replaced: bool, current: Any, failures: Any) -> None:
    """Save into new folders, or into one and the same; count what cannot be saved."""
    for number in range(times):
        current.value = 0 if replaced else number
        try:
            save(root / str(current.value) / "model", number)
        except Exception as error:
            with failures.get_lock():
                failures.value += 1
            with (root / "failures").open("a") as stream:
                stream.write(f"a save beside a reader: {type(error).__name__}: {error}\n")


@pytest.mark.parametrize("replaced", [False, True], ids=["first-written", "replaced"])
def test_a_reader_beside_a_writer(replaced: bool, tmp_path: Path, tally: Tally) -> None:
    """An attempt is a load; a save that fails is a failure too."""
    saves = tally.count(500)
    current, failures = CONTEXT.Value("i", 0), CONTEXT.Value("i", 0)
    save(tmp_path / "0" / "model", 0)
    writer = CONTEXT.Process(target=save_often, args=(tmp_path, saves, replaced, current, failures))  # type: ignore[attr-defined]
    writer.start()
    while writer.is_alive():
        folder = tmp_path / str(current.value) / "model"
        started = time.perf_counter()
        try:
            held = numbers(folder)
            whole = len(held) == 1
            outcome = Outcome("right" if whole else "failed", f"a mixture of the models {sorted(held)}")
        except ArtifactError as error:
            absent = str(error).startswith(f"{folder}: ")  # the folder, not a file in it
            outcome = Outcome("refused" if absent else "failed", str(error))
        except Exception as error:
            outcome = Outcome("failed", f"{type(error).__name__}: {error}")
        tally.add(outcome)
        tally.seconds = max(tally.seconds, time.perf_counter() - started)
    writer.join()
    assert writer.exitcode == 0
    failed = (tmp_path / "failures").read_text().splitlines() if failures.value else []
    tally.add(*[Outcome("failed", line) for line in failed])
    tally.add(*[Outcome("right")] * (saves - failures.value))
    assert small_runs.leftovers(tmp_path) == []


def test_a_reader_polls_a_model_while_the_command_line_trains_it(tmp_path: Path, tally: Tally) -> None:
    command = small_runs.train(small_runs.write_data(tmp_path / "data"), epochs=2)
    assert command.run(tmp_path / "alone").code == 0
    expected = command.result(tmp_path / "alone")
    for number in range(tally.count(20)):
        folder = tmp_path / f"run-{number}"
        process = command.start(folder)
        trouble = ""
        while process.alive() and not trouble:
            trouble = _poll(folder / "model")
        end = process.wait()
        trouble = trouble or end.outcome(refusals=False, seconds=WORKING).note
        trouble = trouble or ("" if command.result(folder) == expected else "another result")
        tally.add(Outcome("failed" if trouble else "right", trouble))


def _poll(folder: Path) -> str:
    try:
        load_model(folder)
    except ArtifactError as error:
        return "" if str(error).startswith(f"{folder}: ") else str(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""
