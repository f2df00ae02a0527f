"""Two processes started at once in one folder: one does the work, the other is refused in a line, nothing is lost."""

from __future__ import annotations

import random
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import small_runs
from attempts import Ended
from heedful.errors import ExitCode
from small_runs import WORKING, Command
from tally import Outcome, Tally

LATER = 0.4
"""The second of a pair starts up to so many seconds after the first; every third at the same moment."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_runs.write_data(tmp_path_factory.mktemp("data"))


def pair(command: Command, folder: Path, draw: random.Random, *more: str) -> tuple[str, list[Ended]]:
    """Start a command twice and wait for both; returns how, and how they ended."""
    later = 0.0 if draw.random() < 0.33 else draw.uniform(0.0, LATER)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(command.run, folder, *more)
        time.sleep(later)
        second = pool.submit(command.run, folder, *more)
        return f"{later:.3f} s apart", [first.result(), second.result()]


def judge(command: Command, folder: Path, ends: list[Ended], expected: object) -> str:
    """Return what is wrong with a pair; empty where nothing is."""
    for end in ends:
        if note := end.outcome(seconds=WORKING).note:
            return note
    refused = [end for end in ends if end.code]
    if len(refused) == 2:
        return f"both were refused: {[end.err[-300:] for end in refused]}"
    if any(end.code != ExitCode.USAGE for end in refused):
        return f"refused with {refused[0].code}: {refused[0].err[-300:]!r}"
    left = small_runs.leftovers(folder)
    if left:
        return f"left {left}"
    return "" if command.result(folder) == expected else "another result than that of one process alone"


@pytest.mark.parametrize("name", ["train", "train as a user starts it", "study", "tune", "reproduce"])
def test_two_starts_in_one_folder(name: str, data: Path, tmp_path: Path, tally: Tally) -> None:
    command, full = {
        "train": (small_runs.train(data), 30),
        "train as a user starts it": (small_runs.train(data, real=True), 10),
        "study": (small_runs.study(data), 10),
        "tune": (small_runs.tune(data), 8),
        "reproduce": (small_runs.reproduce(data), 4),
    }[name]
    assert command.run(tmp_path / "alone").code == 0
    expected = command.result(tmp_path / "alone")
    for number in range(tally.count(full)):
        folder = tmp_path / f"pair-{number}"
        how, ends = pair(command, folder, tally.draw)
        trouble = judge(command, folder, ends, expected)
        tally.add(Outcome("failed" if trouble else "right", f"{name}, {how}: {trouble}"))
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize("option", ["--resume", "--overwrite"])
def test_two_processes_go_on_with_one_run(option: str, data: Path, tmp_path: Path, tally: Tally) -> None:
    """A half-done run, copied, is taken up or replaced by two processes at once."""
    command = small_runs.train(data)
    assert command.run(tmp_path / "alone").code == 0
    expected = command.result(tmp_path / "alone")
    half = tmp_path / "half"
    assert small_runs.train(data, epochs=3).run(half).code == 0
    command = Command("train", command.words, command.result)  # the option is given to both alike
    for number in range(tally.count(30 if option == "--resume" else 10)):
        folder = small_runs.copy(half, tmp_path / f"pair-{number}")
        how, ends = pair(command, folder, tally.draw, option)
        trouble = judge(command, folder, ends, expected)
        tally.add(Outcome("failed" if trouble else "right", f"{option}, {how}: {trouble}"))
        shutil.rmtree(folder)


def test_two_processes_with_one_cold_cache(data: Path, tmp_path: Path, tally: Tally) -> None:
    command = small_runs.train(data, epochs=1)
    assert command.run(tmp_path / "alone").code == 0
    expected = command.result(tmp_path / "alone")
    for number in range(tally.count(8)):
        cache = {"HEEDFUL_CACHE": str(tmp_path / f"cache-{number}")}
        folders = [tmp_path / f"run-{number}-{k}" for k in range(2)]
        with ThreadPoolExecutor(2) as pool:
            ends = list(pool.map(lambda folder, cache=cache: command.run(folder, more=cache), folders))
        for end, folder in zip(ends, folders, strict=True):
            same = end.code == 0 and "heedful: " not in end.err and command.result(folder) == expected
            tally.add(
                Outcome("right" if same else "failed", f"cache {number}: {end.code}, {end.err[-500:]!r}")
            )
